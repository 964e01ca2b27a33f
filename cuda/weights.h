// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of the interpolations, host and device.
//
// Each interpolation has a kernel K(t), and a step S(x), the sum of K(x - 1/2 - j) over j >= 0, which rises
// from 0 to 1; so K(t) = S(t + 1/2) - S(t - 1/2), and K averaged over a footprint s pixels wide, times s, is
// S(t + s/2) - S(t - s/2). For the tent of bilinear that is the part of a pixel that the footprint covers;
// for whole s every interpolation gives the mean of s pixels.
#pragma once

#include <cmath>
#include <cstring>

#include "pass_plan.h"

#ifdef __CUDACC__
#define CUDAWARP_BOTH __host__ __device__ inline
#else
#define CUDAWARP_BOTH inline
#endif

#ifdef __CUDA_ARCH__
#define CUDAWARP_ROLLED _Pragma("unroll 1")  // a loop that is not worth its code
#else
#define CUDAWARP_ROLLED
#endif

namespace cudawarp {

CUDAWARP_BOTH constexpr int taps_of(Interpolation interpolation) {
  return interpolation == Interpolation::lanczos ? 6 : interpolation == Interpolation::bicubic ? 4 : 2;
}

// Taps along an axis of the integer averages over small footprints, which reach shrinking by 2; with two
// more, where kMostTaps allows, by 4.
inline constexpr int kMostTaps = 8;
CUDAWARP_BOTH constexpr int footprint_taps(Interpolation interpolation) {
  return interpolation == Interpolation::lanczos ? 8 : interpolation == Interpolation::bicubic ? 6 : 4;
}

// Catmull-Rom (the cubic convolution kernel of Keys, a = -1/2): weights for taps at -1, 0, 1, 2.
CUDAWARP_BOTH void kernel_weights(float t, float (&w)[4]) {
  const float t2 = t * t, t3 = t2 * t;
  w[0] = t2 - 0.5f * (t3 + t);
  w[2] = 0.5f * t + 2.0f * t2 - 1.5f * t3;
  w[3] = 0.5f * (t3 - t2);
  w[1] = 1.0f - w[0] - w[2] - w[3];
}

CUDAWARP_BOTH float bicubic_step(float x) {
  const float a = x < 0.0f ? -x : x;
  float s = 1.0f;
  if (a < 0.5f)
    s = 0.5f + a * (1.25f - a * a);
  else if (a < 1.5f)
    s = 1.0f + 0.5f * (a - 0.5f) * (a - 1.5f) * (a - 1.5f);
  return x < 0.0f ? 1.0f - s : s;
}

// The step of the Lanczos kernel with three lobes, sinc(t) sinc(t/3), normalised so that its weights add up
// to 1: S(m + u) for m = 0, 1, 2 and u in +-1/2, as polynomials in u. Fitted at the Chebyshev nodes;
// core_borders holds them against the sine. The first has no even powers but the 0th.
CUDAWARP_BOTH float lanczos_piece0(float u) {
  const float v = u * u;
  return 0.5f + u * (1.2194366f +
                     v * (-1.01379646f +
                          v * (0.627163437f + v * (-0.385202981f + v * (0.239583529f - v * 0.104736315f)))));
}
// Pieces 1 and 2 at u and at -u.
CUDAWARP_BOTH void lanczos_piece1(float u, float& plus, float& minus) {
  const float v = u * u;
  const float even =
      1.11141304f +
      v * (-0.482648728f + v * (0.171289772f + v * (-0.111048324f + v * (0.079682217f - v * 0.0333829036f))));
  const float odd =
      u * (-0.117234976f +
           v * (0.531538928f +
                v * (-0.284186002f + v * (0.158740126f + v * (-0.106027499f + v * 0.0468247531f)))));
  plus = even + odd, minus = even - odd;
}
CUDAWARP_BOTH void lanczos_piece2(float u, float& plus, float& minus) {
  const float v = u * u;
  const float even =
      0.975543477f + v * (0.0881211699f + v * (0.0570035536f + v * (-0.0797047946f +
                                                                    v * (0.030868044f - v * 0.0119639704f))));
  const float odd =
      u * (0.0639244384f +
           v * (-0.310001657f +
                v * (0.242155786f + v * (-0.115993206f + v * (0.0735421899f - v * 0.0344507431f)))));
  plus = even + odd, minus = even - odd;
}

CUDAWARP_BOTH float lanczos_step(float x) {
  const float a = x < 0.0f ? -x : x;
  float s = 1.0f, other;
  if (a < 0.5f)
    s = lanczos_piece0(a);
  else if (a < 1.5f)
    lanczos_piece1(a - 1.0f, s, other);
  else if (a < 2.5f)
    lanczos_piece2(a - 2.0f, s, other);
  return x < 0.0f ? 1.0f - s : s;
}

// Lanczos: weights for taps at -2 .. 3.
CUDAWARP_BOTH void kernel_weights(float t, float (&w)[6]) {
  const float u = t - 0.5f;
  float plus1, minus1, plus2, minus2;
  lanczos_piece1(u, plus1, minus1);
  lanczos_piece2(u, plus2, minus2);
  const float middle = lanczos_piece0(u);
  w[0] = 1.0f - plus2;
  w[1] = plus2 - plus1;
  w[2] = plus1 - middle;
  w[3] = middle - (1.0f - minus1);
  w[4] = minus2 - minus1;
  w[5] = 1.0f - minus2;
}

// The averaged kernel at distance t from the middle of a footprint `2 half` wide, times that width. 1 <= 2
// half.
template <Interpolation I>
CUDAWARP_BOTH float footprint_weight(float t, float half) {
  t = t < 0.0f ? -t : t;
  if constexpr (I == Interpolation::bicubic) {
    return bicubic_step(half - t) + bicubic_step(half + t) - 1.0f;
  } else if constexpr (I == Interpolation::lanczos) {
    return lanczos_step(half - t) + lanczos_step(half + t) - 1.0f;
  } else {
    const float w = half + 0.5f - t;
    return w < 0.0f ? 0.0f : w > 1.0f ? 1.0f : w;
  }
}

// Weights as integers, which add up to kKernelOne.
inline constexpr int kKernelOne = 1 << 14;

template <int Taps>
CUDAWARP_BOTH void to_integers(const float (&weights)[Taps], float scale, int (&w)[Taps]) {
  constexpr int kRest = (Taps - 1) / 2;  // a large one takes what is left
  w[kRest] = kKernelOne;
  for (int k = 0; k < Taps; ++k) {
    if (k == kRest) continue;
    w[k] = static_cast<int>(weights[k] * scale + (kKernelOne + 0.5f)) - kKernelOne;
    w[kRest] -= w[k];
  }
}

// The weights of kernel_weights(), from a fraction of 32 bits.
CUDAWARP_BOTH void integer_kernel(uint32_t t, int (&w)[4]) {
  const auto product = [](uint32_t a, uint32_t b) { return static_cast<uint32_t>((uint64_t{a} * b) >> 32); };
  const uint32_t square = product(t, t), cube = product(square, t);
  const int a = t >> 4, b = square >> 4, c = cube >> 4;  // 28 fraction bits
  constexpr int kShift = 15, kHalf = 1 << (kShift - 1);  // to half of it with 14
  w[0] = (2 * b - c - a + kHalf) >> kShift;
  w[2] = (4 * b - 3 * c + a + kHalf) >> kShift;
  w[3] = (c - b + kHalf) >> kShift;
  w[1] = kKernelOne - w[0] - w[2] - w[3];
}
CUDAWARP_BOTH void integer_kernel(uint32_t t, int (&w)[6]) {
  float weights[6];
  kernel_weights(static_cast<float>(t >> 8) * (1.0f / 16777216), weights);
  to_integers(weights, kKernelOne, w);
}

// footprint_weight() of taps at distances `first`, first + 1, ...
template <Interpolation I, int Taps>
CUDAWARP_BOTH void integer_footprint(float first, float half, int (&w)[Taps]) {
  float weights[Taps], sum = 0.0f;
  for (int k = 0; k < Taps; ++k) {
    weights[k] = footprint_weight<I>(first + k, half);
    sum = sum + weights[k];
  }
  to_integers(weights, kKernelOne / sum, w);
}

// Footprints that lie turned. A weight is the product of two, and where it is added to kWeightGrid its lowest
// 16 bits are the integer nearest to kKernelOne times it.
inline constexpr int kMostTurnedTaps = 12,
                     kMostTurnedTents = 8;  // of a row; kernels are made for even numbers
inline constexpr int kMostTurnedRows = 16;
inline constexpr float kWeightGrid = 768.0f;

CUDAWARP_BOTH uint32_t bits_of(float v) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(v);
#else
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
#endif
}
inline constexpr uint32_t kWeightGridBits = 0x44400000;

// An averaged kernel of bicubic and Lanczos in straight pieces, kLines or kMostLines from its middle to its
// end: the nearest of them to q is that of line_grid() + q in its lowest bits. Beyond the end is 0.
inline constexpr int kLines = 128, kMostLines = 256;
CUDAWARP_BOTH constexpr float line_grid(int lines) {
  return 8388608.0f / lines;
}

CUDAWARP_BOTH float saturated(float v) {
#ifdef __CUDA_ARCH__
  return __saturatef(v);
#else
  return v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v;
#endif
}

// As one instruction where there is one.
CUDAWARP_BOTH float larger(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(a, b);
#else
  return a > b ? a : b;
#endif
}
CUDAWARP_BOTH float smaller(float a, float b) {
#ifdef __CUDA_ARCH__
  return fminf(a, b);
#else
  return a < b ? a : b;
#endif
}

// Piece n of so many, through two points of the kernel that lie so that the mean square of what the line is
// off is least.
template <Interpolation I>
CUDAWARP_BOTH KernelLine kernel_line(int n, int lines, float half) {
  if (n >= lines) return {};
  constexpr float kReach = I == Interpolation::lanczos ? 2.5f : I == Interpolation::bicubic ? 1.5f : 0.5f;
  const float step = 1.0f / lines, aside = 0.28867513f * step, middle = n * step, reach = half + kReach;
  const float before = footprint_weight<I>((middle - aside) * reach, half),
              after = footprint_weight<I>((middle + aside) * reach, half);
  const float per = (after - before) * 0.5f / aside;
  return {(after + before) * 0.5f - per * middle, per};
}

}  // namespace cudawarp

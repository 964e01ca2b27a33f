// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Texture gathers, and bilinear pixels from the four taps of one, in integers (integers.h); inside the CUDA
// engine only.
#pragma once

#include "warp_kernel.cuh"

namespace cudawarp {
namespace {

// The taps about corners. Textures that repeat have coordinates from 0 to 1.
template <int N>
__device__ void gather(cudaTextureObject_t texture, const int64_t (&x)[N], const int64_t (&y)[N],
                       bool repeats, float scale_x, float scale_y, uint4 (&taps)[N]) {
  float u[N], v[N];
  const auto whole_part = [](int64_t q32) { return static_cast<float>(static_cast<int>(q32 >> 32)); };
  each<N>([&](int n) { u[n] = whole_part(x[n]), v[n] = whole_part(y[n]); });
  if (repeats) each<N>([&](int n) { u[n] = u[n] * scale_x, v[n] = v[n] * scale_y; });
  each<N>([&](int n) { taps[n] = tex2Dgather<uint4>(texture, u[n], v[n], 0); });
}

// Weights of the taps, w00 and w10, w01 and w11, in 16 bits each: those of integer_weights<true>().
struct PackedWeights {
  uint32_t above, below;
};

__device__ PackedWeights packed_weights(int64_t x, int64_t y) {
  const uint32_t tx = static_cast<uint32_t>(x) >> 16, ty = static_cast<uint32_t>(y) >> 16;
  const uint32_t w11 = (tx * ty + 65535) >> 16, w10 = tx - w11;
  return {(65535 - ty) + w10 * 65535, ty + w11 * 65535};
}

// Taps as uint4 has them from a gather.
__device__ uint32_t t00(const uint4& taps) {
  return taps.w;
}
__device__ uint32_t t10(const uint4& taps) {
  return taps.z;
}
__device__ uint32_t t01(const uint4& taps) {
  return taps.x;
}
__device__ uint32_t t11(const uint4& taps) {
  return taps.y;
}

// Byte 2 of a and b side by side.
__device__ uint32_t third_bytes(uint32_t a, uint32_t b) {
  return __byte_perm(a, b, 0x0062);
}

// The channels of four taps weighed, as kRoundBytes says, and put together: `join` takes channels 0, 1, 4 and
// 5 for the four.
template <int N>
__device__ uint32_t weigh_bytes(const uint4& t, const PackedWeights& w, uint32_t join) {
  const uint32_t above = __byte_perm(t00(t), t10(t), 0x5140), below = __byte_perm(t01(t), t11(t), 0x5140);
  const uint32_t c0 = __dp2a_lo(w.above, above, __dp2a_lo(w.below, below, kRoundBytes));
  const uint32_t c1 = __dp2a_hi(w.above, above, __dp2a_hi(w.below, below, kRoundBytes));
  if constexpr (N == 2) return third_bytes(c0, c1);
  const uint32_t above2 = __byte_perm(t00(t), t10(t), 0x7362), below2 = __byte_perm(t01(t), t11(t), 0x7362);
  const uint32_t c2 = __dp2a_lo(w.above, above2, __dp2a_lo(w.below, below2, kRoundBytes));
  const uint32_t c3 = __dp2a_hi(w.above, above2, __dp2a_hi(w.below, below2, kRoundBytes));
  return __byte_perm(third_bytes(c0, c1), third_bytes(c2, c3), join);
}

// A pixel as it is stored, or a sample, from taps that are opaque.
template <class F>
__device__ uint32_t blend(const KernelPass& k, const uint4& t, int64_t x, int64_t y) {
  if constexpr (F::kPacking == Packing::bytes4)
    return weigh_bytes<4>(t, packed_weights(x, y), k.join) | k.set;
  if constexpr (F::kPacking == Packing::bytes2)
    return permute(weigh_bytes<2>(t, packed_weights(x, y), 0), k.select);
  const Weights w = integer_weights<F::kBytes>(x, y);
  if constexpr (F::kPacking == Packing::words2) {
    const auto word = [&](int shift) {
      const uint32_t sum = weighed(w, t00(t) >> shift & 0xffff, t10(t) >> shift & 0xffff,
                                   t01(t) >> shift & 0xffff, t11(t) >> shift & 0xffff);
      return rounded<false>(k.plan, sum);
    };
    return word(0) | word(16) << 16;
  } else {
    return rounded<F::kBytes>(k.plan, weighed(w, t00(t), t10(t), t01(t), t11(t)));
  }
}

// A pixel that is its first tap.
template <class F>
__device__ uint32_t copied(const KernelPass& k, const uint4& t) {
  constexpr Packing P = F::kPacking;
  return P == Packing::bytes4   ? permute(t00(t), k.select) | k.set
         : P == Packing::bytes2 ? permute(t00(t), k.select)
                                : t00(t);
}

template <class F>
__device__ bool is_opaque(const KernelPass& k, const uint4& t) {
  return !F::kAlpha || (t00(t) & t10(t) & t01(t) & t11(t) & k.alpha) == k.alpha;
}

// A pixel as it is stored, or a sample, whatever the place and the taps.
template <class F>
__device__ __noinline__ uint32_t pixel_by_loads(const KernelPass& k, int channel, int64_t x, int64_t y) {
  if (k.copy)
    return stored<F>(k.plan, channel,
                     warp_pixel<F, Interpolation::nearest, false, false>(k.plan, k.src, x, y));
  return stored<F>(k.plan, channel,
                   warp_pixel<F, Interpolation::bilinear, false, false>(k.plan, k.src, x, y));
}

// One from four taps, opaque or not, where the picture covers only so much of it; (x, y) is less 1/2.
template <class F>
__device__ __noinline__ uint32_t mixed_blend(const KernelPass& k, int channel, const uint4& t, int64_t x,
                                             int64_t y, float cover) {
  const PassPlan& p = k.plan;
  if (cover == 0.0f) return k.border_stored[channel];
  if constexpr (F::kPacking == Packing::samples8 || F::kPacking == Packing::samples16) {
    using One = Fetch<F::kPacking, 1, false>;
    const uint32_t sum = weighed(integer_weights<F::kBytes>(x, y), t00(t), t10(t), t01(t), t11(t));
    const float value = lerp(p.border[channel], static_cast<float>(sum) * (1.0f / 65536), cover);
    return One::color(p, {value}).c[0];
  } else {
    typename F::Word word;
    if (!cudawarp::blend<F>(p, F::unpack(p, t00(t)), F::unpack(p, t10(t)), F::unpack(p, t01(t)),
                            F::unpack(p, t11(t)), x, y, cover, word))
      return pixel_by_loads<F>(k, channel, x + kHalfPixel, y + kHalfPixel);
    return stored<F>(p, channel, word);
  }
}

}  // namespace
}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The per-pixel core that both engines run: coordinates, borders, weights, sampling, mixing and rounding. One
// definition, compiled by the host compiler and by nvcc, to the same bits: coordinates are integers, the rest
// is float without contraction (-ffp-contract=off, -fmad=false) and without transcendental functions, and
// every float is clamped before it becomes an integer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plane_plan.h"

#ifdef __CUDACC__
#define CUDAWARP_BOTH __host__ __device__ inline
#else
#define CUDAWARP_BOTH inline
#endif

namespace cudawarp {

// Where a tap that lies outside the picture reads: the index inside 0..n-1 that stands for i, or -1 for the
// border colour. n >= 1; any i within +-2^30.
CUDAWARP_BOTH int border_index(int i, int n, Outside outside) {
  if (i >= 0 && i < n) return i;
  switch (outside) {
    case Outside::border_taps:
      return -1;
    case Outside::mirror: {
      const int m = i % (2 * n), k = m < 0 ? m + 2 * n : m;
      return k < n ? k : 2 * n - 1 - k;
    }
    case Outside::mirror_101: {
      if (n == 1) return 0;
      const int period = 2 * n - 2, m = i % period, k = m < 0 ? m + period : m;
      return k < n ? k : period - k;
    }
    case Outside::wrap: {
      const int m = i % n;
      return m < 0 ? m + n : m;
    }
    case Outside::blend:
    case Outside::replicate:
      break;
  }
  return i < 0 ? 0 : n - 1;
}

// A fixed-point coordinate, taken apart: the pixel below and the fraction in 0..1, exact to 2^-24.
struct Cell {
  int index;
  float fraction;
};

CUDAWARP_BOTH Cell cell_of(int64_t q32) {
  return {static_cast<int>(q32 >> 32),
          static_cast<float>(static_cast<uint32_t>(q32) >> 8) * (1.0f / 16777216)};
}

// The four weights of Catmull-Rom (the cubic convolution kernel of Keys, a = -1/2) for taps at -1, 0, 1, 2.
CUDAWARP_BOTH void bicubic_weights(float t, float (&w)[4]) {
  const float t2 = t * t, t3 = t2 * t;
  w[0] = t2 - 0.5f * (t3 + t);
  w[2] = 0.5f * t + 2.0f * t2 - 1.5f * t3;
  w[3] = 0.5f * (t3 - t2);
  w[1] = 1.0f - w[0] - w[2] - w[3];
}

template <int N>
struct Pixel {
  float c[N];
};

CUDAWARP_BOTH float lerp(float a, float b, float t) {
  return a + (b - a) * t;
}

template <int N>
CUDAWARP_BOTH Pixel<N> lerp(const Pixel<N>& a, const Pixel<N>& b, float t) {
  Pixel<N> r;
  for (int k = 0; k < N; ++k) r.c[k] = lerp(a.c[k], b.c[k], t);
  return r;
}

// Byte k of the result is the byte of `word` that nibble k of `select` names.
CUDAWARP_BOTH uint32_t permute(uint32_t word, uint32_t select) {
#ifdef __CUDA_ARCH__
  return __byte_perm(word, 0, select);
#else
  if (select == 0x3210) return word;
  uint32_t r = 0;
  for (int k = 0; k < 4; ++k) r |= ((word >> (8 * ((select >> (4 * k)) & 3))) & 0xff) << (8 * k);
  return r;
#endif
}

// One plane of the source, as the core reads it.
struct Source {
  const uint8_t* data;
  ptrdiff_t pitch;
};

// How a plane's pixels are read, computed and written: kLoad bytes in memory, kChannels floats, premultiplied
// by the last of them where kAlpha, kStore bytes. Packed words have the canonical order (R, G, B, A from byte
// 0).
template <int Load, int Channels, bool Alpha, int Store>
struct Pipe {
  static constexpr int kLoad = Load, kChannels = Channels, kStore = Store;
  static constexpr bool kAlpha = Alpha;
  using Value = Pixel<Channels>;

  // On the GPU the address must be aligned to kLoad for loads of 2 and 4 bytes.
  static CUDAWARP_BOTH uint32_t load(const PlanePlan& p, const uint8_t* at) {
    if constexpr (kLoad == 1) {
      return *at;
    } else if constexpr (kLoad == 2) {
      uint16_t word;
#ifdef __CUDA_ARCH__
      word = *reinterpret_cast<const uint16_t*>(at);
#else
      std::memcpy(&word, at, sizeof word);
#endif
      return word;
    } else if constexpr (kLoad == 3) {
      const uint32_t word = at[0] | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16;
      return permute(word, p.load_select) | p.load_or;
    } else {
      uint32_t word;
#ifdef __CUDA_ARCH__
      word = *reinterpret_cast<const uint32_t*>(at);
#else
      std::memcpy(&word, at, sizeof word);
#endif
      return permute(word, p.load_select) | p.load_or;
    }
  }

  static CUDAWARP_BOTH Value unpack(uint32_t word) {
    Value v;
    for (int k = 0; k < kChannels; ++k) v.c[k] = static_cast<float>((word >> (8 * k)) & 0xff);
    if constexpr (kAlpha)
      for (int k = 0; k < kChannels - 1; ++k) v.c[k] = v.c[k] * v.c[kChannels - 1];
    return v;
  }

  // To the nearest code value; halves go up.
  static CUDAWARP_BOTH uint32_t round(float v) {
    v = v + 0.5f;
    v = v < 0.0f ? 0.0f : v;
    v = v > 255.0f ? 255.0f : v;
    return static_cast<uint32_t>(static_cast<int>(v));
  }

  static CUDAWARP_BOTH uint32_t pack(const Value& v) {
    uint32_t word = 0;
    if constexpr (kAlpha) {
      const float alpha = v.c[kChannels - 1];
      if (!(alpha > 0.0f)) return 0;
      const float scale = 1.0f / alpha;
      for (int k = 0; k < kChannels - 1; ++k) word |= round(v.c[k] * scale) << (8 * k);
      word |= round(alpha) << (8 * (kChannels - 1));
    } else {
      for (int k = 0; k < kChannels; ++k) word |= round(v.c[k]) << (8 * k);
    }
    return word;
  }

  static CUDAWARP_BOTH Value border(const PlanePlan& p) {
    Value v;
    for (int k = 0; k < kChannels; ++k) v.c[k] = p.border[k];
    return v;
  }

  static CUDAWARP_BOTH Value tap(const PlanePlan& p, const Source& s, int x, int y) {
    return unpack(load(p, s.data + y * s.pitch + x * kLoad));
  }

  // A tap by indices already passed through border_index.
  static CUDAWARP_BOTH Value tap_or_border(const PlanePlan& p, const Source& s, int x, int y) {
    return (x | y) < 0 ? border(p) : tap(p, s, x, y);
  }
};

// The source at a point of the sample grid (both in 1/2^32 pixel, from the corner of the plane).
template <class P>
CUDAWARP_BOTH typename P::Value sample_nearest(const PlanePlan& p, const Source& s, int64_t x, int64_t y) {
  const int i = border_index(static_cast<int>(x >> 32), p.src_w, p.outside);
  const int j = border_index(static_cast<int>(y >> 32), p.src_h, p.outside);
  return P::tap_or_border(p, s, i, j);
}

template <class P>
CUDAWARP_BOTH typename P::Value sample_bilinear(const PlanePlan& p, const Source& s, int64_t x, int64_t y) {
  const Cell u = cell_of(x - kHalfPixel), v = cell_of(y - kHalfPixel);
  int x0 = u.index, x1 = x0 + 1, y0 = v.index, y1 = y0 + 1;
  if (x0 >= 0 && x1 < p.src_w && y0 >= 0 && y1 < p.src_h) {
    return lerp(lerp(P::tap(p, s, x0, y0), P::tap(p, s, x1, y0), u.fraction),
                lerp(P::tap(p, s, x0, y1), P::tap(p, s, x1, y1), u.fraction), v.fraction);
  }
  x0 = border_index(x0, p.src_w, p.outside), x1 = border_index(x1, p.src_w, p.outside);
  y0 = border_index(y0, p.src_h, p.outside), y1 = border_index(y1, p.src_h, p.outside);
  return lerp(lerp(P::tap_or_border(p, s, x0, y0), P::tap_or_border(p, s, x1, y0), u.fraction),
              lerp(P::tap_or_border(p, s, x0, y1), P::tap_or_border(p, s, x1, y1), u.fraction), v.fraction);
}

template <class P>
CUDAWARP_BOTH typename P::Value sample_bicubic(const PlanePlan& p, const Source& s, int64_t x, int64_t y) {
  const Cell u = cell_of(x - kHalfPixel), v = cell_of(y - kHalfPixel);
  float wx[4], wy[4];
  bicubic_weights(u.fraction, wx);
  bicubic_weights(v.fraction, wy);
  int xs[4];
  for (int k = 0; k < 4; ++k) xs[k] = border_index(u.index - 1 + k, p.src_w, p.outside);
  typename P::Value sum{};
  for (int j = 0; j < 4; ++j) {
    const int row = border_index(v.index - 1 + j, p.src_h, p.outside);
    typename P::Value line{};
    for (int i = 0; i < 4; ++i) {
      const typename P::Value t = P::tap_or_border(p, s, xs[i], row);
      for (int k = 0; k < P::kChannels; ++k) line.c[k] = line.c[k] + t.c[k] * wx[i];
    }
    for (int k = 0; k < P::kChannels; ++k) sum.c[k] = sum.c[k] + line.c[k] * wy[j];
  }
  return sum;
}

// How much of the output pixel the picture covers, 0..1: the product over the picture's four edges of
// clamp(0.5 + d), d the distance of the pixel's centre inside that edge in output pixels.
CUDAWARP_BOTH float ramp(int64_t inside_q32, float per_source_pixel) {
  const float d = static_cast<float>(inside_q32) * (1.0f / 4294967296) * per_source_pixel + 0.5f;
  return d < 0.0f ? 0.0f : d > 1.0f ? 1.0f : d;
}

CUDAWARP_BOTH float coverage(const PlanePlan& p, int64_t x, int64_t y) {
  return ramp(x - p.edge_left, p.ramp_x) * ramp(p.edge_right - x, p.ramp_x) * ramp(y - p.edge_top, p.ramp_y) *
         ramp(p.edge_bottom - y, p.ramp_y);
}

// Whether the picture covers the whole output pixel, so that coverage() need not be asked.
CUDAWARP_BOTH bool covered(const PlanePlan& p, int64_t x, int64_t y) {
  return x >= p.inner_left && x <= p.inner_right && y >= p.inner_top && y <= p.inner_bottom;
}

// One output pixel, packed in canonical order, from the source point (x, y).
template <class P, Interpolation I>
CUDAWARP_BOTH uint32_t warp_pixel(const PlanePlan& p, const Source& s, int64_t x, int64_t y) {
  float cover = 1.0f;
  if (p.outside == Outside::blend && !covered(p, x, y)) {
    cover = coverage(p, x, y);
    if (cover == 0.0f) return p.border_word;
  }
  if constexpr (I == Interpolation::nearest) {
    if (cover == 1.0f) {  // the stored bytes, untouched by arithmetic
      const int i = border_index(static_cast<int>(x >> 32), p.src_w, p.outside);
      const int j = border_index(static_cast<int>(y >> 32), p.src_h, p.outside);
      return (i | j) < 0 ? p.border_word : P::load(p, s.data + j * s.pitch + i * P::kLoad);
    }
  }
  typename P::Value v;
  if constexpr (I == Interpolation::nearest) v = sample_nearest<P>(p, s, x, y);
  if constexpr (I == Interpolation::bilinear) v = sample_bilinear<P>(p, s, x, y);
  if constexpr (I == Interpolation::bicubic) v = sample_bicubic<P>(p, s, x, y);
  if (cover < 1.0f) v = lerp(P::border(p), v, cover);
  return P::pack(v);
}

// The source point of output pixel (i, j).
CUDAWARP_BOTH int64_t source_x(const PlanePlan& p, int i, int j) {
  return p.x0 + p.x_per_i * i + p.x_per_j * j;
}
CUDAWARP_BOTH int64_t source_y(const PlanePlan& p, int i, int j) {
  return p.y0 + p.y_per_i * i + p.y_per_j * j;
}

// A canonical word in the order of the output format.
CUDAWARP_BOTH uint32_t store_word(const PlanePlan& p, uint32_t canonical) {
  return permute(canonical | p.store_or, p.store_select);
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The per-pixel core that both engines run, fetch - sample - colour; what it gives, store.h writes. One
// definition, compiled by the host compiler and by nvcc, to the same bits: coordinates are integers, and what
// integers.h does not do is float without contraction (-ffp-contract=off, -fmad=false) and without
// transcendental functions, and every float is clamped before it becomes an integer.
#pragma once

#include "integers.h"

namespace cudawarp {

// The source at a point of the sample grid (both in 1/2^32 pixel, from the corner of the grid).
template <class F, bool Inside>
CUDAWARP_BOTH typename F::Value sample_nearest(const PassPlan& p, const Source& s, int64_t x, int64_t y) {
  return F::template tap<Inside>(p, s, index_of<Inside>(p, static_cast<int>(x >> 32), p.src_w),
                                 index_of<Inside>(p, static_cast<int>(y >> 32), p.src_h));
}

template <class F, bool Inside>
CUDAWARP_BOTH typename F::Value sample_bilinear(const PassPlan& p, const Source& s, int64_t x, int64_t y) {
  const Cell u = cell_of(x - kHalfPixel), v = cell_of(y - kHalfPixel);
  const int x0 = index_of<Inside>(p, u.index, p.src_w), x1 = index_of<Inside>(p, u.index + 1, p.src_w);
  const int y0 = index_of<Inside>(p, v.index, p.src_h), y1 = index_of<Inside>(p, v.index + 1, p.src_h);
  const auto tap = [&](int i, int j) { return F::template tap<Inside>(p, s, i, j); };
  return lerp(lerp(tap(x0, y0), tap(x1, y0), u.fraction), lerp(tap(x0, y1), tap(x1, y1), u.fraction),
              v.fraction);
}

template <int N>
CUDAWARP_BOTH void add_weighted(Pixel<N>& sum, const Pixel<N>& v, float w) {
  each<N>([&](int k) { sum.c[k] = sum.c[k] + v.c[k] * w; });
}

// Bicubic (4 taps along each axis) and Lanczos (6).
template <class F, int Taps, bool Inside>
CUDAWARP_BOTH typename F::Value sample_kernel(const PassPlan& p, const Source& s, int64_t x, int64_t y) {
  const Cell u = cell_of(x - kHalfPixel), v = cell_of(y - kHalfPixel);
  float wx[Taps], wy[Taps];
  kernel_weights(u.fraction, wx);
  kernel_weights(v.fraction, wy);
  constexpr int kBefore = Taps / 2 - 1;
  int xs[Taps];
  for (int k = 0; k < Taps; ++k) xs[k] = index_of<Inside>(p, u.index - kBefore + k, p.src_w);
  typename F::Value sum{};
  for (int j = 0; j < Taps; ++j) {
    const int row = index_of<Inside>(p, v.index - kBefore + j, p.src_h);
    typename F::Value line{};
    for (int i = 0; i < Taps; ++i) add_weighted(line, F::template tap<Inside>(p, s, xs[i], row), wx[i]);
    add_weighted(sum, line, wy[j]);
  }
  return sum;
}

// The mean over the output pixel's footprint. In one that lies upright a weight is that of its column times
// that of its row.
template <class F, Interpolation I, bool Upright, bool Inside>
CUDAWARP_BOTH typename F::Value sample_footprint(const PassPlan& p, const Source& s, int64_t x, int64_t y) {
  const Footprint& f = p.footprint;
  const auto weight1 = [&f](float t) { return footprint_weight<I>(t, f.half1); };
  const auto weight2 = [&f](float t) { return footprint_weight<I>(t, f.half2); };
  const bool turned = f.x1 == 0.0f;  // upright, and the first direction goes down
  const int i0 = first_within(x, f.span_x), i1 = last_within(x, f.span_x);
  const int j0 = first_within(y, f.span_y), j1 = last_within(y, f.span_y);
  float columns[Upright ? kMaxTaps + 1 : 1];
  if constexpr (Upright)
    for (int i = i0, n = 0; i <= i1; i += f.step_x, ++n) {
      const float dx = distance(i, x);
      columns[n] = turned ? weight2(f.x2 * dx) : weight1(f.x1 * dx);
    }
  typename F::Value sum{};
  float weights = 0.0f;
  for (int j = j0; j <= j1; j += f.step_y) {
    const float dy = distance(j, y), t1 = f.y1 * dy, t2 = f.y2 * dy;
    const float row_weight = !Upright ? 0.0f : turned ? weight1(t1) : weight2(t2);
    const int row = index_of<Inside>(p, j, p.src_h);
    typename F::Value line{};
    float line_weights = 0.0f;
    for (int i = i0, n = 0; i <= i1; i += f.step_x, ++n) {
      float w;
      if constexpr (Upright) {
        w = columns[n] * row_weight;
      } else {
        const float dx = distance(i, x);
        w = weight1(f.x1 * dx + t1) * weight2(f.x2 * dx + t2);
      }
      if (w == 0.0f) continue;
      line_weights = line_weights + w;
      add_weighted(line, F::template tap<Inside>(p, s, index_of<Inside>(p, i, p.src_w), row), w);
    }
    weights = weights + line_weights;
    each<F::kChannels>([&](int k) { sum.c[k] = sum.c[k] + line.c[k]; });
  }
  // Every third pixel, say, of a footprint one pixel wide may miss it.
  if (weights < 0.5f) return sample_nearest<F, false>(p, s, x, y);
  each<F::kChannels>([&](int k) { sum.c[k] = sum.c[k] / weights; });
  return sum;
}

// How much of the output pixel the picture covers, 0..1: the product over the picture's four edges of
// clamp(0.5 + d), d the distance of the pixel's centre inside that edge in output pixels.
CUDAWARP_BOTH float ramp(int64_t inside_q32, float per_source_pixel) {
  const float d = static_cast<float>(inside_q32) * (1.0f / 4294967296) * per_source_pixel + 0.5f;
  return d < 0.0f ? 0.0f : d > 1.0f ? 1.0f : d;
}

CUDAWARP_BOTH float coverage(const PassPlan& p, int64_t x, int64_t y) {
  return ramp(x - p.edge_left, p.ramp_x) * ramp(p.edge_right - x, p.ramp_x) * ramp(y - p.edge_top, p.ramp_y) *
         ramp(p.edge_bottom - y, p.ramp_y);
}

// Whether the picture covers the whole output pixel, so that coverage() need not be asked.
CUDAWARP_BOTH bool covered(const PassPlan& p, int64_t x, int64_t y) {
  return x >= p.inner_left && x <= p.inner_right && y >= p.inner_top && y <= p.inner_bottom;
}

// The source at a point, interpolated; where the pass shrinks and `Antialias`, averaged.
template <class F, Interpolation I, bool Antialias, bool Inside>
CUDAWARP_BOTH typename F::Value sample(const PassPlan& p, const Source& s, int64_t x, int64_t y) {
  if constexpr (Antialias)
    if (p.shrinks)
      return p.footprint.upright ? sample_footprint<F, I, true, Inside>(p, s, x, y)
                                 : sample_footprint<F, I, false, Inside>(p, s, x, y);
  if constexpr (I == Interpolation::nearest) return sample_nearest<F, Inside>(p, s, x, y);
  if constexpr (I == Interpolation::bilinear) return sample_bilinear<F, Inside>(p, s, x, y);
  if constexpr (I == Interpolation::bicubic) return sample_kernel<F, 4, Inside>(p, s, x, y);
  if constexpr (I == Interpolation::lanczos) return sample_kernel<F, 6, Inside>(p, s, x, y);
}

// Whether all taps of a pixel at this source point lie inside the picture, which covers it wholly. Where that
// holds for two pixels it holds for all between them.
CUDAWARP_BOTH bool is_inside(const PassPlan& p, int64_t x, int64_t y) {
  const int i = static_cast<int>(x >> 32), j = static_cast<int>(y >> 32);
  return i >= p.inside_left && i <= p.inside_right && j >= p.inside_top && j <= p.inside_bottom;
}

// One output pixel, in words of the output, from the source point (x, y); of such a pixel only if `Inside`.
template <class F, Interpolation I, bool Antialias, bool Inside>
CUDAWARP_BOTH typename F::Word warp_pixel(const PassPlan& p, const Source& s, int64_t x, int64_t y) {
  float cover = 1.0f;
  if constexpr (!Inside)
    if (p.outside == Outside::blend && !covered(p, x, y)) {
      cover = coverage(p, x, y);
      if (cover == 0.0f) return F::border_words(p);
    }
  if constexpr (I == Interpolation::nearest) {
    if (cover == 1.0f && p.same_words && !(Antialias && p.shrinks)) {  // the words untouched by arithmetic
      const int i = index_of<Inside>(p, static_cast<int>(x >> 32), p.src_w);
      const int j = index_of<Inside>(p, static_cast<int>(y >> 32), p.src_h);
      return !Inside && (i | j) < 0 ? F::border_words(p) : F::words(p, s, i, j);
    }
  }
  if constexpr (I != Interpolation::nearest && F::kIntegers) {
    typename F::Word word;
    if (p.integers && warp_integers<F, I, Antialias, Inside>(p, s, x, y, cover, word)) return word;
  }
  typename F::Value v = sample<F, I, Antialias, Inside>(p, s, x, y);
  if constexpr (!Inside)
    if (cover < 1.0f) v = lerp(F::border(p), v, cover);
  return F::color(p, v);
}

// The source point of output pixel (i, j).
CUDAWARP_BOTH int64_t source_x(const PassPlan& p, uint32_t i, uint32_t j) {
  return p.x0 + p.x_per_i * i + p.x_per_j * j;
}
CUDAWARP_BOTH int64_t source_y(const PassPlan& p, uint32_t i, uint32_t j) {
  return p.y0 + p.y_per_i * i + p.y_per_j * j;
}

}  // namespace cudawarp

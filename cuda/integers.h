// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Passes in integers (PassPlan::integers): bilinear as a sum of four, the other filters row by row. Exact, so
// that the order of additions and the width of instructions do not matter. Host and device.
#pragma once

#include "fetch.h"

namespace cudawarp {

// Bilinear weights of 16 bits, from the fractions of the point's distance to the first tap. With `Bytes` they
// add up to 65535, so that each fits a 16-bit lane of a dot product; else to 65536.
struct Weights {
  uint32_t w00, w10, w01, w11;
};

template <bool Bytes>
CUDAWARP_BOTH Weights integer_weights(int64_t x_q32, int64_t y_q32) {
  const uint32_t tx = static_cast<uint32_t>(x_q32) >> 16, ty = static_cast<uint32_t>(y_q32) >> 16;
  const uint32_t w11 = (tx * ty + 65535) >> 16, w10 = tx - w11, w01 = ty - w11;
  return {(Bytes ? 65535 : 65536) - ty - w10, w10, w01, w11};
}

CUDAWARP_BOTH uint32_t weighed(const Weights& w, uint32_t t00, uint32_t t10, uint32_t t01, uint32_t t11) {
  return t00 * w.w00 + t10 * w.w10 + t01 * w.w01 + t11 * w.w11;
}

// Added to a weighed sum of bytes before its lower half is dropped: halves go up whatever the first tap lacks
// of its weight.
inline constexpr uint32_t kRoundBytes = 32768 + 255;

// A weighed sum to a word; halves go up.
template <bool Bytes>
CUDAWARP_BOTH uint32_t rounded(const PassPlan& p, uint32_t sum) {
  if constexpr (Bytes) return (sum + kRoundBytes) >> 16;
  const uint32_t code = ((sum >> (15 + p.low_zeros)) + 1) >> 1;  // nothing overflows, stray bits or not
  return (code < p.largest_code ? code : p.largest_code) << p.low_zeros;
}

// Opaque values of the source, mixed with the border, to words of the output.
template <class F>
CUDAWARP_BOTH typename F::Word mixed(const PassPlan& p, typename F::Value v, float cover) {
  if constexpr (F::kAlpha) {
    constexpr int kLast = F::kChannels - 1;
    v.c[kLast] = p.largest[kLast];
    each<kLast>([&](int k) { v.c[k] = v.c[k] * v.c[kLast]; });
  }
  return F::color(p, lerp(F::border(p), v, cover));
}

// Four taps about (x, y), which is less 1/2 here, mixed in integers and with the border by coverage: to words
// of the output. False where alpha must weigh the colours.
template <class F>
CUDAWARP_BOTH bool blend(const PassPlan& p, const typename F::Word& t00, const typename F::Word& t10,
                         const typename F::Word& t01, const typename F::Word& t11, int64_t x, int64_t y,
                         float cover, typename F::Word& word) {
  constexpr int kLast = F::kChannels - 1;
  if constexpr (F::kAlpha)
    if ((t00.c[kLast] & t10.c[kLast] & t01.c[kLast] & t11.c[kLast]) != p.largest_code) return false;
  const Weights w = integer_weights<F::kBytes>(x, y);
  const auto sum = [&](int k) { return weighed(w, t00.c[k], t10.c[k], t01.c[k], t11.c[k]); };
  if (cover == 1.0f) {
    each<F::kChannels>([&](int k) { word.c[k] = rounded<F::kBytes>(p, sum(k)); });
    return true;
  }
  typename F::Value value;
  each<F::kChannels>([&](int k) { value.c[k] = static_cast<float>(sum(k)) * (1.0f / 65536); });
  word = mixed<F>(p, value, cover);
  return true;
}

// Bilinear pixels mirrored at the edge pixel are those of a mirrored point, along an axis of n pixels; `at`
// is less 1/2, as the result is. One mirror is enough up to n - 1 pixels outside.
CUDAWARP_BOTH int64_t mirrored_once(int64_t at, int n) {
  const int64_t last = int64_t{n - 1} << 32;
  return at < 0 ? -at : at > last ? 2 * last - at : at;
}
CUDAWARP_BOTH int64_t mirrored(int64_t at, int n) {
  if (n == 1) return 0;
  const int period = 2 * n - 2, m = static_cast<int>(at >> 32) % period;
  return mirrored_once((int64_t{m < 0 ? m + period : m} << 32) + static_cast<uint32_t>(at), n);
}

template <class F, bool Inside>
CUDAWARP_BOTH bool blend_at(const PassPlan& p, const Source& s, int64_t x, int64_t y, float cover,
                            typename F::Word& word) {
  x -= kHalfPixel, y -= kHalfPixel;
  if constexpr (!Inside)
    if (p.outside == Outside::mirror_101) x = mirrored(x, p.src_w), y = mirrored(y, p.src_h);
  const int i = static_cast<int>(x >> 32), j = static_cast<int>(y >> 32);
  const int x0 = index_of<Inside>(p, i, p.src_w), x1 = index_of<Inside>(p, i + 1, p.src_w);
  const int y0 = index_of<Inside>(p, j, p.src_h), y1 = index_of<Inside>(p, j + 1, p.src_h);
  const auto tap = [&](int u, int v) { return F::template tap_words<Inside>(p, s, u, v); };
  return blend<F>(p, tap(x0, y0), tap(x1, y0), tap(x0, y1), tap(x1, y1), x, y, cover, word);
}

// Filters of bytes in integers: bicubic, Lanczos, and averages over upright footprints. Bytes are taken from
// the middle of their range, and a row weighed loses its lowest bits: so 32 bits are enough for the worst
// content (weights add up to 1 in each direction, and without their signs to 1.25 for bicubic, 1.55 for
// Lanczos). The sum has sum_shift() fraction bits.
inline constexpr int kMiddle = 128, kLineStart = -kMiddle * kKernelOne;

CUDAWARP_BOTH constexpr int line_shift(Interpolation interpolation) {
  return interpolation == Interpolation::lanczos ? 6 : 5;
}
CUDAWARP_BOTH constexpr int sum_shift(Interpolation interpolation) {
  return 28 - line_shift(interpolation);
}

inline constexpr int kLost = kKernelOne / 2;  // half of what rows lose

CUDAWARP_BOTH uint32_t rounded_filter(int sum, int shift) {
  const int code = kMiddle + ((sum + (1 << (shift - 1)) + kLost) >> shift);
  return code < 0 ? 0 : code > 255 ? 255 : code;
}

// The taps along one axis, about a source coordinate.
template <int Taps>
struct Axis {
  int first, weight[Taps];
};

template <int Taps>
CUDAWARP_BOTH Axis<Taps> kernel_axis(int64_t at) {
  at -= kHalfPixel;
  Axis<Taps> a;
  a.first = static_cast<int>(at >> 32) - (Taps / 2 - 1);
  integer_kernel(static_cast<uint32_t>(at), a.weight);
  return a;
}

template <Interpolation I, int Taps>
CUDAWARP_BOTH Axis<Taps> footprint_axis(int64_t at, int64_t span, float half) {
  Axis<Taps> a;
  a.first = first_within(at, span);
  integer_footprint<I>(distance(a.first, at), half, a.weight);
  return a;
}

CUDAWARP_BOTH float half_x(const Footprint& f) {
  return f.x1 != 0.0f ? f.half1 : f.half2;
}
CUDAWARP_BOTH float half_y(const Footprint& f) {
  return f.x1 != 0.0f ? f.half2 : f.half1;
}

// To words of the output, mixed with the border by coverage. False where alpha must weigh the colours.
template <class F, Interpolation I, int Taps, bool Inside>
CUDAWARP_BOTH bool filter(const PassPlan& p, const Source& s, const Axis<Taps>& x, const Axis<Taps>& y,
                          float cover, typename F::Word& word) {
  constexpr int kLast = F::kChannels - 1;
  int xs[Taps];
  for (int k = 0; k < Taps; ++k) xs[k] = index_of<Inside>(p, x.first + k, p.src_w);
  int sum[F::kChannels] = {};
  uint32_t opaque = ~0u;
  CUDAWARP_ROLLED
  for (int j = 0; j < Taps; ++j) {
    const int row = index_of<Inside>(p, y.first + j, p.src_h);
    int line[F::kChannels];
    each<F::kChannels>([&](int k) { line[k] = kLineStart; });
    for (int i = 0; i < Taps; ++i) {
      const typename F::Word tap = F::template tap_words<Inside>(p, s, xs[i], row);
      each<F::kChannels>([&](int k) { line[k] += x.weight[i] * static_cast<int>(tap.c[k]); });
      if constexpr (F::kAlpha) opaque &= tap.c[kLast];
    }
    each<F::kChannels>([&](int k) { sum[k] += y.weight[j] * (line[k] >> line_shift(I)); });
  }
  if constexpr (F::kAlpha)
    if ((opaque & p.largest_code) != p.largest_code) return false;
  if (cover == 1.0f) {
    each<F::kChannels>([&](int k) { word.c[k] = rounded_filter(sum[k], sum_shift(I)); });
    return true;
  }
  typename F::Value value;
  each<F::kChannels>([&](int k) {
    value.c[k] = kMiddle + static_cast<float>(sum[k] + kLost) * (1.0f / (1 << sum_shift(I)));
  });
  word = mixed<F>(p, value, cover);
  return true;
}

template <class F, Interpolation I, int Taps, bool Inside>
CUDAWARP_BOTH bool filter_footprint(const PassPlan& p, const Source& s, int64_t x, int64_t y, float cover,
                                    typename F::Word& word) {
  const Footprint& f = p.footprint;
  return filter<F, I, Taps, Inside>(p, s, footprint_axis<I, Taps>(x, f.span_x, half_x(f)),
                                    footprint_axis<I, Taps>(y, f.span_y, half_y(f)), cover, word);
}

// Averages over turned footprints, by rows of taps, each of which has a weight of its own; divided by the sum
// of the weights. Bytes times weights of all taps fit into 32 bits.

// Where the taps of a pixel begin, and how far down its rows it has come.
struct TurnedRows {
  int x, y;          // the pixel of the source point less 1/2, and the first row
  float fraction;    // beyond that pixel
  float end;         // the last column where a row may begin, from x
  float low1, low2;  // columns where a row begins, less 1/2, from x
  float row1, row2;  // what dy adds to a tap's place

  CUDAWARP_BOTH TurnedRows(const PassPlan& p, int64_t at_x, int64_t at_y, int taps) {
    const TurnedTaps& t = p.turned;
    const Cell cell = cell_of(at_x - kHalfPixel), down = cell_of(at_y - kHalfPixel);
    x = cell.index, fraction = cell.fraction;
    y = first_within(at_y, p.footprint.span_y);
    const float dy = static_cast<float>(y - down.index) - down.fraction, from = fraction + 0.5f;
    end = whole(fraction + t.span - 0.5f) - static_cast<float>(taps - 1);
    low1 = t.slope1 * dy - t.before1 + from;
    low2 = t.slope2 * dy - t.before2 + from;
    row1 = t.y1 * dy, row2 = t.y2 * dy;
  }

  static constexpr float kWhole = 12582912.0f;  // 3 2^22: from here on floats are whole numbers
  static CUDAWARP_BOTH float whole(float v) { return (v + kWhole) - kWhole; }

  // From x to the first tap of this row; and its place along both directions.
  CUDAWARP_BOTH int first(const TurnedTaps& t, float& t1, float& t2) const {
    const float grid = smaller(larger(low1, low2), end) + kWhole, dx = (grid - kWhole) - fraction;
    t1 = t.x1 * dx + row1, t2 = t.x2 * dx + row2;
    return static_cast<int>(bits_of(grid) - 0x4b400000);
  }
  CUDAWARP_BOTH void next(const TurnedTaps& t) {
    low1 = low1 + t.slope1, low2 = low2 + t.slope2;
    row1 = row1 + t.y1, row2 = row2 + t.y2;
  }
};

// The weight of a tap along one direction.
CUDAWARP_BOTH float tent_weight(float t, float edge) {
  return saturated(edge - fabsf(t));
}
CUDAWARP_BOTH float line_weight(const KernelLine& line, float q) {
  return line.at + line.per * q;
}

template <Interpolation I>
CUDAWARP_BOTH float turned_weight(const PassPlan& p, int direction, float t) {
  if constexpr (I == Interpolation::bilinear) {
    return tent_weight(t, direction == 0 ? p.turned.edge1 : p.turned.edge2);
  } else {
    const float q = saturated(fabsf(t));
    const int lines = p.turned.lines;
    const float grid = line_grid(lines);
    const auto n = static_cast<int>(bits_of(q + grid) - bits_of(grid));
#ifndef __CUDA_ARCH__
    if (p.lines) return line_weight(p.lines[direction * (lines + 1) + n], q);
#endif
    const Footprint& f = p.footprint;
    return line_weight(kernel_line<I>(n, lines, direction == 0 ? f.half1 : f.half2), q);
  }
}

// Below this sum of weights the footprint has missed nearly every pixel.
inline constexpr int kLeastWeight = kKernelOne / 2;

CUDAWARP_BOTH uint32_t rounded_average(float value) {
  return static_cast<uint32_t>(static_cast<int>(smaller(larger(value + 0.5f, 0.0f), 255.0f)));
}

// To words of the output, mixed with the border by coverage. False where alpha must weigh the colours.
template <class F, Interpolation I, bool Inside>
CUDAWARP_BOTH bool average(const PassPlan& p, const Source& s, int64_t x, int64_t y, float cover,
                           typename F::Word& word) {
  constexpr int kLast = F::kChannels - 1;
  const TurnedTaps& t = p.turned;
  TurnedRows rows(p, x, y, p.taps);
  int sum[F::kChannels] = {}, weights = 0;
  uint32_t opaque = ~0u;
  CUDAWARP_ROLLED
  for (int j = 0; j < t.rows; ++j, rows.next(t)) {
    const int row = index_of<Inside>(p, rows.y + j, p.src_h);
    float t1, t2;
    const int first = rows.x + rows.first(t, t1, t2);
    CUDAWARP_ROLLED
    for (int i = 0; i < p.taps; ++i, t1 = t1 + t.x1, t2 = t2 + t.x2) {
      const float product = turned_weight<I>(p, 0, t1) * turned_weight<I>(p, 1, t2);
      const auto weight = static_cast<int16_t>(bits_of(product + kWeightGrid) & 0xffff);
      const typename F::Word tap =
          F::template tap_words<Inside>(p, s, index_of<Inside>(p, first + i, p.src_w), row);
      each<F::kChannels>([&](int k) { sum[k] += weight * static_cast<int>(tap.c[k]); });
      weights += weight;
      if constexpr (F::kAlpha) opaque &= tap.c[kLast];
    }
  }
  if constexpr (F::kAlpha)
    if ((opaque & p.largest_code) != p.largest_code) return false;
  if (weights < kLeastWeight) return false;
  const float share = 1.0f / static_cast<float>(weights);
  typename F::Value value;
  each<F::kChannels>([&](int k) { value.c[k] = static_cast<float>(sum[k]) * share; });
  if (cover == 1.0f)
    each<F::kChannels>([&](int k) { word.c[k] = rounded_average(value.c[k]); });
  else
    word = mixed<F>(p, value, cover);
  return true;
}

// A pass in integers. False where alpha must weigh the colours.
template <class F, Interpolation I, bool Antialias, bool Inside>
CUDAWARP_BOTH bool warp_integers(const PassPlan& p, const Source& s, int64_t x, int64_t y, float cover,
                                 typename F::Word& word) {
  if constexpr (Antialias && F::kBytes) {
    if (p.shrinks && !p.footprint.upright) return average<F, I, Inside>(p, s, x, y, cover, word);
    constexpr int kFew = footprint_taps(I), kMany = kFew + 2 < kMostTaps ? kFew + 2 : kMostTaps;
    if (p.shrinks && p.taps == kFew) return filter_footprint<F, I, kFew, Inside>(p, s, x, y, cover, word);
    if (p.shrinks) return filter_footprint<F, I, kMany, Inside>(p, s, x, y, cover, word);
  }
  if constexpr (I == Interpolation::bilinear)
    return blend_at<F, Inside>(p, s, x, y, cover, word);
  else if constexpr (F::kBytes)
    return filter<F, I, taps_of(I), Inside>(p, s, kernel_axis<taps_of(I)>(x), kernel_axis<taps_of(I)>(y),
                                            cover, word);
  return false;
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The per-pixel core that both engines run, fetch - sample - colour: coordinates, borders, weights, sampling,
// mixing and rounding; what it gives, store.h writes. One definition, compiled by the host compiler and by
// nvcc, to the same bits: coordinates are integers, the rest is float without contraction (-ffp-contract=off,
// -fmad=false) and without transcendental functions, and every float is clamped before it becomes an integer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "pass_plan.h"
#include "weights.h"

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

// f(0) ... f(N - 1), written out: compilers keep small arrays in registers only where no loop is left.
template <int... K, class Function>
CUDAWARP_BOTH void unrolled(std::integer_sequence<int, K...>, const Function& f) {
  (f(K), ...);
}
template <int N, class Function>
CUDAWARP_BOTH void each(const Function& f) {
  unrolled(std::make_integer_sequence<int, N>{}, f);
}

template <int N>
struct Pixel {
  float c[N];
};

// Written so that nothing cancels: colours multiplied by an alpha that nearly vanishes keep their ratio to
// it.
CUDAWARP_BOTH float lerp(float a, float b, float t) {
  return a * (1.0f - t) + b * t;
}

template <int N>
CUDAWARP_BOTH Pixel<N> lerp(const Pixel<N>& a, const Pixel<N>& b, float t) {
  Pixel<N> r;
  each<N>([&](int k) { r.c[k] = lerp(a.c[k], b.c[k], t); });
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

// One group of the source, as the core reads it: by channel where each has its place, else the first only. On
// the GPU addresses must be aligned to the words that the packing reads (loads of 2, 4 and 8 bytes).
struct Source {
  const uint8_t* data[kMaxChannels];
  int32_t pitch[kMaxChannels];

  CUDAWARP_BOTH const uint8_t* row(int channel, int y) const {
    return data[channel] + int64_t{y} * pitch[channel];
  }
};

template <class Word>
CUDAWARP_BOTH Word load_word(const uint8_t* at) {
  Word word;
#ifdef __CUDA_ARCH__
  word = *reinterpret_cast<const Word*>(at);
#else
  std::memcpy(&word, at, sizeof word);
#endif
  return word;
}

// The words of a pixel, in canonical order.
template <int N>
struct Words {
  uint32_t c[N];
};

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

// A way of reading: kChannels channels, the last of which is alpha where kAlpha.
template <Packing P, int Channels, bool Alpha>
struct Fetch {
  static constexpr Packing kPacking = P;
  static constexpr int kChannels = Channels;
  static constexpr bool kAlpha = Alpha;
  static constexpr bool kBytes =
      P == Packing::samples8 || P == Packing::bytes2 || P == Packing::bytes3 || P == Packing::bytes4;
  // Whether there are passes with PassPlan::integers.
  static constexpr bool kIntegers = kBytes || P == Packing::samples16 || P == Packing::words2;
  using Value = Pixel<Channels>;
  using Word = Words<Channels>;

  // A stored pixel of a packing that keeps it in one word of up to 32 bits.
  static CUDAWARP_BOTH Word unpack(const PassPlan& p, uint32_t stored) {
    Word w;
    if constexpr (P == Packing::words2) {
      w.c[0] = stored & 0xffff, w.c[1] = stored >> 16;
    } else {
      const uint32_t word = permute(stored, p.load_select) | p.load_or;
      each<kChannels>([&](int k) { w.c[k] = (word >> (8 * k)) & 0xff; });
    }
    return w;
  }

  static CUDAWARP_BOTH Word words(const PassPlan& p, const Source& s, int x, int y) {
    Word w;
    if constexpr (P == Packing::samples8 || P == Packing::samples16) {
      each<kChannels>([&](int k) {
        if (k == 3 && p.src_channels < 4) {
          w.c[k] = p.src_opaque;
          return;
        }
        const uint8_t* at = s.row(k, y) + x * p.src_step;
        w.c[k] = P == Packing::samples8 ? *at : load_word<uint16_t>(at);
      });
    } else if constexpr (P == Packing::bytes2) {
      w = unpack(p, load_word<uint16_t>(s.row(0, y) + x * 2));
    } else if constexpr (P == Packing::bytes4 || P == Packing::words2) {
      w = unpack(p, load_word<uint32_t>(s.row(0, y) + x * 4));
    } else if constexpr (P == Packing::bytes3) {
      const uint8_t* at = s.row(0, y) + x * 3;
      each<3>([&](int k) { w.c[k] = at[p.src_at[k]]; });
      if constexpr (kChannels == 4) w.c[3] = p.src_opaque;
    } else if constexpr (P == Packing::words4) {
      const uint64_t word = load_word<uint64_t>(s.row(0, y) + x * 8);
      each<4>([&](int k) { w.c[k] = static_cast<uint32_t>(word >> (16 * k)) & 0xffff; });
    } else {
      const uint32_t word = load_word<uint32_t>(s.row(0, y) + x * 4);
      each<3>([&](int k) { w.c[k] = (word >> p.src_at[k]) & 0x3ff; });
      w.c[3] = word >> 30;
    }
    return w;
  }

  static CUDAWARP_BOTH Value value(const Word& w) {
    Value v;
    each<kChannels>([&](int k) { v.c[k] = static_cast<float>(w.c[k]); });
    if constexpr (kAlpha) each<kChannels - 1>([&](int k) { v.c[k] = v.c[k] * v.c[kChannels - 1]; });
    return v;
  }

  static CUDAWARP_BOTH Value border(const PassPlan& p) {
    Value v;
    each<kChannels>([&](int k) { v.c[k] = p.border[k]; });
    return v;
  }
  static CUDAWARP_BOTH Word border_words(const PassPlan& p) {
    Word w;
    each<kChannels>([&](int k) { w.c[k] = p.border_word[k]; });
    return w;
  }

  // A tap by indices from index_of().
  template <bool Inside>
  static CUDAWARP_BOTH Word tap_words(const PassPlan& p, const Source& s, int x, int y) {
    if constexpr (!Inside)
      if ((x | y) < 0) {
        Word w;
        each<kChannels>([&](int k) { w.c[k] = p.border_tap[k]; });
        return w;
      }
    return words(p, s, x, y);
  }
  template <bool Inside>
  static CUDAWARP_BOTH Value tap(const PassPlan& p, const Source& s, int x, int y) {
    if constexpr (!Inside)
      if ((x | y) < 0) return border(p);
    return value(words(p, s, x, y));
  }

  // From values of the source to words of the output, the nearest; halves go up. The place of a conversion of
  // colours: here they are only scaled to the output's depth.
  static CUDAWARP_BOTH Word color(const PassPlan& p, const Value& v) {
    Word w;
    float divide = 1.0f;
    if constexpr (kAlpha) {
      const float alpha = v.c[kChannels - 1];
      if (!(alpha > 0.0f)) return Word{};
      divide = 1.0f / alpha;
    }
    each<kChannels>([&](int k) {
      const bool divided = kAlpha && k < kChannels - 1;
      float code = (divided ? v.c[k] * divide : v.c[k]) * p.scale[k] + 0.5f;
      code = code < 0.0f ? 0.0f : code;
      code = code > p.largest[k] ? p.largest[k] : code;
      w.c[k] = static_cast<uint32_t>(static_cast<int>(code)) << p.low_zeros;
    });
    return w;
  }
};

// Sampling. Where every tap is `Inside` the picture there is no border to think of.

template <bool Inside>
CUDAWARP_BOTH int index_of(const PassPlan& p, int i, int n) {
  if constexpr (Inside) return i;
  return border_index(i, n, p.outside);
}

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

template <class F, bool Inside>
CUDAWARP_BOTH bool blend_at(const PassPlan& p, const Source& s, int64_t x, int64_t y, float cover,
                            typename F::Word& word) {
  x -= kHalfPixel, y -= kHalfPixel;
  const int i = static_cast<int>(x >> 32), j = static_cast<int>(y >> 32);
  const int x0 = index_of<Inside>(p, i, p.src_w), x1 = index_of<Inside>(p, i + 1, p.src_w);
  const int y0 = index_of<Inside>(p, j, p.src_h), y1 = index_of<Inside>(p, j + 1, p.src_h);
  const auto tap = [&](int u, int v) { return F::template tap_words<Inside>(p, s, u, v); };
  return blend<F>(p, tap(x0, y0), tap(x1, y0), tap(x0, y1), tap(x1, y1), x, y, cover, word);
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

// The first and the last pixel whose centres lie within `span` of the point.
CUDAWARP_BOTH int first_within(int64_t at, int64_t span) {
  return static_cast<int>((at - span + (kHalfPixel - 1)) >> 32);
}
CUDAWARP_BOTH int last_within(int64_t at, int64_t span) {
  return static_cast<int>((at + span - kHalfPixel) >> 32);
}

// How far the centre of pixel i lies beyond the point.
CUDAWARP_BOTH float distance(int i, int64_t at) {
  return static_cast<float>((int64_t{i} << 32) + kHalfPixel - at) * (1.0f / 4294967296);
}

// Filters of bytes in integers: bicubic, Lanczos, and averages over upright footprints. A row weighed loses
// its lowest bits, so that 32 are enough for all; the sum has kSumShift fraction bits.
inline constexpr int kLineShift = 6, kSumShift = 28 - kLineShift;
inline constexpr int kRoundSum = (1 << (kSumShift - 1)) + kKernelOne / 2;  // and half of what rows lost

CUDAWARP_BOTH uint32_t rounded_filter(int sum) {
  const int code = (sum + kRoundSum) >> kSumShift;
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
template <class F, int Taps, bool Inside>
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
    int line[F::kChannels] = {};
    for (int i = 0; i < Taps; ++i) {
      const typename F::Word tap = F::template tap_words<Inside>(p, s, xs[i], row);
      each<F::kChannels>([&](int k) { line[k] += x.weight[i] * static_cast<int>(tap.c[k]); });
      if constexpr (F::kAlpha) opaque &= tap.c[kLast];
    }
    each<F::kChannels>([&](int k) { sum[k] += y.weight[j] * (line[k] >> kLineShift); });
  }
  if constexpr (F::kAlpha)
    if ((opaque & p.largest_code) != p.largest_code) return false;
  if (cover == 1.0f) {
    each<F::kChannels>([&](int k) { word.c[k] = rounded_filter(sum[k]); });
    return true;
  }
  typename F::Value value;
  each<F::kChannels>(
      [&](int k) { value.c[k] = static_cast<float>(sum[k] + kKernelOne / 2) * (1.0f / (1 << kSumShift)); });
  word = mixed<F>(p, value, cover);
  return true;
}

template <class F, Interpolation I, int Taps, bool Inside>
CUDAWARP_BOTH bool filter_footprint(const PassPlan& p, const Source& s, int64_t x, int64_t y, float cover,
                                    typename F::Word& word) {
  const Footprint& f = p.footprint;
  return filter<F, Taps, Inside>(p, s, footprint_axis<I, Taps>(x, f.span_x, half_x(f)),
                                 footprint_axis<I, Taps>(y, f.span_y, half_y(f)), cover, word);
}

// A pass in integers. False where alpha must weigh the colours.
template <class F, Interpolation I, bool Antialias, bool Inside>
CUDAWARP_BOTH bool warp_integers(const PassPlan& p, const Source& s, int64_t x, int64_t y, float cover,
                                 typename F::Word& word) {
  if constexpr (Antialias && F::kBytes) {
    constexpr int kFew = footprint_taps(I), kMany = kFew + 2;
    if (p.shrinks && p.taps == kFew) return filter_footprint<F, I, kFew, Inside>(p, s, x, y, cover, word);
    if (p.shrinks) return filter_footprint<F, I, kMany, Inside>(p, s, x, y, cover, word);
  }
  if constexpr (I == Interpolation::bilinear)
    return blend_at<F, Inside>(p, s, x, y, cover, word);
  else if constexpr (F::kBytes)
    return filter<F, taps_of(I), Inside>(p, s, kernel_axis<taps_of(I)>(x), kernel_axis<taps_of(I)>(y), cover,
                                         word);
  return false;
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

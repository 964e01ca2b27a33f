// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reading pixels: where taps lie, at borders too, and the words and values of a pixel from the source's
// packing. Host and device.
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

// Where every tap is `Inside` the picture there is no border to think of.
template <bool Inside>
CUDAWARP_BOTH int index_of(const PassPlan& p, int i, int n) {
  if constexpr (Inside) return i;
  return border_index(i, n, p.outside);
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

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "layout.h"

#include <algorithm>

namespace cudawarp {
namespace {

template <int N>
Words<N> words_of(const uint32_t (&word)[kMaxChannels]) {
  Words<N> w;
  std::copy_n(word, N, w.c);
  return w;
}

}  // namespace

bool is_aligned(const KernelPass& k, int bytes) {
  uintptr_t places = 0;
  for (int c = 0; c < kMaxChannels; ++c)
    places |= reinterpret_cast<uintptr_t>(k.dst.data[c]) | static_cast<uintptr_t>(k.dst.pitch[c]);
  return places % bytes == 0;
}

void set_blocks(KernelPass& k, int width, int height, int& blocks) {
  k.first_block = blocks;
  k.blocks_x = (k.plan.dst_w + width - 1) / width;
  k.per_blocks_x = k.blocks_x == 1 ? 0 : static_cast<uint32_t>((uint64_t{1} << 32) / k.blocks_x + 1);
  k.blocks_y = (k.plan.dst_h + height - 1) / height;
  blocks += k.blocks_x * k.blocks_y;
}

void set_region(KernelPass& k) {
  const PassPlan& p = k.plan;
  constexpr int kNone = 1 << 30;
  k.left = k.top = -kNone, k.right = k.bottom = kNone;  // clamping is replicate
  k.out_left = k.out_top = -kNone, k.out_right = k.out_bottom = kNone;
  if (p.outside == Outside::blend) {
    const auto first = [](int64_t q32) {
      return static_cast<int32_t>((q32 + kHalfPixel + 0xffffffff) >> 32);
    };
    const auto last = [](int64_t q32) { return static_cast<int32_t>((q32 + kHalfPixel) >> 32) - 1; };
    k.left = first(p.inner_left), k.right = last(p.inner_right);
    k.top = first(p.inner_top), k.bottom = last(p.inner_bottom);
    // Coverage ends as far beyond an edge as its inner end lies within.
    k.out_left = last(2 * p.edge_left - p.inner_left), k.out_right = first(2 * p.edge_right - p.inner_right);
    k.out_top = last(2 * p.edge_top - p.inner_top), k.out_bottom = first(2 * p.edge_bottom - p.inner_bottom);
  } else if (p.outside != Outside::replicate) {
    k.left = k.top = 1, k.right = p.src_w - 1, k.bottom = p.src_h - 1;
    if (p.outside == Outside::border_taps)
      k.out_left = k.out_top = 0, k.out_right = p.src_w, k.out_bottom = p.src_h;
  }
}

void set_permutation(KernelPass& k) {
  const PassPlan& p = k.plan;
  // Bytes in canonical order between load and store fall together.
  k.select = permute(p.load_select, 0x3210), k.set = 0;
  if (is_packed(p.store) && p.store != Packing::words2) {
    k.select = 0;
    for (int b = 0; b < 4; ++b) {
      const uint32_t from = (p.store_select >> (4 * b)) & 3;
      k.select |= ((p.load_select >> (4 * from)) & 3) << (4 * b);
    }
    k.set = permute(p.load_or | p.store_or, p.store_select);
    if (p.store == Packing::bytes2) k.select = (k.select & 0xff) | ((k.select & 0xff) + 0x22) << 8;
  }
  k.join = k.select + ((k.select >> 1) & 0x1111) * 2;
  for (int c = 0; c < kMaxChannels; ++c) k.border_stored[c] = p.border_word[c];
  if (p.store == Packing::bytes4)
    k.border_stored[0] = static_cast<uint32_t>(packed(p, words_of<4>(p.border_word)));
  else if (is_packed(p.store))
    k.border_stored[0] = static_cast<uint32_t>(packed(p, words_of<2>(p.border_word)));
  k.alpha = p.load_or ? 0 : 0xffu << (8 * ((p.load_select >> 12) & 3));
}

bool has_border_texel(const PassPlan& p) {
  return p.outside != Outside::border_taps || !p.load_or;
}

void set_border_texel(KernelPass& k) {
  const PassPlan& p = k.plan;
  for (int c = 0; c < kMaxChannels; ++c) k.border_texel[c] = p.border_tap[c];
  if (p.store == Packing::words2) {
    k.border_texel[0] = p.border_tap[0] | p.border_tap[1] << 16;
  } else if (is_packed(p.store)) {
    k.border_texel[0] = 0;
    for (int c = 0; c < stored_bytes(p.store); ++c)
      k.border_texel[0] |= p.border_tap[c] << (8 * ((p.load_select >> (4 * c)) & 3));
  }
}

int same_texels(const KernelPass& k) {
  const PassPlan& p = k.plan;
  const int bytes = stored_bytes(p.store);
  if (!p.same_words || p.src_step != bytes || p.dst_step != bytes || !is_aligned(k, 4)) return 0;
  switch (p.fetch) {
    case FetchId::samples8_1:
    case FetchId::samples8_2:
    case FetchId::samples8_3:
      return p.store == Packing::samples8 ? bytes : 0;
    case FetchId::samples16_1:
    case FetchId::samples16_2:
    case FetchId::samples16_3:
      return p.store == Packing::samples16 ? bytes : 0;
    case FetchId::bytes2:
      return p.store == Packing::bytes2 ? bytes : 0;
    case FetchId::bytes4:
    case FetchId::bytes4_alpha:
      return p.store == Packing::bytes4 ? bytes : 0;
    case FetchId::words2:
      return p.store == Packing::words2 ? bytes : 0;
    default:
      return 0;
  }
}

}  // namespace cudawarp

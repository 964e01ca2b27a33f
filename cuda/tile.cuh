// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A tile of the source in shared memory, and sums of bytes; inside the CUDA engine only.
#pragma once

#include "ptx.cuh"
#include "warp_kernel.cuh"

namespace cudawarp {
namespace {

// The box of the source from column `x` and row `y` on, in shared memory: whole rows of memory that is
// aligned to 16 bytes, `x` in bytes and a multiple of them.
template <int Threads = kTileThreads>
__device__ void copy_box(uint8_t* tile, const KernelPass& k, int channel, int x, int y, int row_bytes) {
  const int chunks = k.box_pitch / 16, shift = chunks > 16 ? 5 : chunks > 8 ? 4 : 3;
  const int step = Threads >> shift, pitch = k.src.pitch[channel];
  for (int c = threadIdx.x & ((1 << shift) - 1); c < chunks; c += 1 << shift) {
    const int at = x + c * 16, bytes = min(16, row_bytes - at);
    if (bytes <= 0) break;
    int r = threadIdx.x >> shift;
    const uint8_t* from = k.src.row(channel, y + r) + at;
    uint8_t* to = tile + r * k.box_pitch + c * 16;
    for (; r < k.box_h; r += step, from += int64_t{pitch} * step, to += k.box_pitch * step) {
#if __CUDA_ARCH__ >= 800
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                       static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                   "l"(from), "r"(bytes));
#else
      if (bytes == 16)
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
      else
        for (int b = 0; b < bytes; ++b) to[b] = from[b];
#endif
    }
  }
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// The same texel by texel, as the border mode says; `x` in texels.
template <int Bytes, int Threads = kTileThreads>
__device__ void gather_box(uint8_t* tile, const KernelPass& k, int channel, int x, int y) {
  using Word = std::conditional_t<Bytes == 4, uint32_t, std::conditional_t<Bytes == 2, uint16_t, uint8_t>>;
  const PassPlan& p = k.plan;
  for (int c = threadIdx.x % 64; c < k.box_w; c += 64) {
    const int column = border_index(x + c, p.src_w, p.outside);
    for (int r = threadIdx.x / 64; r < k.box_h; r += Threads / 64) {
      const int row = border_index(y + r, p.src_h, p.outside);
      Word texel = static_cast<Word>(k.border_texel[channel]);
      if ((column | row) >= 0) texel = reinterpret_cast<const Word*>(k.src.row(channel, row))[column];
      *reinterpret_cast<Word*>(tile + r * k.box_pitch + c * Bytes) = texel;
    }
  }
}

// The same where taps are clamped to the picture, as at anti-aliased edges: many loads at once.
template <int Bytes, int Threads = kTileThreads>
__device__ void clamp_box(uint8_t* tile, const KernelPass& k, int channel, int x, int y) {
  using Word = std::conditional_t<Bytes == 4, uint32_t, std::conditional_t<Bytes == 2, uint16_t, uint8_t>>;
  const int right = k.plan.src_w - 1, bottom = k.plan.src_h - 1;
  constexpr int kAtOnce = 4;
  for (int r = threadIdx.x / 32; r < k.box_h; r += Threads / 32) {
    const auto* from = reinterpret_cast<const Word*>(k.src.row(channel, min(max(y + r, 0), bottom)));
    auto* to = reinterpret_cast<Word*>(tile + r * k.box_pitch);
    for (int c = threadIdx.x % 32; c < k.box_w; c += 32 * kAtOnce) {
      Word texel[kAtOnce];
      each<kAtOnce>([&](int n) { texel[n] = from[min(max(x + c + 32 * n, 0), right)]; });
      each<kAtOnce>([&](int n) {
        if (c + 32 * n < k.box_w) to[c + 32 * n] = texel[n];
      });
    }
  }
}

// The box of a block whose first texel is that of column `x` and row `y` of the source.
struct Box {
  bool whole;     // copied in rows of 16 bytes
  int tile_x, y;  // the texel at the beginning of shared memory
  int x;

  template <int Bytes>
  static __device__ Box at(const KernelPass& k, int x, int y) {
    const bool whole =
        k.wide && x >= 0 && y >= 0 && x + k.box_w <= k.plan.src_w && y + k.box_h <= k.plan.src_h;
    return {whole, whole ? x & ~(16 / Bytes - 1) : x, y, x};
  }
  template <int Bytes, int Threads = kTileThreads>
  __device__ void fill(uint8_t* tile, const KernelPass& k, int channel) const {
    if (whole)
      copy_box<Threads>(tile, k, channel, tile_x * Bytes, y, k.plan.src_w * Bytes);
    else if (k.plan.outside == Outside::blend || k.plan.outside == Outside::replicate)
      clamp_box<Bytes, Threads>(tile, k, channel, x, y);
    else
      gather_box<Bytes, Threads>(tile, k, channel, x, y);
  }
};

// How a block lies to the picture, where that covers pixels in part.
struct Sight {
  bool beyond;  // wholly outside
  bool mixed;   // with pixels that it covers in part, or not

  // Of the block whose first pixel has this source point.
  static __device__ Sight of(const KernelPass& k, int64_t x, int64_t y) {
    if (k.plan.outside != Outside::blend) return {false, false};
    const auto corner = [](int64_t q32) { return static_cast<int>((q32 + kHalfPixel) >> 32); };
    const int left = corner(x + k.low_x), right = corner(x + k.high_x), top = corner(y + k.low_y),
              bottom = corner(y + k.high_y);
    return {right < k.out_left || left > k.out_right || bottom < k.out_top || top > k.out_bottom,
            !(left >= k.left && right <= k.right && top >= k.top && bottom <= k.bottom)};
  }
};

// A pixel as it is stored, or a sample, from opaque channels as filter() (integers.h) has them: from kMiddle
// on, with so many fraction bits, where the picture covers only so much of it.
template <class F>
__device__ __noinline__ uint32_t mixed_pixel(const KernelPass& k, int channel, Words<4> sum, int shift,
                                             float cover) {
  const PassPlan& p = k.plan;
  if (cover == 0.0f) return k.border_stored[channel];
  const auto value = [&](int c) {
    return kMiddle + static_cast<float>(static_cast<int>(sum.c[c]) + kLost) * (1.0f / (1 << shift));
  };
  if constexpr (F::kPacking == Packing::samples8) {
    return Fetch<Packing::samples8, 1, false>::color(p, {lerp(p.border[channel], value(0), cover)}).c[0];
  } else {
    typename F::Value v;
    each<F::kChannels>([&](int c) { v.c[c] = value(c); });
    return stored<F>(p, channel, mixed<F>(p, v, cover));
  }
}

// Codes from kMiddle on to bytes, the first lowest.
__device__ uint32_t pack(int a, int b, int c, int d) {
  return saturated_signed_bytes(a, b, c, d) ^ 0x01010101u * kMiddle;
}

}  // namespace
}  // namespace cudawarp

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

// Sums of a filter to bytes, side by side.
template <int Bytes>
__device__ uint32_t rounded_bytes(const int (&sum)[Bytes], int shift) {
  int code[4] = {};
  each<Bytes>([&](int c) { code[c] = kMiddle + ((sum[c] + (1 << (shift - 1)) + kLost) >> shift); });
  return saturated_bytes(code[0], code[1], code[2], code[3]);
}

}  // namespace
}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp kernel that reads by loads; inside the CUDA engine only. Each interpolation's kernels are compiled
// by a file of their own (kernels_*.cu), which takes a while.
#pragma once

#include <type_traits>

#include "cuda_kernels.h"
#include "sampler.h"

namespace cudawarp {

namespace {

template <FetchId Id>
struct FetchOf;
#define CUDAWARP_FETCH_OF(name, packing, channels, alpha)  \
  template <>                                              \
  struct FetchOf<FetchId::name> {                          \
    using Type = Fetch<Packing::packing, channels, alpha>; \
  };
CUDAWARP_FETCHES(CUDAWARP_FETCH_OF)
#undef CUDAWARP_FETCH_OF

// ---- storing

__device__ uint32_t* word_at(uint8_t* at) {
  return reinterpret_cast<uint32_t*>(at);
}

// Neighbours of a row in whole words of 32 bits (words4: 64). `w` has as many as fill them.
template <int N>
__device__ void store_words(const PassPlan& p, const Target& dst, const Words<N>* w, int i, int j) {
  if (!is_packed(p.store)) {
    each<N>([&](int c) {
      if (c >= p.dst_channels) return;
      *word_at(dst.row(c, j) + i * p.dst_step) =
          p.store == Packing::samples8 ? w[0].c[c] | w[1].c[c] << 8 | w[2].c[c] << 16 | w[3].c[c] << 24
                                       : w[0].c[c] | w[1].c[c] << 16;
    });
    return;
  }
  uint8_t* at = dst.row(0, j) + i * p.dst_step;
  if constexpr (N == 2) {
    const uint32_t first = packed(p, w[0]);
    *word_at(at) = p.store == Packing::bytes2 ? first | static_cast<uint32_t>(packed(p, w[1])) << 16 : first;
  } else if constexpr (N > 2) {
    const uint64_t first = packed(p, w[0]);
    if (p.store == Packing::words4) {
      *reinterpret_cast<uint64_t*>(at) = first;
    } else if (p.store == Packing::bytes3) {
      const uint32_t w0 = first & 0xffffff, w1 = packed(p, w[1]) & 0xffffff, w2 = packed(p, w[2]) & 0xffffff,
                     w3 = packed(p, w[3]);
      word_at(at)[0] = w0 | w1 << 24;
      word_at(at)[1] = w1 >> 8 | w2 << 16;
      word_at(at)[2] = w2 >> 16 | w3 << 8;
    } else {
      *word_at(at) = static_cast<uint32_t>(first);
    }
  }
}

// Words of the output as they are stored: one channel where each has its plane, else a pixel of up to 4
// bytes.
template <class F>
__device__ uint32_t stored(const PassPlan& p, int channel, const typename F::Word& w) {
  if constexpr (F::kPacking == Packing::samples8 || F::kPacking == Packing::samples16) {
    uint32_t word = 0;
    each<F::kChannels>([&](int c) { word = c == channel ? w.c[c] : word; });
    return word;
  } else {
    return static_cast<uint32_t>(packed(p, w));
  }
}

__device__ __noinline__ void write_bytes(uint8_t* at, uint64_t value, int bytes) {
  for (int b = 0; b < bytes; ++b) at[b] = static_cast<uint8_t>(value >> (8 * b));
}

__device__ void write_word(uint8_t* at, uint64_t value, int bytes, bool aligned) {
  if (aligned && bytes == 4)
    *word_at(at) = static_cast<uint32_t>(value);
  else if (aligned && bytes == 2)
    *reinterpret_cast<uint16_t*>(at) = static_cast<uint16_t>(value);
  else
    write_bytes(at, value, bytes);
}

// One pixel, wherever it lies.
template <int N>
__device__ void store_pixel(const KernelPass& k, const Words<N>& w, int i, int j) {
  const PassPlan& p = k.plan;
  const int bytes = stored_bytes(p.store);
  if (is_packed(p.store)) {
    if constexpr (N > 1) write_word(k.dst.row(0, j) + i * p.dst_step, packed(p, w), bytes, k.whole_words);
    return;
  }
  each<N>([&](int c) {
    if (c < p.dst_channels) write_word(k.dst.row(c, j) + i * p.dst_step, w.c[c], bytes, k.whole_words);
  });
}

// Four tiles of 8x4 bytes side by side, a byte of each in every lane, to four neighbours in every lane.
__device__ uint32_t exchange(uint32_t bytes, int lane) {
  const int from = (lane & 24) | (lane & 1) * 4;
  const uint32_t tile = lane % 8 / 2, select = tile | (tile + 4) << 4;
  uint32_t b[4];
#pragma unroll
  for (int n = 0; n < 4; ++n) b[n] = __shfl_sync(~0u, bytes, from + n);
  return __byte_perm(__byte_perm(b[0], b[1], select), __byte_perm(b[2], b[3], select), 0x5410);
}

// ---- the kernel

// One pixel after the other: where a pixel takes long, and at borders.
template <class F, Interpolation I, bool Antialias, bool Inside>
__device__ void warp_singly(const KernelPass& k, int i, int j, int64_t x, int64_t y) {
#pragma unroll 1
  for (int n = 0; n < pixels_per_thread(I, Antialias); ++n) {
    const int column = i + k.column[n], row = j + k.row[n];
    if (column >= k.plan.dst_w || row >= k.plan.dst_h) continue;
    store_pixel(k, warp_pixel<F, I, Antialias, Inside>(k.plan, k.src, x + k.x[n], y + k.y[n]), column, row);
  }
}

// All at once, so that their loads overlap.
template <class F, Interpolation I>
__device__ void warp_together(const KernelPass& k, int i, int j, int64_t x, int64_t y) {
  constexpr int kPixels = pixels_per_thread(I, false);
  const PassPlan& p = k.plan;
  typename F::Word words[kPixels];
#pragma unroll
  for (int n = 0; n < kPixels; ++n)
    words[n] = warp_pixel<F, I, false, true>(p, k.src, x + k.x[n], y + k.y[n]);
  const bool whole = k.whole_words && i + k.column[kPixels - 1] < p.dst_w;
#pragma unroll
  for (int n = 0; n < kPixels; ++n) {
    const int row = j + k.row[n];
    if (row >= p.dst_h) continue;
    if (whole) {
      if (k.column[n] == 0) store_words(p, k.dst, words + n, i, row);
    } else if (i + k.column[n] < p.dst_w) {
      store_pixel(k, words[n], i + k.column[n], row);
    }
  }
}

// From the middle row on: blocks at the picture's edges take longest, and would be the last, all others done.
__device__ int2 block_at(const KernelPass& k, int block) {
  const int y = k.per_blocks_x == 0 ? block : __umulhi(block, k.per_blocks_x);
  const int row = y + k.blocks_y / 2;
  return {block - y * k.blocks_x, row < k.blocks_y ? row : row - k.blocks_y};
}

template <class F, Interpolation I, bool Antialias>
__device__ void warp_block(const KernelPass& k, int2 block) {
  constexpr int kPixels = pixels_per_thread(I, Antialias);
  const PassPlan& p = k.plan;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int cell_x = (warp % 2) * kWarpX + lane % kWarpX, cell_y = (warp / 2) * kWarpY + lane / kWarpX;
  const int i = (block.x * kBlockX + cell_x) << k.cell_shift;
  const int j = block.y * kBlockY * (kPixels >> k.cell_shift) + cell_y;
  if (i >= p.dst_w || j >= p.dst_h) return;
  const int64_t x = source_x(p, i, j), y = source_y(p, i, j);
  // The pixels lie on a line, or on the corners of a parallelogram.
  bool inside = is_inside(p, x, y);
#pragma unroll
  for (int n = 1; n < kPixels; ++n) inside = inside && is_inside(p, x + k.x[n], y + k.y[n]);
  if (!inside)
    warp_singly<F, I, Antialias, false>(k, i, j, x, y);
  else if constexpr (kPixels > 1)
    warp_together<F, I>(k, i, j, x, y);
  else
    warp_singly<F, I, Antialias, true>(k, i, j, x, y);
}

// `Chroma` is the fetch of the second group; void in kernels for formats of one group.
template <class First, class Chroma, Interpolation I, bool Antialias>
__global__ void __launch_bounds__(kThreads) warp_kernel(const __grid_constant__ KernelArgs args) {
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Chroma>) {
    const KernelPass& chroma = args.pass[1];
    if (args.passes > 1 && block >= chroma.first_block)
      return warp_block<Chroma, I, Antialias>(chroma, block_at(chroma, block - chroma.first_block));
  }
  warp_block<First, I, Antialias>(args.pass[0], block_at(args.pass[0], block));
}

// Chroma that comes with a first group of one channel: side by side or in planes of its own.
template <class First>
struct ChromaOf {
  static constexpr bool kWords = First::kPacking == Packing::samples16;
  using Pair = typename FetchOf<kWords ? FetchId::words2 : FetchId::bytes2>::Type;
  using Planes = typename FetchOf<kWords ? FetchId::samples16_2 : FetchId::samples8_2>::Type;
};

inline bool is_side_by_side(const KernelArgs& args) {
  const FetchId last = args.pass[args.passes - 1].plan.fetch;
  return last == FetchId::bytes2 || last == FetchId::words2;
}

template <class First, class Chroma, Interpolation I>
Kernel choose(bool antialias) {
  return antialias ? warp_kernel<First, Chroma, I, true> : warp_kernel<First, Chroma, I, false>;
}

template <class First, Interpolation I>
Kernel choose(const KernelArgs& args, bool antialias) {
  if constexpr (First::kChannels == 2)
    return nullptr;  // chroma comes second
  else if constexpr (First::kChannels > 2)
    return choose<First, void, I>(antialias);
  else if (is_side_by_side(args))
    return choose<First, typename ChromaOf<First>::Pair, I>(antialias);
  else
    return choose<First, typename ChromaOf<First>::Planes, I>(antialias);
}

}  // namespace

template <Interpolation I>
Kernel kernel_of(const KernelArgs& args, bool antialias) {
  switch (args.pass[0].plan.fetch) {
#define CUDAWARP_CASE(name, packing, channels, alpha) \
  case FetchId::name:                                 \
    return choose<typename FetchOf<FetchId::name>::Type, I>(args, antialias);
    CUDAWARP_FETCHES(CUDAWARP_CASE)
#undef CUDAWARP_CASE
  }
  return nullptr;
}

}  // namespace cudawarp

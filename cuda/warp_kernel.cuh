// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp kernel; inside the CUDA engine only. Each interpolation's kernels are compiled by a file of their
// own (kernels_*.cu), which takes a while.
#pragma once

#include <type_traits>

#include "cuda_kernels.h"
#include "sampler.h"

namespace cudawarp {

namespace {

// ---- textures

template <FetchId Id>
struct FetchOf;
#define CUDAWARP_FETCH_OF(name, packing, channels, alpha)  \
  template <>                                              \
  struct FetchOf<FetchId::name> {                          \
    using Type = Fetch<Packing::packing, channels, alpha>; \
  };
CUDAWARP_FETCHES(CUDAWARP_FETCH_OF)
#undef CUDAWARP_FETCH_OF

// 8-bit words that the texture unit reads: channels in planes of their own, or 2 or 4 side by side.
template <class F>
inline constexpr bool kTexturePath = F::kPacking == Packing::bytes2 || F::kPacking == Packing::bytes4 ||
                                     (F::kPacking == Packing::samples8 && F::kChannels <= 2);

// A row of the source between two of its pixels, in 0..1 and stored order.
template <class F>
__device__ Pixel<F::kChannels> fetch_row(const KernelPass& k, float u, float v) {
  if constexpr (F::kPacking == Packing::samples8) {
    Pixel<F::kChannels> t;
    each<F::kChannels>([&](int c) { t.c[c] = tex2D<float>(k.texture[c], u, v); });
    return t;
  } else if constexpr (F::kPacking == Packing::bytes2) {
    const float2 t = tex2D<float2>(k.texture[0], u, v);
    return {t.x, t.y};
  } else {
    const float4 t = tex2D<float4>(k.texture[0], u, v);
    return {t.x, t.y, t.z, t.w};
  }
}

// A coordinate for the texture unit: rounded to the 1/256 pixel that its weights resolve, so that the
// rounding is ours and to nearest.
__device__ float texture_coordinate(int64_t q32) {
  return static_cast<float>(static_cast<int>((q32 + (1 << 23)) >> 24)) * (1.0f / 256);
}

// warp_pixel() with the texture unit's filter, for pixels whose taps are inside the picture. False where
// alpha weighs the colours, which the unit cannot do. It filters along rows only: its 8-bit weights cost up
// to half a code value there, and one more in the other direction would be too much.
template <class F>
__device__ bool warp_pixel_textured(const KernelPass& k, int64_t x, int64_t y, typename F::Word& w) {
  const PassPlan& p = k.plan;
  const float u = texture_coordinate(x);
  const Cell row = cell_of(y - kHalfPixel);
  const float v = static_cast<float>(row.index) + 0.5f;
  const auto above = fetch_row<F>(k, u, v), below = fetch_row<F>(k, u, v + 1.0f);
  each<F::kChannels>(
      [&](int c) { w.c[c] = __float2uint_rn(lerp(above.c[c], below.c[c], row.fraction) * 255.0f); });
  if constexpr (F::kPacking == Packing::samples8) return true;
  uint32_t word = 0;
  each<F::kChannels>([&](int c) { word |= w.c[c] << (8 * c); });
  word = permute(word, p.load_select) | p.load_or;
  each<F::kChannels>([&](int c) { w.c[c] = (word >> (8 * c)) & 0xff; });
  if constexpr (!F::kAlpha) return true;
  // Opaque all round: premultiplying changes nothing. Alpha is stored first or last.
  constexpr int kLast = F::kChannels - 1;
  const bool first = (p.load_select >> 12) == 0;
  const float least = first ? fminf(above.c[0], below.c[0]) : fminf(above.c[kLast], below.c[kLast]);
  return p.load_or || least == 1.0f;
}

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
template <class F, Interpolation I, bool Textured>
__device__ void warp_together(const KernelPass& k, int i, int j, int64_t x, int64_t y) {
  constexpr int kPixels = pixels_per_thread(I, false);
  const PassPlan& p = k.plan;
  typename F::Word words[kPixels];
  bool done = Textured;
  if constexpr (Textured) {
#pragma unroll
    for (int n = 0; n < kPixels; ++n)
      done = warp_pixel_textured<F>(k, x + k.x[n], y + k.y[n], words[n]) && done;
  }
  if (!done) {
#pragma unroll
    for (int n = 0; n < kPixels; ++n)
      words[n] = warp_pixel<F, I, false, true>(p, k.src, x + k.x[n], y + k.y[n]);
  }
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

template <class F, Interpolation I, bool Antialias, bool Textured>
__device__ void warp_block(const KernelPass& k, int block) {
  constexpr int kPixels = pixels_per_thread(I, Antialias);
  const PassPlan& p = k.plan;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int cell_x = (warp % 2) * kWarpX + lane % kWarpX, cell_y = (warp / 2) * kWarpY + lane / kWarpX;
  const int block_y = block / k.blocks_x, block_x = block - block_y * k.blocks_x;
  const int i = (block_x * kBlockX + cell_x) << k.cell_shift;
  const int j = block_y * kBlockY * (kPixels >> k.cell_shift) + cell_y;
  if (i >= p.dst_w || j >= p.dst_h) return;
  const int64_t x = source_x(p, i, j), y = source_y(p, i, j);
  // The pixels lie on a line, or on the corners of a parallelogram.
  bool inside = is_inside(p, x, y);
#pragma unroll
  for (int n = 1; n < kPixels; ++n) inside = inside && is_inside(p, x + k.x[n], y + k.y[n]);
  if (!inside)
    warp_singly<F, I, Antialias, false>(k, i, j, x, y);
  else if constexpr (kPixels > 1)
    warp_together<F, I, Textured>(k, i, j, x, y);
  else
    warp_singly<F, I, Antialias, true>(k, i, j, x, y);
}

// `Chroma` is the fetch of the second group; void in kernels for formats of one group.
template <class First, class Chroma, Interpolation I, bool Antialias, bool Textured>
__global__ void __launch_bounds__(kThreads) warp_kernel(const __grid_constant__ KernelArgs args) {
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Chroma>) {
    if (args.passes > 1 && block >= args.pass[1].first_block) {
      warp_block<Chroma, I, Antialias, Textured>(args.pass[1], block - args.pass[1].first_block);
      return;
    }
  }
  warp_block<First, I, Antialias, Textured>(args.pass[0], block);
}

template <class First, class Chroma, Interpolation I>
Kernel choose(bool antialias, bool textures) {
  if (antialias) return warp_kernel<First, Chroma, I, true, false>;
  if constexpr (I == Interpolation::bilinear && kTexturePath<First>)
    if (textures) return warp_kernel<First, Chroma, I, false, true>;
  return warp_kernel<First, Chroma, I, false, false>;
}

// `side_by_side` tells how chroma lies, where there is some.
template <class First, Interpolation I>
Kernel choose(bool side_by_side, bool antialias, bool textures) {
  constexpr bool kWords = First::kPacking == Packing::samples16;
  using Pair = typename FetchOf<kWords ? FetchId::words2 : FetchId::bytes2>::Type;
  using Planes = typename FetchOf<kWords ? FetchId::samples16_2 : FetchId::samples8_2>::Type;
  if constexpr (First::kChannels == 2)
    return nullptr;  // chroma comes second
  else if constexpr (First::kChannels > 2)
    return choose<First, void, I>(antialias, textures);
  else if (side_by_side)
    return choose<First, Pair, I>(antialias, textures);
  else
    return choose<First, Planes, I>(antialias, textures);
}

}  // namespace

template <Interpolation I>
Kernel kernel_of(const KernelArgs& args, bool antialias, bool textures) {
  const FetchId last = args.pass[args.passes - 1].plan.fetch;
  const bool side_by_side = last == FetchId::bytes2 || last == FetchId::words2;
  switch (args.pass[0].plan.fetch) {
#define CUDAWARP_CASE(name, packing, channels, alpha) \
  case FetchId::name:                                 \
    return choose<typename FetchOf<FetchId::name>::Type, I>(side_by_side, antialias, textures);
    CUDAWARP_FETCHES(CUDAWARP_CASE)
#undef CUDAWARP_CASE
  }
  return nullptr;
}

}  // namespace cudawarp

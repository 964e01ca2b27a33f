// SPDX-License-Identifier: LGPL-2.1-or-later
#include <type_traits>

#include "cuda_kernels.h"
#include "sampler.h"

namespace cudawarp {
namespace {

// A warp covers 8x4 cells, so that a turned row still reads few lines of the source; a block is 2x4 warps.
constexpr int kWarpX = 8, kWarpY = 4, kBlockX = 16, kBlockY = 16, kThreads = kBlockX * kBlockY;
constexpr int kPixelsPerThread = 4;

// Neighbouring pixels of a row that one thread computes, so that it writes whole words, by their stored size.
constexpr int pixels_per_cell(int stored) {
  return stored == 4 ? 1 : stored == 2 ? 2 : 4;
}
template <class P>
inline constexpr int kCell = pixels_per_cell(P::kStore);
template <class P>
inline constexpr int kRows = kPixelsPerThread / kCell<P>;

template <class P>
inline constexpr bool kTexturePath = P::kLoad != 3;

// A row of the texture between two of its pixels, in 0..1 and stored order.
template <class P>
__device__ Pixel<P::kLoad> fetch_row(cudaTextureObject_t texture, float u, float v) {
  if constexpr (P::kLoad == 1) {
    return {tex2D<float>(texture, u, v)};
  } else if constexpr (P::kLoad == 2) {
    const float2 t = tex2D<float2>(texture, u, v);
    return {t.x, t.y};
  } else {
    const float4 t = tex2D<float4>(texture, u, v);
    return {t.x, t.y, t.z, t.w};
  }
}

// A coordinate for the texture unit: clamped to the frame's surroundings and rounded to the 1/256 pixel that
// the unit's weights resolve, so that the rounding is ours and to nearest.
__device__ float texture_coordinate(int64_t q32, int size) {
  q32 += 1 << 23;
  const int whole = min(max(static_cast<int>(q32 >> 32), -1), size);
  return static_cast<float>(whole * 256 + static_cast<int>(static_cast<uint32_t>(q32) >> 24)) * (1.0f / 256);
}

// warp_pixel() with the texture unit's filter where that means the same: wherever taps are clamped or inside,
// the picture covers the pixel, and no alpha weighs the colours. The unit filters along rows only: its 8-bit
// weights cost up to half a code value there, and one more in the other direction would be too much.
template <class P>
__device__ uint32_t warp_pixel_textured(const KernelPlane& k, const Source& s, int64_t x, int64_t y) {
  const PlanePlan& p = k.plan;
  const bool clamped = p.outside == Outside::blend ? covered(p, x, y) : p.outside == Outside::replicate;
  const bool inside = x >= kHalfPixel && y >= kHalfPixel && x < (int64_t{p.src_w} << 32) - kHalfPixel &&
                      y < (int64_t{p.src_h} << 32) - kHalfPixel;
  if (clamped || (inside && p.outside != Outside::blend)) {
    const float u = texture_coordinate(x, p.src_w);
    const Cell row = cell_of(y - kHalfPixel);
    const float v = static_cast<float>(min(max(row.index, -1), p.src_h)) + 0.5f;
    const auto above = fetch_row<P>(k.texture, u, v), below = fetch_row<P>(k.texture, u, v + 1.0f);
    uint32_t word = 0;
    for (int c = 0; c < P::kLoad; ++c)
      word |= __float2uint_rn(lerp(above.c[c], below.c[c], row.fraction) * 255.0f) << (8 * c);
    if constexpr (P::kLoad < 4) return word;
    word = permute(word, p.load_select) | p.load_or;
    if constexpr (!P::kAlpha) return word;
    // Opaque all round: premultiplying changes nothing. Alpha is stored first or last.
    constexpr int kLast = P::kLoad - 1;
    const bool first = (p.load_select >> 12) == 0;
    const float least = first ? fminf(above.c[0], below.c[0]) : fminf(above.c[kLast], below.c[kLast]);
    if (p.load_or || least == 1.0f) return word;
  }
  return warp_pixel<P, Interpolation::bilinear>(p, s, x, y);
}

template <class P>
__device__ void store_cell(const KernelPlane& k, const uint32_t (&words)[kCell<P>], int i, int j) {
  uint8_t* at = k.dst + j * k.dst_pitch + i * P::kStore;
  if (k.whole_words && i + kCell<P> <= k.plan.dst_w) {
    auto* out = reinterpret_cast<uint32_t*>(at);
    if constexpr (P::kStore == 1) {
      *out = words[0] | words[1] << 8 | words[2] << 16 | words[3] << 24;
    } else if constexpr (P::kStore == 2) {
      *out = words[0] | words[1] << 16;
    } else if constexpr (P::kStore == 3) {
      out[0] = words[0] | words[1] << 24;
      out[1] = words[1] >> 8 | words[2] << 16;
      out[2] = words[2] >> 16 | words[3] << 8;
    } else {
      *out = words[0];
    }
    return;
  }
  for (int n = 0; n < kCell<P> && i + n < k.plan.dst_w; ++n)
    for (int b = 0; b < P::kStore; ++b) *at++ = static_cast<uint8_t>(words[n] >> (8 * b));
}

template <class P, Interpolation I, bool Textured>
__device__ void warp_block(const KernelPlane& k, int block) {
  const PlanePlan& p = k.plan;
  const Source s{k.src, k.src_pitch};
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int cell_x = (warp % 2) * kWarpX + lane % kWarpX, cell_y = (warp / 2) * kWarpY + lane / kWarpX;
  const int i = ((block % k.blocks_x) * kBlockX + cell_x) * kCell<P>;
  const int j0 = (block / k.blocks_x) * kBlockY * kRows<P> + cell_y;
  if (i >= p.dst_w) return;
#pragma unroll
  for (int row = 0; row < kRows<P>; ++row) {
    const int j = j0 + row * kBlockY;
    if (j >= p.dst_h) return;
    int64_t x = source_x(p, i, j), y = source_y(p, i, j);
    uint32_t words[kCell<P>];
#pragma unroll
    for (int n = 0; n < kCell<P>; ++n, x += p.x_per_i, y += p.y_per_i) {
      uint32_t word;
      if constexpr (Textured)
        word = warp_pixel_textured<P>(k, s, x, y);
      else
        word = warp_pixel<P, I>(p, s, x, y);
      if constexpr (P::kStore >= 3) word = store_word(p, word);
      if constexpr (P::kStore == 3) word &= 0xffffff;
      words[n] = word;
    }
    store_cell<P>(k, words, i, j);
  }
}

// `Others` is the pipe of all planes but the first; void in kernels for packed formats, which have one plane.
template <class First, class Others, Interpolation I, bool Textured>
__global__ void __launch_bounds__(kThreads) warp_kernel(const __grid_constant__ KernelArgs args) {
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Others>) {
    if (args.planes > 1 && block >= args.plane[1].first_block) {
      const KernelPlane& k =
          args.planes > 2 && block >= args.plane[2].first_block ? args.plane[2] : args.plane[1];
      warp_block<Others, I, Textured>(k, block - k.first_block);
      return;
    }
  }
  warp_block<First, I, Textured>(args.plane[0], block);
}

using Kernel = void (*)(KernelArgs);

template <class First, class Others>
Kernel kernel_of(Interpolation interpolation, bool textures) {
  switch (interpolation) {
    case Interpolation::nearest:
      return warp_kernel<First, Others, Interpolation::nearest, false>;
    case Interpolation::bilinear:
      if constexpr (kTexturePath<First>)
        if (textures) return warp_kernel<First, Others, Interpolation::bilinear, true>;
      return warp_kernel<First, Others, Interpolation::bilinear, false>;
    case Interpolation::bicubic:
      break;
  }
  return warp_kernel<First, Others, Interpolation::bicubic, false>;
}

template <PipeId>
struct PipeOf;
#define CUDAWARP_PIPE_OF(name, load, channels, alpha, store) \
  template <>                                                \
  struct PipeOf<PipeId::name> {                              \
    using Type = Pipe<load, channels, alpha, store>;         \
  };
CUDAWARP_PIPES(CUDAWARP_PIPE_OF)
#undef CUDAWARP_PIPE_OF

using OneByte = PipeOf<PipeId::one>::Type;
using TwoBytes = PipeOf<PipeId::two>::Type;

Kernel kernel_of(const KernelArgs& args, Interpolation interpolation, bool textures) {
  if (args.planes == 2 && args.plane[1].plan.pipe == PipeId::two)
    return kernel_of<OneByte, TwoBytes>(interpolation, textures);
  switch (args.plane[0].plan.pipe) {
#define CUDAWARP_CASE(name, load, channels, alpha, store)        \
  case PipeId::name: {                                           \
    using P = PipeOf<PipeId::name>::Type;                        \
    using Others = std::conditional_t<load == 1, OneByte, void>; \
    return kernel_of<P, Others>(interpolation, textures);        \
  }
    CUDAWARP_PIPES(CUDAWARP_CASE)
#undef CUDAWARP_CASE
  }
  return nullptr;
}

int bytes_stored(PipeId pipe) {
  switch (pipe) {
#define CUDAWARP_CASE(name, load, channels, alpha, store) \
  case PipeId::name:                                      \
    return store;
    CUDAWARP_PIPES(CUDAWARP_CASE)
#undef CUDAWARP_CASE
  }
  return 0;
}

// Blocks that cover the plane, and how they lie: as kCell and kRows say.
int lay_out_blocks(KernelPlane& k) {
  const int cell = pixels_per_cell(bytes_stored(k.plan.pipe));
  const int width = kBlockX * cell, height = kBlockY * (kPixelsPerThread / cell);
  k.blocks_x = (k.plan.dst_w + width - 1) / width;
  return k.blocks_x * ((k.plan.dst_h + height - 1) / height);
}

}  // namespace

cudaError_t launch_warp(KernelArgs& args, Interpolation interpolation, bool textures, cudaStream_t stream) {
  int blocks = 0;
  for (int n = 0; n < args.planes; ++n) {
    args.plane[n].first_block = blocks;
    blocks += lay_out_blocks(args.plane[n]);
  }
  kernel_of(args, interpolation, textures)<<<blocks, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

bool has_texture_path(PipeId pipe) {
  switch (pipe) {
#define CUDAWARP_CASE(name, load, channels, alpha, store) \
  case PipeId::name:                                      \
    return kTexturePath<PipeOf<PipeId::name>::Type>;
    CUDAWARP_PIPES(CUDAWARP_CASE)
#undef CUDAWARP_CASE
  }
  return false;
}

cudaError_t probe_kernels() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, warp_kernel<OneByte, OneByte, Interpolation::nearest, false>);
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp by texture gathers: one fetch gives the four taps of a bilinear pixel as they are stored, clamped
// to the picture or from a picture that repeats, and the weights are those of blend() (integers.h). A warp
// does all its pixels so, and those of the picture's edges once more; where alpha weighs, by loads.
#include "gather.cuh"
#include "ptx.cuh"

namespace cudawarp {
namespace {

// How pixels of so many bytes are shared out among the threads of a block.
template <int Bytes>
struct Cells {
  static __device__ int column(int warp, int lane) {
    return Bytes == 4   ? warp * 16 + lane % 16
           : Bytes == 2 ? warp * 16 + lane % 8 * 2
                        : warp % 2 * 32 + lane % 8;
  }
  static __device__ int row(int warp, int lane) {
    return Bytes == 4 ? lane / 16 : Bytes == 2 ? lane / 8 : warp / 2 * 4 + lane / 8;
  }
};

template <class F>
struct Kind {
  static constexpr Packing kPacking = F::kPacking;
  static constexpr int kPlanes =
      kPacking == Packing::samples8 || kPacking == Packing::samples16 ? F::kChannels : 1;
  static constexpr int kBytes = kPacking == Packing::samples8                                   ? 1
                                : kPacking == Packing::samples16 || kPacking == Packing::bytes2 ? 2
                                                                                                : 4;
};

// The pixels of a thread, (i, j) the first of them; the whole warp.
template <class F>
__device__ void store(const KernelPass& k, int channel, int i, int j, const uint32_t (&pixel)[kMaxPixels]) {
  constexpr int kBytes = Kind<F>::kBytes;
  const PassPlan& p = k.plan;
  uint8_t* const plane = k.dst.data[channel];
  const int64_t pitch = k.dst.pitch[channel];
  uint8_t* at = plane + pitch * static_cast<uint32_t>(j) + static_cast<uint32_t>(i) * kBytes;
  if constexpr (kBytes == 4) {
    if (i >= p.dst_w) return;
    const bool all = j + 2 * (kMaxPixels - 1) < p.dst_h;
#pragma unroll
    for (int n = 0; n < kMaxPixels; ++n, at += 2 * pitch)
      if (all || j + 2 * n < p.dst_h) *word_at(at) = pixel[n];
  } else if constexpr (kBytes == 2) {
#pragma unroll
    for (int n = 0; n < kMaxPixels; n += 2, at += 4 * pitch) {
      const uint32_t word = __byte_perm(pixel[n], pixel[n + 1], 0x5410);
      if (j + 2 * n >= p.dst_h) return;
      if (i + 1 < p.dst_w)
        *word_at(at) = word;
      else if (i < p.dst_w)
        *reinterpret_cast<uint16_t*>(at) = static_cast<uint16_t>(word);
    }
  } else {
    const int lane = threadIdx.x % 32;
    const uint32_t word = exchange(pixel[0] | pixel[1] << 8 | pixel[2] << 16 | pixel[3] << 24, lane);
    const int first = i - lane % 8 + lane % 8 * 4;
    if (j >= p.dst_h) return;
    at += first - i;
    if (first + 3 < p.dst_w)
      *word_at(at) = word;
    else if (first < p.dst_w)
      write_bytes(at, word, p.dst_w - first);
  }
}

// ---- edges

// Whether an output pixel is the border, by its corner.
__device__ bool is_beyond(const KernelPass& k, int corner_x, int corner_y) {
  return corner_x < k.out_left || corner_x > k.out_right || corner_y < k.out_top || corner_y > k.out_bottom;
}

// Whether a warp lies beyond one side of the picture, where that is the border.
__device__ bool is_warp_beyond(const KernelPass& k, const int64_t (&x)[kMaxPixels],
                               const int64_t (&y)[kMaxPixels]) {
  bool beyond[4] = {true, true, true, true};
#pragma unroll
  for (int n = 0; n < kMaxPixels; ++n) {
    const int corner_x = static_cast<int>(x[n] >> 32);
    const int corner_y = static_cast<int>(y[n] >> 32);
    beyond[0] = beyond[0] && corner_x < k.out_left, beyond[1] = beyond[1] && corner_x > k.out_right;
    beyond[2] = beyond[2] && corner_y < k.out_top, beyond[3] = beyond[3] && corner_y > k.out_bottom;
  }
  return __all_sync(~0u, beyond[0] || beyond[1] || beyond[2] || beyond[3]);
}

template <class F>
__device__ void fill_border(const KernelPass& k, int i, int j) {
  for (int c = 0; c < Kind<F>::kPlanes; ++c) {
    const uint32_t border = k.border_stored[c], pixel[kMaxPixels] = {border, border, border, border};
    store<F>(k, c, i, j, pixel);
  }
}

// A corner along an axis of n pixels; outside, it is mirrored at the edge pixel.
__device__ int64_t mirrored_corner(int64_t corner, int n) {
  constexpr int64_t kPixel = 2 * kHalfPixel;
  return mirrored_once(corner - kPixel, n) + kPixel;
}

// Those of a thread's pixels that are the border.
template <class F>
__device__ void set_border(const KernelPass& k, int channel, int i, int j, uint32_t (&pixel)[kMaxPixels]) {
  if (k.plan.outside == Outside::mirror_101) return;
  const int64_t x = source_x(k.plan, i, j) + kHalfPixel, y = source_y(k.plan, i, j) + kHalfPixel;
#pragma unroll
  for (int n = 0; n < kMaxPixels; ++n)
    if (is_beyond(k, static_cast<int>((x + k.x[n]) >> 32), static_cast<int>((y + k.y[n]) >> 32)))
      pixel[n] = k.border_stored[channel];
}

// Whether a pixel is more than the border and than its taps as a texture gives them; (x, y) is its corner.
__device__ bool is_edge(const KernelPass& k, int64_t x, int64_t y) {
  const int corner_x = static_cast<int>(x >> 32), corner_y = static_cast<int>(y >> 32);
  return (corner_x < k.edge_left || corner_x > k.edge_right || corner_y < k.edge_top ||
          corner_y > k.edge_bottom) &&
         !is_beyond(k, corner_x, corner_y);
}

// Taps outside the picture are the border.
__device__ void set_border_taps(const KernelPass& k, int channel, int u, int v, uint4& t) {
  const PassPlan& p = k.plan;
  const auto inside = [](int i, int n) { return static_cast<uint32_t>(i) < static_cast<uint32_t>(n); };
  const bool left = inside(u - 1, p.src_w), right = inside(u, p.src_w);
  const bool above = inside(v - 1, p.src_h), below = inside(v, p.src_h);
  const uint32_t border = k.border_texel[channel];
  t.w = left && above ? t.w : border, t.z = right && above ? t.z : border;
  t.x = left && below ? t.x : border, t.y = right && below ? t.y : border;
}

// Such a pixel.
template <class F>
__device__ uint32_t edge_pixel(const KernelPass& k, int channel, int64_t x, int64_t y) {
  const PassPlan& p = k.plan;
  const int u = static_cast<int>(x >> 32), v = static_cast<int>(y >> 32);
  const int64_t at_x = x - kHalfPixel, at_y = y - kHalfPixel;
  const bool mixes = p.outside == Outside::blend && !covered(p, at_x, at_y);
  if (max(abs(u), abs(v)) > k.most || p.outside == Outside::mirror_101 || (mixes && k.copy))
    return pixel_by_loads<F>(k, channel, at_x, at_y);
  const int64_t corner_x[] = {x}, corner_y[] = {y};
  uint4 gathered[1];
  gather(k.texture[channel], corner_x, corner_y, k.repeats, k.scale_x, k.scale_y, gathered);
  uint4& taps = gathered[0];
  if (p.outside == Outside::border_taps) set_border_taps(k, channel, u, v, taps);
  if (k.copy) return copied<F>(k, taps);
  if (!mixes && is_opaque<F>(k, taps)) return blend<F>(k, taps, x, y);
  return mixed_blend<F>(k, channel, taps, at_x - kHalfPixel, at_y - kHalfPixel,
                        mixes ? coverage(p, at_x, at_y) : 1.0f);
}

// Writes these pixels, once the warp has written all. Not with the others, since that takes more registers of
// all, and not by the lanes that they are of, since these are few.
template <class F>
__device__ void redo_edges(const KernelPass& k, int2 block) {
  constexpr int kBytes = Kind<F>::kBytes;
  using Stored =
      std::conditional_t<kBytes == 4, uint32_t, std::conditional_t<kBytes == 2, uint16_t, uint8_t>>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto column = [&](int pixel) {
    return block.x * kGatherX + Cells<kBytes>::column(warp, pixel % 32) + k.column[pixel / 32];
  };
  const auto row = [&](int pixel) {
    return block.y * kGatherY + Cells<kBytes>::row(warp, pixel % 32) + k.row[pixel / 32];
  };
  const auto corner_x = [&](int i, int j) { return source_x(k.plan, i, j) + kHalfPixel; };
  const auto corner_y = [&](int i, int j) { return source_y(k.plan, i, j) + kHalfPixel; };
  uint8_t* const queue = shared_memory() + warp * 32 * kMaxPixels;
  int count = 0;
#pragma unroll 1
  for (int pixel = lane; pixel < 32 * kMaxPixels; pixel += 32) {
    const int i = column(pixel), j = row(pixel);
    const bool edge = i < k.plan.dst_w && j < k.plan.dst_h && is_edge(k, corner_x(i, j), corner_y(i, j));
    const uint32_t edges = __ballot_sync(~0u, edge);
    if (edge) queue[count + __popc(edges & ((1u << lane) - 1))] = static_cast<uint8_t>(pixel);
    count += __popc(edges);
  }
  __syncwarp();
#pragma unroll 1
  for (int n = lane; n < count * Kind<F>::kPlanes; n += 32) {
    const int c = Kind<F>::kPlanes == 1 ? 0 : n / count, pixel = queue[n - c * count];
    const int i = column(pixel), j = row(pixel);
    reinterpret_cast<Stored*>(k.dst.row(c, j))[i] =
        static_cast<Stored>(edge_pixel<F>(k, c, corner_x(i, j), corner_y(i, j)));
  }
}

// Pixels that alpha weighs.
template <class F>
__device__ void warp_alpha(const KernelPass& k, int i, int j) {
  const int64_t x = source_x(k.plan, i, j), y = source_y(k.plan, i, j);
  bool inside = true;
#pragma unroll
  for (int n = 0; n < kMaxPixels; ++n) inside = inside && is_inside(k.plan, x + k.x[n], y + k.y[n]);
  if (inside)
    warp_together<F, Interpolation::bilinear>(k, i, j, x, y);
  else
    warp_singly<F, Interpolation::bilinear, false, false>(k, i, j, x, y);
}

// The pixels of a thread, about these corners. False where alpha weighs some of the warp's.
template <class F, bool Edge>
__device__ bool warp_corners(const KernelPass& k, int i, int j, const int64_t (&x)[kMaxPixels],
                             const int64_t (&y)[kMaxPixels]) {
#pragma unroll
  for (int c = 0; c < Kind<F>::kPlanes; ++c) {
    uint32_t pixel[kMaxPixels];
    uint4 taps[kMaxPixels];
    gather(k.texture[c], x, y, k.repeats, k.scale_x, k.scale_y, taps);
    if (k.copy) {
#pragma unroll
      for (int n = 0; n < kMaxPixels; ++n) pixel[n] = copied<F>(k, taps[n]);
    } else {
      bool opaque = true;
#pragma unroll
      for (int n = 0; n < kMaxPixels; ++n) {
        opaque = opaque && is_opaque<F>(k, taps[n]);
        pixel[n] = blend<F>(k, taps[n], x[n], y[n]);
      }
      if (F::kAlpha && !__all_sync(~0u, opaque)) return false;
    }
    if constexpr (Edge) set_border<F>(k, c, i, j, pixel);
    store<F>(k, c, i, j, pixel);
  }
  return true;
}

// The same where not all lie inside.
template <class F>
__device__ void warp_edge(const KernelPass& k, int2 block, int i, int j, int64_t (&x)[kMaxPixels],
                          int64_t (&y)[kMaxPixels]) {
  if (is_warp_beyond(k, x, y)) return fill_border<F>(k, i, j);
  bool redo = k.plan.outside != Outside::mirror_101;
  if (!redo) {
#pragma unroll
    for (int n = 0; n < kMaxPixels; ++n) {
      redo = redo || is_edge(k, x[n], y[n]);
      x[n] = mirrored_corner(x[n], k.plan.src_w), y[n] = mirrored_corner(y[n], k.plan.src_h);
    }
    redo = __any_sync(~0u, redo);
  }
  if (!warp_corners<F, true>(k, i, j, x, y))
    warp_alpha<F>(k, i, j);
  else if (redo)
    redo_edges<F>(k, block);
}

template <class F>
__device__ void warp_gathered(const KernelArgs& args, int pass, int2 block) {
  constexpr int kBytes = Kind<F>::kBytes;
  const KernelPass& k = args.pass[pass];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int i = block.x * kGatherX + Cells<kBytes>::column(warp, lane);
  const int j = block.y * kGatherY + Cells<kBytes>::row(warp, lane);
  // A gather takes the four taps about a corner of pixels; the first is that below the point less 1/2.
  int64_t x[kMaxPixels], y[kMaxPixels];
  const auto column = static_cast<uint32_t>(i), row = static_cast<uint32_t>(j);
  x[0] = k.corner_x + k.plan.x_per_i * column + k.plan.x_per_j * row;
  y[0] = k.corner_y + k.plan.y_per_i * column + k.plan.y_per_j * row;
#pragma unroll
  for (int n = 1; n < kMaxPixels; ++n) x[n] = x[0] + k.x[n], y[n] = y[0] + k.y[n];
  bool inside = true;
#pragma unroll
  for (int n = 0; n < kMaxPixels; ++n) {
    if (kBytes != 2 && n != 0 && n != kMaxPixels - 1) continue;  // between two on a line
    const int u = static_cast<int>(x[n] >> 32), v = static_cast<int>(y[n] >> 32);
    inside = inside && u >= k.left && u <= k.right && v >= k.top && v <= k.bottom;
  }
  if (!__all_sync(~0u, inside))
    warp_edge<F>(args.pass[pass + zero()], block, i, j, x, y);
  else if (!warp_corners<F, false>(k, i, j, x, y))
    warp_alpha<F>(args.pass[pass + zero()], i, j);
}

// Blocks at once that leave a thread 40 registers; as many as fit where these are fewer.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kBlocks = 8;
#else
constexpr int kBlocks = 12;
#endif

template <class First, class Chroma>
__global__ void __launch_bounds__(kGatherThreads, kBlocks)
    gather_kernel(const __grid_constant__ KernelArgs args) {
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Chroma>) {
    const KernelPass& chroma = args.pass[1];
    if (args.passes > 1 && block >= chroma.first_block)
      return warp_gathered<Chroma>(args, 1, block_at(chroma, block - chroma.first_block));
  }
  warp_gathered<First>(args, 0, block_at(args.pass[0], block));
}

template <FetchId Id>
Kernel choose_gather(const KernelArgs& args) {
  using First = typename FetchOf<Id>::Type;
  if constexpr (First::kChannels > 1)
    return gather_kernel<First, void>;
  else if (is_side_by_side(args))
    return gather_kernel<First, typename ChromaOf<First>::Pair>;
  else
    return gather_kernel<First, typename ChromaOf<First>::Planes>;
}

}  // namespace

Kernel gather_kernel_of(const KernelArgs& args) {
  switch (args.pass[0].plan.fetch) {
    case FetchId::samples8_1:
      return choose_gather<FetchId::samples8_1>(args);
    case FetchId::samples8_3:
      return choose_gather<FetchId::samples8_3>(args);
    case FetchId::samples16_1:
      return choose_gather<FetchId::samples16_1>(args);
    case FetchId::samples16_3:
      return choose_gather<FetchId::samples16_3>(args);
    case FetchId::bytes4:
      return choose_gather<FetchId::bytes4>(args);
    case FetchId::bytes4_alpha:
      return choose_gather<FetchId::bytes4_alpha>(args);
    default:
      return nullptr;
  }
}

}  // namespace cudawarp

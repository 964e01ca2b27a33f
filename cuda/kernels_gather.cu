// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp by texture gathers: one fetch gives the four taps of a bilinear pixel as they are stored, clamped
// to the picture, and the weights are those of blend() (integers.h). Where gathers are not right, at some
// borders or where alpha weighs, a thread does its pixels by loads.
#include "ptx.cuh"
#include "warp_kernel.cuh"

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

// The weights of the taps as two pairs of 16-bit lanes: w00 and w10, w01 and w11.
struct PackedWeights {
  uint32_t above, below;
};

__device__ PackedWeights packed(const Weights& w) {
  return {w.w00 + w.w10 * 65536, w.w01 + w.w11 * 65536};
}

// Taps as uint4 has them from a gather.
__device__ uint32_t t00(const uint4& taps) {
  return taps.w;
}
__device__ uint32_t t10(const uint4& taps) {
  return taps.z;
}
__device__ uint32_t t01(const uint4& taps) {
  return taps.x;
}
__device__ uint32_t t11(const uint4& taps) {
  return taps.y;
}

__device__ uint4 gather(cudaTextureObject_t texture, int64_t x, int64_t y) {
  return tex2Dgather<uint4>(texture, static_cast<float>(static_cast<int>(x >> 32)),
                            static_cast<float>(static_cast<int>(y >> 32)), 0);
}

// Byte 2 of a and b side by side.
__device__ uint32_t third_bytes(uint32_t a, uint32_t b) {
  return __byte_perm(a, b, 0x0062);
}

// The channels of four taps weighed, as kRoundBytes says, and put together: `join` takes channels 0, 1, 4 and
// 5 for the four.
template <int N>
__device__ uint32_t weigh_bytes(const uint4& t, const PackedWeights& w, uint32_t join) {
  const uint32_t above = __byte_perm(t00(t), t10(t), 0x5140), below = __byte_perm(t01(t), t11(t), 0x5140);
  const uint32_t c0 = __dp2a_lo(w.above, above, __dp2a_lo(w.below, below, kRoundBytes));
  const uint32_t c1 = __dp2a_hi(w.above, above, __dp2a_hi(w.below, below, kRoundBytes));
  if constexpr (N == 2) return third_bytes(c0, c1);
  const uint32_t above2 = __byte_perm(t00(t), t10(t), 0x7362), below2 = __byte_perm(t01(t), t11(t), 0x7362);
  const uint32_t c2 = __dp2a_lo(w.above, above2, __dp2a_lo(w.below, below2, kRoundBytes));
  const uint32_t c3 = __dp2a_hi(w.above, above2, __dp2a_hi(w.below, below2, kRoundBytes));
  return __byte_perm(third_bytes(c0, c1), third_bytes(c2, c3), join);
}

// A pixel as it is stored, or a sample, from taps that are opaque.
template <class F>
__device__ uint32_t blend(const KernelPass& k, const uint4& t, int64_t x, int64_t y) {
  const Weights w = integer_weights<F::kBytes>(x, y);
  if constexpr (F::kPacking == Packing::bytes4) {
    return weigh_bytes<4>(t, packed(w), k.join) | k.set;
  } else if constexpr (F::kPacking == Packing::bytes2) {
    return permute(weigh_bytes<2>(t, packed(w), 0), k.select);
  } else if constexpr (F::kPacking == Packing::words2) {
    const auto word = [&](int shift) {
      const uint32_t sum = weighed(w, t00(t) >> shift & 0xffff, t10(t) >> shift & 0xffff,
                                   t01(t) >> shift & 0xffff, t11(t) >> shift & 0xffff);
      return rounded<false>(k.plan, sum);
    };
    return word(0) | word(16) << 16;
  } else {
    return rounded<F::kBytes>(k.plan, weighed(w, t00(t), t10(t), t01(t), t11(t)));
  }
}

// Whatever the place and the taps.
template <class F>
__device__ __noinline__ uint32_t pixel_by_loads(const KernelPass& k, int channel, int64_t x, int64_t y) {
  if (k.copy)
    return stored<F>(k.plan, channel,
                     warp_pixel<F, Interpolation::nearest, false, false>(k.plan, k.src, x, y));
  return stored<F>(k.plan, channel,
                   warp_pixel<F, Interpolation::bilinear, false, false>(k.plan, k.src, x, y));
}

// Where a gather reads tap i and its successor beyond the picture, by a border mode: the pixel above the
// corner that it takes them about, and whether they come in reverse. False where they are no neighbours, or
// far away.
__device__ bool fold(int i, int n, Outside outside, int& corner, bool& reverse) {
  corner = i + 1, reverse = false;
  if (outside == Outside::blend || outside == Outside::replicate || (i >= 0 && i < n - 1)) return true;
  switch (outside) {
    case Outside::mirror:
      if (i == -1 || i == n - 1) return true;  // the same pixel twice
      reverse = true;
      corner = i < 0 ? -1 - i : 2 * n - 1 - i;
      return corner > 0 && corner < n;
    case Outside::mirror_101:
      reverse = true;
      corner = i < 0 ? -i : 2 * n - 2 - i;
      return corner > 0 && corner < n;
    case Outside::wrap:
      corner = i < 0 ? i + n + 1 : i - n + 1;
      return corner > 0 && corner < n;
    default:
      return false;
  }
}

// A pixel that may lie outside the picture, or have taps there.
template <class F>
__device__ uint32_t edge_pixel(const KernelPass& k, int channel, int64_t x, int64_t y) {
  const PassPlan& p = k.plan;
  const int64_t corner_x = x - kHalfPixel, corner_y = y - kHalfPixel;
  const int i = static_cast<int>(corner_x >> 32), j = static_cast<int>(corner_y >> 32);
  float cover = 1.0f;
  if (p.outside == Outside::blend && !covered(p, x, y)) cover = coverage(p, x, y);
  const bool beyond = i < -1 || i >= p.src_w || j < -1 || j >= p.src_h;
  if (cover == 0.0f || (p.outside == Outside::border_taps && beyond))
    return stored<F>(p, channel, F::border_words(p));
  int u, v;
  bool reverse_x, reverse_y;
  const bool near_x = fold(i, p.src_w, p.outside, u, reverse_x);
  if (k.copy || !fold(j, p.src_h, p.outside, v, reverse_y) || !near_x)
    return pixel_by_loads<F>(k, channel, x, y);
  uint4 t = gather(k.texture[channel], int64_t{u} << 32, int64_t{v} << 32);
  if (reverse_x) t = {t.y, t.x, t.w, t.z};
  if (reverse_y) t = {t.w, t.z, t.y, t.x};
  if constexpr (F::kPacking == Packing::samples8 || F::kPacking == Packing::samples16) {
    using One = Fetch<F::kPacking, 1, false>;
    if (cover == 1.0f) return blend<F>(k, t, corner_x, corner_y);
    const uint32_t sum =
        weighed(integer_weights<F::kBytes>(corner_x, corner_y), t00(t), t10(t), t01(t), t11(t));
    const float value = lerp(p.border[channel], static_cast<float>(sum) * (1.0f / 65536), cover);
    return One::color(p, {value}).c[0];
  } else {
    typename F::Word word;
    if (!cudawarp::blend<F>(p, F::unpack(p, t00(t)), F::unpack(p, t10(t)), F::unpack(p, t01(t)),
                            F::unpack(p, t11(t)), corner_x, corner_y, cover, word))
      return pixel_by_loads<F>(k, channel, x, y);
    return stored<F>(p, channel, word);
  }
}

template <class F>
struct Kind {
  static constexpr Packing kPacking = F::kPacking;
  static constexpr bool kPlanes = kPacking == Packing::samples8 || kPacking == Packing::samples16;
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

// Pixels of a warp that the picture may not cover, or whose taps the border mode decides.
template <class F>
__device__ void warp_edge(const KernelPass& k, int i, int j, int64_t x, int64_t y) {
#pragma unroll 1
  for (int c = 0; c < (Kind<F>::kPlanes ? F::kChannels : 1); ++c) {
    uint32_t pixel[kMaxPixels];
#pragma unroll
    for (int n = 0; n < kMaxPixels; ++n) pixel[n] = edge_pixel<F>(k, c, x + k.x[n], y + k.y[n]);
    store<F>(k, c, i, j, pixel);
  }
}

// Pixels that alpha weighs.
template <class F>
__device__ void warp_alpha(const KernelPass& k, int i, int j, int64_t x, int64_t y) {
  bool inside = true;
#pragma unroll
  for (int n = 0; n < kMaxPixels; ++n) inside = inside && is_inside(k.plan, x + k.x[n], y + k.y[n]);
  if (inside)
    warp_together<F, Interpolation::bilinear>(k, i, j, x, y);
  else
    warp_singly<F, Interpolation::bilinear, false, false>(k, i, j, x, y);
}

template <class F>
__device__ void warp_gathered(const KernelArgs& args, int pass, int2 block) {
  constexpr Packing P = F::kPacking;
  constexpr int kBytes = Kind<F>::kBytes;
  const KernelPass& k = args.pass[pass];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int i = block.x * kGatherX + Cells<kBytes>::column(warp, lane);
  const int j = block.y * kGatherY + Cells<kBytes>::row(warp, lane);
  // A gather takes the four taps about a corner of pixels; the first is that below the point less 1/2.
  int64_t x[kMaxPixels], y[kMaxPixels];
  x[0] = source_x(k.plan, i, j) + kHalfPixel, y[0] = source_y(k.plan, i, j) + kHalfPixel;
#pragma unroll
  for (int n = 1; n < kMaxPixels; ++n) x[n] = x[0] + k.x[n], y[n] = y[0] + k.y[n];
  bool inside = true, beyond[4] = {true, true, true, true};
#pragma unroll
  for (int n = 0; n < kMaxPixels; ++n) {
    if (kBytes != 2 && n != 0 && n != kMaxPixels - 1) continue;  // between two on a line
    const int corner_x = static_cast<int>(x[n] >> 32), corner_y = static_cast<int>(y[n] >> 32);
    inside = inside && corner_x >= k.left && corner_x <= k.right && corner_y >= k.top && corner_y <= k.bottom;
  }
  if (!__all_sync(~0u, inside)) {
    const KernelPass& edge = args.pass[pass + zero()];
#pragma unroll
    for (int n = 0; n < kMaxPixels; ++n) {
      const int corner_x = static_cast<int>(x[n] >> 32), corner_y = static_cast<int>(y[n] >> 32);
      beyond[0] = beyond[0] && corner_x < edge.out_left, beyond[1] = beyond[1] && corner_x > edge.out_right;
      beyond[2] = beyond[2] && corner_y < edge.out_top, beyond[3] = beyond[3] && corner_y > edge.out_bottom;
    }
    if (!__all_sync(~0u, beyond[0] || beyond[1] || beyond[2] || beyond[3]))
      return warp_edge<F>(edge, i, j, x[0] - kHalfPixel, y[0] - kHalfPixel);
    for (int c = 0; c < (Kind<F>::kPlanes ? F::kChannels : 1); ++c) {
      const uint32_t border = edge.border_stored[c], pixel[kMaxPixels] = {border, border, border, border};
      store<F>(edge, c, i, j, pixel);
    }
    return;
  }

#pragma unroll
  for (int c = 0; c < (Kind<F>::kPlanes ? F::kChannels : 1); ++c) {
    uint32_t pixel[kMaxPixels];
    uint4 taps[kMaxPixels];
#pragma unroll
    for (int n = 0; n < kMaxPixels; ++n) taps[n] = gather(k.texture[c], x[n], y[n]);
    if (k.copy) {
#pragma unroll
      for (int n = 0; n < kMaxPixels; ++n)
        pixel[n] = P == Packing::bytes4   ? permute(t00(taps[n]), k.select) | k.set
                   : P == Packing::bytes2 ? permute(t00(taps[n]), k.select)
                                          : t00(taps[n]);
    } else {
      uint32_t opaque = ~0u;
#pragma unroll
      for (int n = 0; n < kMaxPixels; ++n) {
        if constexpr (F::kAlpha) opaque &= t00(taps[n]) & t10(taps[n]) & t01(taps[n]) & t11(taps[n]);
        pixel[n] = blend<F>(k, taps[n], x[n], y[n]);
      }
      if constexpr (F::kAlpha)
        if ((opaque & k.alpha) != k.alpha)
          return warp_alpha<F>(args.pass[pass + zero()], i, j, x[0] - kHalfPixel, y[0] - kHalfPixel);
    }
    store<F>(k, c, i, j, pixel);
  }
}

template <class First, class Chroma>
__global__ void __launch_bounds__(kGatherThreads) gather_kernel(const __grid_constant__ KernelArgs args) {
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

// Gathers about every corner of a small picture and beyond, beside loads.
template <class Word>
__global__ void probe_kernel(cudaTextureObject_t texture, const uint8_t* data, int pitch, int side,
                             int* wrong) {
  const int u = static_cast<int>(threadIdx.x) - 1, v = static_cast<int>(blockIdx.x) - 1;
  const auto word = [&](int x, int y) -> uint32_t {
    x = min(max(x, 0), side - 1), y = min(max(y, 0), side - 1);
    return reinterpret_cast<const Word*>(data + y * pitch)[x];
  };
  const uint4 t = gather(texture, int64_t{u} << 32, int64_t{v} << 32);
  if (t00(t) != word(u - 1, v - 1) || t10(t) != word(u, v - 1) || t01(t) != word(u - 1, v) ||
      t11(t) != word(u, v))
    *wrong = 1;
}

}  // namespace

cudaError_t probe_gather(cudaTextureObject_t texture, int bytes, const uint8_t* data, int pitch, int side,
                         int* wrong, cudaStream_t stream) {
  const auto kernel = bytes == 1   ? probe_kernel<uint8_t>
                      : bytes == 2 ? probe_kernel<uint16_t>
                                   : probe_kernel<uint32_t>;
  void* arguments[] = {&texture, &data, &pitch, &side, &wrong};
  return cudaLaunchKernel(kernel, side + 3, side + 3, arguments, 0, stream);
}

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

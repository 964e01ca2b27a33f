// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp by tiles of the source: a block copies what its taps can reach into shared memory, borders
// resolved, and every thread reads its many taps there. The filters of bytes in integers (integers.h). Pixels
// that the picture covers in part, or that alpha weighs, are done by loads.
#include "tile.cuh"

namespace cudawarp {
namespace {

// One row of taps from `at` on, weighed by pairs of 16-bit weights. `opaque` loses the bits that not all taps
// of 4 bytes have.
template <int Bytes, int Taps>
__device__ void weigh_row(const uint8_t* at, const uint32_t (&pairs)[Taps / 2], int (&line)[Bytes],
                          uint32_t& opaque) {
  each<Bytes>([&](int c) { line[c] = kLineStart; });
  if constexpr (Bytes == 4) {
    const uint32_t* texel = reinterpret_cast<const uint32_t*>(at);
    each<Taps / 2>([&](int q) {
      const uint32_t a = texel[2 * q], b = texel[2 * q + 1];
      const uint32_t low = __byte_perm(a, b, 0x5140), high = __byte_perm(a, b, 0x7362);
      line[0] = dot_low(pairs[q], low, line[0]), line[1] = dot_high(pairs[q], low, line[1]);
      line[2] = dot_low(pairs[q], high, line[2]), line[3] = dot_high(pairs[q], high, line[3]);
      opaque &= a & b;
    });
  } else {
    // Whole words, shifted to where the taps begin.
    constexpr int kWords = (Taps * Bytes + 3) / 4;
    const uint32_t shift = (static_cast<uint32_t>(__cvta_generic_to_shared(at)) & 3) * 8;
    const uint32_t* word = reinterpret_cast<const uint32_t*>(at - shift / 8);
    uint32_t taps[kWords];
    each<kWords>([&](int n) { taps[n] = __funnelshift_r(word[n], word[n + 1], shift); });
    if constexpr (Bytes == 2) {
      each<Taps / 2>([&](int q) {
        const uint32_t pair = __byte_perm(taps[q], 0, 0x3120);
        line[0] = dot_low(pairs[q], pair, line[0]), line[1] = dot_high(pairs[q], pair, line[1]);
      });
    } else {
      each<Taps / 2>([&](int q) {
        line[0] =
            q % 2 == 0 ? dot_low(pairs[q], taps[q / 2], line[0]) : dot_high(pairs[q], taps[q / 2], line[0]);
      });
    }
  }
}

// run<I>() for an interpolation I of those whose integer averages have so many taps.
template <int Taps, class Function>
__device__ auto of_footprint(Interpolation interpolation, const Function& run) {
  if constexpr (Taps <= 6)
    if (interpolation == Interpolation::bilinear) return run.template operator()<Interpolation::bilinear>();
  if constexpr (Taps == 6 || Taps == 8)
    if (interpolation == Interpolation::bicubic) return run.template operator()<Interpolation::bicubic>();
  constexpr Interpolation kElse = Taps >= 8 ? Interpolation::lanczos : Interpolation::bilinear;
  return run.template operator()<kElse>();
}

template <class F, int Taps>
__device__ typename F::Word by_loads(const KernelPass& k, int64_t x, int64_t y) {
  if (k.plan.shrinks)
    return of_footprint<Taps>(k.interpolation, [&]<Interpolation I>() {
      return warp_pixel<F, I, true, false>(k.plan, k.src, x, y);
    });
  constexpr Interpolation kPlain = Taps == 4 ? Interpolation::bicubic : Interpolation::lanczos;
  if constexpr (Taps <= 6) return warp_pixel<F, kPlain, false, false>(k.plan, k.src, x, y);
  return {};
}

// The pixel as it is stored, or one of its samples.
template <class F, int Taps>
__device__ __noinline__ uint32_t pixel_by_loads(const KernelPass& k, int channel, int64_t x, int64_t y) {
  return stored<F>(k.plan, channel, by_loads<F, Taps>(k, x, y));
}

// A pixel that alpha weighs, from the taps in shared memory. They begin with column `tile_x` and row `tile_y`
// of the source.
template <class F, int Taps>
__device__ __noinline__ uint32_t pixel_by_alpha(const KernelPass& k, const uint8_t* tile, int tile_x,
                                                int tile_y, int64_t x, int64_t y) {
  const PassPlan& p = k.plan;
  const Source source{{tile}, {k.box_pitch}};
  x -= int64_t{tile_x} << 32, y -= int64_t{tile_y} << 32;
  typename F::Value v{};
  if (p.shrinks)
    v = of_footprint<Taps>(k.interpolation,
                           [&]<Interpolation I>() { return sample<F, I, true, true>(p, source, x, y); });
  else if constexpr (Taps == 4)
    v = sample<F, Interpolation::bicubic, false, true>(p, source, x, y);
  else if constexpr (Taps == 6)
    v = sample<F, Interpolation::lanczos, false, true>(p, source, x, y);
  return static_cast<uint32_t>(packed(p, F::color(p, v)));
}

// What a column or a row of the tile weighs, in maps that keep columns and rows apart.
template <int Taps>
struct Entry {
  int first;
  uint32_t pairs[Taps / 2];  // of the weights, in 16 bits each
  int weight[Taps];
};

template <int Taps>
__device__ void set_pairs(const int (&weight)[Taps], uint32_t (&pairs)[Taps / 2]) {
  each<Taps / 2>([&](int q) { pairs[q] = __byte_perm(weight[2 * q], weight[2 * q + 1], 0x5410); });
}

// Columns first, then rows.
template <int Taps>
__device__ void fill_table(Entry<Taps>* table, const KernelPass& k, int left, int top) {
  const PassPlan& p = k.plan;
  const int columns = 8 * k.warps_x * k.pixels, n = threadIdx.x;
  if (n >= columns + 32 / k.warps_x) return;
  const bool row = n >= columns, along_x = row == k.swapped;
  const int i = row ? left : left + n, j = row ? top + n - columns : top;
  const int64_t at = along_x ? source_x(p, i, j) : source_y(p, i, j);
  Axis<Taps> axis{};
  if (p.shrinks) {
    const Footprint& f = p.footprint;
    const int64_t span = along_x ? f.span_x : f.span_y;
    const float half = along_x ? half_x(f) : half_y(f);
    axis = of_footprint<Taps>(k.interpolation,
                              [&]<Interpolation I>() { return footprint_axis<I, Taps>(at, span, half); });
  } else if constexpr (Taps <= 6) {
    axis = kernel_axis<Taps>(at);
  }
  Entry<Taps>& entry = table[n];
  entry.first = axis.first;
  set_pairs(axis.weight, entry.pairs);
  each<Taps>([&](int t) { entry.weight[t] = axis.weight[t]; });
}

template <class F, int Taps>
__device__ void warp_tile(const KernelPass& k, int2 block, uint8_t* tile) {
  constexpr Packing P = F::kPacking;
  constexpr int kBytes = P == Packing::samples8 ? 1 : P == Packing::bytes2 ? 2 : 4;
  const PassPlan& p = k.plan;
  const int left = block.x * 8 * k.warps_x * k.pixels, top = block.y * 32 / k.warps_x;
  const int64_t origin_x = source_x(p, left, top), origin_y = source_y(p, left, top);
  const auto whole_part = [](int64_t q32) { return static_cast<int>(q32 >> 32); };
  const int box_x = whole_part(origin_x + k.low_x + k.tap_x),
            box_y = whole_part(origin_y + k.low_y + k.tap_y);
  const bool whole =
      k.wide && box_x >= 0 && box_y >= 0 && box_x + k.box_w <= p.src_w && box_y + k.box_h <= p.src_h;
  const bool mixed =
      p.outside == Outside::blend && !(whole_part(origin_x + k.low_x + kHalfPixel) >= k.left &&
                                       whole_part(origin_x + k.high_x + kHalfPixel) <= k.right &&
                                       whole_part(origin_y + k.low_y + kHalfPixel) >= k.top &&
                                       whole_part(origin_y + k.high_y + kHalfPixel) <= k.bottom);
  const int tile_x = whole ? box_x & ~(16 / kBytes - 1) : box_x;

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_x = k.warps_x == 1 ? 0 : warp % 2 * 8, warp_y = k.warps_x == 1 ? warp : warp / 2;
  const int i = left + warp_x + lane % 8, j = top + warp_y * 4 + lane / 8, step = 8 * k.warps_x;
  const int shift = line_shift(k.interpolation);
  auto* const table = reinterpret_cast<Entry<Taps>*>(tile + k.table_at);
  if (k.table_at) fill_table(table, k, left, top);
#pragma unroll 1
  for (int channel = 0; channel < (kBytes == 1 ? F::kChannels : 1); ++channel) {
    if (channel > 0) __syncthreads();
    if (whole)
      copy_box(tile, k, channel, tile_x * kBytes, box_y, p.src_w * kBytes);
    else
      gather_box<kBytes>(tile, k, channel, box_x, box_y);
    __syncthreads();

    int64_t x = source_x(p, i, j), y = source_y(p, i, j);
    uint8_t* out = k.dst.row(channel, j) + i * kBytes;
    uint32_t bytes = 0;
#pragma unroll 1
    for (int n = 0; n < k.pixels; ++n, x += k.step_x, y += k.step_y, out += step * kBytes) {
      int first_x = 0, first_y = 0, weight[Taps];
      uint32_t pairs[Taps / 2];
      if (k.table_at) {
        const Entry<Taps>&column = table[warp_x + lane % 8 + n * step],
              &row = table[8 * k.warps_x * k.pixels + warp_y * 4 + lane / 8];
        const Entry<Taps>&u = k.swapped ? row : column, &v = k.swapped ? column : row;
        first_x = u.first, first_y = v.first;
        each<Taps / 2>([&](int q) { pairs[q] = u.pairs[q]; });
        each<Taps>([&](int t) { weight[t] = v.weight[t]; });
      } else if constexpr (Taps <= 6) {
        const Axis<Taps> u = kernel_axis<Taps>(x), v = kernel_axis<Taps>(y);
        first_x = u.first, first_y = v.first;
        set_pairs(u.weight, pairs);
        each<Taps>([&](int t) { weight[t] = v.weight[t]; });
      }
      const uint8_t* at = tile + (first_y - box_y) * k.box_pitch + (first_x - tile_x) * kBytes;
      int sum[kBytes];
      each<kBytes>([&](int c) { sum[c] = 0; });
      uint32_t opaque = ~0u;
      each<Taps>([&](int r) {
        int line[kBytes];
        weigh_row<kBytes, Taps>(at + r * k.box_pitch, pairs, line, opaque);
        each<kBytes>([&](int c) { sum[c] += weight[r] * (line[c] >> shift); });
      });
      uint32_t pixel = rounded_bytes<kBytes>(sum, 28 - shift);
      if constexpr (kBytes > 1) pixel = permute(pixel, k.select) | k.set;
      if (mixed && !covered(p, x, y)) {
        pixel = pixel_by_loads<F, Taps>(k, channel, x, y);
      } else if constexpr (F::kAlpha) {
        if ((opaque & k.alpha) != k.alpha) pixel = pixel_by_alpha<F, Taps>(k, tile, tile_x, box_y, x, y);
      }

      const int column = i + n * step;
      if constexpr (kBytes == 4) {
        if (column < p.dst_w && j < p.dst_h) *word_at(out) = pixel;
      } else if constexpr (kBytes == 2) {
        if (column < p.dst_w && j < p.dst_h) *reinterpret_cast<uint16_t*>(out) = static_cast<uint16_t>(pixel);
      } else if (k.pixels < 4) {
        if (column < p.dst_w && j < p.dst_h) *out = static_cast<uint8_t>(pixel);
      } else {
        bytes |= pixel << (8 * (n % 4));
        if (n % 4 < 3) continue;
        const uint32_t word = exchange(bytes, lane);
        bytes = 0;
        const int first = left + n / 4 * 32 + lane % 8 * 4;
        if (j >= p.dst_h) continue;
        uint8_t* const to = k.dst.row(channel, j) + first;
        if (first + 3 < p.dst_w)
          *word_at(to) = word;
        else if (first < p.dst_w)
          write_bytes(to, word, p.dst_w - first);
      }
    }
  }
}

template <class First, class Chroma, int Taps>
__global__ void __launch_bounds__(kTileThreads, 4) tile_kernel(const __grid_constant__ KernelArgs args) {
  uint8_t* const tile = shared_memory();
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Chroma>) {
    const KernelPass& chroma = args.pass[1];
    if (args.passes > 1 && block >= chroma.first_block)
      return warp_tile<Chroma, Taps>(chroma, block_at(chroma, block - chroma.first_block), tile);
  }
  warp_tile<First, Taps>(args.pass[0], block_at(args.pass[0], block), tile);
}

template <FetchId Id, int Taps>
Kernel choose_tile(const KernelArgs& args) {
  using First = typename FetchOf<Id>::Type;
  if constexpr (First::kChannels > 1)
    return tile_kernel<First, void, Taps>;
  else if (is_side_by_side(args))
    return tile_kernel<First, typename ChromaOf<First>::Pair, Taps>;
  else
    return tile_kernel<First, typename ChromaOf<First>::Planes, Taps>;
}

template <int Taps>
Kernel choose_tile(const KernelArgs& args) {
  switch (args.pass[0].plan.fetch) {
    case FetchId::samples8_1:
      return choose_tile<FetchId::samples8_1, Taps>(args);
    case FetchId::samples8_3:
      return choose_tile<FetchId::samples8_3, Taps>(args);
    case FetchId::bytes4:
      return choose_tile<FetchId::bytes4, Taps>(args);
    case FetchId::bytes4_alpha:
      return choose_tile<FetchId::bytes4_alpha, Taps>(args);
    default:
      return nullptr;
  }
}

}  // namespace

Kernel tile_kernel_of(const KernelArgs& args, int taps) {
  switch (taps) {
    case 4:
      return choose_tile<4>(args);
    case 6:
      return choose_tile<6>(args);
    default:
      return choose_tile<kMostTaps>(args);
  }
}

}  // namespace cudawarp

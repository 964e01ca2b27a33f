// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters of bytes in integers (integers.h) for maps that keep columns and rows apart, upright or turned by a
// quarter: bicubic, Lanczos and averages. A block copies what its taps can reach into shared memory, borders
// resolved; weighs every row of that for its columns, which serve all its pixels; and then weighs these lines
// for its rows.
//
// Across and along: the axes of the output that the columns of the source, and its rows, lie along.
#include "tile.cuh"

namespace cudawarp {
namespace {

template <class F>
struct Units {
  static constexpr int kTexel = F::kPacking == Packing::samples8 ? 1 : F::kPacking == Packing::bytes2 ? 2 : 4;
  static constexpr int kPackShift = kTexel == 1   ? 2
                                    : kTexel == 2 ? 1
                                                  : 0,
                       kPack = 1 << kPackShift;         // pixels of a word
  static constexpr int kWidth = kUprightUnits * kPack;  // pixels of a block across
  static constexpr int kPlanes = F::kPacking == Packing::samples8 ? F::kChannels : 1;
  static constexpr int kWeighed =
      kTexel == 4 && F::kAlpha ? 3 : 4;  // alpha of opaque tiles needs no weighing
};

// ---- weights

// run<I, Antialias>() for the filter that has so many taps.
template <int Taps, class Function>
__device__ auto of_filter(const KernelPass& k, const Function& run) {
  using enum Interpolation;
  if (!k.plan.shrinks) {
    if constexpr (Taps == 4) return run.template operator()<bicubic, false>();
    if constexpr (Taps == 6) return run.template operator()<lanczos, false>();
  }
  if constexpr (Taps <= 6)
    if (k.interpolation == bilinear) return run.template operator()<bilinear, true>();
  if constexpr (Taps >= 6)
    if (k.interpolation == bicubic) return run.template operator()<bicubic, true>();
  return run.template operator()<(Taps == 8 ? lanczos : Taps == 6 ? bicubic : bilinear), true>();
}

template <int Taps>
__device__ Axis<Taps> axis_at(const KernelPass& k, bool along_x, int64_t at) {
  const Footprint& f = k.plan.footprint;
  const int64_t span = along_x ? f.span_x : f.span_y;
  const float half = along_x ? half_x(f) : half_y(f);
  return of_filter<Taps>(k, [&]<Interpolation I, bool Antialias>() {
    if constexpr (Antialias)
      return footprint_axis<I, Taps>(at, span, half);
    else
      return kernel_axis<Taps>(at);
  });
}

// In shared memory: of columns the first tap's byte in a row of the tile, and weights of 16 bits; of rows the
// first tap's row of the tile, and weights.
template <int Taps>
struct Column {
  int at;
  uint32_t pairs[Taps / 2];
};
template <int Taps>
struct alignas(16) Row {
  int weight[Taps], at;
};

template <class F, int Taps>
__device__ void fill_table(const KernelPass& k, int left, int top, const Box& box, Column<Taps>* columns,
                           Row<Taps>* rows) {
  using U = Units<F>;
  const PassPlan& p = k.plan;
  for (int n = threadIdx.x; n < U::kWidth + k.rows; n += kUprightThreads) {
    const bool row = n >= U::kWidth;
    const int m = row ? n - U::kWidth : n;
    const int i = left + (row == k.swapped ? m : 0), j = top + (row == k.swapped ? 0 : m);
    const Axis<Taps> axis = axis_at<Taps>(k, !row, row ? source_y(p, i, j) : source_x(p, i, j));
    if (row) {
      rows[m].at = axis.first - box.y;
      each<Taps>([&](int t) { rows[m].weight[t] = axis.weight[t]; });
    } else {
      columns[m].at = (axis.first - box.tile_x) * U::kTexel;
      each<Taps / 2>([&](int q) {
        columns[m].pairs[q] = __byte_perm(axis.weight[2 * q], axis.weight[2 * q + 1], 0x5410);
      });
    }
  }
}

// ---- lines

// All rows of the tile, weighed for the columns of the block: four sums of 32 bits for each word of output,
// channels within pixels; of 4-byte texels in canonical order. False where this thread has met taps that are
// not opaque: those of the block are taps of some pixel, all of them.
template <class F, int Taps>
__device__ bool weigh_lines(const KernelPass& k, const uint8_t* tile, const Column<Taps>* columns,
                            uint8_t* lines) {
  using U = Units<F>;
  const int unit = threadIdx.x % kUprightUnits, shift = line_shift(k.interpolation);
  int at[U::kPack];
  uint32_t bits[U::kPack], pairs[U::kPack][Taps / 2];
  each<U::kPack>([&](int n) {
    const Column<Taps>& column = columns[unit * U::kPack + n];
    at[n] = column.at & ~3, bits[n] = column.at * 8;
    each<Taps / 2>([&](int q) { pairs[n][q] = column.pairs[q]; });
  });
  constexpr int kRows = kUprightThreads / kUprightUnits;
  uint32_t opaque = ~0u;
  for (int r = threadIdx.x / kUprightUnits; r < k.box_h; r += kRows) {
    const uint8_t* const row = tile + r * k.box_pitch;
    int line[4] = {kLineStart, kLineStart, kLineStart, kLineStart};
    each<U::kPack>([&](int n) {
      const auto* word = reinterpret_cast<const uint32_t*>(row + at[n]);
      if constexpr (U::kTexel == 4) {
        each<Taps / 2>([&](int q) {
          const uint32_t a = word[2 * q], b = word[2 * q + 1];
          if constexpr (F::kAlpha) opaque &= a & b;
          const uint32_t low = __byte_perm(a, b, k.low_cell), high = __byte_perm(a, b, k.high_cell);
          line[0] = dot_low(pairs[0][q], low, line[0]), line[1] = dot_high(pairs[0][q], low, line[1]);
          line[2] = dot_low(pairs[0][q], high, line[2]);
          if constexpr (U::kWeighed == 4) line[3] = dot_high(pairs[0][q], high, line[3]);
        });
      } else {
        constexpr int kWords = (Taps * U::kTexel + 3) / 4;  // from where the taps begin
        uint32_t taps[kWords];
        each<kWords>([&](int w) { taps[w] = __funnelshift_r(word[w], word[w + 1], bits[n]); });
        each<Taps / 2>([&](int q) {
          if constexpr (U::kTexel == 2) {
            const uint32_t pair = __byte_perm(taps[q], 0, 0x3120);
            line[2 * n] = dot_low(pairs[n][q], pair, line[2 * n]);
            line[2 * n + 1] = dot_high(pairs[n][q], pair, line[2 * n + 1]);
          } else {
            line[n] = q % 2 == 0 ? dot_low(pairs[n][q], taps[q / 2], line[n])
                                 : dot_high(pairs[n][q], taps[q / 2], line[n]);
          }
        });
      }
    });
    *reinterpret_cast<int4*>(lines + r * kLinePitch + unit * 16) =
        int4{line[0] >> shift, line[1] >> shift, line[2] >> shift, line[3] >> shift};
  }
  return !F::kAlpha || (opaque & k.alpha) == k.alpha;
}

// ---- pixels

// A word of output, from the sums of its channels, pixels from (i, j) on in a row.
template <class F>
__device__ uint32_t word_of(const KernelPass& k, int channel, const int (&sum)[4], bool mixed, int i, int j) {
  using U = Units<F>;
  const PassPlan& p = k.plan;
  const int shift = sum_shift(k.interpolation), round = (1 << (shift - 1)) + kLost;
  const auto code = [&](int c) { return c < U::kWeighed ? (sum[c] + round) >> shift : 255 - kMiddle; };
  uint32_t word = pack(code(0), code(1), code(2), code(3));
  if constexpr (U::kTexel == 2) word = permute(word, k.select);
  if constexpr (U::kTexel == 4) word = permute(word, k.cell_order) | k.set;
  if (!mixed) return word;
  each<U::kPack>([&](int n) {
    const int64_t x = source_x(p, i + n, j), y = source_y(p, i + n, j);
    if (covered(p, x, y)) return;
    Words<4> exact{};
    each<U::kTexel>([&](int c) {
      const int from = U::kTexel == 2 && (p.load_select & 1) != 0 ? 1 - c : c;
      exact.c[c] = static_cast<uint32_t>(sum[n * U::kTexel + from]);
    });
    const uint32_t pixel = mixed_pixel<F>(k, channel, exact, shift, coverage(p, x, y));
    const uint32_t mask = U::kTexel == 4 ? ~0u : ((1u << (8 * U::kTexel % 32)) - 1) << (8 * U::kTexel * n);
    word = (word & ~mask) | (pixel << (8 * U::kTexel * n) & mask);
  });
  return word;
}

// Words of a row from pixel (i, j) on, where the output has them.
template <class F>
__device__ void store_word(const KernelPass& k, int channel, int i, int j, uint32_t word) {
  using U = Units<F>;
  if (j >= k.plan.dst_h) return;
  uint8_t* const to = k.dst.row(channel, j) + i * U::kTexel;
  if (i + U::kPack <= k.plan.dst_w)
    *word_at(to) = word;
  else if (U::kPack > 1 && i < k.plan.dst_w)
    write_bytes(to, word, (k.plan.dst_w - i) * U::kTexel);
}

// Upright: words lie across, as lines do.
template <class F, int Taps>
__device__ void weigh_rows(const KernelPass& k, int channel, const uint8_t* lines, const Row<Taps>* rows,
                           bool mixed, int left, int top) {
  const int unit = threadIdx.x % kUprightUnits;
  for (int n = threadIdx.x / kUprightUnits; n < k.rows; n += kUprightThreads / kUprightUnits) {
    const uint8_t* line = lines + rows[n].at * kLinePitch + unit * 16;
    int sum[4] = {};
    each<Taps>([&](int t) {
      const int weight = rows[n].weight[t];
      const int4 l = *reinterpret_cast<const int4*>(line + t * kLinePitch);
      sum[0] += weight * l.x, sum[1] += weight * l.y, sum[2] += weight * l.z, sum[3] += weight * l.w;
    });
    const int i = left + unit * Units<F>::kPack, j = top + n;
    store_word<F>(k, channel, i, j, word_of<F>(k, channel, sum, mixed, i, j));
  }
}

// Turned by a quarter: words lie along.
template <class F, int Taps>
__device__ void weigh_columns(const KernelPass& k, int channel, const uint8_t* lines, const Row<Taps>* rows,
                              bool mixed, int left, int top) {
  using U = Units<F>;
  const int shift = k.row_shift - U::kPackShift, words = 1 << shift;  // of a row of output
  for (int n = threadIdx.x; n < words * U::kWidth; n += kUprightThreads) {
    const int first = (n & (words - 1)) * U::kPack, column = n >> shift;
    int sum[4] = {};
    each<U::kPack>([&](int m) {
      const Row<Taps>& row = rows[first + m];
      const uint8_t* line = lines + row.at * kLinePitch + column * U::kTexel * 4;
      each<Taps>([&](int t) {
        using Texel = std::conditional_t<U::kTexel == 4, int4, std::conditional_t<U::kTexel == 2, int2, int>>;
        const Texel texel = *reinterpret_cast<const Texel*>(line + t * kLinePitch);
        const int weight = row.weight[t];
        if constexpr (U::kTexel == 1) {
          sum[m] += weight * texel;
        } else {
          sum[2 * m] += weight * texel.x, sum[2 * m + 1] += weight * texel.y;
          if constexpr (U::kTexel == 4) sum[2] += weight * texel.z, sum[3] += weight * texel.w;
        }
      });
    });
    const int i = left + first, j = top + column;
    store_word<F>(k, channel, i, j, word_of<F>(k, channel, sum, mixed, i, j));
  }
}

// ---- alpha

template <class F, int Taps>
__device__ __noinline__ uint32_t pixel_by_alpha(const KernelPass& k, const uint8_t* tile, const Box& box,
                                                int64_t x, int64_t y) {
  const PassPlan& p = k.plan;
  if (p.outside == Outside::blend && !covered(p, x, y))
    return of_filter<Taps>(k, [&]<Interpolation I, bool Antialias>() {
      return static_cast<uint32_t>(packed(p, warp_pixel<F, I, Antialias, false>(p, k.src, x, y)));
    });
  const Source source{{tile}, {k.box_pitch}};
  x -= int64_t{box.tile_x} << 32, y -= int64_t{box.y} << 32;
  const int i = static_cast<int>((x + k.tap_x) >> 32), j = static_cast<int>((y + k.tap_y) >> 32);
  uint32_t opaque = ~0u;
  for (int r = 0; r < Taps; ++r)
    for (int c = 0; c < Taps; ++c) opaque &= reinterpret_cast<const uint32_t*>(source.row(0, j + r))[i + c];
  typename F::Word word;
  of_filter<Taps>(k, [&]<Interpolation I, bool Antialias>() {
    if ((opaque & k.alpha) == k.alpha)
      warp_integers<F, I, Antialias, true>(p, source, x, y, 1.0f, word);
    else
      word = F::color(p, sample<F, I, Antialias, true>(p, source, x, y));
  });
  return static_cast<uint32_t>(packed(p, word));
}

// ---- the kernel

template <class F, int Taps>
__device__ void warp_upright(const KernelPass& k, int2 block, uint8_t* tile) {
  using U = Units<F>;
  const PassPlan& p = k.plan;
  const int width = k.swapped ? k.rows : U::kWidth, height = k.swapped ? U::kWidth : k.rows;
  const int left = block.x * width, top = block.y * height;
  const int64_t x = source_x(p, left, top), y = source_y(p, left, top);
  const Sight sight = Sight::of(k, x, y);
  const auto each_word = [&](const auto& word_at_pixel, int channel) {
    const int shift = k.swapped ? k.row_shift - U::kPackShift : kUprightUnitShift, words = 1 << shift;
    for (int n = threadIdx.x; n < words * height; n += kUprightThreads) {
      const int i = left + (n & (words - 1)) * U::kPack, j = top + (n >> shift);
      store_word<F>(k, channel, i, j, word_at_pixel(i, j));
    }
  };
  const Box box = Box::at<U::kTexel>(k, static_cast<int>((x + k.low_x + k.tap_x) >> 32),
                                     static_cast<int>((y + k.low_y + k.tap_y) >> 32));
  auto* const columns = reinterpret_cast<Column<Taps>*>(tile + k.table_at);
  auto* const rows = reinterpret_cast<Row<Taps>*>(columns + U::kWidth);
  uint8_t* const lines = tile + k.lines_at;
  if (!sight.beyond) fill_table<F, Taps>(k, left, top, box, columns, rows);
#pragma unroll 1
  for (int channel = 0; channel < U::kPlanes; ++channel) {
    if (sight.beyond) {
      const uint32_t border = k.border_stored[channel] * (U::kTexel == 1   ? 0x01010101u
                                                          : U::kTexel == 2 ? 0x10001u
                                                                           : 1u);
      each_word([&](int, int) { return border; }, channel);
      continue;
    }
    if (channel > 0) __syncthreads();
    box.fill<U::kTexel, kUprightThreads>(tile, k, channel);
    __syncthreads();
    if (!__syncthreads_and(weigh_lines<F, Taps>(k, tile, columns, lines))) {
      if constexpr (F::kAlpha)
        each_word(
            [&](int i, int j) {
              return pixel_by_alpha<F, Taps>(k, tile, box, source_x(p, i, j), source_y(p, i, j));
            },
            channel);
    } else if (k.swapped)
      weigh_columns<F, Taps>(k, channel, lines, rows, sight.mixed, left, top);
    else
      weigh_rows<F, Taps>(k, channel, lines, rows, sight.mixed, left, top);
  }
}

template <class First, class Chroma, int Taps>
__global__ void __launch_bounds__(kUprightThreads, 8)
    upright_kernel(const __grid_constant__ KernelArgs args) {
  uint8_t* const tile = shared_memory();
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Chroma>) {
    const KernelPass& chroma = args.pass[1];
    if (args.passes > 1 && block >= chroma.first_block)
      return warp_upright<Chroma, Taps>(chroma, block_at(chroma, block - chroma.first_block), tile);
  }
  warp_upright<First, Taps>(args.pass[0], block_at(args.pass[0], block), tile);
}

template <FetchId Id, int Taps>
Kernel choose_upright(const KernelArgs& args) {
  using First = typename FetchOf<Id>::Type;
  if constexpr (First::kChannels > 1)
    return upright_kernel<First, void, Taps>;
  else if (is_side_by_side(args))
    return upright_kernel<First, typename ChromaOf<First>::Pair, Taps>;
  else
    return upright_kernel<First, typename ChromaOf<First>::Planes, Taps>;
}

template <int Taps>
Kernel choose_upright(const KernelArgs& args) {
  switch (args.pass[0].plan.fetch) {
    case FetchId::samples8_1:
      return choose_upright<FetchId::samples8_1, Taps>(args);
    case FetchId::samples8_3:
      return choose_upright<FetchId::samples8_3, Taps>(args);
    case FetchId::bytes4:
      return choose_upright<FetchId::bytes4, Taps>(args);
    case FetchId::bytes4_alpha:
      return choose_upright<FetchId::bytes4_alpha, Taps>(args);
    default:
      return nullptr;
  }
}

}  // namespace

Kernel upright_kernel_of(const KernelArgs& args, int taps) {
  return taps == 4   ? choose_upright<4>(args)
         : taps == 6 ? choose_upright<6>(args)
                     : choose_upright<kMostTaps>(args);
}

}  // namespace cudawarp

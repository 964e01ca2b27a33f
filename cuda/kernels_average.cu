// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Averages over turned footprints, in integers (integers.h), by tiles of the source: a block copies what its
// footprints can reach into shared memory, borders resolved, and every thread weighs its taps there. Weights
// are float until the last step: that pipe is free where bytes are summed up. Pixels that alpha weighs, and
// those whose footprint misses nearly every pixel, are done in float.
#include "tile.cuh"

namespace cudawarp {
namespace {

// The averaged kernels in pieces, for both directions: each piece so many times side by side that lanes read
// their own copies, from banks of their own.
template <Interpolation I>
__device__ void fill_lines(uint8_t* table, const KernelPass& k) {
  const int lines = k.plan.turned.lines, copies = k.line_copies;
  const Footprint& f = k.plan.footprint;
  const int tables = k.second_lines > 0 ? 2 : 1;
  for (int n = threadIdx.x; n < tables * (lines + 1); n += kTileThreads) {
    const bool second = n > lines;
    const KernelLine line = kernel_line<I>(second ? n - lines - 1 : n, lines, second ? f.half2 : f.half1);
    auto* const to = reinterpret_cast<float2*>(table) + n * copies;
    for (int c = 0; c < copies; ++c) to[(c + n) & (copies - 1)] = float2{line.at, line.per};
  }
}

// What is the same for all taps of a thread: where it finds the pieces of both kernels, as offsets in shared
// memory less those of the grid's bits.
struct Pieces {
  uint32_t at1, at2, bytes;
  float grid;
};

template <bool Tents>
__device__ uint32_t weight_bits(const TurnedTaps& t, const Pieces& pieces, const uint8_t* shared, float t1,
                                float t2) {
  if constexpr (Tents) return bits_of(tent_weight(t1, t.edge1) * tent_weight(t2, t.edge2) + kWeightGrid);
  const float q1 = saturated(fabsf(t1)), q2 = saturated(fabsf(t2));
  const auto piece = [&](float q, uint32_t at) {
    const float2 line =
        *reinterpret_cast<const float2*>(shared + (bits_of(q + pieces.grid) * pieces.bytes + at));
    return line_weight({line.x, line.y}, q);
  };
  return bits_of(piece(q1, pieces.at1) * piece(q2, pieces.at2) + kWeightGrid);
}

// A pixel in float, from the taps in shared memory, which begin with column `tile_x` and row `tile_y` of the
// source.
template <class F>
__device__ __noinline__ typename F::Word in_float(const KernelPass& k, const uint8_t* tile, int tile_x,
                                                  int tile_y, int64_t x, int64_t y) {
  const PassPlan& p = k.plan;
  const float cover = p.outside == Outside::blend && !covered(p, x, y) ? coverage(p, x, y) : 1.0f;
  if (cover == 0.0f) return F::border_words(p);
  Source source{};
  for (int c = 0; c < kMaxChannels; ++c) {
    source.data[c] = tile + c * k.box_pitch * k.box_h, source.pitch[c] = k.box_pitch;
  }
  x -= int64_t{tile_x} << 32, y -= int64_t{tile_y} << 32;
  typename F::Value v{};
  if (k.interpolation == Interpolation::bilinear)
    v = sample_footprint<F, Interpolation::bilinear, false, true>(p, source, x, y);
  else if (k.interpolation == Interpolation::bicubic)
    v = sample_footprint<F, Interpolation::bicubic, false, true>(p, source, x, y);
  else
    v = sample_footprint<F, Interpolation::lanczos, false, true>(p, source, x, y);
  if (cover < 1.0f) v = lerp(F::border(p), v, cover);
  return F::color(p, v);
}

template <class F>
__device__ __noinline__ typename F::Word covered_in_part(const PassPlan& p, typename F::Value value,
                                                         int64_t x, int64_t y) {
  const float cover = coverage(p, x, y);
  if (cover == 0.0f) return F::border_words(p);
  return mixed<F>(p, value, cover);
}

template <class F, bool Tents, int Taps>
__device__ void average_tile(const KernelPass& k, int2 block, uint8_t* shared) {
  constexpr Packing P = F::kPacking;
  constexpr int kBytes = P == Packing::samples8 ? 1 : P == Packing::bytes2 ? 2 : 4;
  constexpr int kPlanes = kBytes == 1 ? F::kChannels : 1, kLast = F::kChannels - 1;
  constexpr int kSums = F::kAlpha ? kLast : F::kChannels;  // alpha that does not weigh is known
  const PassPlan& p = k.plan;
  const TurnedTaps& t = p.turned;
  const int left = block.x * 8 * k.warps_x * k.pixels, top = block.y * 4 * k.warps_y;
  const int64_t origin_x = source_x(p, left, top), origin_y = source_y(p, left, top);
  const auto whole_part = [](int64_t q32) { return static_cast<int>(q32 >> 32); };
  const int box_x = whole_part(origin_x + k.low_x + k.tap_x),
            box_y = whole_part(origin_y + k.low_y + k.tap_y);
  const Box box = Box::at<kBytes>(k, box_x, box_y);
  const int tile_x = box.tile_x;
  const Sight sight = Sight::of(k, origin_x, origin_y);
  const bool mixed = sight.mixed, outside = sight.beyond;
  uint8_t* const tile = shared + k.tile_at;
  const int plane_bytes = k.box_pitch * k.box_h;
  if (!outside) each<kPlanes>([&](int c) { box.fill<kBytes>(tile + c * plane_bytes, k, c); });
  Pieces pieces{};
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (!Tents && !outside) {
    if (k.interpolation == Interpolation::bicubic)
      fill_lines<Interpolation::bicubic>(shared, k);
    else
      fill_lines<Interpolation::lanczos>(shared, k);
    pieces.grid = line_grid(t.lines);
    pieces.bytes = k.line_copies * 8;
    pieces.at1 = (lane & (k.line_copies - 1)) * 8 - bits_of(pieces.grid) * pieces.bytes;
    pieces.at2 = pieces.at1 + k.second_lines;
  }
  __syncthreads();
  if (warp >= k.warps_x * k.warps_y) return;

  const int across = warp & (k.warps_x - 1), down = warp >> (k.warps_x - 1);  // of 1 or 2
  const int warp_x = across * 8 * k.pixels, warp_y = down * 4;
  const int i = left + warp_x + lane % 8, j = top + warp_y + lane / 8;
  int64_t x = source_x(p, i, j), y = source_y(p, i, j);
  // Bytes of two texels, by channel, the first's and the second's in turns.
  uint32_t low_pairs = 0, high_pairs = 0;
  if constexpr (kBytes > 1) {
    const auto at = [&](int c) { return p.load_select >> (4 * c) & 3; };
    low_pairs = (at(0) | at(1) << 8) * 0x11 + kBytes * 0x1010;
    high_pairs = (at(2) | at(3) << 8) * 0x11 + kBytes * 0x1010;
  }
  uint32_t bytes[kPlanes] = {};
  const int row_count = outside ? 0 : t.rows;
#pragma unroll 1
  for (int n = 0; n < k.pixels; ++n, x += k.step_x, y += k.step_y) {
    TurnedRows rows(p, x, y, Taps);
    const uint8_t* row = tile + (rows.y - box_y) * k.box_pitch + (rows.x - tile_x) * kBytes;
    int sum[kSums] = {};
    uint32_t weights = 0, opaque = ~0u;
#pragma unroll 1
    for (int r = 0; r < row_count; ++r, row += k.box_pitch, rows.next(t)) {
      float t1, t2;
      const uint8_t* const at = row + rows.first(t, t1, t2) * kBytes;
      uint32_t pairs[Taps / 2];
      each<Taps / 2>([&](int q) {
        const uint32_t a = weight_bits<Tents>(t, pieces, shared, t1, t2);
        t1 = t1 + t.x1, t2 = t2 + t.x2;
        const uint32_t b = weight_bits<Tents>(t, pieces, shared, t1, t2);
        if (q < Taps / 2 - 1) t1 = t1 + t.x1, t2 = t2 + t.x2;
        weights += a + b;
        pairs[q] = __byte_perm(a, b, 0x5410);
      });
      if constexpr (kBytes == 4) {
        const auto* texel = reinterpret_cast<const uint32_t*>(at);
        each<Taps / 2>([&](int q) {
          const uint32_t a = texel[2 * q], b = texel[2 * q + 1];
          const uint32_t low = __byte_perm(a, b, low_pairs), high = __byte_perm(a, b, high_pairs);
          sum[0] = dot_low(pairs[q], low, sum[0]), sum[1] = dot_high(pairs[q], low, sum[1]);
          sum[2] = dot_low(pairs[q], high, sum[2]);
          if constexpr (kSums == 4) sum[3] = dot_high(pairs[q], high, sum[3]);
          if constexpr (F::kAlpha) opaque &= a & b;
        });
        if constexpr (F::kAlpha)
          if (__all_sync(~0u, (opaque & k.alpha) != k.alpha)) break;  // there is no use in the sums
      } else {
        // Whole words, shifted to where the taps begin.
        constexpr int kWords = (Taps * kBytes + 3) / 4;
        const uint32_t shift = (static_cast<uint32_t>(__cvta_generic_to_shared(at)) & 3) * 8;
        each<kPlanes>([&](int c) {
          const auto* word = reinterpret_cast<const uint32_t*>(at - shift / 8 + c * plane_bytes);
          uint32_t taps[kWords];
          each<kWords>([&](int w) { taps[w] = __funnelshift_r(word[w], word[w + 1], shift); });
          each<Taps / 2>([&](int q) {
            if constexpr (kBytes == 2) {
              const uint32_t pair = __byte_perm(taps[q], 0, low_pairs);
              sum[0] = dot_low(pairs[q], pair, sum[0]), sum[1] = dot_high(pairs[q], pair, sum[1]);
            } else {
              sum[c] = q % 2 == 0 ? dot_low(pairs[q], taps[q / 2], sum[c])
                                  : dot_high(pairs[q], taps[q / 2], sum[c]);
            }
          });
        });
      }
    }
    const int weight = static_cast<int>(weights - t.rows * Taps * kWeightGridBits);
    bool by_alpha = weight < kLeastWeight;
    if constexpr (F::kAlpha) by_alpha = by_alpha || (opaque & k.alpha) != k.alpha;
    typename F::Word word;
    if (outside) {
      word = F::border_words(p);
    } else if (by_alpha) {
      word = in_float<F>(k, tile, tile_x, box_y, x, y);
    } else {
      const float share = 1.0f / static_cast<float>(weight);
      typename F::Value value;
      each<kSums>([&](int c) { value.c[c] = static_cast<float>(sum[c]) * share; });
      each<kSums>([&](int c) { word.c[c] = rounded_average(value.c[c]); });
      if constexpr (F::kAlpha) value.c[kLast] = 255.0f, word.c[kLast] = 255;
      if (!mixed || covered(p, x, y)) {
        if constexpr (P == Packing::bytes4 && !F::kAlpha)
          if (p.load_or) word.c[kLast] = 255;
      } else {
        word = covered_in_part<F>(p, value, x, y);
      }
    }

    const int column = i + n * 8;
    const bool seen = column < p.dst_w && j < p.dst_h;
    if constexpr (kBytes == 4) {
      uint32_t pixel = p.store_or;
      each<F::kChannels>([&](int c) { pixel |= word.c[c] << (8 * c); });
      if (seen) *word_at(k.dst.row(0, j) + column * 4) = permute(pixel, p.store_select);
    } else if constexpr (kBytes == 2) {
      const uint32_t pixel = permute(word.c[0] | word.c[kLast] << 8, p.store_select);
      if (seen) *reinterpret_cast<uint16_t*>(k.dst.row(0, j) + column * 2) = static_cast<uint16_t>(pixel);
    } else if (k.pixels < 4) {
      each<kPlanes>([&](int c) {
        if (seen) k.dst.row(c, j)[column] = static_cast<uint8_t>(word.c[c]);
      });
    } else {
      each<kPlanes>([&](int c) { bytes[c] = bytes[c] >> 8 | word.c[c] << 24; });
      if (n % 4 < 3) continue;
      const int first = left + warp_x + n / 4 * 32 + lane % 8 * 4;
      each<kPlanes>([&](int c) {
        const uint32_t four = exchange(bytes[c], lane);
        uint8_t* const to = k.dst.row(c, j) + first;
        if (j >= p.dst_h) return;
        if (first + 3 < p.dst_w)
          *word_at(to) = four;
        else if (first < p.dst_w)
          write_bytes(to, four, p.dst_w - first);
      });
    }
  }
}

template <class First, class Chroma, bool Tents, int Taps>
__global__ void __launch_bounds__(kTileThreads, 4) average_kernel(const __grid_constant__ KernelArgs args) {
  uint8_t* const shared = shared_memory();
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Chroma>) {
    const KernelPass& chroma = args.pass[1];
    if (args.passes > 1 && block >= chroma.first_block)
      return average_tile<Chroma, Tents, Taps>(chroma, block_at(chroma, block - chroma.first_block), shared);
  }
  average_tile<First, Tents, Taps>(args.pass[0], block_at(args.pass[0], block), shared);
}

template <FetchId Id, bool Tents, int Taps>
Kernel choose_average(const KernelArgs& args) {
  using First = typename FetchOf<Id>::Type;
  if constexpr (First::kChannels > 1)
    return average_kernel<First, void, Tents, Taps>;
  else if (is_side_by_side(args))
    return average_kernel<First, typename ChromaOf<First>::Pair, Tents, Taps>;
  else
    return average_kernel<First, typename ChromaOf<First>::Planes, Tents, Taps>;
}

template <bool Tents, int Taps>
Kernel choose_average(const KernelArgs& args) {
  switch (args.pass[0].plan.fetch) {
    case FetchId::samples8_1:
      return choose_average<FetchId::samples8_1, Tents, Taps>(args);
    case FetchId::samples8_3:
      return choose_average<FetchId::samples8_3, Tents, Taps>(args);
    case FetchId::bytes4:
      return choose_average<FetchId::bytes4, Tents, Taps>(args);
    case FetchId::bytes4_alpha:
      return choose_average<FetchId::bytes4_alpha, Tents, Taps>(args);
    default:
      return nullptr;
  }
}

template <bool Tents>
Kernel choose_average(const KernelArgs& args) {
  switch (args.pass[0].plan.taps) {
    case 4:
      return choose_average<Tents, 4>(args);
    case 6:
      return choose_average<Tents, 6>(args);
    case 8:
      return choose_average<Tents, 8>(args);
    default:
      break;
  }
  if constexpr (!Tents) {
    if (args.pass[0].plan.taps == 10) return choose_average<Tents, 10>(args);
    return choose_average<Tents, kMostTurnedTaps>(args);
  }
  return nullptr;
}

}  // namespace

Kernel average_kernel_of(const KernelArgs& args) {
  return args.pass[0].interpolation == Interpolation::bilinear ? choose_average<true>(args)
                                                               : choose_average<false>(args);
}

}  // namespace cudawarp

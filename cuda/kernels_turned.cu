// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bicubic and Lanczos of bytes, in integers (integers.h), for maps that turn. A block copies what its taps
// can reach into shared memory, borders resolved, and from there makes cells: the neighbours of every texel
// put side by side as dot products want them, so that a row of a pixel's taps is one to three reads. Pixels
// of a tile that is not opaque are done one by one, from the tile.
#include "tile.cuh"

namespace cudawarp {
namespace {

// A cell, for the texel t and its successors u, v, w in the row:
//   samples8   t u v w
//   bytes2     the same of channel 0, then of channel 1
//   bytes4     channel 0 of t and u, channel 1; channels 2 and 3: in the order of k.low_cell and k.high_cell
template <class F, int Taps>
struct Cells {
  static constexpr int kTexel = F::kPacking == Packing::samples8 ? 1 : F::kPacking == Packing::bytes2 ? 2 : 4;
  static constexpr int kBytes = turned_cell(kTexel), kWidth = turned_width(kTexel);
  static constexpr int kPixels = kWidth / 8;                 // of a thread, in a row
  static constexpr int kTaps = kTexel == 4 ? 2 : 4;          // that a cell holds
  static constexpr int kReads = (Taps + kTaps - 1) / kTaps;  // of a row
  static constexpr int kPlanes = F::kPacking == Packing::samples8 ? F::kChannels : 1;
  // Channels to weigh; alpha of tiles that are opaque needs none.
  static constexpr int kWeighed = kTexel == 4 && F::kAlpha ? 3 : kTexel;
  using Cell = std::conditional_t<kBytes == 4, uint32_t, uint2>;
};

// 16 bytes of cells from the texels at `at`.
template <class C>
__device__ uint4 cells_at(const KernelPass& k, const uint8_t* at, uint32_t& opaque) {
  if constexpr (C::kTexel == 4) {
    const uint2 first = *reinterpret_cast<const uint2*>(at);
    const uint32_t t = first.x, u = first.y, v = *reinterpret_cast<const uint32_t*>(at + 8);
    opaque &= t & u & v;
    return {__byte_perm(t, u, k.low_cell), __byte_perm(t, u, k.high_cell), __byte_perm(u, v, k.low_cell),
            __byte_perm(u, v, k.high_cell)};
  } else {
    const uint32_t* word = reinterpret_cast<const uint32_t*>(at);
    const uint32_t a = word[0], b = word[1];
    if constexpr (C::kTexel == 1)
      return {a, __byte_perm(a, b, 0x4321), __byte_perm(a, b, 0x5432), __byte_perm(a, b, 0x6543)};
    const uint32_t c = word[2];
    return {__byte_perm(a, b, 0x6420), __byte_perm(a, b, 0x7531),
            __byte_perm(__byte_perm(a, b, 0x0042), __byte_perm(b, c, 0x0042), 0x5410),
            __byte_perm(__byte_perm(a, b, 0x0053), __byte_perm(b, c, 0x0053), 0x5410)};
  }
}

// All cells of the box; texels begin at a multiple of 4 bytes (8 with 4-byte texels). Tells whether all
// texels have all bits of k.alpha.
template <class C>
__device__ bool make_cells(const KernelPass& k, const uint8_t* texels, uint8_t* cells) {
  constexpr int kStep = C::kTexel == 4 ? 8 : 4;  // bytes of texels that make 16 of cells
  uint32_t opaque = ~0u;
  for (int n = threadIdx.x; n < k.chunks * k.box_h; n += kTurnedThreads) {
    const int r = __umulhi(n, k.per_chunks), c = n - r * k.chunks;
    *reinterpret_cast<uint4*>(cells + r * k.cell_pitch + c * 16) =
        cells_at<C>(k, texels + r * k.box_pitch + c * kStep, opaque);
  }
  return (opaque & k.alpha) == k.alpha;
}

template <int Taps>
struct Sums {
  static constexpr Interpolation kKernel = Taps == 4 ? Interpolation::bicubic : Interpolation::lanczos;
  static constexpr int kShift = sum_shift(kKernel), kRound = 1 << (kShift - 1);
};

// Weighed channels from kMiddle on, with Sums::kShift fraction bits, and kRound added.
template <class C, int Taps>
__device__ void weigh(const KernelPass& k, const uint8_t* at, int64_t x, int64_t y, int (&sum)[C::kWeighed]) {
  constexpr int kShift = line_shift(Sums<Taps>::kKernel);
  int column[Taps], row[Taps];
  integer_kernel(static_cast<uint32_t>(x), column);
  integer_kernel(static_cast<uint32_t>(y), row);
  uint32_t pairs[Taps / 2];
  each<Taps / 2>([&](int q) { pairs[q] = __byte_perm(column[2 * q], column[2 * q + 1], 0x5410); });
  each<C::kWeighed>([&](int c) { sum[c] = Sums<Taps>::kRound + kLost; });
  each<Taps>([&](int r) {
    int line[4];
    each<C::kWeighed>([&](int c) { line[c] = kLineStart; });
    each<C::kReads>([&](int n) {
      const auto cell =
          *reinterpret_cast<const typename C::Cell*>(at + r * k.cell_pitch + n * C::kTaps * C::kBytes);
      if constexpr (C::kTexel == 4) {
        line[0] = dot_low(pairs[n], cell.x, line[0]), line[1] = dot_high(pairs[n], cell.x, line[1]);
        line[2] = dot_low(pairs[n], cell.y, line[2]);
        if constexpr (C::kWeighed == 4) line[3] = dot_high(pairs[n], cell.y, line[3]);
      } else {
        each<2>([&](int half) {
          const int q = 2 * n + half;
          if (q >= Taps / 2) return;
          const auto dot = [&](uint32_t four, int& sum) {
            sum = half == 0 ? dot_low(pairs[q], four, sum) : dot_high(pairs[q], four, sum);
          };
          if constexpr (C::kTexel == 1)
            dot(cell, line[0]);
          else
            dot(cell.x, line[0]), dot(cell.y, line[1]);
        });
      }
    });
    each<C::kWeighed>([&](int c) { sum[c] += row[r] * (line[c] >> kShift); });
  });
}

// The pixel as it is stored, or a sample.
template <class F, int Taps>
__device__ uint32_t pixel_of(const KernelPass& k, const int (&sum)[Cells<F, Taps>::kWeighed]) {
  using C = Cells<F, Taps>;
  int code[4] = {0, 0, 0, 255 - kMiddle};
  each<C::kWeighed>([&](int c) { code[c] = sum[c] >> Sums<Taps>::kShift; });
  const uint32_t bytes = pack(code[0], code[1], code[2], code[3]);
  if constexpr (C::kTexel == 1) return bytes;
  return C::kTexel == 2 ? permute(bytes, k.select) : permute(bytes, k.cell_order) | k.set;
}

// The same where the picture covers only so much of it.
template <class F, int Taps>
__device__ uint32_t mixed_pixel(const KernelPass& k, int channel, const int (&sum)[Cells<F, Taps>::kWeighed],
                                float cover) {
  using C = Cells<F, Taps>;
  Words<4> exact{};
  each<C::kWeighed>([&](int c) {  // cells of 2 bytes are as they are stored
    const int from = C::kTexel == 2 && (k.plan.load_select & 1) != 0 ? 1 - c : c;
    exact.c[c] = static_cast<uint32_t>(sum[from] - Sums<Taps>::kRound - kLost);
  });
  return mixed_pixel<F>(k, channel, exact, Sums<Taps>::kShift, cover);
}

// Where alpha weighs and the picture covers a part.
template <class F, int Taps>
__device__ __noinline__ uint32_t pixel_by_loads(const KernelPass& k, int channel, int64_t x, int64_t y) {
  return stored<F>(k.plan, channel, warp_pixel<F, Sums<Taps>::kKernel, false, false>(k.plan, k.src, x, y));
}

// A pixel that alpha may weigh, from texels in shared memory.
template <class F, int Taps>
__device__ __noinline__ uint32_t pixel_by_alpha(const KernelPass& k, const uint8_t* texels, int64_t x,
                                                int64_t y) {
  constexpr Interpolation kKernel = Sums<Taps>::kKernel;
  const PassPlan& p = k.plan;
  const Source source{{texels}, {k.box_pitch}};
  const int i = static_cast<int>((x + k.tap_x) >> 32), j = static_cast<int>((y + k.tap_y) >> 32);
  uint32_t opaque = ~0u;
  for (int r = 0; r < Taps; ++r)
    for (int c = 0; c < Taps; ++c) opaque &= reinterpret_cast<const uint32_t*>(source.row(0, j + r))[i + c];
  typename F::Word word;
  if ((opaque & k.alpha) == k.alpha)
    warp_integers<F, kKernel, false, true>(p, source, x, y, 1.0f, word);
  else
    word = F::color(p, sample<F, kKernel, false, true>(p, source, x, y));
  return static_cast<uint32_t>(packed(p, word));
}

// A row's pixels of a thread as they are stored, (i, j) the first of them; the whole warp. Pixels of 1 byte
// come 4 in a word, 8 columns apart.
template <class C>
__device__ void store(const KernelPass& k, int channel, int i, int j, const uint32_t (&pixel)[C::kPixels]) {
  const PassPlan& p = k.plan;
  const int lane = threadIdx.x % 32;
  if constexpr (C::kTexel == 1) i += lane % 8 * 3;  // lanes exchange bytes for words
  uint8_t* at = k.dst.data[channel] + int64_t{k.dst.pitch[channel]} * j + i * C::kTexel;
  constexpr int kStep = C::kTexel == 1 ? 4 : C::kTexel == 2 ? 2 : 1;  // pixels of a word
#pragma unroll
  for (int n = 0; n < C::kPixels; n += kStep, i += 8 * kStep, at += 32) {
    uint32_t word = pixel[n];
    if constexpr (C::kTexel == 1)
      word = exchange(__byte_perm(__byte_perm(pixel[n], pixel[n + 1], 0x0040),
                                  __byte_perm(pixel[n + 2], pixel[n + 3], 0x0040), 0x5410),
                      lane);
    if constexpr (C::kTexel == 2) word = __byte_perm(pixel[n], pixel[n + 1], 0x5410);
    if (j >= p.dst_h) continue;
    if (i + kStep <= p.dst_w)
      *word_at(at) = word;
    else if (kStep > 1 && i < p.dst_w)
      write_bytes(at, word, (p.dst_w - i) * C::kTexel);
  }
}

template <class F, int Taps>
__device__ void warp_turned(const KernelPass& k, int2 block, uint8_t* texels) {
  using C = Cells<F, Taps>;
  constexpr int kPixels = C::kPixels;
  const PassPlan& p = k.plan;
  const int left = block.x * C::kWidth, top = block.y * kTurnedHeight;
  const int64_t origin_x = source_x(p, left, top), origin_y = source_y(p, left, top);
  const auto whole_part = [](int64_t q32) { return static_cast<int>(q32 >> 32); };
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int i = left + lane % 8 * (C::kTexel == 2 ? 2 : 1);
  const int j = top + warp * 4 + lane / 8;

  const Sight sight = Sight::of(k, origin_x, origin_y);
  if (sight.beyond) {
#pragma unroll 1
    for (int c = 0; c < C::kPlanes; ++c) {
      uint32_t pixel[kPixels];
      each<kPixels>([&](int n) { pixel[n] = k.border_stored[c]; });
      for (int row = j; row < top + kTurnedHeight; row += 4 * kTurnedWarps) store<C>(k, c, i, row, pixel);
    }
    return;
  }
  const bool mixed = sight.mixed;

  const Box box = Box::at<C::kTexel>(k, whole_part(origin_x + k.low_x + k.tap_x),
                                     whole_part(origin_y + k.low_y + k.tap_y));
  const int tile_x = box.tile_x, box_y = box.y;
  // Cells begin with the word (of 4-byte texels, the two) that holds the box's first texel.
  constexpr int kChunk = C::kTexel == 4 ? 2 : 4 / C::kTexel;
  const int skip = (box.x - tile_x) / kChunk * kChunk;
  uint8_t* const cells = texels + k.cells_at;
  const uint8_t* const base = cells - (box_y - whole_part(k.tap_y + kHalfPixel)) * k.cell_pitch -
                              (tile_x + skip - whole_part(k.tap_x + kHalfPixel)) * C::kBytes;
#pragma unroll 1
  for (int channel = 0; channel < C::kPlanes; ++channel) {
    if (channel > 0) __syncthreads();
    box.fill<C::kTexel, kTurnedThreads>(texels, k, channel);
    __syncthreads();
    const bool opaque = __syncthreads_and(make_cells<C>(k, texels + skip * C::kTexel, cells)) != 0;

    int64_t x = source_x(p, i, j) - kHalfPixel, y = source_y(p, i, j) - kHalfPixel;
#pragma unroll 1
    for (int row = j; row < top + kTurnedHeight; row += 4 * kTurnedWarps, x += k.round_x, y += k.round_y) {
      uint32_t pixel[kPixels]{};
      const auto weigh_at = [&](int64_t at_x, int64_t at_y, int(&sum)[C::kWeighed]) {
        weigh<C, Taps>(k, base + whole_part(at_y) * k.cell_pitch + whole_part(at_x) * C::kBytes, at_x, at_y,
                       sum);
      };
      if (F::kAlpha && !opaque) {
        each<kPixels>([&](int n) {
          const int64_t at_x = x + k.pixel_x[n] + kHalfPixel, at_y = y + k.pixel_y[n] + kHalfPixel;
          if (mixed && !covered(p, at_x, at_y))
            pixel[n] = pixel_by_loads<F, Taps>(k, channel, at_x, at_y);
          else if constexpr (F::kAlpha)
            pixel[n] = pixel_by_alpha<F, Taps>(k, texels, at_x - (int64_t{tile_x} << 32),
                                               at_y - (int64_t{box_y} << 32));
        });
      } else if (!mixed) {
        each<kPixels>([&](int n) {
          int sum[C::kWeighed];
          weigh_at(x + k.pixel_x[n], y + k.pixel_y[n], sum);
          pixel[n] = pixel_of<F, Taps>(k, sum);
        });
      } else {
        each<kPixels>([&](int n) {
          const int64_t at_x = x + k.pixel_x[n], at_y = y + k.pixel_y[n];
          int sum[C::kWeighed];
          weigh_at(at_x, at_y, sum);
          pixel[n] = pixel_of<F, Taps>(k, sum);
          if (covered(p, at_x + kHalfPixel, at_y + kHalfPixel)) return;
          pixel[n] = mixed_pixel<F, Taps>(k, channel, sum, coverage(p, at_x + kHalfPixel, at_y + kHalfPixel));
        });
      }
      store<C>(k, channel, i, row, pixel);
    }
  }
}

template <class First, class Chroma, int Taps>
__global__ void __launch_bounds__(kTurnedThreads, 8) turned_kernel(const __grid_constant__ KernelArgs args) {
  uint8_t* const texels = shared_memory();
  const int block = blockIdx.x;
  if constexpr (!std::is_void_v<Chroma>) {
    const KernelPass& chroma = args.pass[1];
    if (args.passes > 1 && block >= chroma.first_block)
      return warp_turned<Chroma, Taps>(chroma, block_at(chroma, block - chroma.first_block), texels);
  }
  warp_turned<First, Taps>(args.pass[0], block_at(args.pass[0], block), texels);
}

template <FetchId Id, int Taps>
Kernel choose_turned(const KernelArgs& args) {
  using First = typename FetchOf<Id>::Type;
  if constexpr (First::kChannels > 1)
    return turned_kernel<First, void, Taps>;
  else if (is_side_by_side(args))
    return turned_kernel<First, typename ChromaOf<First>::Pair, Taps>;
  else
    return turned_kernel<First, typename ChromaOf<First>::Planes, Taps>;
}

template <int Taps>
Kernel choose_turned(const KernelArgs& args) {
  switch (args.pass[0].plan.fetch) {
    case FetchId::samples8_1:
      return choose_turned<FetchId::samples8_1, Taps>(args);
    case FetchId::samples8_3:
      return choose_turned<FetchId::samples8_3, Taps>(args);
    case FetchId::bytes4:
      return choose_turned<FetchId::bytes4, Taps>(args);
    case FetchId::bytes4_alpha:
      return choose_turned<FetchId::bytes4_alpha, Taps>(args);
    default:
      return nullptr;
  }
}

}  // namespace

Kernel turned_kernel_of(const KernelArgs& args, int taps) {
  return taps == 4 ? choose_turned<4>(args) : choose_turned<6>(args);
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <cstring>

#include "pass_io.h"
#include "sampler.h"
#include "store.h"
#include "warp.h"

namespace cudawarp {
namespace {

constexpr int kBandRows = 32;  // enough bands that no core waits long for another, each worth a task
constexpr int kRun = 64;       // pixels of a row between sampling and storing them

template <class Word, int N>
void store_samples(const PassPlan& p, const Target& out, int i, int j, const Words<N>* words, int count) {
  for (int k = 0; k < N && k < p.dst_channels; ++k) {
    uint8_t* at = out.row(k, j) + ptrdiff_t{i} * p.dst_step;
    for (int n = 0; n < count; ++n, at += p.dst_step) {
      const Word word = static_cast<Word>(words[n].c[k]);
      std::memcpy(at, &word, sizeof word);
    }
  }
}

template <int Bytes, int N>
void store_packed(const PassPlan& plan, const Target& out, int i, int j, const Words<N>* words, int count) {
  const PassPlan p = plan;  // a copy that the bytes written below cannot alias
  uint8_t* at = out.row(0, j) + ptrdiff_t{i} * Bytes;
  for (int n = 0; n < count; ++n, at += Bytes) {
    const uint64_t pixel = packed(p, words[n]);
    std::memcpy(at, &pixel, Bytes);
  }
}

// Writes `count` pixels of row j from column i on.
template <int N>
void store(const PassPlan& p, const Target& out, int i, int j, const Words<N>* words, int count) {
  if (!is_packed(p.store)) {
    if (stored_bytes(p.store) == 1) return store_samples<uint8_t>(p, out, i, j, words, count);
    return store_samples<uint16_t>(p, out, i, j, words, count);
  }
  switch (stored_bytes(p.store)) {
    case 2:
      return store_packed<2>(p, out, i, j, words, count);
    case 3:
      return store_packed<3>(p, out, i, j, words, count);
    case 4:
      return store_packed<4>(p, out, i, j, words, count);
    default:
      return store_packed<8>(p, out, i, j, words, count);
  }
}

// Pixels from the source point (x, y) on, which is moved behind them.
template <class F, Interpolation I, bool Antialias, bool Inside>
void warp_run(const PassPlan& p, const Source& src, int64_t& x, int64_t& y, int count,
              typename F::Word* words) {
  for (int n = 0; n < count; ++n, x += p.x_per_i, y += p.y_per_i)
    words[n] = warp_pixel<F, I, Antialias, Inside>(p, src, x, y);
}

template <class F, Interpolation I, bool Antialias>
void warp_rows(const PassPlan& p, const Source& src, const Target& dst, int first, int last) {
  typename F::Word words[kRun];
  for (int j = first; j < last; ++j) {
    int64_t x = source_x(p, 0, j), y = source_y(p, 0, j);
    for (int i = 0; i < p.dst_w; i += kRun) {
      const int count = std::min(kRun, p.dst_w - i);
      const bool inside =
          is_inside(p, x, y) && is_inside(p, x + (count - 1) * p.x_per_i, y + (count - 1) * p.y_per_i);
      if (inside)
        warp_run<F, I, Antialias, true>(p, src, x, y, count, words);
      else
        warp_run<F, I, Antialias, false>(p, src, x, y, count, words);
      store(p, dst, i, j, words, count);
    }
  }
}

using WarpRows = void (*)(const PassPlan&, const Source&, const Target&, int, int);

template <class F, bool Antialias>
WarpRows rows_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::nearest:
      return warp_rows<F, Interpolation::nearest, Antialias>;
    case Interpolation::bilinear:
      return warp_rows<F, Interpolation::bilinear, Antialias>;
    case Interpolation::bicubic:
      return warp_rows<F, Interpolation::bicubic, Antialias>;
    case Interpolation::lanczos:
      break;
  }
  return warp_rows<F, Interpolation::lanczos, Antialias>;
}

WarpRows rows_of(const PassPlan& p, Interpolation interpolation) {
  switch (p.fetch) {
#define CUDAWARP_CASE(name, packing, channels, alpha)                                      \
  case FetchId::name: {                                                                    \
    using F = Fetch<Packing::packing, channels, alpha>;                                    \
    return p.shrinks ? rows_of<F, true>(interpolation) : rows_of<F, false>(interpolation); \
  }
    CUDAWARP_FETCHES(CUDAWARP_CASE)
#undef CUDAWARP_CASE
  }
  return nullptr;
}

// The averaged kernels of a pass, in pieces.
using Lines = std::array<KernelLine, 2 * (kMostLines + 1)>;

template <Interpolation I>
void set_lines(Lines& lines, const PassPlan& p) {
  const int count = p.turned.lines;
  for (int n = 0; n <= count; ++n) {
    lines[n] = kernel_line<I>(n, count, p.footprint.half1);
    lines[count + 1 + n] = kernel_line<I>(n, count, p.footprint.half2);
  }
}

// The luma sample that packed 4:2:2 of odd width has room for behind the last is the last again.
void fill_last_macropixel(const PassPlan& p, const Target& dst, int first, int last) {
  if (p.store != Packing::samples8 || p.dst_step != 2 || p.dst_w % 2 == 0) return;
  for (int j = first; j < last; ++j) {
    uint8_t* const behind = dst.row(0, j) + 2 * p.dst_w;
    *behind = behind[-2];
  }
}

}  // namespace

void warp_on_cpu(const WarpPlan& plan, const ConstImage& src, const Image& dst, const ParallelFor& parallel) {
  std::array<PassPlan, kMaxPasses> passes = plan.pass;
  std::array<Lines, kMaxPasses> lines;
  for (int k = 0; k < plan.passes; ++k) {
    if (!passes[k].integers || !passes[k].shrinks || passes[k].footprint.upright) continue;
    if (plan.interpolation == Interpolation::bicubic)
      set_lines<Interpolation::bicubic>(lines[k], passes[k]);
    else if (plan.interpolation == Interpolation::lanczos)
      set_lines<Interpolation::lanczos>(lines[k], passes[k]);
    passes[k].lines = lines[k].data();
  }
  int bands[kMaxPasses + 1] = {0};
  for (int k = 0; k < plan.passes; ++k)
    bands[k + 1] = bands[k] + (plan.pass[k].dst_h + kBandRows - 1) / kBandRows;
  parallel(bands[plan.passes], [&](int band) {
    int k = 0;
    while (band >= bands[k + 1]) ++k;
    const PassPlan& p = passes[k];
    const int first = (band - bands[k]) * kBandRows;
    const int last = std::min(first + kBandRows, p.dst_h);
    const Target to = target_of(plan, p, dst);
    rows_of(p, plan.interpolation)(p, source_of(plan, p, src), to, first, last);
    fill_last_macropixel(p, to, first, last);
  });
}

}  // namespace cudawarp

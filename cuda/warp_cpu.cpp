// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>

#include "sampler.h"
#include "warp.h"

namespace cudawarp {
namespace {

template <class P, Interpolation I>
void warp_rows(const PlanePlan& plane, const Source& src, const Image::Plane& dst, int first, int last) {
  const PlanePlan p = plane;  // a copy that the bytes written below cannot alias
  for (int j = first; j < last; ++j) {
    uint8_t* out = dst.data + j * dst.pitch;
    int64_t x = source_x(p, 0, j), y = source_y(p, 0, j);
    for (int i = 0; i < p.dst_w; ++i, out += P::kStore, x += p.x_per_i, y += p.y_per_i) {
      uint32_t word = warp_pixel<P, I>(p, src, x, y);
      if constexpr (P::kStore >= 3) word = store_word(p, word);
      std::memcpy(out, &word, P::kStore);
    }
  }
}

using WarpRows = void (*)(const PlanePlan&, const Source&, const Image::Plane&, int, int);

template <class P>
WarpRows rows_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::nearest:
      return warp_rows<P, Interpolation::nearest>;
    case Interpolation::bilinear:
      return warp_rows<P, Interpolation::bilinear>;
    case Interpolation::bicubic:
      break;
  }
  return warp_rows<P, Interpolation::bicubic>;
}

WarpRows rows_of(PipeId pipe, Interpolation interpolation) {
  switch (pipe) {
#define CUDAWARP_CASE(name, load, channels, alpha, store) \
  case PipeId::name:                                      \
    return rows_of<Pipe<load, channels, alpha, store>>(interpolation);
    CUDAWARP_PIPES(CUDAWARP_CASE)
#undef CUDAWARP_CASE
  }
  return nullptr;
}

}  // namespace

void warp_on_cpu(const WarpPlan& plan, const ConstImage& src, const Image& dst, const ParallelFor& parallel) {
  // Bands of every plane: enough of them that no core waits long for another, each long enough to be worth a
  // task.
  constexpr int kBandRows = 32;
  int bands[kMaxPlanes + 1] = {0};
  for (int k = 0; k < plan.planes; ++k)
    bands[k + 1] = bands[k] + (plan.plane[k].dst_h + kBandRows - 1) / kBandRows;
  parallel(bands[plan.planes], [&](int band) {
    int k = 0;
    while (band >= bands[k + 1]) ++k;
    const PlanePlan& p = plan.plane[k];
    const int first = (band - bands[k]) * kBandRows;
    rows_of(p.pipe, plan.interpolation)(p, {src.plane[k].data, src.plane[k].pitch}, dst.plane[k], first,
                                        std::min(first + kBandRows, p.dst_h));
  });
}

}  // namespace cudawarp

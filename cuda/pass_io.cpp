// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pass_io.h"

namespace cudawarp {
namespace {

// Source or Target: the first pixel of the pass in each channel's plane.
template <class Access, class AnyImage>
Access access(const FrameDesc& frame, const PassPlan& pass, int first_row, const AnyImage& image) {
  const Group& g = info(frame.format).group[pass.group];
  Access a{};
  for (int k = 0; k < g.channels; ++k) {
    const auto& plane = image.plane[g.plane[k]];
    a.data[k] = plane.data + ((frame.skip_y >> g.shift_y) + first_row) * plane.pitch +
                (frame.skip_x >> g.shift_x) * g.step + (is_packed(g.packing) ? 0 : g.at[k]);
    a.pitch[k] = static_cast<int32_t>(plane.pitch * pass.row_step);
  }
  return a;
}

}  // namespace

Source source_of(const WarpPlan& plan, const PassPlan& pass, const ConstImage& image) {
  return access<Source>(plan.src, pass, pass.src_first_row, image);
}

Target target_of(const WarpPlan& plan, const PassPlan& pass, const Image& image) {
  return access<Target>(plan.dst, pass, pass.dst_first_row, image);
}

}  // namespace cudawarp

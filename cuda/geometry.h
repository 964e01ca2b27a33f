// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From properties to one matrix: the turned picture, its canvas, and how the canvas fills the output. Lengths
// of "display space" are in heights of a source pixel, with square pixels.
#pragma once

#include "plan.h"

namespace cudawarp {

// A rectangle with upright sides.
struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
};

// Whether the sides of an output that nobody names are those of the source swapped, and its pixel aspect
// ratio inverted: by an odd quarter turn of `orientation`, or of the angle where the output follows it.
bool swaps_sides(const WarpParams& params);

// What the rest sees of a source: the frame as `orientation` leaves it.
FrameDesc oriented(const WarpParams& params, const FrameDesc& src);

// Whether the natural size of the output is the canvas's, and not the input's.
bool follows_canvas(const WarpParams& params);

// The part of the turned picture that `framing` selects, in display space. `dst_aspect` is the display aspect
// ratio (width / height) of the output; only `zoom` looks at it. Nothing where the map is singular. In the
// space of the oriented source.
std::optional<Rect> canvas(const WarpParams& params, const FrameDesc& src, double dst_aspect);

// The size of the output where nobody names one: {width, height}, at least 1x1, possibly beyond kMaxSide.
struct Size {
  int width, height;
  bool operator==(const Size&) const = default;
};
Size natural_size(const WarpParams& params, const FrameDesc& src, double dst_pixel_aspect);

// Source pixels to output pixels. Nothing where the map is singular or not finite.
std::optional<Affine> dst_from_src(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst);

// Luma coordinates of the frame from the coordinates of group `group`'s grid: the one place that knows chroma
// siting. Without `sited`, those of the blocks of luma pixels that the samples stand for.
Affine luma_from_group(const FrameDesc& frame, int group, bool sited = true);

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a warp is, in doubles, written from the definition of the element and from nothing of the code that it
// judges: only the structures that describe a warp, and the table of formats, are shared.
#pragma once

#include <vector>

#include "cuda/image.h"
#include "cuda/plan.h"

namespace cudawarp::oracle {

struct Vec {
  double x, y;
};

// x' = a x + b y + tx,  y' = c x + d y + ty.
struct Map {
  double a, b, tx, c, d, ty;
  Vec operator()(Vec p) const { return {a * p.x + b * p.y + tx, c * p.x + d * p.y + ty}; }
};

Map dst_from_src(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst);
Map inverse(const Map& map);

// Rows of a group's grid that are warped together: all of them, or in interlaced frames those of one field.
struct Field {
  int first, step, rows;
};
// The rows of the source that row j of the output's group reads from.
Field field_read(const FrameDesc& src, const FrameDesc& dst, int group, int j);

// Where the centre of pixel (i, j) of group `group` of the output reads in that group of the source: in
// pixels of the frame across, in rows of field_read() down.
Vec source_point(const Map& src_from_dst, const FrameDesc& src, const FrameDesc& dst, int group, int i,
                 int j);

// The border colour as code values of `frame`: R, G, B or Y, U, V, then alpha, then what padding holds.
using Color = std::array<double, 5>;
Color border_color(const WarpParams& params, const FrameDesc& frame);

// A colour sample of the source as a code value of the output.
double color_scale(const FrameDesc& src, const FrameDesc& dst);

// The pixels of a group of the output.
struct Samples {
  int width, height, samples;  // `samples` of each pixel: the channels, then the byte that means nothing
  std::vector<double> value;   // code values, clamped to the range, not rounded
  // By pixel: the opacity 0..1 behind its colours, 1 where no alpha takes part. The colours of a pixel that
  // is transparent mean nothing.
  std::vector<double> opacity;
  // By pixel: nearest interpolation so close to the border between two source pixels that either is right.
  std::vector<bool> ambiguous;
};

std::vector<Samples> warp(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst,
                          const ConstImage& image);

}  // namespace cudawarp::oracle

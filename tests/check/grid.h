// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The grid of warps that every engine is tested on: formats x interpolations x borders x geometries x sizes.
// Formats come from the table, so a new row is tested without a new line here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frames.h"

namespace cudawarp {

struct FormatPair {
  Format src, dst;
};
// Every format to itself, and reorderings of the RGB family that use every pipe.
const std::vector<FormatPair>& grid_formats();

inline constexpr Interpolation kInterpolations[] = {Interpolation::nearest, Interpolation::bilinear,
                                                    Interpolation::bicubic};
const char* name_of(Interpolation interpolation);

struct GridCase {
  std::string name;
  WarpParams params;
  FrameDesc src, dst;
  int src_slack, dst_slack;  // bytes between rows
  uint32_t seed;
  bool smooth;

  TestFrame source() const;
};

void for_each_case(FormatPair formats, Interpolation interpolation,
                   const std::function<void(const GridCase&)>& run);

// Warps that only move pixels, whole ones: identity, flips, quarter turns, whole offsets.
void for_each_copy(FormatPair formats, const std::function<void(const GridCase&)>& run);

}  // namespace cudawarp

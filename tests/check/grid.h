// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The grid of warps that every engine is tested on: formats x interpolations x borders x geometries x sizes.
// Formats come from the table, so a new row is tested without a new line here.
//
// All of it would take hours. The cases of borders x geometries x sizes stand in a row; the basic formats run
// every second of them, all other pairs of formats every eleventh, each pair and each interpolation from
// another beginning. Neither number divides the lengths of the lists, so each pair comes by every border,
// geometry and size. What else varies (antialias, colorimetry, chroma sites, content, slack between rows)
// varies along the row with periods of its own. cpu_grid asserts that no format misses anything.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frames.h"

namespace cudawarp {

struct FormatPair {
  Format src, dst;
};
// Every format to itself; and within the RGB family reorderings, changes of depth, alpha gained and lost,
// packed to planar and back, that read and write in every way.
const std::vector<FormatPair>& grid_formats();
// Whether the pair runs most of the cases.
bool is_basic(FormatPair formats);

inline constexpr Interpolation kInterpolations[] = {Interpolation::nearest, Interpolation::bilinear,
                                                    Interpolation::bicubic, Interpolation::lanczos};
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

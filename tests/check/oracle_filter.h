// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The oracle's kernels: of plain interpolation, and of the footprint of an output pixel where the map
// shrinks.
#pragma once

#include <optional>

#include "oracle.h"

namespace cudawarp::oracle {

// The kernel of plain interpolation; Lanczos is not normalised.
double kernel(Interpolation interpolation, double t);

// The weights of the source pixels about a source point, by their distance from it. The box that holds them
// reaches `span` to every side; of every `step` pixels of it one is read.
struct Footprint {
  Interpolation interpolation;
  Vec n1, n2;  // unit vectors
  double s1, s2;
  Vec span;
  int step_x, step_y;

  double weight(Vec d) const;
};

// Nothing where a map with this linear part (output to source) does not shrink.
std::optional<Footprint> footprint(Interpolation interpolation, const Map& linear);

}  // namespace cudawarp::oracle

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an output pixel covers of the source; inside make_pass() only.
#pragma once

#include "affine.h"
#include "pass_plan.h"

namespace cudawarp {

// How far the averaged kernel of an interpolation reaches beyond the footprint, in pixels of the source.
double margin_of(Interpolation interpolation);

// Fills in `shrinks` and, where it is, the footprint, from the output pixel's sides in the source: `a` along
// i, `b` along j.
void set_footprint(PassPlan& p, Point a, Point b, Interpolation interpolation);

// Of an average in integers over p.footprint: the taps along each axis where it is upright; else those of a
// row, and p.turned is filled in. 0 where there is no such average.
int set_integer_taps(PassPlan& p, Interpolation interpolation);

}  // namespace cudawarp

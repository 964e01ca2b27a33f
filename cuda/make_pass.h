// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One pass of a plan; inside make_plan() only.
#pragma once

#include "plan.h"

namespace cudawarp {

// The pass that fills group `group` of the output; in interlaced frames, of its field `field` (0 top, 1
// bottom; else 0). Of `plan`, the frames and the maps must be set. A field without rows gives a pass of
// height 0.
PassPlan make_pass(const WarpParams& params, const WarpPlan& plan, int group, int field);

// Of the passes of a plan that is else complete: integer averages over turned footprints, which the GPU does
// in one launch, go together or not at all, and have as many taps in a row.
void match_passes(WarpPlan& plan);

// Whether the pass moves whole pixels to whole pixels, and whether it moves none.
bool is_copy(const PassPlan& pass);
bool is_identity(const PassPlan& pass);

}  // namespace cudawarp

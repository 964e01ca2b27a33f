// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where a pass of a plan reads and writes in frames.
#pragma once

#include "image.h"
#include "plan.h"
#include "store.h"

namespace cudawarp {

Source source_of(const WarpPlan& plan, const PassPlan& pass, const ConstImage& image);
Target target_of(const WarpPlan& plan, const PassPlan& pass, const Image& image);

}  // namespace cudawarp

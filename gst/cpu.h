// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "frame.h"
#include "plan.h"
#include "status.h"
#include "task_pool.h"

namespace cudawarp {

// What Gpu::warp() does, on the CPU: warps buffer to buffer, each in memory that the host can map.
Status warp_on_cores(const WarpPlan& plan, const Picture& in, const Picture& out, const TaskPool& cores);

}  // namespace cudawarp

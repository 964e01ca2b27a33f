// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <memory>

#include "plan.h"

namespace cudawarp {

// The last plan of each kind of frame, progressive and interlaced: a stream of both makes none anew.
class PlanCache {
 public:
  Expected<std::shared_ptr<const WarpPlan>> get(const WarpParams& params, const FrameDesc& src,
                                                const FrameDesc& dst) {
    Entry& entry = entries_[src.interlaced];
    if (!entry.plan || entry.params != params || entry.plan->src != src || entry.plan->dst != dst) {
      auto made = make_plan(params, src, dst);
      if (const Error* why = error_of(made)) return *why;
      entry = {params, std::make_shared<WarpPlan>(std::get<WarpPlan>(made))};
    }
    return entry.plan;
  }
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    WarpParams params;
    std::shared_ptr<const WarpPlan> plan;
  };
  std::array<Entry, 2> entries_;
};

}  // namespace cudawarp

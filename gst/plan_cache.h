// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <optional>

#include "plan.h"

namespace cudawarp {

// The last plan of each kind of frame, progressive and interlaced: a stream of both makes none anew.
class PlanCache {
 public:
  // The plan for these; it lives until the next call with frames of the same kind.
  Expected<const WarpPlan*> get(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst) {
    std::optional<Entry>& entry = entries_[src.interlaced];
    if (!entry || entry->params != params || entry->plan.src != src || entry->plan.dst != dst) {
      auto made = make_plan(params, src, dst);
      if (const Error* why = error_of(made)) return *why;
      entry = Entry{params, std::get<WarpPlan>(made)};
    }
    return &entry->plan;
  }
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    WarpParams params;
    WarpPlan plan;
  };
  std::array<std::optional<Entry>, 2> entries_;
};

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbers to Q32 (pass_plan.h), on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cudawarp {

inline constexpr double kOne = 4294967296.0;  // of Q32
inline constexpr int64_t kOneFixed = int64_t{1} << 32;
inline constexpr double kFarAway = 1 << 29;  // pixels; further out there is nothing left to see

inline int64_t to_fixed(double v, double limit = kFarAway) {
  return static_cast<int64_t>(std::llround(std::clamp(v, -limit, limit) * kOne));
}

}  // namespace cudawarp

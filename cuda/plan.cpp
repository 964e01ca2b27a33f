// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan.h"

#include <algorithm>
#include <cmath>

#include "geometry.h"
#include "make_pass.h"

namespace cudawarp {

Status check_size(const char* which, int width, int height) {
  if (width >= 1 && width <= kMaxSide && height >= 1 && height <= kMaxSide) return std::nullopt;
  return Error{std::string(which) + " of " + std::to_string(width) + "x" + std::to_string(height) +
               " cannot be; each side must be 1 to " + std::to_string(kMaxSide)};
}

Status check(const WarpParams& params) {
  const FrameDesc largest{.width = kMaxSide, .height = kMaxSide};
  WarpParams p = params;
  p.framing = Framing::none;
  if (p.matrix && !dst_from_src(p, largest, largest)) return Error{"the matrix is singular or not finite"};
  // What a matrix hides must be in order too: it may be taken away.
  p.matrix.reset();
  // Roundings of other factors may hide what is singular at another angle.
  constexpr double kLeast = 1e-9;
  const double both = p.shear_x * p.shear_y;
  if (std::abs(1 - both) <= kLeast * std::max(1.0, std::abs(both)))
    return Error{"shear-x times shear-y must not be 1"};
  if (dst_from_src(p, largest, largest)) return std::nullopt;
  p.pivot_x = p.pivot_y = p.offset_x = p.offset_y = 0;
  if (dst_from_src(p, largest, largest)) return Error{"the pivot or the offset is too large"};
  return Error{"scale and shear give a singular or infinite map"};
}

Expected<WarpPlan> make_plan(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst) {
  if (auto bad = check_size("an input", src.width, src.height)) return *bad;
  if (auto bad = check_size("an output", dst.width, dst.height)) return *bad;
  const FormatInfo &from = info(src.format), &to = info(dst.format);
  if (!convertible(src.format, dst.format))
    return Error{"cannot turn " + std::string(from.name) + " into " + std::string(to.name)};
  if (src.interlaced != dst.interlaced)
    return Error{"cannot turn interlaced frames into progressive ones, or back"};
  if (params.border == Border::transparent && !to.has_alpha())
    return Error{"border-mode=transparent needs an output format with alpha, and " + std::string(to.name) +
                 " has none"};
  const auto forward = dst_from_src(params, src, dst);
  if (!forward) return Error{"the map from source to output is singular or not finite"};

  WarpPlan plan{};
  plan.src = src;
  plan.dst = dst;
  plan.dst_from_src = *forward;
  plan.src_from_dst = *forward->inverse();
  bool copy = true, identity = src == dst;
  for (int field = 0; field < (src.interlaced ? 2 : 1); ++field)
    for (int group = 0; group < from.groups; ++group) {
      const PassPlan pass = make_pass(params, plan, group, field);
      if (pass.dst_h == 0) continue;
      plan.pass[plan.passes++] = pass;
      copy = copy && is_copy(pass);
      identity = identity && is_identity(pass);
    }
  plan.interpolation = copy ? Interpolation::nearest : params.interpolation;
  plan.identity = identity;
  match_passes(plan);
  return plan;
}

}  // namespace cudawarp

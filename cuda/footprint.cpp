// SPDX-License-Identifier: LGPL-2.1-or-later
#include "footprint.h"

#include <algorithm>
#include <cmath>

#include "fixed.h"
#include "weights.h"

namespace cudawarp {
namespace {

// How far bounds of a row's taps may lie away, and change from row to row; beyond that there is none.
constexpr double kSteep = 64;

// Fills in p.turned. The taps of a row of an integer average; 0 where there is none for this footprint.
int set_turned(PassPlan& p, Interpolation interpolation) {
  const Footprint& f = p.footprint;
  if (f.step_x > 1 || f.step_y > 1) return 0;
  const double margin = margin_of(interpolation), span_x = static_cast<double>(f.span_x) / kOne;
  TurnedTaps& t = p.turned;
  double length = 2 * span_x;
  const auto bound = [&](double nx, double ny, double half, float& slope, float& before) {
    const double reach = (half + margin) / std::abs(nx);
    const bool steep = !(reach < kSteep) || std::abs(ny) > std::abs(nx) * kSteep;
    slope = steep ? 0.0f : static_cast<float>(-ny / nx);
    before = static_cast<float>(steep ? kSteep : reach);
    if (!steep) length = std::min(length, 2 * reach);
  };
  bound(f.x1, f.y1, f.half1, t.slope1, t.before1);
  bound(f.x2, f.y2, f.half2, t.slope2, t.before2);
  const double taps = std::max(4.0, 2 * std::ceil(length / 2)),
               rows = std::ceil(2 * static_cast<double>(f.span_y) / kOne);
  const bool tents = interpolation == Interpolation::bilinear;
  if (taps > (tents ? kMostTurnedTents : kMostTurnedTaps) || rows > kMostTurnedRows) return 0;
  // What a block of 16x8 output pixels reads must fit a tile of the GPU's.
  const auto box = [](int64_t per_i, int64_t per_j, int64_t span) {
    return (16.0 * std::abs(per_i) + 8.0 * std::abs(per_j) + 2.0 * span) / kOne + 3;
  };
  constexpr double kMostTile = 9000;
  if (box(p.x_per_i, p.x_per_j, f.span_x) * box(p.y_per_i, p.y_per_j, f.span_y) > kMostTile) return 0;
  const double scale1 = tents ? 1 : 1 / (f.half1 + margin), scale2 = tents ? 1 : 1 / (f.half2 + margin);
  t.x1 = static_cast<float>(f.x1 * scale1), t.y1 = static_cast<float>(f.y1 * scale1);
  t.x2 = static_cast<float>(f.x2 * scale2), t.y2 = static_cast<float>(f.y2 * scale2);
  t.edge1 = f.half1 + 0.5f, t.edge2 = f.half2 + 0.5f;
  t.span = static_cast<float>(span_x);
  t.rows = static_cast<int32_t>(rows);
  constexpr float kNarrow = 0.75f;  // narrow kernels of Lanczos are curved most
  const bool curved = interpolation == Interpolation::lanczos && std::min(f.half1, f.half2) < kNarrow;
  t.lines = curved ? kMostLines : kLines;
  return static_cast<int>(taps);
}

// Of the integer averages; 0 where there is none for this footprint.
int taps_of_footprint(const Footprint& f, Interpolation interpolation) {
  const int64_t width = 2 * std::max(f.span_x, f.span_y);
  const int few = footprint_taps(interpolation), many = std::min(few + 2, kMostTaps);
  if (!f.upright || width > many * kOneFixed) return 0;
  return width <= few * kOneFixed ? few : many;
}

}  // namespace

double margin_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::nearest:
    case Interpolation::bilinear:
      return 0.5;
    case Interpolation::bicubic:
      return 1.5;
    case Interpolation::lanczos:
      break;
  }
  return 2.5;
}

void set_footprint(PassPlan& p, Point a, Point b, Interpolation interpolation) {
  const double det = std::abs(a.x * b.y - a.y * b.x);
  const double xx = a.x * a.x + b.x * b.x, xy = a.x * a.y + b.x * b.y, yy = a.y * a.y + b.y * b.y;
  const double longest = std::sqrt((xx + yy) / 2 + std::hypot((xx - yy) / 2, xy));  // singular values
  const double shortest = det / longest;
  constexpr double kSlack = 1e-6;
  p.shrinks = longest > 1 + kSlack;
  if (!p.shrinks) return;

  // Across the parallelogram; where that is thinner than a pixel, along and across its longest axis.
  const double side_a = std::hypot(a.x, a.y), side_b = std::hypot(b.x, b.y);
  Point n1{b.y / side_b, -b.x / side_b}, n2{a.y / side_a, -a.x / side_a};
  double s1 = det / side_b, s2 = det / side_a;
  if (!(s1 >= 1 && s2 >= 1)) {
    // Of the two ways to write this eigenvector, the one that does not cancel.
    const Point along = xx >= yy ? Point{longest * longest - yy, xy} : Point{xy, longest * longest - xx};
    const double length = std::hypot(along.x, along.y);
    n1 = length > 0 ? Point{along.x / length, along.y / length} : Point{1, 0};
    n2 = {-n1.y, n1.x};
    s1 = longest, s2 = std::max(shortest, 1.0);
  }
  const double margin = margin_of(interpolation), r1 = s1 / 2 + margin, r2 = s2 / 2 + margin;
  const double cross = std::abs(n1.x * n2.y - n1.y * n2.x);
  const double span_x = (std::abs(n2.y) * r1 + std::abs(n1.y) * r2) / cross;
  const double span_y = (std::abs(n2.x) * r1 + std::abs(n1.x) * r2) / cross;
  const auto step = [](double span) { return static_cast<int32_t>(std::ceil(2 * span / kMaxTaps)); };
  const auto f = [](double v) { return static_cast<float>(v); };
  const bool upright = (n1.x == 0 && n2.y == 0) || (n1.y == 0 && n2.x == 0);
  p.footprint = {f(n1.x),          f(n1.y),          f(s1 / 2),    f(n2.x),      f(n2.y), f(s2 / 2),
                 to_fixed(span_x), to_fixed(span_y), step(span_x), step(span_y), upright};
}

int set_integer_taps(PassPlan& p, Interpolation interpolation) {
  return p.footprint.upright ? taps_of_footprint(p.footprint, interpolation) : set_turned(p, interpolation);
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle_filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cudawarp::oracle {
namespace {

constexpr int kLobes = 3;  // of Lanczos

double sinc(double t) {
  return t == 0 ? 1 : std::sin(std::numbers::pi * t) / (std::numbers::pi * t);
}

// How far a kernel reaches.
double radius(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::lanczos:
      return kLobes;
    case Interpolation::bicubic:
      return 2;
    case Interpolation::nearest:
    case Interpolation::bilinear:
      break;
  }
  return 1;
}

// The sum over j >= 0 of K(x - 1/2 - j): 0 on the left, 1 on the right.
double step_of(Interpolation interpolation, double x) {
  if (interpolation == Interpolation::nearest || interpolation == Interpolation::bilinear)
    return std::clamp(x + 0.5, 0.0, 1.0);
  const double reach = radius(interpolation) - 0.5;
  if (x <= -reach) return 0;
  if (x >= reach) return 1;
  // The kernel's values at all places a whole number of pixels from x - 1/2: their sum normalises Lanczos,
  // that of Catmull-Rom is 1.
  double right = 0, all = 0;
  for (int j = -6; j <= 6; ++j) {
    const double k = kernel(interpolation, x - 0.5 - j);
    all += k;
    if (j >= 0) right += k;
  }
  return right / all;
}

// Lanczos takes many sines; between points as dense as these a straight line is good to 1e-9.
double lanczos_step(double x) {
  constexpr int kDensity = 1 << 14, kReach = kLobes;
  static const std::vector<double> table = [] {
    std::vector<double> t;
    for (int k = -kReach * kDensity; k <= kReach * kDensity + 1; ++k)
      t.push_back(step_of(Interpolation::lanczos, static_cast<double>(k) / kDensity));
    return t;
  }();
  const double at = (std::clamp<double>(x, -kReach, kReach) + kReach) * kDensity;
  const auto k = static_cast<size_t>(at);
  return table[k] + (table[k + 1] - table[k]) * (at - static_cast<double>(k));
}

// The kernel drawn out to a width of `s` pixels.
double drawn_out(Interpolation interpolation, double t, double s) {
  if (interpolation == Interpolation::lanczos) return lanczos_step(t + s / 2) - lanczos_step(t - s / 2);
  return step_of(interpolation, t + s / 2) - step_of(interpolation, t - s / 2);
}

double dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y;
}
Vec unit_normal(Vec v) {
  const double length = std::hypot(v.x, v.y);
  return {-v.y / length, v.x / length};
}

int step_over(double span) {
  return std::max(1, static_cast<int>(std::ceil(2 * span / kMaxTaps)));
}

}  // namespace

double kernel(Interpolation interpolation, double t) {
  t = std::abs(t);
  switch (interpolation) {
    case Interpolation::lanczos:
      return t < kLobes ? sinc(t) * sinc(t / kLobes) : 0;
    case Interpolation::bicubic:
      if (t < 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
      return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
    case Interpolation::nearest:
    case Interpolation::bilinear:
      break;
  }
  return std::max(0.0, 1 - t);
}

double Footprint::weight(Vec d) const {
  const double w = drawn_out(interpolation, dot(d, n1), s1);
  return w == 0 ? 0 : w * drawn_out(interpolation, dot(d, n2), s2);
}

std::optional<Footprint> footprint(Interpolation interpolation, const Map& m) {
  const Vec a{m.a, m.c}, b{m.b, m.d};
  const double det = std::abs(m.a * m.d - m.b * m.c);
  // The longest axis of the ellipse that a circle becomes: the larger singular value.
  const double xx = m.a * m.a + m.b * m.b, yy = m.c * m.c + m.d * m.d, xy = m.a * m.c + m.b * m.d;
  const double longest = std::sqrt((xx + yy) / 2 + std::hypot((xx - yy) / 2, xy));
  if (longest <= 1 + 1e-6) return std::nullopt;
  Footprint f{interpolation,
              unit_normal(b),
              unit_normal(a),
              det / std::hypot(b.x, b.y),
              det / std::hypot(a.x, a.y),
              {},
              1,
              1};
  if (f.s1 < 1 || f.s2 < 1) {
    const double angle = std::atan2(2 * xy, xx - yy) / 2;
    f.n1 = {std::cos(angle), std::sin(angle)};
    f.n2 = {-f.n1.y, f.n1.x};
    f.s1 = longest;
    f.s2 = std::max(det / longest, 1.0);
  }
  // The corners of |d . n1| <= r1, |d . n2| <= r2.
  const double r1 = f.s1 / 2 + radius(interpolation) - 0.5, r2 = f.s2 / 2 + radius(interpolation) - 0.5;
  const double area = std::abs(f.n1.x * f.n2.y - f.n1.y * f.n2.x);
  f.span = {(r1 * std::abs(f.n2.y) + r2 * std::abs(f.n1.y)) / area,
            (r1 * std::abs(f.n2.x) + r2 * std::abs(f.n1.x)) / area};
  f.step_x = step_over(f.span.x);
  f.step_y = step_over(f.span.y);
  return f;
}

}  // namespace cudawarp::oracle

// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cmath>
#include <numbers>
#include <optional>

namespace cudawarp {

// A point in continuous image coordinates: x right, y down, origin at the top left corner of the frame. The
// centre of pixel (i, j) is (i + 0.5, j + 0.5).
struct Point {
  double x = 0, y = 0;
};

// The affine map  x' = a x + b y + tx,  y' = c x + d y + ty.
//
// Matrices are named by direction: `dst_from_src` takes a source point to the output. A product reads the
// same way: `c_from_b * b_from_a` is `c_from_a`. Everything is double; it runs on the host, once per plan.
struct Affine {
  double a = 1, b = 0, tx = 0;
  double c = 0, d = 1, ty = 0;

  static Affine translation(double x, double y) { return {1, 0, x, 0, 1, y}; }
  static Affine scaling(double x, double y) { return {x, 0, 0, 0, y, 0}; }

  // x += sx * y and y += sy * x, both from the point as it was; singular where sx * sy = 1.
  static Affine shearing(double sx, double sy) { return {1, sx, 0, sy, 1, 0}; }

  // Turns clockwise on the screen, in degrees. Multiples of 90 degrees are exact.
  static Affine rotation(double degrees) {
    const double turn = std::fmod(degrees, 360.0);
    const double quarters = turn / 90.0;
    if (quarters == std::floor(quarters)) {
      constexpr int kCos[4] = {1, 0, -1, 0};
      const int q = (static_cast<int>(quarters) + 4) % 4;
      const double cosine = kCos[q], sine = kCos[(q + 3) % 4];
      return {cosine, -sine, 0, sine, cosine, 0};
    }
    const double radians = turn * (std::numbers::pi / 180.0);
    return {std::cos(radians), -std::sin(radians), 0, std::sin(radians), std::cos(radians), 0};
  }

  Point operator()(Point p) const { return {a * p.x + b * p.y + tx, c * p.x + d * p.y + ty}; }

  friend Affine operator*(const Affine& l, const Affine& r) {
    return {l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.a * r.tx + l.b * r.ty + l.tx,
            l.c * r.a + l.d * r.c, l.c * r.b + l.d * r.d, l.c * r.tx + l.d * r.ty + l.ty};
  }

  bool operator==(const Affine&) const = default;

  double determinant() const { return a * d - b * c; }

  bool is_finite() const {
    return std::isfinite(a) && std::isfinite(b) && std::isfinite(tx) && std::isfinite(c) &&
           std::isfinite(d) && std::isfinite(ty);
  }

  // Nothing where the map is singular, or where it or its inverse is not finite.
  std::optional<Affine> inverse() const {
    const double det = determinant();
    if (!is_finite() || det == 0 || !std::isfinite(det)) return std::nullopt;
    const Affine linear{d / det, -b / det, 0, -c / det, a / det, 0};
    const Point t = linear({tx, ty});
    const Affine inv{linear.a, linear.b, -t.x, linear.c, linear.d, -t.y};
    if (!inv.is_finite()) return std::nullopt;
    return inv;
  }
};

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The oracle's map: canvas, fit, offset.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "oracle.h"

namespace cudawarp::oracle {
namespace {

constexpr double kOnTheSide = 1e-6;  // pixels; what is this close to a side lies on it

// In degrees, so that quarter turns are exact.
double cosine(double degrees) {
  const double d = std::abs(std::remainder(degrees, 360.0));
  return d == 90 ? 0 : std::cos(d * std::numbers::pi / 180);
}
double sine(double degrees) {
  return cosine(degrees - 90);
}

// Display space: square pixels, as high as a source pixel. Scale, shear, rotate about the pivot.
Vec turn(const WarpParams& p, const FrameDesc& src, Vec q) {
  const Vec pivot{p.pivot_x * src.width * src.pixel_aspect, p.pivot_y * src.height};
  const Vec scaled{(q.x - pivot.x) * p.scale_x, (q.y - pivot.y) * p.scale_y};
  const Vec sheared{scaled.x + p.shear_x * scaled.y, scaled.y + p.shear_y * scaled.x};
  const double c = cosine(p.angle), s = sine(p.angle);
  return {pivot.x + c * sheared.x - s * sheared.y, pivot.y + s * sheared.x + c * sheared.y};
}

// Where a source point lies in the frame that `orientation` makes, and that frame.
Vec oriented(const WarpParams& p, FrameDesc& frame, Vec q) {
  if (p.picture != Affine{}) {
    const Map m{p.picture.a, p.picture.b, p.picture.tx, p.picture.c, p.picture.d, p.picture.ty};
    const Vec moved = m({q.x / frame.width, q.y / frame.height});
    q = {moved.x * frame.width, moved.y * frame.height};
  }
  // First mirrored, then transposed.
  struct {
    bool left_right, top_bottom, transposed;
  } const kSteps[] = {{false, false, false}, {false, true, true},  {true, true, false},  {true, false, true},
                      {true, false, false},  {false, true, false}, {false, false, true}, {true, true, true}};
  const auto step = kSteps[static_cast<int>(p.orientation)];
  if (step.left_right) q.x = frame.width - q.x;
  if (step.top_bottom) q.y = frame.height - q.y;
  if (!step.transposed) return q;
  std::swap(frame.width, frame.height);
  frame.pixel_aspect = 1 / frame.pixel_aspect;
  return {q.y, q.x};
}

struct Box {
  double x, y, width, height;
};

// The half sides (x, y) of a centred upright rectangle lie inside a parallelogram with half edges e and f
// where x |f.y| + y |f.x| <= |e x f| and x |e.y| + y |e.x| <= |e x f|.
double highest(Vec e, Vec f, double x) {
  const double cross = std::abs(e.x * f.y - e.y * f.x);
  const auto limit = [&](Vec v) {
    return v.x == 0 ? std::numeric_limits<double>::infinity() : (cross - x * std::abs(v.y)) / std::abs(v.x);
  };
  return std::min(limit(e), limit(f));
}

// x * highest(x) is the lower of two parabolas: bisect for the point where its slope turns negative.
Vec largest(Vec e, Vec f) {
  const double cross = std::abs(e.x * f.y - e.y * f.x);
  double low = 0, high = cross / std::max(std::abs(e.y), std::abs(f.y));
  for (int k = 0; k < 200; ++k) {
    const double x = (low + high) / 2;
    const bool by_e = f.x == 0 || (e.x != 0 && (cross - x * std::abs(e.y)) / std::abs(e.x) <
                                                   (cross - x * std::abs(f.y)) / std::abs(f.x));
    (cross - 2 * x * std::abs(by_e ? e.y : f.y) > 0 ? low : high) = x;
  }
  return {low, highest(e, f, low)};
}

Vec largest_of_aspect(Vec e, Vec f, double aspect) {
  const double cross = std::abs(e.x * f.y - e.y * f.x);
  const double y =
      cross / std::max(aspect * std::abs(e.y) + std::abs(e.x), aspect * std::abs(f.y) + std::abs(f.x));
  return {aspect * y, y};
}

Box canvas(const WarpParams& p, const FrameDesc& src, const FrameDesc& dst) {
  const double w = src.width * src.pixel_aspect, h = src.height;
  if (p.framing == Framing::none) return {0, 0, w, h};
  const Vec a = turn(p, src, {0, 0}), b = turn(p, src, {w, 0}), c = turn(p, src, {w, h}),
            d = turn(p, src, {0, h});
  const Vec e{(b.x - a.x) / 2, (b.y - a.y) / 2}, f{(d.x - a.x) / 2, (d.y - a.y) / 2};
  Vec half{(std::max({a.x, b.x, c.x, d.x}) - std::min({a.x, b.x, c.x, d.x})) / 2,
           (std::max({a.y, b.y, c.y, d.y}) - std::min({a.y, b.y, c.y, d.y})) / 2};
  if (p.framing == Framing::crop) half = largest(e, f);
  if (p.framing == Framing::zoom) half = largest_of_aspect(e, f, dst.width * dst.pixel_aspect / dst.height);
  return {(a.x + c.x) / 2 - half.x, (a.y + c.y) / 2 - half.y, 2 * half.x, 2 * half.y};
}

// The size in display space of an output pixel that shows the canvas 1:1.
Vec canvas_pixel(const WarpParams& p, const FrameDesc& src, const FrameDesc& dst) {
  const bool odd_quarter = std::abs(std::remainder(p.angle, 180.0)) == 90 && p.shear_x == 0 && p.shear_y == 0;
  const bool inverted = std::abs(src.pixel_aspect * dst.pixel_aspect - 1) < 1e-9;
  const double height = odd_quarter && inverted ? src.pixel_aspect : 1;
  return {height * dst.pixel_aspect, height};
}

bool is_rounded_canvas(const WarpParams& p, double w, double h, const FrameDesc& dst) {
  const auto is = [&](double v, int n) {
    const double whole = p.framing == Framing::crop ? std::floor(v + kOnTheSide) : std::ceil(v - kOnTheSide);
    return std::max(whole, 1.0) == n;
  };
  return (p.framing == Framing::expand || p.framing == Framing::crop) && is(w, dst.width) &&
         is(h, dst.height);
}

// The rectangle of the output that the canvas, w x h output pixels large where it is shown 1:1, fills.
Box place(const WarpParams& p, double w, double h, const FrameDesc& dst) {
  const double W = dst.width, H = dst.height;
  if (is_rounded_canvas(p, w, h, dst)) return {(W - w) / 2, (H - h) / 2, w, h};
  if (p.fit == Fit::stretch) return {0, 0, W, H};
  if (p.fit == Fit::crop) {
    const double s = std::max(W / w, H / h);
    return {(W - s * w) * p.align_x, (H - s * h) * p.align_y, s * w, s * h};
  }
  if (p.fit == Fit::letterbox) {
    const double s = std::min(W / w, H / h);
    w = std::clamp(std::floor(s * w + 0.5 + kOnTheSide), 1.0, W);
    h = std::clamp(std::floor(s * h + 0.5 + kOnTheSide), 1.0, H);
  }
  return {std::floor((W - w) * p.align_x + kOnTheSide), std::floor((H - h) * p.align_y + kOnTheSide), w, h};
}

Vec forward(const WarpParams& p, FrameDesc src, const FrameDesc& dst, Vec q) {
  q = oriented(p, src, q);
  if (p.matrix) return Map{p.matrix->a, p.matrix->b, p.matrix->tx, p.matrix->c, p.matrix->d, p.matrix->ty}(q);
  const Vec seen = turn(p, src, {q.x * src.pixel_aspect, q.y});
  const Box from = canvas(p, src, dst);
  const Vec pixel = canvas_pixel(p, src, dst);
  const Box to = place(p, from.width / pixel.x, from.height / pixel.y, dst);
  return {p.offset_x + to.x + (seen.x - from.x) / from.width * to.width,
          p.offset_y + to.y + (seen.y - from.y) / from.height * to.height};
}

}  // namespace

Map dst_from_src(const WarpParams& p, const FrameDesc& src, const FrameDesc& dst) {
  const Vec o = forward(p, src, dst, {0, 0}), x = forward(p, src, dst, {1, 0}),
            y = forward(p, src, dst, {0, 1});
  return {x.x - o.x, y.x - o.x, o.x, x.y - o.y, y.y - o.y, o.y};
}

Map inverse(const Map& m) {
  const double det = m.a * m.d - m.b * m.c;
  return {m.d / det,  -m.b / det, (m.b * m.ty - m.d * m.tx) / det,
          -m.c / det, m.a / det,  (m.c * m.tx - m.a * m.ty) / det};
}

}  // namespace cudawarp::oracle

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "geometry.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

namespace cudawarp {
namespace {

// Sizes computed from trigonometry are a hair off; this much is not another pixel.
constexpr double kSizeSlack = 1e-6;

Affine display_from_pixels(const FrameDesc& frame) {
  return Affine::scaling(frame.pixel_aspect, 1);
}

// The frame w x h, oriented: exact, as all of it are whole numbers.
Affine orient(Orientation orientation, double w, double h) {
  switch (orientation) {
    case Orientation::turn_90:
      return {0, -1, h, 1, 0, 0};
    case Orientation::turn_180:
      return {-1, 0, w, 0, -1, h};
    case Orientation::turn_270:
      return {0, 1, 0, -1, 0, w};
    case Orientation::horizontal:
      return {-1, 0, w, 0, 1, 0};
    case Orientation::vertical:
      return {1, 0, 0, 0, -1, h};
    case Orientation::ul_lr:
      return {0, 1, 0, 1, 0, 0};
    case Orientation::ur_ll:
      return {0, -1, h, -1, 0, w};
    case Orientation::identity:
      break;
  }
  return {};
}

bool is_odd(Orientation o) {
  return o == Orientation::turn_90 || o == Orientation::turn_270 || o == Orientation::ul_lr ||
         o == Orientation::ur_ll;
}

bool is_odd_angle(const WarpParams& p) {
  return !p.matrix && std::abs(std::fmod(p.angle, 180.0)) == 90.0 && p.shear_x == 0 && p.shear_y == 0;
}

// The oriented source, with the picture in its place, from the source: pixels to pixels.
Affine oriented_from_src(const WarpParams& p, const FrameDesc& src) {
  const Affine turn = orient(p.orientation, src.width, src.height);
  if (p.picture == Affine{}) return turn;
  return turn * Affine::scaling(src.width, src.height) * p.picture *
         Affine::scaling(1.0 / src.width, 1.0 / src.height);
}

Affine user_linear(const WarpParams& p) {
  return Affine::rotation(p.angle) * Affine::shearing(p.shear_x, p.shear_y) *
         Affine::scaling(p.scale_x, p.scale_y);
}

// The turned picture: source display space to itself, about the pivot.
Affine user(const WarpParams& p, const FrameDesc& src) {
  const Point pivot = display_from_pixels(src)({p.pivot_x * src.width, p.pivot_y * src.height});
  return Affine::translation(pivot.x, pivot.y) * user_linear(p) * Affine::translation(-pivot.x, -pivot.y);
}

// Half the sides of the largest upright rectangle, centred, inside the image of the rectangle with half sides
// (w, h) under a linear map whose inverse is `inv`: both |inv.a| x + |inv.b| y <= w and |inv.c| x + |inv.d| y
// <= h hold for it. The area x y is largest where one of the lines is tangent to a hyperbola, or where they
// cross.
Point largest_inside(const Affine& inv, double w, double h) {
  const double a = std::abs(inv.a), b = std::abs(inv.b), c = std::abs(inv.c), d = std::abs(inv.d);
  const auto fits = [&](Point q) {
    constexpr double kSlack = 1 + 1e-12;
    return a * q.x + b * q.y <= w * kSlack && c * q.x + d * q.y <= h * kSlack;
  };
  Point best{0, 0};
  const auto consider = [&](Point q) {
    if (q.x > 0 && q.y > 0 && std::isfinite(q.x) && std::isfinite(q.y) && fits(q) &&
        q.x * q.y > best.x * best.y)
      best = q;
  };
  consider({w / (2 * a), w / (2 * b)});
  consider({h / (2 * c), h / (2 * d)});
  const double det = a * d - b * c;
  consider({(w * d - h * b) / det, (h * a - w * c) / det});
  return best;
}

// The same with the sides in a given ratio x : y = aspect.
Point largest_inside(const Affine& inv, double w, double h, double aspect) {
  const double y = std::min(w / (std::abs(inv.a) * aspect + std::abs(inv.b)),
                            h / (std::abs(inv.c) * aspect + std::abs(inv.d)));
  return {y * aspect, y};
}

// The size of a canvas in pixels of an output with this pixel aspect ratio: a pixel of the canvas is as high
// as a source pixel; after an odd quarter turn into inverted pixels, as high as a source pixel is wide.
struct CanvasPixel {
  double width, height;
};
CanvasPixel canvas_pixel(const WarpParams& p, const FrameDesc& src, double dst_pixel_aspect) {
  const bool turned = is_odd_angle(p) && std::abs(dst_pixel_aspect * src.pixel_aspect - 1) < 1e-9;
  const double unit = turned ? src.pixel_aspect : 1;
  return {dst_pixel_aspect * unit, unit};
}

Size whole_size(const WarpParams& p, double width, double height) {
  const auto whole = [&](double v) {
    v = p.framing == Framing::crop ? std::floor(v + kSizeSlack) : std::ceil(v - kSizeSlack);
    return static_cast<int>(std::clamp(v, 1.0, static_cast<double>(INT_MAX)));
  };
  return {whole(width), whole(height)};
}

// The canvas, given in output pixels, to its place in the output.
Affine fit(const WarpParams& p, double width, double height, const FrameDesc& dst) {
  const double out_w = dst.width, out_h = dst.height;
  // A canvas whose size was rounded to make the output is not scaled by that rounding.
  if (follows_canvas(p) && whole_size(p, width, height) == Size{dst.width, dst.height})
    return Affine::translation((out_w - width) / 2, (out_h - height) / 2);
  switch (p.fit) {
    case Fit::letterbox: {
      const double scale = std::min(out_w / width, out_h / height);
      const double w = std::clamp(std::round(width * scale + kSizeSlack), 1.0, out_w);
      const double h = std::clamp(std::round(height * scale + kSizeSlack), 1.0, out_h);
      return Affine::translation(std::floor((out_w - w) * p.align_x + kSizeSlack),
                                 std::floor((out_h - h) * p.align_y + kSizeSlack)) *
             Affine::scaling(w / width, h / height);
    }
    case Fit::stretch:
      return Affine::scaling(out_w / width, out_h / height);
    case Fit::crop: {
      const double scale = std::max(out_w / width, out_h / height);
      return Affine::translation((out_w - width * scale) * p.align_x, (out_h - height * scale) * p.align_y) *
             Affine::scaling(scale, scale);
    }
    case Fit::none:
      break;
  }
  return Affine::translation(std::floor((out_w - width) * p.align_x + kSizeSlack),
                             std::floor((out_h - height) * p.align_y + kSizeSlack));
}

}  // namespace

bool follows_canvas(const WarpParams& p) {
  return !p.matrix && (p.framing == Framing::expand || p.framing == Framing::crop);
}

bool swaps_sides(const WarpParams& p) {
  return is_odd(p.orientation) != (is_odd_angle(p) && follows_canvas(p));
}

FrameDesc oriented(const WarpParams& p, const FrameDesc& src) {
  FrameDesc frame = src;
  if (!is_odd(p.orientation)) return frame;
  std::swap(frame.width, frame.height);
  frame.pixel_aspect = 1 / src.pixel_aspect;
  return frame;
}

std::optional<Rect> canvas(const WarpParams& p, const FrameDesc& stored, double dst_aspect) {
  const FrameDesc src = oriented(p, stored);
  const double w = src.width * src.pixel_aspect, h = src.height;
  if (p.framing == Framing::none) return Rect{0, 0, w, h};
  const Affine turn = user(p, src);
  const auto inv = turn.inverse();
  if (!inv) return std::nullopt;
  const Point centre = turn({w / 2, h / 2});
  Point half;
  if (p.framing == Framing::expand)
    half = {(std::abs(turn.a) * w + std::abs(turn.b) * h) / 2,
            (std::abs(turn.c) * w + std::abs(turn.d) * h) / 2};
  else if (p.framing == Framing::crop)
    half = largest_inside(*inv, w / 2, h / 2);
  else
    half = largest_inside(*inv, w / 2, h / 2, dst_aspect);
  return Rect{centre.x - half.x, centre.y - half.y, 2 * half.x, 2 * half.y};
}

Size natural_size(const WarpParams& p, const FrameDesc& stored, double dst_pixel_aspect) {
  const FrameDesc src = oriented(p, stored);
  if (!follows_canvas(p)) return {src.width, src.height};
  const auto c = canvas(p, stored, 1);
  if (!c) return {src.width, src.height};
  const CanvasPixel px = canvas_pixel(p, src, dst_pixel_aspect);
  return whole_size(p, c->width / px.width, c->height / px.height);
}

std::optional<Affine> dst_from_src(const WarpParams& p, const FrameDesc& stored, const FrameDesc& dst) {
  Affine m;
  if (p.matrix) {
    m = *p.matrix;
  } else {
    const FrameDesc src = oriented(p, stored);
    const double dst_aspect = dst.width * dst.pixel_aspect / dst.height;
    const auto c = canvas(p, stored, dst_aspect);
    if (!c || !(c->width > 0) || !(c->height > 0)) return std::nullopt;
    const CanvasPixel px = canvas_pixel(p, src, dst.pixel_aspect);
    m = Affine::translation(p.offset_x, p.offset_y) *
        fit(p, c->width / px.width, c->height / px.height, dst) *
        Affine::scaling(1 / px.width, 1 / px.height) * Affine::translation(-c->x, -c->y) * user(p, src) *
        display_from_pixels(src);
  }
  m = m * oriented_from_src(p, stored);
  if (!m.inverse()) return std::nullopt;
  return m;
}

Affine luma_from_group(const FrameDesc& frame, int group, bool sited) {
  const Group& g = info(frame.format).group[group];
  const int w = 1 << g.shift_x, h = 1 << g.shift_y;
  const double site_x = sited && frame.cosited_x ? (1 - w) / 2.0 : 0;
  const double site_y = sited && frame.cosited_y ? (1 - h) / 2.0 : 0;
  return {double(w), 0, site_x - (frame.skip_x & (w - 1)), 0, double(h), site_y - (frame.skip_y & (h - 1))};
}

}  // namespace cudawarp

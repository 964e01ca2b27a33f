// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace cudawarp::oracle {
namespace {

constexpr double kOnTheSide = 1e-6;  // pixels; what is this close to a side lies on it
constexpr double kUndecided = 1e-4;  // pixels

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

Vec forward(const WarpParams& p, const FrameDesc& src, const FrameDesc& dst, Vec q) {
  if (p.matrix) return Map{p.matrix->a, p.matrix->b, p.matrix->tx, p.matrix->c, p.matrix->d, p.matrix->ty}(q);
  const Vec seen = turn(p, src, {q.x * src.pixel_aspect, q.y});
  const Box from = canvas(p, src, dst);
  const Vec pixel = canvas_pixel(p, src, dst);
  const Box to = place(p, from.width / pixel.x, from.height / pixel.y, dst);
  return {p.offset_x + to.x + (seen.x - from.x) / from.width * to.width,
          p.offset_y + to.y + (seen.y - from.y) / from.height * to.height};
}

double kernel(Interpolation interpolation, double t) {
  t = std::abs(t);
  if (interpolation == Interpolation::bilinear) return std::max(0.0, 1 - t);
  if (t < 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
  return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
}

constexpr int kBorder = -1;

// The pixel that stands for i: abcd|dcba, abcd|cba, abcd|abcd, or the nearest.
int index_of(int64_t i, int64_t n, const WarpParams& p) {
  const auto modulo = [](int64_t v, int64_t m) { return ((v % m) + m) % m; };
  if (i >= 0 && i < n) return static_cast<int>(i);
  switch (p.border) {
    case Border::mirror:
      return static_cast<int>(std::min(modulo(i, 2 * n), modulo(-1 - i, 2 * n)));
    case Border::mirror_101:
      return n == 1 ? 0 : static_cast<int>(std::min(modulo(i, 2 * n - 2), modulo(-i, 2 * n - 2)));
    case Border::wrap:
      return static_cast<int>(modulo(i, n));
    case Border::replicate:
      break;
    case Border::constant:
    case Border::transparent:
      if (!p.edge_antialias) return kBorder;
  }
  return i < 0 ? 0 : static_cast<int>(n - 1);
}

struct Taps {
  int count;
  int index[4];
  double weight[4];
};
Taps taps(double at, int n, const WarpParams& p) {
  if (p.interpolation == Interpolation::nearest)
    return {1, {index_of(static_cast<int64_t>(std::floor(at)), n, p)}, {1}};
  Taps t{4, {}, {}};
  const double below = std::floor(at - 0.5);
  for (int k = 0; k < 4; ++k) {
    t.index[k] = index_of(static_cast<int64_t>(below) - 1 + k, n, p);
    t.weight[k] = kernel(p.interpolation, at - 0.5 - (below - 1 + k));
  }
  return t;
}

// How much of each pixel the picture covers. The ramp is for edges that are seen: one along a side of the
// output frame, on it or beyond, leaves the last chroma pixel of an odd size whole.
class Coverage {
 public:
  Coverage(const Map& back, const FrameDesc& src, const FrameDesc& dst, const PlaneFormat& to)
      : back_(back), block_{double(1 << to.shift_x), double(1 << to.shift_y)}, w_(src.width), h_(src.height) {
    // Output pixels of the plane to source pixels, across the edges.
    across_ = {std::hypot(back.a * block_.x, back.b * block_.y),
               std::hypot(back.c * block_.x, back.d * block_.y)};
    const double W = dst.width, H = dst.height;
    const Vec frame[4] = {back({0, 0}), back({W, 0}), back({W, H}), back({0, H})};
    for (int k = 0; k < 4; ++k)
      fades_[k] = !parallel(k) ||
                  std::any_of(frame, frame + 4, [&](Vec corner) { return inside(corner, k) < -kOnTheSide; });
  }

  double operator()(int i, int j) const {
    const Vec s = back_({(i + 0.5) * block_.x, (j + 0.5) * block_.y});
    double cover = 1;
    for (int k = 0; k < 4; ++k)
      if (fades_[k]) cover *= std::clamp(0.5 + inside(s, k), 0.0, 1.0);
    return cover;
  }

 private:
  // How far inside edge k of the picture a source point lies, in output pixels of the plane.
  double inside(Vec s, int k) const {
    const double distance[4] = {s.y / across_.y, (w_ - s.x) / across_.x, (h_ - s.y) / across_.y,
                                s.x / across_.x};
    return distance[k];
  }

  // Whether edge k lies along a side of the output frame.
  bool parallel(int k) const {
    const double along_x = std::abs(k % 2 ? back_.a : back_.c), along_y = std::abs(k % 2 ? back_.b : back_.d);
    return std::min(along_x, along_y) < 1e-12 * std::max(along_x, along_y);
  }

  Map back_;
  Vec block_, across_;
  double w_, h_;
  bool fades_[4];
};

constexpr int kPadding = 4;  // in a Color

int color_index(Component c) {
  return c == Component::padding ? kPadding : static_cast<int>(c);
}

// Reads a plane as colours.
class Reader {
 public:
  Reader(const FormatInfo& format, int plane, const ConstImage& image, bool premultiply)
      : at_(image.plane[plane]), bytes_(format.plane[plane].bytes), premultiply_(premultiply) {
    std::fill(byte_of_, byte_of_ + 5, -1);
    for (int k = 0; k < bytes_; ++k) byte_of_[color_index(format.plane[plane].components[k])] = k;
  }

  Color operator()(int x, int y) const {
    const uint8_t* pixel = at_.data + y * at_.pitch + x * bytes_;
    Color c;
    for (int k = 0; k < 5; ++k) c[k] = byte_of_[k] < 0 ? 255 : pixel[byte_of_[k]];
    return premultiplied(c);
  }

  Color premultiplied(Color c) const {
    if (premultiply_)
      for (int k = 0; k < 3; ++k) c[k] *= c[3] / 255;
    return c;
  }

 private:
  ConstImage::Plane at_;
  int bytes_;
  bool premultiply_;
  int byte_of_[5];
};

Color interpolate(const Reader& read, const Color& border, const Taps& xs, const Taps& ys) {
  Color sum{};
  for (int j = 0; j < ys.count; ++j)
    for (int i = 0; i < xs.count; ++i) {
      const double weight = xs.weight[i] * ys.weight[j];
      if (weight == 0) continue;
      const bool outside = xs.index[i] == kBorder || ys.index[j] == kBorder;
      const Color tap = outside ? border : read(xs.index[i], ys.index[j]);
      for (int k = 0; k < 5; ++k) sum[k] += weight * tap[k];
    }
  return sum;
}

Plane warp_plane(const WarpParams& p, const FrameDesc& src, const FrameDesc& dst, const ConstImage& image,
                 int plane, const Map& back) {
  const FormatInfo &from = info(src.format), &to = info(dst.format);
  const PlaneFormat& stored = to.plane[plane];
  const bool alpha = from.has_alpha() || to.has_alpha();
  const bool blend = (p.border == Border::constant || p.border == Border::transparent) && p.edge_antialias;
  const Reader read(from, plane, image, alpha);
  const Color border = read.premultiplied(border_color(p, dst));
  const Coverage coverage(back, src, dst, stored);
  const int src_w = from.plane_width(plane, src.width), src_h = from.plane_height(plane, src.height);
  const bool keeps_padding = from.has(Component::padding) && to.has(Component::padding);

  Plane out{to.plane_width(plane, dst.width), to.plane_height(plane, dst.height), stored.bytes, {}, {}, {}};
  for (int j = 0; j < out.height; ++j)
    for (int i = 0; i < out.width; ++i) {
      const Vec at = source_point(back, src, dst, plane, i, j);
      const double cover = blend ? coverage(i, j) : 1;
      Color c = interpolate(read, border, taps(at.x, src_w, p), taps(at.y, src_h, p));
      for (int k = 0; k < 5; ++k) c[k] = border[k] + cover * (c[k] - border[k]);
      const double opacity = alpha ? c[3] : 255;
      if (opacity > 0)
        for (int k = 0; k < 3; ++k) c[k] *= 255 / opacity;
      if (!keeps_padding) c[kPadding] = 255;
      for (int k = 0; k < stored.bytes; ++k)
        out.value.push_back(std::clamp(c[color_index(stored.components[k])], 0.0, 255.0));
      out.opacity.push_back(opacity);
      const auto undecided = [](double v) { return std::abs(v - std::round(v)) < kUndecided; };
      out.ambiguous.push_back(p.interpolation == Interpolation::nearest &&
                              (undecided(at.x) || undecided(at.y)));
    }
  return out;
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

Vec source_point(const Map& src_from_dst, const FrameDesc& src, const FrameDesc& dst, int plane, int i,
                 int j) {
  const PlaneFormat &from = info(src.format).plane[plane], &to = info(dst.format).plane[plane];
  // A chroma sample sits in the middle of its block of luma pixels, or on the first of them.
  const auto luma_of = [](int k, int shift, bool cosited) {
    return cosited ? k * (1 << shift) + 0.5 : (k + 0.5) * (1 << shift);
  };
  const auto sample_at = [](double luma, int shift, bool cosited) {
    return cosited ? (luma - 0.5) / (1 << shift) + 0.5 : luma / (1 << shift);
  };
  const Vec s = src_from_dst({luma_of(i, to.shift_x, dst.cosited_x), luma_of(j, to.shift_y, dst.cosited_y)});
  return {sample_at(s.x, from.shift_x, src.cosited_x), sample_at(s.y, from.shift_y, src.cosited_y)};
}

Color border_color(const WarpParams& p, const FrameDesc& frame) {
  const FormatInfo& format = info(frame.format);
  const auto channel = [&](int shift) { return ((p.border_color >> shift) & 0xff) / 255.0; };
  const double r = channel(16), g = channel(8), b = channel(0);
  const auto code = [](double v) { return std::clamp(std::floor(v + 0.5), 0.0, 255.0); };
  const auto level = [&](double v) { return code(frame.full_range ? 255 * v : 16 + 219 * v); };
  const auto difference = [&](double v) { return code(128 + v * (frame.full_range ? 255 : 224)); };
  const double opaque = p.border == Border::transparent ? 0 : format.has_alpha() ? 255 * channel(24) : 255;
  if (format.family == Family::rgb) return {level(r), level(g), level(b), opaque, opaque};
  const double y = frame.kr * r + frame.kb * b + (1 - frame.kr - frame.kb) * g;
  return {level(y), difference((b - y) / (2 * (1 - frame.kb))), difference((r - y) / (2 * (1 - frame.kr))),
          opaque, opaque};
}

std::vector<Plane> warp(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst,
                        const ConstImage& image) {
  const Map back = inverse(dst_from_src(params, src, dst));
  std::vector<Plane> planes;
  for (int k = 0; k < info(src.format).planes; ++k)
    planes.push_back(warp_plane(params, src, dst, image, k, back));
  return planes;
}

}  // namespace cudawarp::oracle

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "oracle_filter.h"

namespace cudawarp::oracle {
namespace {

constexpr double kOnTheSide = 1e-6;  // pixels; what is this close to a side lies on it
constexpr double kUndecided = 1e-4;  // pixels

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

// One axis of a group's grid in a frame: sample k, counted from the first that the frame has a part of,
// stands for `block` luma pixels.
struct Axis {
  int shift, skip, length;
  bool cosited;

  int block() const { return 1 << shift; }
  int skipped() const { return skip >> shift; }
  int samples() const { return (skip % block() + length + block() - 1) / block(); }

  // The luma coordinate of a place on the grid, (0, 1) being sample 0. A chroma sample sits in the middle of
  // its block of luma pixels, or on the first of them.
  double luma_of(double at) const {
    return cosited ? (at - 0.5 + skipped()) * block() + 0.5 - skip : block_of(at);
  }
  double at_luma(double luma) const {
    return cosited ? (luma + skip - 0.5) / block() + 0.5 - skipped() : at_block(luma);
  }
  // The same of the blocks.
  double block_of(double at) const { return (at + skipped()) * block() - skip; }
  double at_block(double luma) const { return (luma + skip) / block() - skipped(); }
};

struct Grid {
  Axis x, y;
  bool interlaced;

  Grid(const FrameDesc& f, int g)
      : x{info(f.format).group[g].shift_x, f.skip_x, f.width, f.cosited_x},
        y{info(f.format).group[g].shift_y, f.skip_y, f.height, f.cosited_y},
        interlaced(f.interlaced) {}

  // Rows count from the first of the larger frame that this one is cut out of.
  int parity(int row) const { return interlaced ? (y.skipped() + row) & 1 : 0; }
  Field field(int parity) const {
    if (!interlaced) return {0, 1, y.samples()};
    const int first = parity ^ (y.skipped() & 1);
    return {first, 2, (y.samples() - first + 1) / 2};
  }
};

double row_in(const Field& field, double y) {
  return (y - 0.5 - field.first) / field.step + 0.5;
}

// Output pixels of a group's field to source pixels of one, without what moves them.
Map linear_part(const Map& back, const Grid& from, const Grid& to) {
  const double x = to.x.block(), y = to.y.block() * (to.interlaced ? 2 : 1);
  const double sx = from.x.block(), sy = from.y.block() * (from.interlaced ? 2 : 1);
  return {back.a * x / sx, back.b * y / sx, 0, back.c * x / sy, back.d * y / sy, 0};
}

// How much of each pixel the picture covers. The ramp is for edges that are seen: one along a side of the
// output frame, on it or beyond, leaves the last chroma pixel of an odd size whole.
class Coverage {
 public:
  Coverage(const Map& back, const FrameDesc& src, const FrameDesc& dst, const Grid& from, const Grid& to)
      : back_(back), from_(from), to_(to) {
    const Map m = linear_part(back, from, to);
    across_ = {std::hypot(m.a, m.b), std::hypot(m.c, m.d)};
    const double W = dst.width, H = dst.height, w = src.width, h = src.height;
    for (int k = 0; k < 4; ++k) fades_[k] = !parallel(k);
    for (const Vec corner : {back({0, 0}), back({W, 0}), back({W, H}), back({0, H})}) {
      const double inside[4] = {corner.y, w - corner.x, h - corner.y, corner.x};
      for (int k = 0; k < 4; ++k) fades_[k] = fades_[k] || inside[k] < -kOnTheSide;
    }
  }

  // Of pixel (i, j) of the output, that reads `field`.
  double operator()(int i, int j, const Field& field) const {
    const Vec s = back_({to_.x.block_of(i + 0.5), to_.y.block_of(j + 0.5)});
    const double x = from_.x.at_block(s.x), y = row_in(field, from_.y.at_block(s.y));
    // The picture's edges in that field. A block that the frame has only a part of ends with the frame.
    const double left = from_.x.at_block(0), right = from_.x.at_block(from_.x.length);
    const double above = from_.y.at_block(0), below = from_.y.samples() - from_.y.at_block(from_.y.length);
    const int last = field.first + field.step * (field.rows - 1);
    const double top = field.first == 0 ? above : 0;
    const double bottom = field.rows - (last == from_.y.samples() - 1 ? below : 0);
    const double inside[4] = {(y - top) / across_.y, (right - x) / across_.x, (bottom - y) / across_.y,
                              (x - left) / across_.x};
    double cover = 1;
    for (int k = 0; k < 4; ++k)
      if (fades_[k]) cover *= std::clamp(0.5 + inside[k], 0.0, 1.0);
    return cover;
  }

 private:
  // Whether edge k lies along a side of the output frame.
  bool parallel(int k) const {
    const double along_x = std::abs(k % 2 ? back_.a : back_.c), along_y = std::abs(k % 2 ? back_.b : back_.d);
    return std::min(along_x, along_y) < 1e-12 * std::max(along_x, along_y);
  }

  Map back_;
  Grid from_, to_;
  Vec across_;
  bool fades_[4];
};

constexpr int kAlpha = 3, kPadding = 4;  // in a Color

int largest_of(int bits) {
  return (1 << bits) - 1;
}

// One sample of each pixel of a group: where it lies in memory, and what it is.
struct Channel {
  int color;  // place in a Color
  const uint8_t* data;
  ptrdiff_t pitch;
  int step, bytes, shift, bits;

  double code(int x, int y) const {
    uint32_t word = 0;
    std::memcpy(&word, data + y * pitch + x * step, bytes);
    return (word >> shift) & largest_of(bits);
  }
};

std::vector<Channel> channels_of(const FormatInfo& f, int group, const ConstImage& image) {
  const Group& g = f.group[group];
  std::vector<Channel> list;
  for (int k = 0; k < g.channels + f.padding; ++k) {
    const bool padding = k == g.channels;
    const int color = padding ? kPadding : static_cast<int>(g.component[k]);
    const int bits = padding ? 8 : color == kAlpha ? f.alpha_depth : f.depth;
    const ConstImage::Plane& plane = image.plane[g.plane[padding ? 0 : k]];
    if (g.packing == Packing::bits10)
      list.push_back({color, plane.data, plane.pitch, g.step, 4, g.at[k], bits});
    else
      list.push_back({color, plane.data + g.at[k], plane.pitch, g.step, bits > 8 ? 2 : 1, f.low_zeros, bits});
  }
  return list;
}

// Reads a group of the source as colours of the output: code values of its depth; alpha and opacity are 0..1.
class Reader {
 public:
  Reader(const FrameDesc& src, const FrameDesc& dst, int group, const ConstImage& image, bool premultiply)
      : channels_(channels_of(info(src.format), group, image)),
        grid_(src, group),
        scale_(color_scale(src, dst)),
        premultiply_(premultiply) {}

  Color operator()(int x, int y) const {
    Color c{0, 0, 0, 1, 255};
    for (const Channel& channel : channels_) {
      const double code = channel.code(grid_.x.skipped() + x, grid_.y.skipped() + y);
      c[channel.color] = channel.color == kAlpha     ? code / largest_of(channel.bits)
                         : channel.color == kPadding ? code
                                                     : code * scale_;
    }
    return premultiplied(c);
  }

  Color premultiplied(Color c) const {
    if (premultiply_)
      for (int k = 0; k < 3; ++k) c[k] *= c[kAlpha];
    return c;
  }

 private:
  std::vector<Channel> channels_;
  Grid grid_;
  double scale_;
  bool premultiply_;
};

// Everything that is the same for all pixels of a group.
struct Work {
  const WarpParams& p;
  const Reader& read;
  Color border;
  int width;

  Color tap(int64_t i, int64_t j, const Field& field) const {
    const int x = index_of(i, width, p), y = index_of(j, field.rows, p);
    return x == kBorder || y == kBorder ? border : read(x, field.first + field.step * y);
  }
};

void add(Color& sum, const Color& tap, double weight) {
  for (int k = 0; k < 5; ++k) sum[k] += weight * tap[k];
}

Color interpolate(const Work& work, Vec at, const Field& field) {
  const Interpolation how = work.p.interpolation;
  if (how == Interpolation::nearest)
    return work.tap(static_cast<int64_t>(std::floor(at.x)), static_cast<int64_t>(std::floor(at.y)), field);
  const int reach = how == Interpolation::lanczos ? 3 : how == Interpolation::bicubic ? 2 : 1;
  const auto i0 = static_cast<int64_t>(std::floor(at.x - 0.5)),
             j0 = static_cast<int64_t>(std::floor(at.y - 0.5));
  double across[6], total_x = 0, total_y = 0;
  for (int i = 0; i < 2 * reach; ++i)
    total_x += across[i] = kernel(how, at.x - 0.5 - static_cast<double>(i0 - reach + 1 + i));
  Color sum{};
  for (int j = 0; j < 2 * reach; ++j) {
    const double down = kernel(how, at.y - 0.5 - static_cast<double>(j0 - reach + 1 + j));
    total_y += down;
    for (int i = 0; i < 2 * reach; ++i)
      if (down * across[i] != 0)
        add(sum, work.tap(i0 - reach + 1 + i, j0 - reach + 1 + j, field), down * across[i]);
  }
  for (double& v : sum) v /= total_x * total_y;
  return sum;
}

Color average(const Work& work, const Footprint& f, Vec at, const Field& field) {
  const auto first = [](double v) { return static_cast<int64_t>(std::ceil(v - 0.5)); };
  const auto last = [](double v) { return static_cast<int64_t>(std::floor(v - 0.5)); };
  Color sum{};
  double total = 0;
  for (int64_t j = first(at.y - f.span.y); j <= last(at.y + f.span.y); j += f.step_y)
    for (int64_t i = first(at.x - f.span.x); i <= last(at.x + f.span.x); i += f.step_x) {
      const double w = f.weight({static_cast<double>(i) + 0.5 - at.x, static_cast<double>(j) + 0.5 - at.y});
      if (w == 0) continue;
      total += w;
      add(sum, work.tap(i, j, field), w);
    }
  for (double& v : sum) v /= total;
  return sum;
}

Samples warp_group(const WarpParams& p, const FrameDesc& src, const FrameDesc& dst, const ConstImage& image,
                   int group, const Map& back) {
  const FormatInfo &from = info(src.format), &to = info(dst.format);
  const Grid from_grid(src, group), to_grid(dst, group);
  const bool alpha = from.has_alpha() || to.has_alpha();
  const bool blend = (p.border == Border::constant || p.border == Border::transparent) && p.edge_antialias;
  const bool keeps_padding = from.padding && to.padding;
  const Reader read(src, dst, group, image, alpha);
  const double opaque = largest_of(to.has_alpha() ? to.alpha_depth : 8);
  Color border = border_color(p, dst);
  border[kAlpha] /= opaque;
  const Work work{p, read, read.premultiplied(border), from_grid.x.samples()};
  const Coverage coverage(back, src, dst, from_grid, to_grid);
  const auto shrinks = p.antialias ? footprint(p.interpolation, linear_part(back, from_grid, to_grid))
                                   : std::optional<Footprint>();
  const std::vector<Channel> stored = channels_of(to, group, {});

  Samples out{to_grid.x.samples(), to_grid.y.samples(), static_cast<int>(stored.size()), {}, {}, {}};
  for (int j = 0; j < out.height; ++j) {
    const Field field = field_read(src, dst, group, j);
    for (int i = 0; i < out.width; ++i) {
      const Vec at = source_point(back, src, dst, group, i, j);
      const double cover = blend ? coverage(i, j, field) : 1;
      Color c = work.border;
      if (cover > 0) {
        const Color seen = shrinks ? average(work, *shrinks, at, field) : interpolate(work, at, field);
        for (int k = 0; k < 5; ++k) c[k] += cover * (seen[k] - c[k]);
      }
      const double opacity = alpha ? c[kAlpha] : 1;
      if (opacity > 0)
        for (int k = 0; k < 3; ++k) c[k] /= opacity;
      if (!keeps_padding) c[kPadding] = 255;
      c[kAlpha] *= opaque;
      for (const Channel& s : stored)
        out.value.push_back(std::clamp<double>(c[s.color], 0, largest_of(s.bits)));
      out.opacity.push_back(opacity);
      const auto undecided = [](double v) { return std::abs(v - std::round(v)) < kUndecided; };
      out.ambiguous.push_back(p.interpolation == Interpolation::nearest && !shrinks &&
                              (undecided(at.x) || undecided(at.y)));
    }
  }
  return out;
}

}  // namespace

Field field_read(const FrameDesc& src, const FrameDesc& dst, int group, int j) {
  const Grid from(src, group);
  const int parity = Grid(dst, group).parity(j);
  const Field field = from.field(parity);
  return field.rows > 0 ? field : from.field(1 - parity);
}

Vec source_point(const Map& src_from_dst, const FrameDesc& src, const FrameDesc& dst, int group, int i,
                 int j) {
  const Grid from(src, group), to(dst, group);
  const Vec s = src_from_dst({to.x.luma_of(i + 0.5), to.y.luma_of(j + 0.5)});
  return {from.x.at_luma(s.x), row_in(field_read(src, dst, group, j), from.y.at_luma(s.y))};
}

Color border_color(const WarpParams& p, const FrameDesc& frame) {
  const FormatInfo& format = info(frame.format);
  const auto channel = [&](int shift) { return ((p.border_color >> shift) & 0xff) / 255.0; };
  const double r = channel(16), g = channel(8), b = channel(0);
  const double most = largest_of(format.depth), unit = 1 << (format.depth - 8), middle = 128 * unit;
  const auto code = [&](double v) { return std::clamp(std::floor(v + 0.5), 0.0, most); };
  const auto level = [&](double v) { return code(frame.full_range ? most * v : (16 + 219 * v) * unit); };
  const auto difference = [&](double v) { return code(middle + v * (frame.full_range ? most : 224 * unit)); };
  const double opaque = largest_of(format.has_alpha() ? format.alpha_depth : 8);
  const double asked = format.has_alpha() ? std::floor(opaque * channel(24) + 0.5) : opaque;
  const double alpha = p.border == Border::transparent ? 0 : asked;
  if (format.family == Family::rgb) return {level(r), level(g), level(b), alpha, 255};
  const double y = frame.kr * r + frame.kb * b + (1 - frame.kr - frame.kb) * g;
  return {level(y), difference((b - y) / (2 * (1 - frame.kb))), difference((r - y) / (2 * (1 - frame.kr))),
          alpha, 255};
}

double color_scale(const FrameDesc& src, const FrameDesc& dst) {
  const int from = info(src.format).depth, to = info(dst.format).depth;
  if (!dst.full_range) return std::ldexp(1, to - from);
  return static_cast<double>(largest_of(to)) / largest_of(from);
}

std::vector<Samples> warp(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst,
                          const ConstImage& image) {
  const Map back = inverse(dst_from_src(params, src, dst));
  std::vector<Samples> groups;
  for (int g = 0; g < info(src.format).groups; ++g)
    groups.push_back(warp_group(params, src, dst, image, g, back));
  return groups;
}

}  // namespace cudawarp::oracle

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan.h"

#include <algorithm>
#include <cmath>

#include "color.h"
#include "geometry.h"

namespace cudawarp {
namespace {

constexpr double kOne = 4294967296.0;  // of Q32
constexpr int64_t kOneFixed = int64_t{1} << 32;
constexpr double kFarAway = 1 << 29;  // pixels; further out there is nothing left to see

int64_t to_fixed(double v, double limit = kFarAway) {
  return static_cast<int64_t>(std::llround(std::clamp(v, -limit, limit) * kOne));
}

Outside outside_of(const WarpParams& p) {
  switch (p.border) {
    case Border::replicate:
      return Outside::replicate;
    case Border::mirror:
      return Outside::mirror;
    case Border::mirror_101:
      return Outside::mirror_101;
    case Border::wrap:
      return Outside::wrap;
    case Border::constant:
    case Border::transparent:
      break;
  }
  return p.edge_antialias ? Outside::blend : Outside::border_taps;
}

PipeId pipe_of(const FormatInfo& src, const FormatInfo& dst, int plane) {
  const int load = src.plane[plane].bytes, store = dst.plane[plane].bytes;
  if (load == 1) return PipeId::one;
  if (load == 2) return PipeId::two;
  const bool alpha = src.has_alpha() || dst.has_alpha();
  if (load == 3) return store == 3 ? PipeId::rgb_to_rgb : alpha ? PipeId::rgb_to_rgba : PipeId::rgb_to_rgbx;
  if (store == 3) return alpha ? PipeId::rgba_to_rgb : PipeId::rgbx_to_rgb;
  return alpha ? PipeId::rgba_to_rgba : PipeId::rgbx_to_rgbx;
}

bool has_alpha(PipeId pipe) {
#define CUDAWARP_ALPHA(name, load, channels, alpha, store) alpha,
  constexpr bool kAlpha[] = {CUDAWARP_PIPES(CUDAWARP_ALPHA)};
#undef CUDAWARP_ALPHA
  return kAlpha[static_cast<size_t>(pipe)];
}

// The place of a component in a canonical word.
int canonical_byte(Component c) {
  return c == Component::padding ? 3 : static_cast<int>(c);
}

void set_formats(PlanePlan& p, const FormatInfo& src, const FormatInfo& dst, int plane) {
  constexpr uint32_t kInOrder = 0x3210, kOpaque = 0xff000000;
  p.pipe = pipe_of(src, dst, plane);
  p.load_select = p.store_select = kInOrder;
  p.load_or = p.store_or = 0;
  const PlaneFormat &from = src.plane[plane], &to = dst.plane[plane];
  if (from.bytes < 3) return;
  for (int at = 0; at < from.bytes; ++at) {
    const int nibble = 4 * canonical_byte(from.components[at]);
    p.load_select = (p.load_select & ~(0xfu << nibble)) | static_cast<uint32_t>(at) << nibble;
  }
  for (int at = 0; at < to.bytes; ++at) {
    const uint32_t byte = canonical_byte(to.components[at]);
    p.store_select = (p.store_select & ~(0xfu << (4 * at))) | byte << (4 * at);
  }
  const bool padding_carried = src.has(Component::padding) && dst.has(Component::padding);
  if (!src.has_alpha() && !padding_carried) p.load_or = kOpaque;
  if (!dst.has_alpha() && !padding_carried) p.store_or = kOpaque;
}

void set_border(PlanePlan& p, const WarpParams& params, const FrameDesc& dst, int plane) {
  const FormatInfo& f = info(dst.format);
  const PlaneFormat& stored = f.plane[plane];
  const bool transparent = params.border == Border::transparent;
  const BorderColor color = border_color(params.border_color, dst);
  const bool alpha_pipe = has_alpha(p.pipe);
  // Alpha in 0..255; a format without alpha has an opaque border.
  const int alpha = transparent ? 0 : f.has_alpha() ? color.alpha : 255;
  p.border_word = 0;
  for (int k = 0; k < 4; ++k) p.border[k] = 0;
  if (stored.bytes < 3) {  // as stored
    for (int k = 0; k < stored.bytes; ++k) {
      const int value = color.component[static_cast<int>(stored.components[k])];
      p.border[k] = static_cast<float>(value);
      p.border_word |= static_cast<uint32_t>(value) << (8 * k);
    }
    return;
  }
  for (int k = 0; k < 3; ++k) {
    p.border[k] = static_cast<float>(color.component[k]) * (alpha_pipe ? alpha : 1);
    p.border_word |= static_cast<uint32_t>(color.component[k]) << (8 * k);
  }
  p.border[3] = static_cast<float>(alpha);
  p.border_word |= static_cast<uint32_t>(alpha) << 24;
  if (alpha == 0) p.border_word = 0;
}

// A row of a map: a source coordinate, as at_first + per_i i + per_j j for the centre of output pixel (i, j).
struct Row {
  double at_first, per_i, per_j;
};

// Keeps every value of the row, and its steps, within +-2^29 of the middle of the source (`centre`) over `w`
// x `h` output pixels. A row that leaves that range belongs to a picture thinner than source side x output
// side / 2^30 output pixels, or one as far away; it is drawn together about that middle, which stays in its
// place on the output.
Row within_range(Row r, double centre, int w, int h) {
  constexpr double kHuge = 1e300;  // so that nothing below overflows
  const auto finite = [&](double v) { return std::clamp(v, -kHuge, kHuge); };
  r = {finite(finite(r.at_first) - centre), finite(r.per_i), finite(r.per_j)};
  double largest = std::max(std::abs(r.per_i), std::abs(r.per_j));
  for (const double i : {0.0, w - 1.0})
    for (const double j : {0.0, h - 1.0})
      largest = std::max(largest, std::abs(r.at_first + r.per_i * i + r.per_j * j));
  const double shrink = std::max(1.0, largest / kFarAway);
  return {centre + r.at_first / shrink, r.per_i / shrink, r.per_j / shrink};
}

// The rows of a map for one plane, ready for fixed point.
struct Rows {
  Row x, y;
  Rows(const Affine& m, const PlanePlan& p)
      : x(within_range({m.tx + (m.a + m.b) / 2, m.a, m.b}, p.src_w / 2.0, p.dst_w, p.dst_h)),
        y(within_range({m.ty + (m.c + m.d) / 2, m.c, m.d}, p.src_h / 2.0, p.dst_w, p.dst_h)) {}
};

void set_coordinates(PlanePlan& p, const Rows& rows) {
  p.x0 = to_fixed(rows.x.at_first, 2 * kFarAway), p.x_per_i = to_fixed(rows.x.per_i);
  p.x_per_j = to_fixed(rows.x.per_j);
  p.y0 = to_fixed(rows.y.at_first, 2 * kFarAway), p.y_per_i = to_fixed(rows.y.per_i);
  p.y_per_j = to_fixed(rows.y.per_j);
}

// The picture's edges in the plane. Coverage is that of whole blocks of luma pixels, wherever the chroma
// sample sits in its block: the picture is the luma frame, seen through unsited coordinates; `shift` leads
// from those to the coordinates that are sampled.
void set_edges(PlanePlan& p, const Affine& src_from_dst, const Rows& rows, const WarpPlan& plan, int plane) {
  const PlaneFormat &from = info(plan.src.format).plane[plane], &to = info(plan.dst.format).plane[plane];
  const double fx = 1 << from.shift_x, fy = 1 << from.shift_y;
  const Affine unsited =
      Affine::scaling(1 / fx, 1 / fy) * plan.src_from_dst * Affine::scaling(1 << to.shift_x, 1 << to.shift_y);
  const Point shift{src_from_dst.tx - unsited.tx, src_from_dst.ty - unsited.ty};
  // The last chroma sample of an odd size reaches over the side of the frame, and its centre lies on it. So
  // an edge parallel to a side of the output frame, and on it or beyond, is put far away: it fades no pixel.
  constexpr double kSlack = 1e-6;
  const double w = plan.src.width, h = plan.src.height;
  const Affine& m = plan.src_from_dst;
  const bool x_along = m.a == 0 || m.b == 0, y_along = m.c == 0 || m.d == 0;
  const Point p0 = m({0, 0}), p1 = m({double(plan.dst.width), double(plan.dst.height)});
  const auto unseen = [&](bool along, double inside) { return along && inside >= -kSlack; };
  p.edge_left = to_fixed(unseen(x_along, std::min(p0.x, p1.x)) ? -kFarAway : shift.x);
  p.edge_right = to_fixed(unseen(x_along, w - std::max(p0.x, p1.x)) ? kFarAway : w / fx + shift.x);
  p.edge_top = to_fixed(unseen(y_along, std::min(p0.y, p1.y)) ? -kFarAway : shift.y);
  p.edge_bottom = to_fixed(unseen(y_along, h - std::max(p0.y, p1.y)) ? kFarAway : h / fy + shift.y);

  const double source_per_output_x = std::hypot(rows.x.per_i, rows.x.per_j);
  const double source_per_output_y = std::hypot(rows.y.per_i, rows.y.per_j);
  p.ramp_x = static_cast<float>(1 / source_per_output_x);
  p.ramp_y = static_cast<float>(1 / source_per_output_y);
  const int64_t half_x = to_fixed(source_per_output_x / 2), half_y = to_fixed(source_per_output_y / 2);
  p.inner_left = p.edge_left + half_x, p.inner_right = p.edge_right - half_x;
  p.inner_top = p.edge_top + half_y, p.inner_bottom = p.edge_bottom - half_y;
}

bool is_copy(const PlanePlan& p) {
  const auto unit = [](int64_t v) { return v == kOneFixed || v == -kOneFixed; };
  const bool upright = unit(p.x_per_i) && p.x_per_j == 0 && p.y_per_i == 0 && unit(p.y_per_j);
  const bool turned = p.x_per_i == 0 && unit(p.x_per_j) && unit(p.y_per_i) && p.y_per_j == 0;
  const auto centred = [](int64_t v) { return (v & (kOneFixed - 1)) == kHalfPixel; };
  return (upright || turned) && centred(p.x0) && centred(p.y0);
}

bool is_identity(const PlanePlan& p) {
  return p.x0 == kHalfPixel && p.y0 == kHalfPixel && p.x_per_i == kOneFixed && p.x_per_j == 0 &&
         p.y_per_i == 0 && p.y_per_j == kOneFixed && p.src_w == p.dst_w && p.src_h == p.dst_h;
}

}  // namespace

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
  plan.precision = params.precision;
  plan.planes = from.planes;
  bool copy = true, identity = src == dst;
  for (int k = 0; k < plan.planes; ++k) {
    PlanePlan& p = plan.plane[k];
    p.src_w = from.plane_width(k, src.width), p.src_h = from.plane_height(k, src.height);
    p.dst_w = to.plane_width(k, dst.width), p.dst_h = to.plane_height(k, dst.height);
    const Affine src_from_dst =
        *luma_from_plane(src, k).inverse() * plan.src_from_dst * luma_from_plane(dst, k);
    p.outside = outside_of(params);
    const Rows rows(src_from_dst, p);
    set_coordinates(p, rows);
    set_edges(p, src_from_dst, rows, plan, k);
    set_formats(p, from, to, k);
    set_border(p, params, dst, k);
    copy = copy && is_copy(p);
    identity = identity && is_identity(p);
  }
  plan.interpolation = copy ? Interpolation::nearest : params.interpolation;
  plan.identity = identity;
  return plan;
}

}  // namespace cudawarp

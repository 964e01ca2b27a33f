// SPDX-License-Identifier: LGPL-2.1-or-later
#include "make_pass.h"

#include <algorithm>
#include <cmath>

#include "color.h"
#include "fixed.h"
#include "footprint.h"
#include "geometry.h"
#include "weights.h"

namespace cudawarp {
namespace {

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

// ---- grids and fields

// The rows of one field in a group's grid of a frame.
struct Field {
  int first, step, rows;
  int of;  // rows of the whole grid

  // Rows of the group from rows of the field.
  Affine group_from_field() const { return step == 1 ? Affine{} : Affine{1, 0, 0, 0, 2, first - 0.5}; }
};

Field field_of(const FrameDesc& frame, int group, int field) {
  const FormatInfo& f = info(frame.format);
  const int skipped = frame.skip_y & ((1 << f.group[group].shift_y) - 1);
  const int rows = f.group_height(group, skipped + frame.height);
  if (!frame.interlaced) return {0, 1, rows, rows};
  // Parity counts in the frame that this one was cut from.
  const int parity = (frame.skip_y >> f.group[group].shift_y) & 1;
  int first = (field + parity) & 1;
  if (first >= rows) first = 0;  // a frame of one row: its only field stands for both
  return {first, 2, (rows - first + 1) / 2, rows};
}

int width_of(const FrameDesc& frame, int group) {
  const FormatInfo& f = info(frame.format);
  return f.group_width(group, (frame.skip_x & ((1 << f.group[group].shift_x) - 1)) + frame.width);
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

// The rows of a map for one pass, ready for fixed point.
struct Rows {
  Row x, y;
  Rows(const Affine& m, const PassPlan& p)
      : x(within_range({m.tx + (m.a + m.b) / 2, m.a, m.b}, p.src_w / 2.0, p.dst_w, p.dst_h)),
        y(within_range({m.ty + (m.c + m.d) / 2, m.c, m.d}, p.src_h / 2.0, p.dst_w, p.dst_h)) {}
};

void set_coordinates(PassPlan& p, const Rows& rows) {
  p.x0 = to_fixed(rows.x.at_first, 2 * kFarAway), p.x_per_i = to_fixed(rows.x.per_i);
  p.x_per_j = to_fixed(rows.x.per_j);
  p.y0 = to_fixed(rows.y.at_first, 2 * kFarAway), p.y_per_i = to_fixed(rows.y.per_i);
  p.y_per_j = to_fixed(rows.y.per_j);
}

// The picture's edges in the pass's grid. Coverage is that of whole blocks of luma pixels, wherever the
// chroma sample sits in its block: the picture is the luma frame, seen through unsited coordinates; `shift`
// leads from those to the coordinates that are sampled. The picture of a field is its own rows, so that a
// copy of them fades none; a block that the frame's side cuts ends there.
void set_edges(PassPlan& p, const Affine& sited, const Rows& rows, const WarpPlan& plan, const Field& from) {
  const Affine group_from_luma = *luma_from_group(plan.src, p.group, false).inverse();
  const Affine unsited = group_from_luma * plan.src_from_dst * luma_from_group(plan.dst, p.group, false);
  const double w = plan.src.width, h = plan.src.height;
  Point low = group_from_luma({0, 0}), high = group_from_luma({w, h});
  if (from.step == 2) {
    const bool has_last = from.first + 2 * (from.rows - 1) == from.of - 1;
    low.y = from.first == 0 ? low.y : 0;
    high.y = from.rows - (has_last ? from.of - high.y : 0);
  }
  const Point shift{sited.tx - unsited.tx, (sited.ty - unsited.ty) / from.step};
  low = {low.x + shift.x, low.y + shift.y}, high = {high.x + shift.x, high.y + shift.y};
  // The last chroma sample of an odd size reaches over the side of the frame, and its centre lies on it. So
  // an edge parallel to a side of the output frame, and on it or beyond, is put far away: it fades no pixel.
  constexpr double kSlack = 1e-6;
  const Affine& m = plan.src_from_dst;
  const bool x_along = m.a == 0 || m.b == 0, y_along = m.c == 0 || m.d == 0;
  const Point p0 = m({0, 0}), p1 = m({double(plan.dst.width), double(plan.dst.height)});
  const auto unseen = [&](bool along, double inside) { return along && inside >= -kSlack; };
  p.edge_left = to_fixed(unseen(x_along, std::min(p0.x, p1.x)) ? -kFarAway : low.x);
  p.edge_right = to_fixed(unseen(x_along, w - std::max(p0.x, p1.x)) ? kFarAway : high.x);
  p.edge_top = to_fixed(unseen(y_along, std::min(p0.y, p1.y)) ? -kFarAway : low.y);
  p.edge_bottom = to_fixed(unseen(y_along, h - std::max(p0.y, p1.y)) ? kFarAway : high.y);

  const double source_per_output_x = std::hypot(rows.x.per_i, rows.x.per_j);
  const double source_per_output_y = std::hypot(rows.y.per_i, rows.y.per_j);
  p.ramp_x = static_cast<float>(1 / source_per_output_x);
  p.ramp_y = static_cast<float>(1 / source_per_output_y);
  const int64_t half_x = to_fixed(source_per_output_x / 2), half_y = to_fixed(source_per_output_y / 2);
  p.inner_left = p.edge_left + half_x, p.inner_right = p.edge_right - half_x;
  p.inner_top = p.edge_top + half_y, p.inner_bottom = p.edge_bottom - half_y;
}

// ---- what is inside

// Whole pixels from the one of a source point to its outermost taps.
int reach(double margin_or_span) {
  return static_cast<int>(std::ceil(std::min(margin_or_span, kFarAway)));
}

void set_inside(PassPlan& p, Interpolation interpolation) {
  int reach_x = reach(margin_of(interpolation) + 0.5), reach_y = reach_x;
  if (interpolation == Interpolation::nearest) reach_x = reach_y = 0;
  if (p.shrinks) {
    reach_x = reach(static_cast<double>(p.footprint.span_x) / kOne + 0.5);
    reach_y = reach(static_cast<double>(p.footprint.span_y) / kOne + 0.5);
    if (p.integers) {  // always so many taps, the outermost of which may weigh nothing
      const int rows = p.footprint.upright ? p.taps : p.turned.rows;
      reach_x = std::max(reach_x, reach(p.taps - static_cast<double>(p.footprint.span_x) / kOne + 0.5));
      reach_y = std::max(reach_y, reach(rows - static_cast<double>(p.footprint.span_y) / kOne + 0.5));
    }
  }
  p.inside_left = reach_x, p.inside_right = p.src_w - 1 - reach_x;
  p.inside_top = reach_y, p.inside_bottom = p.src_h - 1 - reach_y;
  if (p.outside != Outside::blend) return;
  const auto above = [](int64_t q32) { return static_cast<int32_t>((q32 + kOneFixed - 1) >> 32); };
  const auto below = [](int64_t q32) { return static_cast<int32_t>(q32 >> 32) - 1; };
  p.inside_left = std::max(p.inside_left, above(p.inner_left));
  p.inside_right = std::min(p.inside_right, below(p.inner_right));
  p.inside_top = std::max(p.inside_top, above(p.inner_top));
  p.inside_bottom = std::min(p.inside_bottom, below(p.inner_bottom));
}

// ---- formats

FetchId fetch_of(const Group& from, bool alpha) {
  switch (from.packing) {
    case Packing::samples8:
      return alpha                ? FetchId::samples8_alpha
             : from.channels == 1 ? FetchId::samples8_1
             : from.channels == 2 ? FetchId::samples8_2
                                  : FetchId::samples8_3;
    case Packing::samples16:
      return alpha                ? FetchId::samples16_alpha
             : from.channels == 1 ? FetchId::samples16_1
             : from.channels == 2 ? FetchId::samples16_2
                                  : FetchId::samples16_3;
    case Packing::bytes2:
      return FetchId::bytes2;
    case Packing::bytes3:
      return alpha ? FetchId::bytes3_alpha : FetchId::bytes3;
    case Packing::bytes4:
      return alpha ? FetchId::bytes4_alpha : FetchId::bytes4;
    case Packing::words2:
      return FetchId::words2;
    case Packing::words4:
      return FetchId::words4_alpha;
    case Packing::bits10:
      break;
  }
  return FetchId::bits10_alpha;
}

int largest_code(int depth) {
  return (1 << depth) - 1;
}

// The byte of the stored pixel that each canonical byte comes from, as nibbles.
uint32_t load_select(const Group& g, int bytes) {
  uint32_t select = 0x3210;
  for (int k = 0; k < bytes; ++k) select = (select & ~(0xfu << (4 * k))) | uint32_t{g.at[k]} << (4 * k);
  return select;
}
uint32_t store_select(const Group& g, int bytes) {
  uint32_t select = 0x3210;
  for (int k = 0; k < bytes; ++k) select = (select & ~(0xfu << (4 * g.at[k]))) | uint32_t(k) << (4 * g.at[k]);
  return select;
}
int permuted_bytes(Packing packing) {
  return packing == Packing::bytes4 ? 4 : packing == Packing::bytes3 ? 3 : packing == Packing::bytes2 ? 2 : 0;
}

bool has_alpha(FetchId fetch) {
#define CUDAWARP_ALPHA(name, packing, channels, alpha) alpha,
  constexpr bool kAlpha[] = {CUDAWARP_FETCHES(CUDAWARP_ALPHA)};
#undef CUDAWARP_ALPHA
  return kAlpha[static_cast<size_t>(fetch)];
}

void set_formats(PassPlan& p, const WarpPlan& plan, Interpolation interpolation) {
  const FormatInfo &src = info(plan.src.format), &dst = info(plan.dst.format);
  const Group &from = src.group[p.group], &to = dst.group[p.group];
  p.fetch = fetch_of(from, src.has_alpha() || dst.has_alpha());
  p.store = to.packing;
  for (int k = 0; k < kMaxChannels; ++k) p.src_at[k] = from.at[k], p.dst_at[k] = to.at[k];
  p.src_step = from.step, p.dst_step = to.step;
  p.src_channels = from.channels, p.dst_channels = to.channels;
  p.low_zeros = dst.low_zeros;
  p.load_select = load_select(from, permuted_bytes(from.packing));
  p.store_select = store_select(to, permuted_bytes(to.packing));
  const bool padding_carried = src.padding && dst.padding;
  constexpr uint32_t kFourth = 0xff000000;
  p.load_or = src.padding && !padding_carried ? kFourth : 0;
  p.store_or = dst.padding && !padding_carried ? kFourth : 0;

  const int src_alpha_depth = src.has_alpha() ? src.alpha_depth : src.depth;
  const int dst_alpha_depth = dst.has_alpha() ? dst.alpha_depth : src_alpha_depth;
  p.src_opaque = largest_code(src_alpha_depth);
  p.same_words =
      src.depth == dst.depth && src.low_zeros == dst.low_zeros && src_alpha_depth == dst_alpha_depth;
  const double color_scale = plan.dst.full_range ? double(largest_code(dst.depth)) / largest_code(src.depth)
                                                 : std::ldexp(1.0, dst.depth - src.depth);
  p.largest_code = largest_code(dst.depth);
  const int most = interpolation == Interpolation::nearest                  ? 0
                   : interpolation == Interpolation::bilinear && !p.shrinks ? 10
                                                                            : 8;
  // Over turned footprints only where tiles do it.
  const bool samples = from.packing == Packing::samples8 && from.step == 1 && !has_alpha(p.fetch),
             packed = from.packing == Packing::bytes2 || from.packing == Packing::bytes4;
  const bool texels = from.packing == to.packing && from.step == to.step && (samples || packed);
  const bool averages = p.shrinks && (p.footprint.upright || (texels && most == 8));
  p.taps = static_cast<uint8_t>(averages    ? set_integer_taps(p, interpolation)
                                : p.shrinks ? 0
                                            : taps_of(interpolation));
  p.integers = p.taps > 0 && p.same_words && src.depth <= most && src_alpha_depth == src.depth;
  for (int k = 0; k < 3; ++k) {
    p.scale[k] = static_cast<float>(std::ldexp(color_scale, -src.low_zeros));
    p.largest[k] = static_cast<float>(largest_code(dst.depth));
  }
  p.scale[3] = static_cast<float>(double(largest_code(dst_alpha_depth)) / largest_code(src_alpha_depth));
  p.largest[3] = static_cast<float>(largest_code(dst_alpha_depth));
}

void set_border(PassPlan& p, const WarpParams& params, const FrameDesc& dst) {
  const Group& to = info(dst.format).group[p.group];
  BorderColor color = border_color(params.border_color, dst);
  if (params.border == Border::transparent) color[3] = 0;
  const bool alpha = has_alpha(p.fetch);
  // In values of the source; without alpha in the output, its border is as opaque as the source's pixels.
  const double opacity = info(dst.format).has_alpha() ? color[3] / double(p.scale[3]) : p.src_opaque;
  for (int k = 0; k < kMaxChannels; ++k) {
    const int component = static_cast<int>(to.component[k]);
    const int code = alpha && opacity == 0 ? 0 : color[component];
    const double value = component == 3 ? opacity : code / double(p.scale[component]) * (alpha ? opacity : 1);
    p.border[k] = static_cast<float>(value);
    p.border_word[k] = static_cast<uint32_t>(code) << p.low_zeros;
    p.border_tap[k] = component == 3 ? static_cast<uint32_t>(std::lround(opacity)) : p.border_word[k];
  }
}

}  // namespace

PassPlan make_pass(const WarpParams& params, const WarpPlan& plan, int group, int field) {
  PassPlan p{};
  const Field from = field_of(plan.src, group, field), to = field_of(plan.dst, group, field);
  // A frame of one row has no second field.
  const bool empty = plan.dst.interlaced && field == 1 && to.first == 0;
  p.group = static_cast<uint8_t>(group);
  p.src_first_row = static_cast<uint8_t>(from.first), p.dst_first_row = static_cast<uint8_t>(to.first);
  p.row_step = static_cast<uint8_t>(to.step);
  p.src_w = width_of(plan.src, group), p.src_h = from.rows;
  p.dst_w = width_of(plan.dst, group), p.dst_h = empty ? 0 : to.rows;
  const Affine sited =
      *luma_from_group(plan.src, group).inverse() * plan.src_from_dst * luma_from_group(plan.dst, group);
  const Affine src_from_dst = *from.group_from_field().inverse() * sited * to.group_from_field();
  p.outside = outside_of(params);
  const Rows rows(src_from_dst, p);
  set_coordinates(p, rows);
  set_edges(p, sited, rows, plan, from);
  if (params.antialias && !is_copy(p))
    set_footprint(p, {rows.x.per_i, rows.y.per_i}, {rows.x.per_j, rows.y.per_j}, params.interpolation);
  set_formats(p, plan, params.interpolation);
  set_inside(p, params.interpolation);
  set_border(p, params, plan.dst);
  return p;
}

void match_passes(WarpPlan& plan) {
  bool all = true;
  uint8_t taps = 0;
  const auto turned = [](const PassPlan& p) { return p.integers && p.shrinks && !p.footprint.upright; };
  for (int k = 0; k < plan.passes; ++k)
    all = all && turned(plan.pass[k]), taps = std::max(taps, plan.pass[k].taps);
  for (int k = 0; k < plan.passes; ++k) {
    PassPlan& p = plan.pass[k];
    if (!turned(p)) continue;
    p.integers = all;
    p.taps = taps;
    set_inside(p, plan.interpolation);
  }
}

bool is_copy(const PassPlan& p) {
  const auto unit = [](int64_t v) { return v == kOneFixed || v == -kOneFixed; };
  const bool upright = unit(p.x_per_i) && p.x_per_j == 0 && p.y_per_i == 0 && unit(p.y_per_j);
  const bool turned = p.x_per_i == 0 && unit(p.x_per_j) && unit(p.y_per_i) && p.y_per_j == 0;
  const auto centred = [](int64_t v) { return (v & (kOneFixed - 1)) == kHalfPixel; };
  return (upright || turned) && centred(p.x0) && centred(p.y0);
}

bool is_identity(const PassPlan& p) {
  return p.x0 == kHalfPixel && p.y0 == kHalfPixel && p.x_per_i == kOneFixed && p.x_per_j == 0 &&
         p.y_per_i == 0 && p.y_per_j == kOneFixed && p.src_w == p.dst_w && p.src_h == p.dst_h;
}

}  // namespace cudawarp

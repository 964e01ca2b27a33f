// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The passes of a plan: what an output pixel covers where the map shrinks, fields, frames cut out of larger
// ones.
#include <cmath>
#include <set>

#include "cuda/integers.h"
#include "frames.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

constexpr int64_t kPixel = int64_t{1} << 32;

FrameDesc frame(Format format, int width, int height) {
  return {.format = format, .width = width, .height = height};
}

const FrameDesc kGray = frame(Format::GRAY8, 64, 48);

// Direction n of a footprint and the width across it; either sign of n will do.
bool spreads(float x, float y, float half, double want_x, double want_y, double want_width) {
  const double along = x * want_x + y * want_y;
  return std::abs(std::abs(along) - 1) < 1e-6 && std::abs(2 * half - want_width) < 1e-5;
}

void assert_footprint(const PassPlan& p, Point n1, double s1, Point n2, double s2) {
  const Footprint& f = p.footprint;
  ck_assert(p.shrinks);
  const bool as_told =
      spreads(f.x1, f.y1, f.half1, n1.x, n1.y, s1) && spreads(f.x2, f.y2, f.half2, n2.x, n2.y, s2);
  const bool swapped =
      spreads(f.x1, f.y1, f.half1, n2.x, n2.y, s2) && spreads(f.x2, f.y2, f.half2, n1.x, n1.y, s1);
  ck_assert_msg(as_told || swapped, "(%g, %g) %g, (%g, %g) %g; should be (%g, %g) %g, (%g, %g) %g", f.x1,
                f.y1, 2 * f.half1, f.x2, f.y2, 2 * f.half2, n1.x, n1.y, s1, n2.x, n2.y, s2);
}

void assert_span(const PassPlan& p, double x, double y, int step_x, int step_y) {
  ck_assert(std::abs(static_cast<double>(p.footprint.span_x) / kPixel - x) < 1e-6);
  ck_assert(std::abs(static_cast<double>(p.footprint.span_y) / kPixel - y) < 1e-6);
  ck_assert_int_eq(p.footprint.step_x, step_x);
  ck_assert_int_eq(p.footprint.step_y, step_y);
}

}  // namespace

GST_START_TEST(footprint_of_upright_maps) {
  for (const auto& [interpolation, margin] : {std::pair{Interpolation::nearest, 0.5},
                                              {Interpolation::bilinear, 0.5},
                                              {Interpolation::bicubic, 1.5},
                                              {Interpolation::lanczos, 2.5}}) {
    const PassPlan p =
        plan_or_fail({.scale_x = 0.25, .scale_y = -0.5, .interpolation = interpolation}, kGray, kGray)
            .pass[0];
    assert_footprint(p, {1, 0}, 4, {0, 1}, 2);
    assert_span(p, 2 + margin, 1 + margin, 1, 1);
    // Shrunk on one axis alone; on the other a pixel wide.
    const PassPlan flat =
        plan_or_fail({.scale_x = 3, .scale_y = 0.1, .interpolation = interpolation}, kGray, kGray).pass[0];
    assert_footprint(flat, {0, 1}, 10, {1, 0}, 1);
    assert_span(flat, 0.5 + margin, 5 + margin, 1, 1);
  }
}
GST_END_TEST;

GST_START_TEST(footprint_of_turned_maps) {
  // Across the parallelogram, here a square with upright diagonals, 4 wide.
  const double r = std::sqrt(0.5);
  const PassPlan square = plan_or_fail({.angle = 45, .scale_x = 0.25, .scale_y = 0.25}, kGray, kGray).pass[0];
  assert_footprint(square, {r, r}, 4, {r, -r}, 4);
  assert_span(square, 2.5 / r, 2.5 / r, 1, 1);
  // Sides (4, 0) and (2, 2): 2 from bottom to top, 8 / sqrt(8) across the slanted side.
  const PassPlan slanted =
      plan_or_fail({.matrix = *Affine{4, 2, 0, 0, 2, 0}.inverse()}, kGray, kGray).pass[0];
  assert_footprint(slanted, {0, 1}, 2, {r, -r}, std::sqrt(8));
  // Thinner than a pixel: along the longest axis, whichever way it points.
  for (const double angle : {0.0, 33.0, 90.0, 123.0, 180.0}) {
    const double c = std::cos(angle * M_PI / 180), s = std::sin(angle * M_PI / 180);
    const Affine turn{c, -s, 0, s, c, 0};  // of the source
    const PassPlan x =
        plan_or_fail({.matrix = *(turn * Affine::scaling(3, 0.5)).inverse()}, kGray, kGray).pass[0];
    assert_footprint(x, {c, s}, 3, {-s, c}, 1);
    // The same seen from an output that is turned itself.
    const PassPlan y =
        plan_or_fail({.matrix = *(turn * Affine::scaling(3, 0.5) * Affine::rotation(40)).inverse()}, kGray,
                     kGray)
            .pass[0];
    assert_footprint(y, {c, s}, 3, {-s, c}, 1);
  }
}
GST_END_TEST;

// No more than kMaxTaps taps along an axis.
GST_START_TEST(wide_footprints_skip_pixels) {
  const auto steps = [](double shrink) {
    return plan_or_fail({.scale_x = 1 / shrink, .scale_y = 0.5}, kGray, kGray).pass[0].footprint.step_x;
  };
  ck_assert_int_eq(steps(30.9), 1);
  ck_assert_int_eq(steps(31.1), 2);
  ck_assert_int_eq(steps(62.9), 2);
  ck_assert_int_eq(steps(63.1), 3);
  ck_assert_int_eq(steps(1000), 32);
}
GST_END_TEST;

GST_START_TEST(what_shrinks) {
  const auto shrinks = [](const WarpParams& params, const FrameDesc& src, const FrameDesc& dst, int pass) {
    return plan_or_fail(params, src, dst).pass[pass].shrinks;
  };
  for (const WarpParams& same : {WarpParams{},
                                 {.angle = 33},
                                 {.angle = 33, .scale_x = -1},
                                 {.angle = 17, .scale_x = 1.5, .scale_y = 1.0},
                                 {.offset_x = 0.5},
                                 {.scale_x = 2, .scale_y = 3}})
    ck_assert(!shrinks(same, kGray, kGray, 0));
  for (WarpParams smaller : {WarpParams{.scale_x = 0.99}, {.angle = 33, .scale_y = 0.9}, {.shear_x = 0.1}}) {
    ck_assert(shrinks(smaller, kGray, kGray, 0));
    smaller.antialias = false;
    ck_assert(!shrinks(smaller, kGray, kGray, 0));
  }
  // Chroma of half the width alone, turned: it shrinks on one axis, and luma does not.
  const FrameDesc d = frame(Format::NV16, 64, 48), turned = frame(Format::NV16, 48, 64);
  const WarpParams quarter{.angle = 90, .framing = Framing::expand};
  ck_assert(!shrinks(quarter, d, turned, 0));
  ck_assert(shrinks(quarter, d, turned, 1));
  assert_footprint(plan_or_fail(quarter, d, turned).pass[1], {0, 1}, 2, {1, 0}, 1);
}
GST_END_TEST;

GST_START_TEST(fields_have_passes_of_their_own) {
  FrameDesc d = frame(Format::NV12, 32, 21);
  d.interlaced = true;
  const WarpPlan plan = plan_or_fail({}, d, d);
  ck_assert(plan.identity);
  ck_assert_int_eq(plan.passes, 4);
  const int groups[] = {0, 1, 0, 1}, first[] = {0, 0, 1, 1}, rows[] = {11, 6, 10, 5};
  for (int k = 0; k < 4; ++k) {
    const PassPlan& p = plan.pass[k];
    ck_assert_int_eq(p.group, groups[k]);
    ck_assert_int_eq(p.src_first_row, first[k]);
    ck_assert_int_eq(p.dst_first_row, first[k]);
    ck_assert_int_eq(p.row_step, 2);
    ck_assert_int_eq(p.src_h, rows[k]);
    ck_assert_int_eq(p.dst_h, rows[k]);
    assert_reads(p, 0, 0, 0.5, 0.5);
    assert_reads(p, 3, 2, 3.5, 2.5);
  }
  // A row lower: row 2 of the frame reads row 1, which lies half way between rows 0 and 2, rows 0 and 1 of
  // the top field; row 1 reads row 0, half a row of the bottom field above its first.
  const WarpPlan lower = plan_or_fail({.offset_y = 1}, d, d);
  assert_reads(lower.pass[0], 0, 1, 0.5, 1);
  assert_reads(lower.pass[2], 0, 0, 0.5, 0);
  ck_assert(plan_or_fail({.offset_y = 2}, d, d).pass[0].y0 == -kPixel / 2);
  // Half the height: a row of the top field, at frame row 0, covers rows 0 and 1, centred at 1: 0.75 of the
  // field.
  FrameDesc half = d;
  half.height = 10, d.height = 20;
  const WarpPlan shrunk = plan_or_fail({.fit = Fit::stretch}, d, half);
  assert_reads(shrunk.pass[0], 0, 0, 0.5, 0.75);
  assert_reads(shrunk.pass[2], 0, 0, 0.5, 1.25);
  assert_footprint(shrunk.pass[0], {0, 1}, 2, {1, 0}, 1);
  // A quarter turn: two columns of the source for a row of a field, half a row of a field for a column.
  FrameDesc turned = d;
  turned.width = 20, turned.height = 32;
  const WarpPlan quarter = plan_or_fail({.angle = 90, .framing = Framing::expand}, d, turned);
  assert_footprint(quarter.pass[0], {1, 0}, 2, {0, 1}, 1);
}
GST_END_TEST;

GST_START_TEST(fields_of_low_frames) {
  FrameDesc d = frame(Format::I420, 8, 1);
  d.interlaced = true;
  ck_assert_int_eq(plan_or_fail({}, d, d).passes, 2);  // one row, of the top field, in luma and chroma
  FrameDesc tall = d;
  tall.height = 5;
  const WarpPlan plan = plan_or_fail({.fit = Fit::stretch}, d, tall);
  ck_assert_int_eq(plan.passes, 4);
  for (int k = 0; k < 4; ++k) {  // the bottom field has nothing else to read than that row
    ck_assert_int_eq(plan.pass[k].src_first_row, 0);
    ck_assert_int_eq(plan.pass[k].src_h, 1);
  }
  ck_assert_int_eq(plan.pass[0].dst_h, 3);
  ck_assert_int_eq(plan.pass[1].dst_h, 2);
}
GST_END_TEST;

// A pass in integers reads as many taps everywhere, also where the last ones weigh nothing: none of them may
// lie outside the picture where a pixel counts as inside.
GST_START_TEST(taps_of_inside_pixels) {
  int seen = 0;
  for (const Interpolation interpolation :
       {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos})
    for (double scale = 0.2; scale < 1; scale += 0.013) {
      const PassPlan p = plan_or_fail({.scale_x = scale, .scale_y = scale, .interpolation = interpolation},
                                      kGray, frame(Format::GRAY8, 64, 48))
                             .pass[0];
      if (!p.integers) continue;
      ++seen;
      for (const int64_t fraction : {int64_t{0}, kPixel / 2 - 1, kPixel / 2, kPixel / 2 + 1, kPixel - 1}) {
        const int left = first_within(p.inside_left * kPixel + fraction, p.footprint.span_x),
                  right = first_within(p.inside_right * kPixel + fraction, p.footprint.span_x) + p.taps - 1,
                  top = first_within(p.inside_top * kPixel + fraction, p.footprint.span_y),
                  bottom = first_within(p.inside_bottom * kPixel + fraction, p.footprint.span_y) + p.taps - 1;
        ck_assert_msg(left >= 0 && right < p.src_w && top >= 0 && bottom < p.src_h,
                      "scale %g: taps reach columns %d to %d and rows %d to %d", scale, left, right, top,
                      bottom);
      }
    }
  ck_assert_int_gt(seen, 50);
}
GST_END_TEST;

// The rows of taps of an integer average over a turned footprint: they hold every pixel that weighs anything,
// and where a pixel counts as inside, so do they.
GST_START_TEST(taps_of_turned_footprints) {
  const double reaches[] = {0.5, 0.5, 1.5, 2.5};
  int seen = 0;
  for (const Interpolation interpolation :
       {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos})
    for (double angle = -179.3; angle < 180; angle += 11.7)
      for (const Point scale : {Point{0.9, 0.9}, {0.5, 0.5}, {0.3, 0.3}, {0.25, -0.4}, {1.4, 0.5}})
        for (const double shear : {0.0, 0.5}) {
          const PassPlan p = plan_or_fail({.angle = angle,
                                           .scale_x = scale.x,
                                           .scale_y = scale.y,
                                           .shear_x = shear,
                                           .interpolation = interpolation},
                                          kGray, kGray)
                                 .pass[0];
          if (!p.integers || p.footprint.upright) continue;
          ++seen;
          const Footprint& f = p.footprint;
          const double reach = reaches[static_cast<int>(interpolation)];
          for (int n = 0; n < 25; ++n) {
            const int64_t x = 20 * kPixel + n * (kPixel / 24) - 1,
                          y = 20 * kPixel + n * 7 % 25 * (kPixel / 24);
            std::set<std::pair<int, int>> taps;
            TurnedRows rows(p, x, y, p.taps);
            int left = 20, right = 20;
            for (int j = 0; j < p.turned.rows; ++j, rows.next(p.turned)) {
              float t1, t2;
              const int first = rows.x + rows.first(p.turned, t1, t2);
              for (int i = 0; i < p.taps; ++i) taps.insert({first + i, rows.y + j});
              left = std::min(left, first), right = std::max(right, first + p.taps - 1);
            }
            for (int j = 0; j < 40; ++j)
              for (int i = 0; i < 40; ++i) {
                const double dx = i + 0.5 - static_cast<double>(x) / kPixel,
                             dy = j + 0.5 - static_cast<double>(y) / kPixel;
                const bool weighs = std::abs(f.x1 * dx + f.y1 * dy) < f.half1 + reach - 1e-4 &&
                                    std::abs(f.x2 * dx + f.y2 * dy) < f.half2 + reach - 1e-4;
                if (weighs && taps.count({i, j}) == 0)
                  ck_abort_msg("angle %g, scale (%g, %g), shear %g: no tap at (%g, %g)", angle, scale.x,
                               scale.y, shear, dx, dy);
              }
            ck_assert_int_ge(left - 20 + p.inside_left, 0);
            ck_assert_int_lt(right - 20 + p.inside_right, p.src_w);
            ck_assert_int_ge(rows.y - 20 + p.inside_top, 0);
            ck_assert_int_lt(rows.y + p.turned.rows - 1 - 20 + p.inside_bottom, p.src_h);
          }
        }
  ck_assert_int_gt(seen, 300);
}
GST_END_TEST;

// A frame whose corner lies inside a chroma block of a larger one.
GST_START_TEST(cut_out_frames) {
  const FrameDesc whole = frame(Format::NV12, 16, 8);
  FrameDesc cut = whole;
  cut.skip_x = cut.skip_y = 1;
  const WarpPlan plan = plan_or_fail({}, cut, whole);
  ck_assert(!plan.identity);
  // Luma is as ever. Chroma has a block more: 1 + 16 luma pixels are 9 blocks; sample 0 of the output, at
  // luma 1, is the place of luma 2 in the larger frame, between the first two samples.
  assert_reads(plan.pass[0], 0, 0, 0.5, 0.5);
  ck_assert_int_eq(plan.pass[0].src_w, 16);
  ck_assert_int_eq(plan.pass[1].src_w, 9);
  ck_assert_int_eq(plan.pass[1].src_h, 5);
  ck_assert_int_eq(plan.pass[1].dst_w, 8);
  assert_reads(plan.pass[1], 0, 0, 1, 1);
  assert_reads(plan.pass[1], 3, 2, 4, 3);
  // Formats without blocks have nothing to skip, and fields have blocks of rows.
  FrameDesc fields = frame(Format::GRAY8, 16, 8), out = fields;
  fields.interlaced = out.interlaced = true;
  fields.skip_y = 1;
  const WarpPlan odd = plan_or_fail({}, fields, out);
  // The top field of the output reads that of the larger frame: its rows 2, 4, ..., rows 1, 3, ... of this
  // one.
  ck_assert_int_eq(odd.pass[0].src_first_row, 1);
  ck_assert_int_eq(odd.pass[1].src_first_row, 0);
  assert_reads(odd.pass[0], 0, 0, 0.5, 0);
  assert_reads(odd.pass[1], 0, 0, 0.5, 1);
}
GST_END_TEST;

static Suite* core_passes_suite() {
  Suite* s = suite_create("core_passes");
  TCase* tc = tcase_create("passes");
  suite_add_tcase(s, tc);
  tcase_add_test(tc, footprint_of_upright_maps);
  tcase_add_test(tc, taps_of_inside_pixels);
  tcase_add_test(tc, footprint_of_turned_maps);
  tcase_add_test(tc, taps_of_turned_footprints);
  tcase_add_test(tc, wide_footprints_skip_pixels);
  tcase_add_test(tc, what_shrinks);
  tcase_add_test(tc, fields_have_passes_of_their_own);
  tcase_add_test(tc, fields_of_low_frames);
  tcase_add_test(tc, cut_out_frames);
  return s;
}

GST_CHECK_MAIN(core_passes);

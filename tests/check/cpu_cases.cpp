// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Faults that people met in some warp, resize or rotate filter, each under its name. Values are worked out by
// hand.
#include <algorithm>
#include <cmath>

#include "cuda/geometry.h"
#include "frames.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

constexpr std::array<int, 4> kMagenta{255, 0, 255, 255};

FrameDesc frame(Format format, int width, int height) {
  return {.format = format, .width = width, .height = height};
}

// BT.709, limited range.
FrameDesc video(Format format, int width, int height) {
  return {
      .format = format, .width = width, .height = height, .kr = 0.2126, .kb = 0.0722, .full_range = false};
}

FrameDesc natural(const WarpParams& params, FrameDesc src, double dst_aspect = 1) {
  const Size size = natural_size(params, src, dst_aspect);
  src.width = size.width, src.height = size.height, src.pixel_aspect = dst_aspect;
  return src;
}

void set(TestFrame& f, std::initializer_list<int> values) {
  ck_assert_int_eq(static_cast<int>(values.size()), f.width(0) * f.height(0));
  auto v = values.begin();
  for (int y = 0; y < f.height(0); ++y)
    for (int x = 0; x < f.width(0); ++x) f.at(0, x, y) = *v++;
}

bool pixel_is(const TestFrame& f, int group, int x, int y, const std::array<int, 4>& want) {
  for (int k = 0; k < f.samples(group); ++k)
    if (f.at(group, x, y, k) != want[k]) return false;
  return true;
}

void assert_turned_clockwise(const TestFrame& src, const TestFrame& out, int group) {
  ck_assert_int_eq(out.width(group), src.height(group));
  ck_assert_int_eq(out.height(group), src.width(group));
  for (int y = 0; y < src.height(group); ++y)
    for (int x = 0; x < src.width(group); ++x)
      for (int k = 0; k < src.samples(group); ++k)
        if (out.at(group, src.height(group) - 1 - y, x, k) != src.at(group, x, y, k))
          ck_abort_msg("group %d: (%d, %d) is not where a quarter turn puts it", group, x, y);
}

}  // namespace

GST_START_TEST(half_pixel) {
  TestFrame src(frame(Format::GRAY8, 10, 10));
  fill_color(src, {0, 0, 0, 0});
  src.at(0, 5, 5) = 255;
  for (const Interpolation interpolation :
       {Interpolation::nearest, Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos}) {
    const TestFrame out =
        warped({.fit = Fit::stretch, .interpolation = interpolation}, src, frame(Format::GRAY8, 100, 100));
    double sum = 0, x_sum = 0, y_sum = 0;
    for (int y = 0; y < 100; ++y)
      for (int x = 0; x < 100; ++x)
        sum += out.at(0, x, y), x_sum += x * out.at(0, x, y), y_sum += y * out.at(0, x, y);
    ck_assert(std::abs(x_sum / sum - 54.5) < 0.05);
    ck_assert(std::abs(y_sum / sum - 54.5) < 0.05);
  }
}
GST_END_TEST;

GST_START_TEST(quarter_exact) {
  TestFrame src(frame(Format::RGB, 640, 480));
  fill_noise(src, 1);
  for (const double angle : {90.0, 450.0, 270.0, -90.0}) {
    const WarpParams params{.angle = angle, .framing = Framing::expand, .border_color = 0xffff00ff};
    const TestFrame out = warped(params, src, natural(params, src.desc()));
    if (std::fmod(angle + 720, 360) == 90)
      assert_turned_clockwise(src, out, 0);
    else
      assert_turned_clockwise(out, src, 0);
  }
}
GST_END_TEST;

GST_START_TEST(no_bleed) {
  TestFrame src(frame(Format::GRAY8, 4, 4));
  set(src, {255, 200, 0, 50, 200, 255, 50, 0, 0, 50, 255, 200, 50, 0, 200, 255});
  const TestFrame out = warped({.fit = Fit::stretch}, src, frame(Format::GRAY8, 8, 8));
  const int want[8] = {255, 241, 214, 150, 50, 12, 37, 50};
  for (int x = 0; x < 8; ++x) ck_assert_int_le(std::abs(out.at(0, x, 0) - want[x]), 1);
}
GST_END_TEST;

GST_START_TEST(letterbox_rounding) {
  TestFrame src(frame(Format::RGB, 3775, 1571));
  fill_color(src, kMagenta);
  const TestFrame out = warped({.border_color = 0xff727272}, src, frame(Format::RGB, 1280, 1280));
  for (int y = 0; y < 1280; ++y)
    for (int x = 0; x < 1280; ++x) {
      const bool content = y >= 373 && y < 373 + 533;
      if (!pixel_is(out, 0, x, y, content ? kMagenta : std::array<int, 4>{114, 114, 114, 0}))
        ck_abort_msg("(%d, %d) is not %s", x, y, content ? "content" : "border");
    }
}
GST_END_TEST;

GST_START_TEST(letterbox_nv12) {
  TestFrame src(video(Format::NV12, 1920, 1080));
  fill_color(src, {200, 90, 30, 0});
  const TestFrame out = warped({.border_color = 0xff727272}, src, video(Format::NV12, 640, 640));
  for (int y = 0; y < 640; ++y)
    for (int x = 0; x < 640; ++x) ck_assert_int_eq(out.at(0, x, y), y >= 140 && y < 500 ? 200 : 114);
  for (int y = 0; y < 320; ++y)
    for (int x = 0; x < 320; ++x) {
      const bool content = y >= 70 && y < 250;
      ck_assert_int_eq(out.at(1, x, y, 0), content ? 90 : 128);
      ck_assert_int_eq(out.at(1, x, y, 1), content ? 30 : 128);
    }
}
GST_END_TEST;

GST_START_TEST(expand) {
  TestFrame src(frame(Format::RGB, 1920, 1080));
  fill_color(src, kMagenta);
  const WarpParams params{.angle = 30, .framing = Framing::expand};
  const TestFrame out = warped(params, src, natural(params, src.desc()));
  ck_assert_int_eq(out.desc().width, 2203);
  ck_assert_int_eq(out.desc().height, 1896);
  // Just inside each corner of the picture.
  const Affine forward = plan_or_fail(params, src.desc(), out.desc()).dst_from_src;
  for (const Point corner : {Point{3, 3}, Point{1917, 3}, Point{3, 1077}, Point{1917, 1077}}) {
    const Point at = forward(corner);
    ck_assert(at.x >= 0 && at.x < 2203 && at.y >= 0 && at.y < 1896);
    ck_assert(pixel_is(out, 0, static_cast<int>(at.x), static_cast<int>(at.y), kMagenta));
  }
}
GST_END_TEST;

GST_START_TEST(black_is_black) {
  for (const Format format : {Format::I420, Format::NV12})
    for (const bool full_range : {false, true}) {
      FrameDesc desc = video(format, 640, 480);
      desc.full_range = full_range;
      TestFrame src(desc);
      fill_color(src, {180, 50, 220, 0});
      const TestFrame out = warped({.angle = 45}, src, desc);
      for (const int x : {0, 1})
        for (const int y : {0, 1}) {
          ck_assert_int_eq(out.at(0, x * 639, y * 479), full_range ? 0 : 16);
          for (int k = 0; k < 2; ++k) ck_assert_int_eq(out.at(1, x * 319, y * 239, k), 128);
        }
    }
}
GST_END_TEST;

GST_START_TEST(transparent) {
  for (const bool antialias : {true, false}) {
    TestFrame src(frame(Format::RGBA, 64, 48));
    fill_color(src, {10, 20, 30, 255});
    const TestFrame out = warped({.angle = 30, .border = Border::transparent, .edge_antialias = antialias},
                                 src, frame(Format::RGBA, 64, 48));
    ck_assert(pixel_is(out, 0, 0, 0, {0, 0, 0, 0}));
    ck_assert(pixel_is(out, 0, 63, 47, {0, 0, 0, 0}));
    ck_assert(pixel_is(out, 0, 32, 24, {10, 20, 30, 255}));
  }
}
GST_END_TEST;

GST_START_TEST(dark_fringe) {
  TestFrame src(frame(Format::RGBA, 500, 100));
  fill_color(src, {0, 0, 0, 0});
  for (int y = 30; y < 70; ++y)
    for (int x = 100; x < 400; ++x)
      for (const int k : {2, 3}) src.at(0, x, y, k) = 255;
  for (const Interpolation interpolation :
       {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos}) {
    const TestFrame out =
        warped({.angle = 4, .border = Border::transparent, .interpolation = interpolation}, src, src.desc());
    int opaque = 0, mixed = 0;
    for (int y = 0; y < 100; ++y)
      for (int x = 0; x < 500; ++x) {
        const int alpha = out.at(0, x, y, 3);
        if (alpha < 16) continue;
        ++(alpha == 255 ? opaque : mixed);
        ck_assert_int_le(out.at(0, x, y, 0), 2);
        ck_assert_int_le(out.at(0, x, y, 1), 2);
        ck_assert_int_ge(out.at(0, x, y, 2), 253);
      }
    ck_assert_int_gt(opaque, 11000);
    ck_assert_int_gt(mixed, 600);
  }
}
GST_END_TEST;

GST_START_TEST(odd_chroma) {
  TestFrame src(video(Format::I420, 321, 241));
  fill_color(src, {100, 140, 90, 0});
  for (int y = 0; y < 241; ++y)
    for (int x = 0; x < 321; ++x) src.at(0, x, y) = (x * 7 + y * 3) % 256;
  for (const Border border : {Border::constant, Border::replicate}) {
    const TestFrame out = warped({.angle = 180, .border = border}, src, src.desc(), 3);
    for (int y = 0; y < 241; ++y)
      for (int x = 0; x < 321; ++x) ck_assert_int_eq(out.at(0, x, y), src.at(0, 320 - x, 240 - y));
    for (int y = 0; y < 121; ++y)
      for (int x = 0; x < 161; ++x) {
        ck_assert_int_eq(out.at(1, x, y), 140);
        ck_assert_int_eq(out.at(1, x, y, 1), 90);
      }
  }
}
GST_END_TEST;

// The last rows of an odd height lie on the output's side, also under a shear that keeps them there.
GST_START_TEST(odd_chroma_sheared) {
  TestFrame src(video(Format::I420, 321, 241));
  fill_color(src, {100, 140, 90, 0});
  const TestFrame out = warped({.shear_x = 0.2, .border_color = 0xffff00ff}, src, src.desc());
  for (int y = 0; y < 121; ++y) {
    ck_assert_int_eq(out.at(1, 80, y), 140);
    ck_assert_int_eq(out.at(1, 80, y, 1), 90);
  }
}
GST_END_TEST;

GST_START_TEST(clockwise) {
  TestFrame src(frame(Format::GRAY8, 2, 2));
  set(src, {10, 20, 30, 40});
  const TestFrame out = warped({.angle = 90}, src, src.desc());
  ck_assert_int_eq(out.at(0, 0, 0), 30);
  ck_assert_int_eq(out.at(0, 1, 0), 10);
  ck_assert_int_eq(out.at(0, 0, 1), 40);
  ck_assert_int_eq(out.at(0, 1, 1), 20);
}
GST_END_TEST;

GST_START_TEST(order) {
  TestFrame src(frame(Format::GRAY8, 64, 64));
  fill_noise(src, 3);
  const WarpParams params{
      .angle = 90, .scale_x = 2, .offset_x = 5, .offset_y = 7, .pivot_x = 0, .pivot_y = 0};
  const Point at = plan_or_fail(params, src.desc(), src.desc()).dst_from_src({10, 0});
  ck_assert(std::abs(at.x - 5) < 1e-9 && std::abs(at.y - 27) < 1e-9);
  WarpParams same;
  same.matrix = Affine{0, -1, 5, 2, 0, 7};
  const TestFrame out = warped(params, src, src.desc()), by_matrix = warped(same, src, src.desc());
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) ck_assert_int_eq(out.at(0, x, y), by_matrix.at(0, x, y));
}
GST_END_TEST;

GST_START_TEST(pixel_aspect) {
  FrameDesc desc = video(Format::NV12, 720, 576);
  desc.pixel_aspect = 16 / 15.0;
  TestFrame src(desc);
  fill_noise(src, 5);
  const WarpParams params{.angle = 90, .framing = Framing::expand};
  const TestFrame out = warped(params, src, natural(params, desc, 15 / 16.0));
  ck_assert_int_eq(out.desc().width, 576);
  ck_assert_int_eq(out.desc().height, 720);
  assert_turned_clockwise(src, out, 0);
  assert_turned_clockwise(src, out, 1);
}
GST_END_TEST;

// A disc on the display, 200 display pixels across the radius, before and after.
GST_START_TEST(pixel_aspect_angle) {
  constexpr double kAspect = 16 / 15.0, kRadius = 200;
  FrameDesc desc = frame(Format::GRAY8, 720, 576);
  desc.pixel_aspect = kAspect;
  const auto distance = [](int x, int y) { return std::hypot((x + 0.5 - 360) * kAspect, y + 0.5 - 288); };
  TestFrame src(desc);
  for (int y = 0; y < 576; ++y)
    for (int x = 0; x < 720; ++x) src.at(0, x, y) = distance(x, y) < kRadius ? 255 : 0;
  const TestFrame out = warped({.angle = 30}, src, desc);
  for (int y = 0; y < 576; ++y)
    for (int x = 0; x < 720; ++x) {
      if (distance(x, y) < kRadius - 2) ck_assert_int_eq(out.at(0, x, y), 255);
      if (distance(x, y) > kRadius + 2) ck_assert_int_eq(out.at(0, x, y), 0);
    }
}
GST_END_TEST;

GST_START_TEST(tight_rows) {
  for (const Format format :
       {Format::GRAY8, Format::RGB, Format::UYVY, Format::I422_10LE, Format::RGB10A2_LE}) {
    const FrameDesc desc = frame(format, 1921, 300);
    TestFrame tight(desc, 0, true), padded(desc, 2, true);
    fill_noise(tight, 7);
    fill_noise(padded, 7);
    const WarpParams params{.angle = 3};
    const TestFrame want = warped(params, tight, desc);
    assert_same(want, warped(params, padded, desc, 2), "padded");
    assert_same(want, warped(params, tight, desc, 2), "tight, into padded");
  }
}
GST_END_TEST;

// The longest sides that a plan takes.
GST_START_TEST(long_sides) {
  for (const Size size : {Size{kMaxSide, 1}, Size{1, kMaxSide}}) {
    TestFrame src(frame(Format::RGBA, size.width, size.height), 0, true);
    fill_noise(src, 9);
    const WarpParams params{.angle = 90, .framing = Framing::expand};
    assert_turned_clockwise(src, warped(params, src, natural(params, src.desc())), 0);
  }
}
GST_END_TEST;

// A picture seen from the side, as in the middle of a card flip: a column in its place, and nothing
// elsewhere. Its two edges cover half a pixel each.
GST_START_TEST(thin_picture_keeps_its_place) {
  const double edge_on = std::cos(std::acos(-1.0) / 2);  // 6e-17, which is not singular
  for (const double scale : {1e-7, edge_on, 1e-100, -edge_on}) {
    TestFrame src(frame(Format::GRAY8, 321, 9));
    fill_color(src, {200, 200, 200, 255});
    const TestFrame flat = warped({.scale_x = scale}, src, src.desc());
    const TestFrame moved = warped({.matrix = Affine{scale, 0, 10.5, 0, 1, 0}}, src, src.desc());
    for (int x = 0; x < 321; ++x) {
      ck_assert_int_le(std::abs(flat.at(0, x, 4) - (x == 160 ? 50 : 0)), 1);
      ck_assert_int_le(std::abs(moved.at(0, x, 4) - (x == 10 ? 50 : 0)), 1);
    }
  }
}
GST_END_TEST;

static Suite* cpu_cases_suite() {
  Suite* s = suite_create("cpu_cases");
  TCase* tc = tcase_create("cases");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, half_pixel);
  tcase_add_test(tc, quarter_exact);
  tcase_add_test(tc, no_bleed);
  tcase_add_test(tc, letterbox_rounding);
  tcase_add_test(tc, letterbox_nv12);
  tcase_add_test(tc, expand);
  tcase_add_test(tc, black_is_black);
  tcase_add_test(tc, transparent);
  tcase_add_test(tc, dark_fringe);
  tcase_add_test(tc, odd_chroma);
  tcase_add_test(tc, odd_chroma_sheared);
  tcase_add_test(tc, clockwise);
  tcase_add_test(tc, order);
  tcase_add_test(tc, pixel_aspect);
  tcase_add_test(tc, pixel_aspect_angle);
  tcase_add_test(tc, tight_rows);
  tcase_add_test(tc, long_sides);
  tcase_add_test(tc, thin_picture_keeps_its_place);
  return s;
}

GST_CHECK_MAIN(cpu_cases);

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Faults that people met in some warp, resize or rotate filter, through the element's properties and caps.
#include <algorithm>
#include <cmath>
#include <vector>

#include "element_util.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

// The whole of a small output from a whole of a small input.
std::vector<uint8_t> warped(const std::string& properties, int width, int height, std::vector<uint8_t> gray) {
  const std::string in = raw("GRAY8", width, height);
  Warp warp(properties);
  warp.set_caps(in);
  Pixels src = black(in);
  src.plane[0].data = std::move(gray);
  return warp(src).plane[0].data;
}

// Rows of one colour, and from where to where another one.
void assert_bars(const Pixels& out, int plane, int first, int end, std::initializer_list<int> content,
                 std::initializer_list<int> border) {
  for (int y = 0; y < out.plane[plane].height; ++y)
    for (int x = 0; x < out.plane[plane].width; ++x)
      if (!pixel_is(out, plane, x, y, y >= first && y < end ? content : border))
        ck_abort_msg("plane %d: (%d, %d)", plane, x, y);
}

}  // namespace

GST_START_TEST(clockwise) {
  ck_assert((warped("angle=90", 2, 2, {10, 20, 30, 40}) == std::vector<uint8_t>{30, 10, 40, 20}));
  ck_assert((warped("angle=-90", 2, 2, {10, 20, 30, 40}) == std::vector<uint8_t>{20, 40, 10, 30}));
  ck_assert((warped("scale-x=-1", 2, 2, {10, 20, 30, 40}) == std::vector<uint8_t>{20, 10, 40, 30}));
  ck_assert((warped("scale=-1", 2, 2, {10, 20, 30, 40}) == std::vector<uint8_t>{40, 30, 20, 10}));
}
GST_END_TEST;

GST_START_TEST(clockwise_as_videoflip) {
  if (!gst_registry_check_feature_version(gst_registry_get(), "videoflip", 1, 0, 0)) return;
  const std::string in = raw("RGBA", 31, 20);
  const Pixels src = noise(in);
  Warp warp("angle=90 framing=expand");
  warp.set_caps(in);
  GstHarness* flip = gst_harness_new_parse("videoflip video-direction=90r");
  gst_harness_set_src_caps_str(flip, in.c_str());
  gst_harness_push(flip, buffer_of(src, in).release());
  const BufferPtr out(gst_harness_pull(flip));
  const CapsPtr caps(gst_pad_get_current_caps(flip->sinkpad));
  assert_same(warp(src), pixels_of(out.get(), caps.get()), "against videoflip");
  gst_harness_teardown(flip);
}
GST_END_TEST;

GST_START_TEST(quarter_exact) {
  const std::string in = raw("RGB", 640, 480);
  const Pixels src = noise(in);
  for (const int degrees : {90, 450, 270, -90, 180}) {
    Warp warp("framing=expand border-color=0xffff00ff angle=" + std::to_string(degrees));
    warp.set_caps(in);
    assert_same(warp(src), turned(src, degrees / 90), std::to_string(degrees));
  }
}
GST_END_TEST;

// Chroma in the middle of its block is copied by a quarter turn; caps may say so where the standard is
// otherwise.
GST_START_TEST(quarter_exact_yuv) {
  for (const std::string format : {"NV12", "I420"})
    for (const std::string more : {"", ",colorimetry=bt709,chroma-site=jpeg", ",chroma-site=jpeg"}) {
      const int height = more.empty() ? 480 : 720;
      const std::string in = raw(format, 512, height, more), what = format + more;
      const Pixels src = noise(in);
      Warp warp("framing=expand angle=90");
      warp.set_caps(in);
      assert_same(warp(src), turned(src, 1), what);
    }
}
GST_END_TEST;

GST_START_TEST(half_pixel) {
  const std::string in = raw("GRAY8", 10, 10);
  Pixels src = black(in);
  src.plane[0].at(5, 5) = 255;
  Warp warp("fit=stretch");
  warp.set_caps(in, raw("GRAY8", 100, 100));
  const Pixels out = warp(src);
  double sum = 0, x_sum = 0, y_sum = 0;
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 100; ++x) {
      const double v = out.plane[0].at(x, y);
      sum += v, x_sum += v * x, y_sum += v * y;
    }
  ck_assert(std::abs(x_sum / sum - 54.5) < 0.05 && std::abs(y_sum / sum - 54.5) < 0.05);
}
GST_END_TEST;

GST_START_TEST(no_bleed) {
  const std::string in = raw("GRAY8", 4, 4);
  Warp warp("fit=stretch");
  warp.set_caps(in, raw("GRAY8", 8, 8));
  Pixels src = black(in);
  src.plane[0].data = {255, 200, 0, 50, 200, 255, 50, 0, 0, 50, 255, 200, 50, 0, 200, 255};
  const Pixels out = warp(src);
  const int want[8] = {255, 241, 214, 150, 50, 12, 37, 50};
  for (int x = 0; x < 8; ++x) ck_assert_int_le(std::abs(out.plane[0].at(x, 0) - want[x]), 1);
}
GST_END_TEST;

// Every output pixel stands for 8x8 source pixels, of which 16 are black.
GST_START_TEST(area_average) {
  const std::string in = raw("GRAY8", 24, 24);
  Pixels src = solid(in, {{255}});
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 24; ++x)
      if (x % 8 / 2 % 3 && y % 8 / 2 % 3) src.plane[0].at(x, y) = 0;
  for (const bool antialias : {true, false}) {
    Warp warp(antialias ? "" : "antialias=false");
    warp.set_caps(in, raw("GRAY8", 3, 3));
    const Pixels out = warp(src);
    for (const uint8_t pixel : out.plane[0].data)
      ck_assert_int_le(std::abs(pixel - (antialias ? 191 : 0)), antialias ? 1 : 0);
  }
}
GST_END_TEST;

GST_START_TEST(letterbox_rounding) {
  const std::string in = raw("RGB", 3775, 1571);
  Warp warp("border-color=0xff727272");
  warp.set_caps(in, "video/x-raw,width=1280,height=1280,pixel-aspect-ratio=1/1");
  const Pixels out = warp(solid(in, {{255, 0, 255}}));
  assert_bars(out, 0, 373, 906, {255, 0, 255}, {114, 114, 114});
}
GST_END_TEST;

GST_START_TEST(letterbox_nv12) {
  const std::string in = raw("NV12", 1920, 1080, ",colorimetry=bt709");
  Warp warp("border-color=0xff727272");
  warp.set_caps(in, "video/x-raw,width=640,height=640,pixel-aspect-ratio=1/1");
  const Pixels out = warp(solid(in, {{200}, {90, 30}}));
  assert_bars(out, 0, 140, 500, {200}, {114});
  assert_bars(out, 1, 70, 250, {90, 30}, {128, 128});
}
GST_END_TEST;

GST_START_TEST(expand) {
  const std::string in = raw("RGB", 1920, 1080);
  Warp warp("angle=30 framing=expand");
  warp.set_caps(in);
  warp.assert_size(2203, 1896);
  // All of the picture and nothing else: as much white as went in, and some at every side of the frame.
  const Pixels out = warp(solid(in, {{255, 255, 255}}));
  double sum = 0;
  for (const uint8_t byte : out.plane[0].data) sum += byte;
  ck_assert(std::abs(sum / (255.0 * 3 * 1920 * 1080) - 1) < 1e-4);
  bool left = false, right = false, top = false, bottom = false;
  for (int y = 0; y < 1896; ++y)
    left |= out.plane[0].at(1, y) > 127, right |= out.plane[0].at(2203 - 2, y) > 127;
  for (int x = 0; x < 2203; ++x)
    top |= out.plane[0].at(x, 1) > 127, bottom |= out.plane[0].at(x, 1896 - 2) > 127;
  ck_assert(left && right && top && bottom);
}
GST_END_TEST;

GST_START_TEST(black_is_black) {
  for (const bool full : {false, true}) {
    const std::string in = raw("I420", 640, 480, full ? ",colorimetry=1:4:16:4" : "");
    Warp warp("angle=45");
    warp.set_caps(in);
    const Pixels out = warp(solid(in, {{180}, {50}, {220}}));
    for (const int x : {0, 1})
      for (const int y : {0, 1}) {
        ck_assert(pixel_is(out, 0, x * 639, y * 479, {full ? 0 : 16}));
        ck_assert(pixel_is(out, 1, x * 319, y * 239, {128}));
        ck_assert(pixel_is(out, 2, x * 319, y * 239, {128}));
      }
    ck_assert(pixel_is(out, 0, 320, 240, {180}));
    ck_assert(pixel_is(out, 1, 160, 120, {50}));
    ck_assert(pixel_is(out, 2, 160, 120, {220}));
  }
}
GST_END_TEST;

// Pure red, 255 levels: Y = Kr, Cb = -Kr / (2 (1 - Kb)), Cr = 1/2; on 219 and 224 levels, or on 255.
GST_START_TEST(border_color_by_colorimetry) {
  const struct {
    const char* colorimetry;
    int y, u, v;
  } cases[] = {
      {"", 81, 90, 240},  // 480 rows: BT.601
      {",colorimetry=bt601", 81, 90, 240},
      {",colorimetry=bt709", 63, 102, 240},
      {",colorimetry=bt2020", 74, 97, 240},
      {",colorimetry=1:4:16:4", 76, 85, 255},
      {",colorimetry=1:3:5:1", 54, 99, 255},
  };
  for (const auto& c : cases) {
    const std::string in = raw("NV12", 64, 480, c.colorimetry);
    Warp warp("offset-x=32 border-color=0xffff0000");
    warp.set_caps(in);
    const Pixels out = warp(solid(in, {{128}, {10, 20}}));
    for (const int x : {0, 31}) ck_assert_int_eq(out.plane[0].at(x, 100), c.y);
    ck_assert(pixel_is(out, 1, 0, 100, {c.u, c.v}));
    ck_assert(pixel_is(out, 0, 32, 100, {128}));
    ck_assert(pixel_is(out, 1, 31, 100, {10, 20}));
  }
  Warp gray("offset-x=32 border-color=0xff727272"), rgb("offset-x=32 border-color=0x40102030");
  gray.set_caps(raw("GRAY8", 64, 8));
  ck_assert(pixel_is(gray(black(raw("GRAY8", 64, 8))), 0, 0, 0, {0x72}));
  rgb.set_caps(raw("BGRA", 64, 8));
  ck_assert(pixel_is(rgb(black(raw("BGRA", 64, 8))), 0, 0, 0, {0x30, 0x20, 0x10, 0x40}));
}
GST_END_TEST;

GST_START_TEST(transparent) {
  const std::string in = raw("RGBA", 64, 48);
  Warp warp("angle=30 border-mode=transparent");
  warp.set_caps(in);
  const Pixels out = warp(solid(in, {{10, 20, 30, 255}}));
  ck_assert(pixel_is(out, 0, 0, 0, {0, 0, 0, 0}));
  ck_assert(pixel_is(out, 0, 63, 47, {0, 0, 0, 0}));
  ck_assert(pixel_is(out, 0, 32, 24, {10, 20, 30, 255}));
}
GST_END_TEST;

// The colour behind alpha 0 shows nowhere.
GST_START_TEST(dark_fringe) {
  const std::string in = raw("RGBA", 500, 100);
  Pixels src = black(in);
  for (int y = 30; y < 70; ++y)
    for (int x = 100; x < 400; ++x) src.plane[0].at(x, y, 2) = src.plane[0].at(x, y, 3) = 255;
  Warp warp("angle=4 border-mode=transparent");
  warp.set_caps(in);
  const Pixels out = warp(src);
  int seen = 0;
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 500; ++x) {
      if (out.plane[0].at(x, y, 3) < 16) continue;
      ++seen;
      ck_assert_int_le(out.plane[0].at(x, y, 0), 2);
      ck_assert_int_le(out.plane[0].at(x, y, 1), 2);
      ck_assert_int_ge(out.plane[0].at(x, y, 2), 253);
    }
  ck_assert_int_ge(seen, 40 * 300);
}
GST_END_TEST;

GST_START_TEST(odd_chroma) {
  const std::string in = raw("I420", 321, 241);
  for (const char* properties : {"angle=180", "scale-x=-1", "scale-y=-1", "angle=90 framing=expand"}) {
    Warp warp(properties);
    warp.set_caps(in);
    const Pixels out = warp(solid(in, {{100}, {90}, {160}}));
    assert_bars(out, 0, 0, 321, {100}, {100});
    assert_bars(out, 1, 0, 161, {90}, {90});
    assert_bars(out, 2, 0, 161, {160}, {160});
  }
}
GST_END_TEST;

GST_START_TEST(one_pixel) {
  for (const FormatInfo& f : known_formats()) {
    const std::string in = raw(name_of(f), 1, 1), larger = raw(name_of(f), 5, 7);
    const Samples one(in), many(larger);
    Pixels src = noise(in);
    if (f.has_alpha()) one.fill(src, 3, one.largest(3));
    if (f.padding) src.plane[0].at(0, 0, f.group[0].at[3]) = 255;
    Warp turn("angle=90 framing=expand");
    turn.set_caps(in);
    assert_same(turn(src), src, name_of(f));
    Warp large("fit=stretch");
    large.set_caps(in, larger);
    const Pixels out = large(src);
    for (int c = 0; c < many.count(); ++c)
      for (int y = 0; y < many.height(c); ++y)
        for (int x = 0; x < many.width(c); ++x)
          if (many.get(out, c, x, y) != one.get(src, c, 0, 0))
            ck_abort_msg("%s: sample %d at (%d, %d)", name_of(f).c_str(), c, x, y);
  }
}
GST_END_TEST;

GST_START_TEST(order) {
  const std::string in = raw("GRAY8", 64, 48);
  Pixels src = black(in);
  src.plane[0].at(10, 0) = 255;
  Warp warp("scale-x=2 angle=90 offset-x=5 offset-y=7 pivot-x=0 pivot-y=0 interpolation=nearest");
  warp.set_caps(in);
  const Pixels out = warp(src);
  // The pixel's corner (10, 0) lands on (5, 27); it is two pixels long now, downwards, and lies to the left.
  ck_assert(pixel_is(out, 0, 4, 27, {255}) && pixel_is(out, 0, 4, 28, {255}));
  ck_assert_int_eq(static_cast<int>(std::count(out.plane[0].data.begin(), out.plane[0].data.end(), 255)), 2);
  Warp matrix("matrix=\"<0.0, -1.0, 5.0, 2.0, 0.0, 7.0>\" interpolation=nearest");
  matrix.set_caps(in);
  const Pixels full = noise(in);
  assert_same(matrix(full), warp(full), "the same as a matrix");
}
GST_END_TEST;

// A disc of 500 lines of a display stays one: as wide as high there, whatever the shape of its pixels.
GST_START_TEST(pixel_aspect_angle) {
  const std::string in = raw("GRAY8", 720, 576, ",pixel-aspect-ratio=16/15");
  Pixels src = black(in);
  for (int y = 0; y < 576; ++y)
    for (int x = 0; x < 720; ++x)
      if (std::hypot((x + 0.5 - 360) * 16 / 15, y + 0.5 - 288) <= 250) src.plane[0].at(x, y) = 255;
  Warp warp("angle=30");
  warp.set_caps(in);
  const Pixels out = warp(src);
  int differ = 0;
  for (int y = 0; y < 576; ++y)
    for (int x = 0; x < 720; ++x) {
      const double r = std::hypot((x + 0.5 - 360) * 16 / 15, y + 0.5 - 288);
      if (std::abs(r - 250) > 2) differ += out.plane[0].at(x, y) != (r < 250 ? 255 : 0);
    }
  ck_assert_int_eq(differ, 0);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_cases");
  TCase* tc = tcase_create("cases");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, clockwise);
  tcase_add_test(tc, clockwise_as_videoflip);
  tcase_add_test(tc, quarter_exact);
  tcase_add_test(tc, quarter_exact_yuv);
  tcase_add_test(tc, half_pixel);
  tcase_add_test(tc, no_bleed);
  tcase_add_test(tc, area_average);
  tcase_add_test(tc, letterbox_rounding);
  tcase_add_test(tc, letterbox_nv12);
  tcase_add_test(tc, expand);
  tcase_add_test(tc, black_is_black);
  tcase_add_test(tc, border_color_by_colorimetry);
  tcase_add_test(tc, transparent);
  tcase_add_test(tc, dark_fringe);
  tcase_add_test(tc, odd_chroma);
  tcase_add_test(tc, one_pixel);
  tcase_add_test(tc, order);
  tcase_add_test(tc, pixel_aspect_angle);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

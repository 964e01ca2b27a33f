// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/color.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

struct Colorimetry {
  double kr, kb;
};
constexpr Colorimetry kBt601{0.299, 0.114}, kBt709{0.2126, 0.0722}, kBt2020{0.2627, 0.0593};

void assert_yuv(uint32_t argb, Colorimetry colorimetry, bool full_range, int y, int u, int v) {
  for (const FormatInfo& f : all_formats()) {
    if (f.family == Family::rgb) continue;
    const BorderColor c = border_color(
        argb, {.format = f.format, .kr = colorimetry.kr, .kb = colorimetry.kb, .full_range = full_range});
    ck_assert_int_eq(c.component[0], y);
    if (f.family == Family::gray) continue;
    ck_assert_int_eq(c.component[1], u);
    ck_assert_int_eq(c.component[2], v);
  }
}

}  // namespace

GST_START_TEST(black_is_black) {
  for (const Colorimetry c : {kBt601, kBt709, kBt2020}) {
    assert_yuv(0xff000000, c, false, 16, 128, 128);
    assert_yuv(0xff000000, c, true, 0, 128, 128);
  }
}
GST_END_TEST;

GST_START_TEST(grays_have_no_chroma) {
  for (const Colorimetry c : {kBt601, kBt709, kBt2020}) {
    assert_yuv(0xffffffff, c, false, 235, 128, 128);
    assert_yuv(0xffffffff, c, true, 255, 128, 128);
    assert_yuv(0xff727272, c, false, 114, 128, 128);
    assert_yuv(0xff727272, c, true, 114, 128, 128);
    assert_yuv(0xff808080, c, false, 126, 128, 128);
  }
}
GST_END_TEST;

// The values of colour bars at 100 %, as every table of them has.
GST_START_TEST(primaries) {
  assert_yuv(0xffff0000, kBt601, false, 81, 90, 240);
  assert_yuv(0xff00ff00, kBt601, false, 145, 54, 34);
  assert_yuv(0xff0000ff, kBt601, false, 41, 240, 110);
  assert_yuv(0xffff0000, kBt709, false, 63, 102, 240);
  assert_yuv(0xff00ff00, kBt709, false, 173, 42, 26);
  assert_yuv(0xff0000ff, kBt709, false, 32, 240, 118);
  assert_yuv(0xffff0000, kBt2020, false, 74, 97, 240);
  assert_yuv(0xff00ff00, kBt2020, false, 164, 47, 25);
  assert_yuv(0xff0000ff, kBt2020, false, 29, 240, 119);
  assert_yuv(0xffff0000, kBt601, true, 76, 85, 255);
  assert_yuv(0xff00ff00, kBt601, true, 150, 44, 21);
  assert_yuv(0xff0000ff, kBt601, true, 29, 255, 107);
}
GST_END_TEST;

GST_START_TEST(rgb_keeps_its_values) {
  for (const FormatInfo& f : all_formats()) {
    if (f.family != Family::rgb) continue;
    const BorderColor full = border_color(0x80ff7201, {.format = f.format});
    ck_assert_int_eq(full.component[0], 255);
    ck_assert_int_eq(full.component[1], 114);
    ck_assert_int_eq(full.component[2], 1);
    ck_assert_int_eq(full.alpha, 128);
    const BorderColor limited = border_color(0xffff0072, {.format = f.format, .full_range = false});
    ck_assert_int_eq(limited.component[0], 235);
    ck_assert_int_eq(limited.component[1], 16);
    ck_assert_int_eq(limited.component[2], 114);
    ck_assert_int_eq(limited.alpha, 255);
  }
}
GST_END_TEST;

static Suite* core_color_suite() {
  Suite* s = suite_create("core_color");
  TCase* tc = tcase_create("color");
  suite_add_tcase(s, tc);
  tcase_add_test(tc, black_is_black);
  tcase_add_test(tc, grays_have_no_chroma);
  tcase_add_test(tc, primaries);
  tcase_add_test(tc, rgb_keeps_its_values);
  return s;
}

GST_CHECK_MAIN(core_color);

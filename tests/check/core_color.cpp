// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Border colours, worked out by hand from the definitions of ITU-R BT.601, BT.709 and BT.2020.
#include "cuda/color.h"

#include <array>

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

struct Colorimetry {
  double kr, kb;
};
constexpr Colorimetry kBt601{0.299, 0.114}, kBt709{0.2126, 0.0722}, kBt2020{0.2627, 0.0593};

using Yuv = std::array<int, 3>;

// In every YUV format of that depth; in the gray ones, luma.
void assert_yuv(uint32_t argb, Colorimetry colorimetry, bool full_range, int depth, Yuv want) {
  int formats = 0;
  for (const FormatInfo& f : all_formats()) {
    if (f.family == Family::rgb || f.depth != depth) continue;
    ++formats;
    const BorderColor c = border_color(
        argb, {.format = f.format, .kr = colorimetry.kr, .kb = colorimetry.kb, .full_range = full_range});
    for (int k = 0; k < (f.family == Family::gray ? 1 : 3); ++k)
      ck_assert_msg(c[k] == want[k], "%08x in %s: component %d is %d, should be %d", argb, f.name.data(), k,
                    c[k], want[k]);
  }
  ck_assert_int_ge(formats, 3);
}

constexpr int kDepths[] = {8, 10, 12, 16};

void assert_yuv(uint32_t argb, Colorimetry colorimetry, bool full_range, const std::array<Yuv, 4>& want) {
  for (int k = 0; k < 4; ++k) assert_yuv(argb, colorimetry, full_range, kDepths[k], want[k]);
}

// R, G, B in every format of the RGB family.
void assert_rgb(uint32_t argb, bool full_range, const std::array<std::array<int, 3>, 4>& want) {
  for (const FormatInfo& f : all_formats()) {
    if (f.family != Family::rgb) continue;
    const BorderColor c = border_color(argb, {.format = f.format, .full_range = full_range});
    const auto& rgb = want[f.depth == 8 ? 0 : f.depth == 10 ? 1 : f.depth == 12 ? 2 : 3];
    for (int k = 0; k < 3; ++k)
      ck_assert_msg(c[k] == rgb[k], "%08x in %s: component %d is %d, should be %d", argb, f.name.data(), k,
                    c[k], rgb[k]);
  }
}

}  // namespace

GST_START_TEST(black_is_black) {
  for (const Colorimetry c : {kBt601, kBt709, kBt2020}) {
    assert_yuv(0xff000000, c, false,
               {{{16, 128, 128}, {64, 512, 512}, {256, 2048, 2048}, {4096, 32768, 32768}}});
    assert_yuv(0xff000000, c, true, {{{0, 128, 128}, {0, 512, 512}, {0, 2048, 2048}, {0, 32768, 32768}}});
  }
}
GST_END_TEST;

GST_START_TEST(grays_have_no_chroma) {
  for (const Colorimetry c : {kBt601, kBt709, kBt2020}) {
    assert_yuv(0xffffffff, c, false,
               {{{235, 128, 128}, {940, 512, 512}, {3760, 2048, 2048}, {60160, 32768, 32768}}});
    assert_yuv(0xffffffff, c, true,
               {{{255, 128, 128}, {1023, 512, 512}, {4095, 2048, 2048}, {65535, 32768, 32768}}});
    // 114 / 255: 16 + 219 * 0.447059 = 113.906.
    assert_yuv(0xff727272, c, false,
               {{{114, 128, 128}, {456, 512, 512}, {1822, 2048, 2048}, {29160, 32768, 32768}}});
    assert_yuv(0xff727272, c, true,
               {{{114, 128, 128}, {457, 512, 512}, {1831, 2048, 2048}, {29298, 32768, 32768}}});
    assert_yuv(0xff808080, c, false, 8, {126, 128, 128});
  }
}
GST_END_TEST;

// The values of colour bars at 100 %, as every table of them has.
GST_START_TEST(primaries) {
  assert_yuv(0xffff0000, kBt601, false, 8, {81, 90, 240});
  assert_yuv(0xff00ff00, kBt601, false, 8, {145, 54, 34});
  assert_yuv(0xff0000ff, kBt601, false, 8, {41, 240, 110});
  assert_yuv(0xffff0000, kBt709, false, 8, {63, 102, 240});
  assert_yuv(0xff00ff00, kBt709, false, 8, {173, 42, 26});
  assert_yuv(0xff0000ff, kBt709, false, 8, {32, 240, 118});
  assert_yuv(0xffff0000, kBt2020, false, 8, {74, 97, 240});
  assert_yuv(0xff00ff00, kBt2020, false, 8, {164, 47, 25});
  assert_yuv(0xff0000ff, kBt2020, false, 8, {29, 240, 119});
  assert_yuv(0xffff0000, kBt601, true, 8, {76, 85, 255});
  assert_yuv(0xff00ff00, kBt601, true, 8, {150, 44, 21});
  assert_yuv(0xff0000ff, kBt601, true, 8, {29, 255, 107});
}
GST_END_TEST;

GST_START_TEST(deep_primaries) {
  // BT.709 red: Y 0.2126, U -0.2126 / 1.8556, V 1/2.
  assert_yuv(0xffff0000, kBt709, false, 10, {250, 409, 960});
  assert_yuv(0xffff0000, kBt709, false, 12, {1001, 1637, 3840});
  assert_yuv(0xffff0000, kBt709, false, 16, {16015, 26198, 61440});
  assert_yuv(0xffff0000, kBt709, true, 10, {217, 395, 1023});
  assert_yuv(0xffff0000, kBt709, true, 16, {13933, 25260, 65535});
  // BT.2020 green: Y 0.678, U -0.678 / 1.8814, V -0.678 / 1.4746.
  assert_yuv(0xff00ff00, kBt2020, false, 10, {658, 189, 100});
  // BT.601 blue: Y 0.114, U 1/2, V -0.114 / 1.402.
  assert_yuv(0xff0000ff, kBt601, false, 12, {655, 3840, 1757});
}
GST_END_TEST;

GST_START_TEST(rgb_keeps_its_values) {
  assert_rgb(0x80ff7201, true, {{{255, 114, 1}, {1023, 457, 4}, {4095, 1831, 16}, {65535, 29298, 257}}});
  assert_rgb(0xffff0072, false, {{{235, 16, 114}, {940, 64, 456}, {3760, 256, 1822}, {60160, 4096, 29160}}});
}
GST_END_TEST;

// Alpha is in full range, whatever the colours are in; GStreamer's 10-bit formats have 2 bits of it.
GST_START_TEST(alpha) {
  int formats = 0;
  for (const FormatInfo& f : all_formats()) {
    if (!f.has_alpha()) continue;
    ++formats;
    for (const bool full_range : {true, false}) {
      const auto alpha = [&](uint32_t a) {
        return border_color(a << 24, {.format = f.format, .full_range = full_range})[3];
      };
      ck_assert_int_eq(alpha(0), 0);
      ck_assert_int_eq(alpha(255), f.alpha_depth == 2 ? 3 : f.alpha_depth == 8 ? 255 : 65535);
      ck_assert_int_eq(alpha(128), f.alpha_depth == 2 ? 2 : f.alpha_depth == 8 ? 128 : 32896);
      ck_assert_int_eq(alpha(100), f.alpha_depth == 2 ? 1 : f.alpha_depth == 8 ? 100 : 25700);
    }
  }
  ck_assert_int_eq(formats, 10);
}
GST_END_TEST;

static Suite* core_color_suite() {
  Suite* s = suite_create("core_color");
  TCase* tc = tcase_create("color");
  suite_add_tcase(s, tc);
  tcase_add_test(tc, black_is_black);
  tcase_add_test(tc, grays_have_no_chroma);
  tcase_add_test(tc, primaries);
  tcase_add_test(tc, deep_primaries);
  tcase_add_test(tc, rgb_keeps_its_values);
  tcase_add_test(tc, alpha);
  return s;
}

GST_CHECK_MAIN(core_color);

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The presets that are installed with the plugin (the environment says where they lie in the source).
#include <set>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

void load(const Warp& warp, const char* name) {
  ck_assert_msg(gst_preset_load_preset(GST_PRESET(warp.element()), name), "no preset %s", name);
}

}  // namespace

GST_START_TEST(names_and_comments) {
  const Warp warp;
  gchar** names = gst_preset_get_preset_names(GST_PRESET(warp.element()));
  std::set<std::string> found;
  for (gchar** name = names; name && *name; ++name) {
    found.insert(*name);
    g_autofree gchar* comment = nullptr;
    ck_assert_msg(gst_preset_get_meta(GST_PRESET(warp.element()), *name, "comment", &comment) && *comment,
                  "%s says nothing of itself", *name);
    load(warp, *name);
  }
  g_strfreev(names);
  ck_assert((found == std::set<std::string>{"letterbox-640", "level-horizon", "mirror", "portrait"}));
}
GST_END_TEST;

GST_START_TEST(letterbox_640) {
  const std::string in = raw("NV12", 1920, 1080, ",colorimetry=bt709");
  Warp warp("fit=stretch border-color=0xffff0000");
  load(warp, "letterbox-640");
  warp.set_caps(in, "video/x-raw,width=640,height=640");
  const Pixels out = warp(solid(in, {{200}, {90, 160}}));
  for (int y = 0; y < 640; ++y) {
    const int bar = 16 + (114 * 219 + 127) / 255;
    ck_assert_msg(pixel_is(out, 0, 320, y, {y >= 140 && y < 500 ? 200 : bar}), "row %d", y);
  }
  ck_assert(pixel_is(out, 1, 160, 10, {128, 128}));
}
GST_END_TEST;

// The middle of a landscape, all of its rows.
GST_START_TEST(portrait) {
  const std::string in = raw("GRAY8", 640, 360);
  Pixels src = black(in);
  for (int y = 0; y < 360; ++y)
    for (int x = 0; x < 640; ++x) src.plane[0].at(x, y) = static_cast<uint8_t>(x / 4);
  Warp warp;
  load(warp, "portrait");
  warp.set_caps(in, "video/x-raw,width=180,height=360");
  const Pixels out = warp(src);
  for (const int x : {0, 90, 179})
    for (const int y : {0, 359}) ck_assert(pixel_is(out, 0, x, y, {(x + 230) / 4}));
}
GST_END_TEST;

GST_START_TEST(level_horizon) {
  const std::string in = raw("GRAY8", 320, 180);
  const Pixels src = solid(in, {{200}});
  for (const double angle : {-7.0, 3.5, 45.0}) {
    Warp warp;
    load(warp, "level-horizon");
    g_object_set(warp.element(), "angle", angle, nullptr);
    warp.set_caps(in);
    warp.assert_size(320, 180);
    assert_same(warp(src), src, "no border at " + std::to_string(angle));
  }
}
GST_END_TEST;

GST_START_TEST(mirror) {
  const std::string in = raw("RGB", 33, 21);
  const Pixels src = noise(in);
  Warp warp;
  load(warp, "mirror");
  warp.set_caps(in);
  const Pixels out = warp(src);
  for (int y = 0; y < 21; ++y)
    for (int x = 0; x < 33; ++x)
      for (int k = 0; k < 3; ++k) ck_assert_int_eq(out.plane[0].at(x, y, k), src.plane[0].at(32 - x, y, k));
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_presets");
  TCase* tc = tcase_create("presets");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, names_and_comments);
  tcase_add_test(tc, letterbox_640);
  tcase_add_test(tc, portrait);
  tcase_add_test(tc, level_horizon);
  tcase_add_test(tc, mirror);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

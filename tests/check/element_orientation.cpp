// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The property video-direction: the eight orientations.
#include <cstdlib>

#include "element_directions.h"

using namespace cudawarp::element;

namespace {

void assert_direction(const Warp& warp, int method) {
  int value = -1;
  g_object_get(warp.element(), "video-direction", &value, nullptr);
  ck_assert_int_eq(value, method);
}

void assert_pixel_aspect(const Warp& warp, int n, int d) {
  const GstVideoInfo info = warp.output_info();
  ck_assert_int_eq(GST_VIDEO_INFO_PAR_N(&info), n);
  ck_assert_int_eq(GST_VIDEO_INFO_PAR_D(&info), d);
}

// Within 1 code value: where samples are mixed, the order of roundings shows.
void assert_near(const Pixels& got, const Pixels& want, const std::string& what) {
  for (size_t p = 0; p < want.plane.size(); ++p) {
    ck_assert_int_eq(got.plane[p].width, want.plane[p].width);
    ck_assert_int_eq(got.plane[p].height, want.plane[p].height);
    for (size_t k = 0; k < want.plane[p].data.size(); ++k)
      ck_assert_msg(std::abs(got.plane[p].data[k] - want.plane[p].data[k]) <= 1, "%s", what.c_str());
  }
}

}  // namespace

GST_START_TEST(eight_methods) {
  const bool videoflip = has_videoflip();
  for (const std::string format : {"I420", "RGB", "GRAY8", "RGBA", "GRAY16_LE", "NV12", "Y444"}) {
    const std::string in = exact(format, 36, 20);
    const Pixels src = noise(in);
    for (int m = 0; m < kEight; ++m) {
      const std::string what = format + " " + direction(m);
      const Pixels out = warped(direction(m), in, src);
      assert_same(out, oriented(src, m), what);
      if (videoflip && (format == "I420" || format == "RGB"))
        assert_same(out, by_videoflip(m, in, src), what + "by videoflip");
    }
  }
}
GST_END_TEST;

GST_START_TEST(pixel_aspect) {
  const std::string in = exact("I420", 720, 576, ",pixel-aspect-ratio=16/15");
  for (int m = 0; m < kEight; ++m) {
    const bool odd = kMethods[m].swap;
    Warp warp(direction(m));
    warp.set_caps(in);
    warp.assert_size(odd ? 576 : 720, odd ? 720 : 576);
    assert_pixel_aspect(warp, odd ? 15 : 16, odd ? 16 : 15);
  }
  // Two quarter turns exchange nothing.
  Warp twice("video-direction=90r angle=90 framing=expand");
  twice.set_caps(in);
  assert_same(twice(noise(in)), oriented(noise(in), half), "a half turn");
  assert_pixel_aspect(twice, 16, 15);
}
GST_END_TEST;

GST_START_TEST(interface) {
  Warp warp;
  ck_assert(GST_IS_VIDEO_DIRECTION(warp.element()));
  assert_direction(warp, identity);
  for (int m = 0; m < kEight; ++m) {
    set_direction(warp, kMethods[m].nick);
    assert_direction(warp, m);
  }
  set_direction(warp, "auto");
  assert_direction(warp, GST_VIDEO_ORIENTATION_AUTO);
  set_direction(warp, "90r");
  for (int n = 0; n < 2; ++n) {  // before it plays, and then
    set_direction(warp, "custom");
    assert_custom_refused(warp);
    assert_direction(warp, right);
    if (n == 0) warp.set_caps(kIn);
    assert_same(warp(frame(), n), frame(right), "after custom");
  }
}
GST_END_TEST;

// All else sees a frame that was turned before.
GST_START_TEST(composition) {
  const struct {
    const char *properties, *downstream;
  } cases[] = {{"angle=30 framing=expand", ""},
               {"angle=30 framing=crop pivot-x=0.25 shear-x=0.5", ""},
               {"border-color=0xff405060", "video/x-raw,width=64,height=64"},
               {"border-color=0xff405060 align-x=1", "video/x-raw,width=100,height=48"},
               {"fit=crop align-x=0.25 align-y=0.75", "video/x-raw,width=64,height=64"},
               {"angle=10 offset-x=3 fit=none pivot-x=0 pivot-y=1", "video/x-raw,width=64,height=64"},
               {"matrix=\"<1.0, 0.25, 5.0, -0.5, 1.0, 7.0>\"", ""}};
  for (const std::string format : {"RGB", "I420"})
    for (const auto& c : cases)
      for (int m = 0; m < kEight; ++m) {
        const std::string in = exact(format, 48, 36),
                          turned_in = kMethods[m].swap ? exact(format, 36, 48) : in;
        const Pixels src = noise(in), turn = oriented(src, m);
        const auto compare = [&](const std::string& properties, auto assert_alike) {
          assert_alike(warped(direction(m) + properties, in, src, c.downstream),
                       warped(properties, turned_in, turn, c.downstream), direction(m) + properties);
        };
        compare(c.properties + std::string(" interpolation=nearest antialias=false"), assert_same);
        compare(c.properties, assert_near);
      }
}
GST_END_TEST;

GST_START_TEST(changes_while_playing) {
  const std::string in = raw("RGBA", 4, 9);
  const Pixels src = noise(in);
  Warp warp;
  Log log(warp);
  warp.set_caps(in);
  ck_assert(passes_through(warp, src));
  log.assert_seen({"stream-start", "caps 4x9", "segment", "frame"});
  set_direction(warp, "90r");
  set_direction(warp, "180");
  assert_same(warp(src, 1), oriented(src, half), "two changes");
  log.assert_seen({"frame"});
  set_direction(warp, "90r");
  assert_same(warp(src, 2), oriented(src, right), "90r");
  warp(src, 3);
  log.assert_seen({"caps 9x4", "frame", "frame"});
}
GST_END_TEST;

GST_START_TEST(changes_by_other_threads) {
  const std::string in = raw("RGBA", 4, 9);
  const Pixels src = noise(in), turn = oriented(src, right);
  Warp warp;
  warp.set_caps(in);
  int seen[2] = {};
  stress(warp, {identity, right}, src, [&](const Pixels& out) {  // read by its caps
    if (out != src) assert_same(out, turn, "neither of the two");
    ++seen[out != src];
  });
  ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), 1000);
  ck_assert(seen[0] > 0 && seen[1] > 0);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_orientation");
  TCase* tc = tcase_create("orientation");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, eight_methods);
  tcase_add_test(tc, pixel_aspect);
  tcase_add_test(tc, interface);
  tcase_add_test(tc, composition);
  tcase_add_test(tc, changes_while_playing);
  tcase_add_test(tc, changes_by_other_threads);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Caps from both sides, the output's size and pixel aspect ratio, passthrough.
#include <cmath>
#include <numbers>

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include "element_util.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

void assert_format(const Warp& warp, const std::string& name) {
  const GstVideoInfo info = warp.output_info();
  ck_assert_str_eq(GST_VIDEO_INFO_NAME(&info), name.c_str());
}

bool can_intersect(const CapsPtr& caps, const std::string& others) {
  return gst_caps_can_intersect(caps.get(), caps_of(others).get());
}

// The sides of the largest upright rectangle in a picture turned by less than a right angle; w >= h.
void largest_upright(double w, double h, double degrees, int& width, int& height) {
  const double s = std::sin(degrees * std::numbers::pi / 180), c = std::cos(degrees * std::numbers::pi / 180);
  if (h <= 2 * s * c * w) {  // two corners touch the long sides
    width = static_cast<int>(h / 2 / s), height = static_cast<int>(h / 2 / c);
  } else {
    const double d = c * c - s * s;
    width = static_cast<int>((w * c - h * s) / d), height = static_cast<int>((h * c - w * s) / d);
  }
}

}  // namespace

GST_START_TEST(format_kept) {
  for (const FormatInfo& f : known_formats()) {
    const std::string caps = raw(name_of(f), 64, 48);
    Warp warp("angle=180");
    warp.set_caps(caps);
    assert_format(warp, name_of(f));
    const Pixels src = noise(caps);
    assert_same(warp(src), turned(caps, src, 2), name_of(f));
  }
}
GST_END_TEST;

// Every sample goes where the other format keeps it, at its depth; a format without alpha reads as opaque.
GST_START_TEST(rgb_reordering) {
  for (const FormatInfo& from : known_formats())
    for (const FormatInfo& to : known_formats()) {
      if (from.family != Family::rgb || to.family != Family::rgb || from.format == to.format) continue;
      const std::string in = raw(name_of(from), 17, 5), out_caps = raw(name_of(to), 17, 5);
      const Samples a(in), b(out_caps);
      Warp warp;
      warp.set_caps(in, "video/x-raw,format=" + name_of(to));
      Pixels src = noise(in);
      // Opaque: what becomes of hidden colours is another matter.
      if (a.count() == 4) a.fill(src, 3, a.largest(3));
      const Pixels out = warp(src);
      assert_format(warp, name_of(to));
      for (int n = 0; n < 17 * 5; ++n)
        for (int c = 0; c < b.count(); ++c) {
          const int got = b.get(out, c, n % 17, n / 17);
          const int want =
              c < a.count()
                  ? static_cast<int>(std::lround(static_cast<double>(a.get(src, c, n % 17, n / 17)) *
                                                 b.largest(c) / a.largest(c)))
                  : b.largest(c);
          if (std::abs(got - want) > (a.largest(c % a.count()) == b.largest(c) ? 0 : 1))
            ck_abort_msg("%s to %s: pixel %d, sample %d is %d, not %d", name_of(from).c_str(),
                         name_of(to).c_str(), n, c, got, want);
        }
    }
}
GST_END_TEST;

// What downstream cannot take as it is becomes the format that loses least.
GST_START_TEST(nearest_format) {
  const struct {
    const char *in, *offered, *chosen;
  } cases[] = {
      {"RGBA", "{RGB,xRGB,ABGR}", "ABGR"},      {"RGB", "{RGBA,RGB10A2_LE,BGRx}", "BGRx"},
      {"RGBA64_LE", "{RGBA,GBR_12LE}", "RGBA"}, {"GBR_12LE", "{GBR,GBR_10LE,RGBA64_LE}", "RGBA64_LE"},
      {"BGR", "{ARGB,BGR,RGB}", "BGR"},         {"RGBx", "{RGBA64_LE,RGBA}", "RGBA"}};
  for (const auto& c : cases) {
    Warp warp;
    warp.set_caps(raw(c.in, 16, 16), std::string("video/x-raw,format=") + c.offered);
    assert_format(warp, c.chosen);
  }
}
GST_END_TEST;

GST_START_TEST(size_of_downstream) {
  const struct {
    const char *properties, *downstream;
    int width, height;
  } cases[] = {
      {"", "", 640, 480},
      {"", ",width=320,height=100", 320, 100},
      {"framing=expand angle=90", ",width=320,height=100", 320, 100},
      {"", ",width=320", 320, 240},
      {"", ",height=240", 320, 240},
      {"framing=expand angle=90", ",height=320", 240, 320},
      {"framing=expand angle=90", ",width=240", 240, 320},
      {"", ",width=[16,200],height=[16,4000]", 200, 150},
      {"", ",width=[16,4000],height=[16,120]", 160, 120},
      {"", ",width=[800,1000]", 800, 600},
      {"", ",width=(int){40,100},height=[1,4000]", 100, 75},
      {"", ",width=160,pixel-aspect-ratio=2/1", 160, 240},
      {"framing=expand angle=90", ",width=[16,4000],height=[16,4000]", 480, 640},
  };
  const std::string in = raw("GRAY8", 640, 480);
  for (const auto& c : cases) {
    Warp warp(c.properties);
    warp.set_caps(in, *c.downstream ? std::string("video/x-raw") + c.downstream : "");
    warp.assert_size(c.width, c.height);
    const Pixels out = warp(solid(in, {{200}}));  // also: a frame of that size
    ck_assert(pixel_is(out, 0, c.width / 2, c.height / 2, {200}));
  }
}
GST_END_TEST;

GST_START_TEST(natural_size) {
  int crop_w = 0, crop_h = 0, steep_w = 0, steep_h = 0;
  largest_upright(1920, 1080, 10, crop_w, crop_h);
  largest_upright(1920, 1080, 40, steep_w, steep_h);
  const struct {
    const char* properties;
    int width, height;
  } cases[] = {
      {"angle=30", 1920, 1080},
      {"angle=30 framing=zoom", 1920, 1080},
      {"angle=30 framing=expand", 2203, 1896},
      {"angle=-30 framing=expand", 2203, 1896},
      {"angle=90 framing=expand", 1080, 1920},
      {"angle=90 framing=crop", 1080, 1920},
      {"angle=180 framing=crop", 1920, 1080},
      {"angle=10 framing=crop", crop_w, crop_h},
      {"angle=40 framing=crop", steep_w, steep_h},
      {"scale=0.5 framing=expand", 960, 540},
      {"scale=0.5", 1920, 1080},
      {"scale-y=-2 framing=crop", 1920, 2160},
  };
  for (const auto& c : cases) {
    Warp warp(c.properties);
    warp.set_caps(raw("GRAY8", 1920, 1080));
    warp.assert_size(c.width, c.height);
  }
  Warp square("angle=45 framing=crop");
  square.set_caps(raw("GRAY8", 100, 100));
  square.assert_size(70, 70);
}
GST_END_TEST;

// An angle on the way between two frames: new caps, and pixels that go with them.
GST_START_TEST(natural_size_follows_a_property) {
  const std::string in = raw("RGB", 64, 48);
  const Pixels src = noise(in);
  Warp warp("framing=expand");
  warp.set_caps(in);
  for (const int quarters : {0, 1, 2, 3, 0, 3}) {
    g_object_set(warp.element(), "angle", 90.0 * quarters, nullptr);
    assert_same(warp(src), turned(src, quarters), std::to_string(quarters) + " quarters");
  }
  // None where downstream has fixed the size.
  warp.set_downstream("video/x-raw,width=64,height=48");
  g_object_set(warp.element(), "angle", 90.0, nullptr);
  warp(src);
  warp.assert_size(64, 48);
}
GST_END_TEST;

// No pixel aspect ratio is that of squares.
GST_START_TEST(no_pixel_aspect) {
  for (const char* none : {"0/1", "-3/4"}) {
    const std::string in = raw("GRAY8", 64, 48, std::string(",pixel-aspect-ratio=") + none);
    const Pixels src = noise(in);
    for (const char* properties : {"", "framing=expand"}) {
      Warp warp(properties);
      warp.set_caps(in);
      assert_same(warp(src), src, none);
      warp.assert_size(64, 48);
    }
  }
}
GST_END_TEST;

GST_START_TEST(pixel_aspect) {
  const auto check_aspect = [](const Warp& warp, int n, int d) {
    const GstVideoInfo info = warp.output_info();
    ck_assert_int_eq(GST_VIDEO_INFO_PAR_N(&info), n);
    ck_assert_int_eq(GST_VIDEO_INFO_PAR_D(&info), d);
  };
  const std::string in = raw("NV12", 720, 576, ",pixel-aspect-ratio=16/15");
  const Pixels src = noise(in);
  for (const int quarters : {1, 3}) {
    Warp warp("framing=expand angle=" + std::to_string(90 * quarters));
    warp.set_caps(in);
    warp.assert_size(576, 720);
    check_aspect(warp, 15, 16);
    assert_same(warp(src), turned(src, quarters), "quarter turn");
  }
  // Nothing turns: as it came.
  Warp same("scale-x=-1");
  same.set_caps(in);
  check_aspect(same, 16, 15);
  // 768x576 on the display, with square pixels: 720x540 and 18 rows of border above and below.
  const std::string gray = raw("GRAY8", 720, 576, ",pixel-aspect-ratio=16/15");
  Warp square;
  square.set_caps(gray, "video/x-raw,pixel-aspect-ratio=1/1,width=720,height=576");
  check_aspect(square, 1, 1);
  const Pixels out = square(solid(gray, {{200}}));
  for (int y = 0; y < 576; ++y)
    for (int x = 0; x < 720; ++x)
      if (!pixel_is(out, 0, x, y, {y < 18 || y >= 558 ? 0 : 200})) ck_abort_msg("(%d, %d)", x, y);
  // Downstream that asks for square pixels and any size gets the canvas in those.
  Warp expand("framing=expand");
  expand.set_caps(gray, "video/x-raw,pixel-aspect-ratio=1/1");
  expand.assert_size(768, 576);
  check_aspect(expand, 1, 1);
}
GST_END_TEST;

// Caps without colorimetry and chroma site mean what GStreamer takes for their size, and 720 rows mean
// something else than 576: the output says what its pixels are.
GST_START_TEST(colorimetry_kept_across_sizes) {
  const struct {
    const char* more;
    int height;
  } cases[] = {{"", 576},
               {"", 1080},
               {",colorimetry=bt601,chroma-site=jpeg", 1080},
               {",colorimetry=bt709,chroma-site=mpeg2", 480},
               {",colorimetry=bt2020", 1080},
               {",colorimetry=1:3:5:1", 480}};
  for (const auto& c : cases)
    for (const int height : {480, 720}) {
      const std::string in = raw("I420", 720, c.height, c.more);
      Warp warp;
      warp.set_caps(in, "video/x-raw,width=720,height=" + std::to_string(height));
      const GstVideoInfo a = info_of(caps_of(in).get()), b = warp.output_info();
      ck_assert_msg(
          gst_video_colorimetry_is_equal(&a.colorimetry, &b.colorimetry) && a.chroma_site == b.chroma_site,
          "%d rows%s to %d", c.height, c.more, height);
    }
}
GST_END_TEST;

GST_START_TEST(caps_query) {
  const auto query = [](GstPad* pad) { return CapsPtr(gst_pad_query_caps(pad, nullptr)); };
  Warp warp;
  warp.set_downstream("video/x-raw,format=RGB,width=320,height=240,pixel-aspect-ratio=1/1");
  const CapsPtr upstream = query(GST_PAD_PEER(warp.harness()->srcpad));
  for (const FormatInfo& f : known_formats()) {
    const bool rgb = f.family == Family::rgb;
    ck_assert_msg(can_intersect(upstream, raw(name_of(f), 1920, 1080, ",pixel-aspect-ratio=16/15")) == rgb,
                  "%s", name_of(f).c_str());
  }
  ck_assert(!can_intersect(upstream, "video/x-raw,format=YUY2,width=320,height=240"));
  ck_assert(can_intersect(upstream, raw("RGB", 1, 1)));

  Warp other;
  other.set_caps(raw("I420", 1920, 1080));
  const CapsPtr downstream = query(GST_PAD_PEER(other.harness()->sinkpad));
  ck_assert(can_intersect(downstream, raw("I420", 320, 240)));
  ck_assert(!can_intersect(downstream, raw("RGB", 320, 240)));
  // The frame rate is nobody's to change here.
  ck_assert(!can_intersect(downstream, "video/x-raw,format=I420,framerate=30/1"));
}
GST_END_TEST;

GST_START_TEST(caps_change) {
  const std::string before = raw("GRAY8", 720, 576, ",pixel-aspect-ratio=1/1"),
                    after = raw("GRAY8", 1920, 1080, ",pixel-aspect-ratio=1/1");
  Warp warp;
  warp.set_downstream("video/x-raw,width=1280,height=720,pixel-aspect-ratio=1/1");
  for (int n = 0; n < 100; ++n) {
    const std::string& in = n < 50 ? before : after;
    if (n % 50 == 0) warp.set_caps(in, "video/x-raw,width=1280,height=720,pixel-aspect-ratio=1/1");
    const Pixels out = warp(solid(in, {{200}}), n);
    if (n % 49 > 1) continue;  // all come out; those around the changes are looked at
    for (int y = 0; y < 720; ++y)
      for (int x = 0; x < 1280; ++x)
        if (!pixel_is(out, 0, x, y, {n < 50 && (x < 190 || x >= 1090) ? 0 : 200}))
          ck_abort_msg("frame %d: (%d, %d)", n, x, y);
  }
  ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), 100);
}
GST_END_TEST;

// Caps come before anybody is there to take frames.
GST_START_TEST(without_downstream) {
  for (const std::string& in : {raw("I420", 64, 48), raw("RGB", 64, 48, ",interlace-mode=interleaved")}) {
    GstElement* element = gst_parse_launch(("cudawarp angle=5 " + engine_properties()).c_str(), nullptr);
    gst_object_ref_sink(element);
    GstHarness* harness = gst_harness_new_with_element(element, "sink", nullptr);
    gst_object_unref(element);
    gst_harness_set_src_caps_str(harness, in.c_str());
    ck_assert_int_eq(gst_harness_push(harness, buffer_of(black(in), in).release()), GST_FLOW_NOT_LINKED);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST;

GST_START_TEST(passthrough) {
  const std::string in = raw("I420", 64, 48);
  const Pixels src = noise(in);
  Warp warp;
  warp.set_caps(in);
  ck_assert(passes_through(warp, src));
  const auto leaves = [&](const char* property, auto value, auto standard) {
    g_object_set(warp.element(), property, value, nullptr);
    ck_assert_msg(!passes_through(warp, src), "%s", property);
    g_object_set(warp.element(), property, standard, nullptr);
    ck_assert_msg(passes_through(warp, src), "%s: not back", property);
  };
  leaves("angle", 10.0, 0.0);
  leaves("scale", 2.0, 1.0);
  leaves("scale-y", -1.0, 1.0);
  leaves("shear-x", 0.25, 0.0);
  leaves("offset-x", 2.0, 0.0);
  leaves("angle", 180.0, 360.0);
  // These change nothing while nothing moves.
  g_object_set(warp.element(), "pivot-x", 3.0, "border-color", 0xff00ff00u, "align-x", 0.0, nullptr);
  gst_util_set_object_arg(G_OBJECT(warp.element()), "fit", "stretch");
  gst_util_set_object_arg(G_OBJECT(warp.element()), "framing", "expand");
  gst_util_set_object_arg(G_OBJECT(warp.element()), "interpolation", "bicubic");
  ck_assert(passes_through(warp, src));
  gst_util_set_object_arg(G_OBJECT(warp.element()), "matrix", "<1.0, 0.0, 0.0, 0.0, 1.0, 0.0>");
  ck_assert(passes_through(warp, src));
  gst_util_set_object_arg(G_OBJECT(warp.element()), "matrix", "<1.0, 0.0, 2.0, 0.0, 1.0, 0.0>");
  ck_assert(!passes_through(warp, src));

  Warp resized;
  resized.set_caps(in, raw("I420", 32, 24));
  ck_assert(!passes_through(resized, src));
  Warp reordered;
  reordered.set_caps(raw("RGBA", 64, 48), raw("BGRA", 64, 48));
  ck_assert(!passes_through(reordered, noise(raw("RGBA", 64, 48))));
}
GST_END_TEST;

// An animation that happens to pass 0 is none to switch caps and buffers for.
GST_START_TEST(no_passthrough_with_a_controller) {
  const std::string in = raw("GRAY8", 64, 48);
  Warp warp;
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 0);
  gst_object_add_control_binding(
      GST_OBJECT(warp.element()),
      gst_direct_control_binding_new_absolute(GST_OBJECT(warp.element()), "angle", source));
  gst_object_unref(source);
  warp.set_caps(in);
  ck_assert(!passes_through(warp, noise(in)));
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_negotiation");
  TCase* tc = tcase_create("negotiation");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, no_pixel_aspect);
  tcase_add_test(tc, format_kept);
  tcase_add_test(tc, rgb_reordering);
  tcase_add_test(tc, nearest_format);
  tcase_add_test(tc, size_of_downstream);
  tcase_add_test(tc, natural_size);
  tcase_add_test(tc, natural_size_follows_a_property);
  tcase_add_test(tc, pixel_aspect);
  tcase_add_test(tc, colorimetry_kept_across_sizes);
  tcase_add_test(tc, caps_query);
  tcase_add_test(tc, caps_change);
  tcase_add_test(tc, without_downstream);
  tcase_add_test(tc, passthrough);
  tcase_add_test(tc, no_passthrough_with_a_controller);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

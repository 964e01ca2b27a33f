// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Values that change while frames flow: by another thread, and by a controller.
#include <atomic>
#include <chrono>
#include <thread>

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

constexpr auto kShortForm = std::chrono::seconds(2);  // of the case that runs for a minute

// Another thread that does something 200 times a second for as long as this lives.
class Meanwhile {
 public:
  template <class Do>
  explicit Meanwhile(Do something)
      : thread_([this, something] {
          for (int n = 0; !done_; ++n) {
            something(n);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
        }) {}
  ~Meanwhile() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

template <class Do>
void repeat_for(std::chrono::steady_clock::duration time, Do something) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (int n = 0; std::chrono::steady_clock::now() < end; ++n) something(n);
}

// `property` goes from `first` to `last` within the first second of stream time.
GstControlSource* animate(GstElement* element, const char* property, double first, double last) {
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, first);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), GST_SECOND, last);
  GstControlBinding* binding = gst_direct_control_binding_new_absolute(GST_OBJECT(element), property, source);
  ck_assert_msg(gst_object_add_control_binding(GST_OBJECT(element), binding), "no binding for %s", property);
  gst_object_unref(source);
  return source;  // the binding's
}

double value_at(GstControlSource* source, GstClockTime time) {
  gdouble value = 0;
  ck_assert(gst_control_source_get_value(source, time, &value));
  return value;
}

Pixels with_fixed(const std::string& in, const std::string& downstream, const Pixels& src,
                  const char* property, double value, const std::string& properties = "") {
  Warp warp(properties);
  g_object_set(warp.element(), property, value, nullptr);
  warp.set_caps(in, downstream);
  return warp(src);
}

struct CapsEvents {
  int seen = 0;
  explicit CapsEvents(GstPad* pad) {
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer count) {
          if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) ++*static_cast<int*>(count);
          return GST_PAD_PROBE_OK;
        },
        &seen, nullptr);
  }
};

}  // namespace

GST_START_TEST(live_direction) {
  for (const std::string format : {"RGB", "NV12"}) {
    const std::string in = raw(format, 64, 48, ",colorimetry=bt601,chroma-site=jpeg");
    const Pixels src = noise(in), upright = src, turn = turned(src, 1);
    Warp warp("framing=expand");
    warp.set_caps(in);
    int sent = 0, seen_upright = 0, seen_turned = 0;
    {
      const Meanwhile toggler(
          [&](int n) { g_object_set(warp.element(), "angle", n % 2 ? 90.0 : 0.0, nullptr); });
      repeat_for(kShortForm / 2, [&](int n) {
        const Pixels out = warp(src, n);  // read by its caps
        ++sent;
        if (out == upright)
          ++seen_upright;
        else if (out == turn)
          ++seen_turned;
        else
          ck_abort_msg("frame %d is neither of the two", n);
      });
    }
    ck_assert_int_gt(seen_upright, 0);
    ck_assert_int_gt(seen_turned, 0);
    ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), sent);
    // What was set last holds.
    g_object_set(warp.element(), "angle", 90.0, nullptr);
    assert_same(warp(src), turn, "after the last change");
  }
}
GST_END_TEST;

// The same between threads of a pipeline, where a queue keeps the requests for new caps apart from the
// frames.
GST_START_TEST(live_direction_in_a_pipeline) {
  GError* error = nullptr;
  const ElementPtr pipeline(
      gst_parse_launch(("videotestsrc pattern=white ! video/x-raw,format=GRAY8,width=64,height=48 ! cudawarp "
                        "name=warp framing=expand "
                        "border-color=0xff000000 " +
                        engine_properties() + " ! queue ! fakesink name=sink signal-handoffs=true")
                           .c_str(),
                       &error));
  ck_assert(pipeline && !error);
  struct Seen {
    std::atomic<int> wide{0}, high{0}, wrong{0};
  } seen;
  const ElementPtr sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink")),
      warp(gst_bin_get_by_name(GST_BIN(pipeline.get()), "warp"));
  const auto look = +[](GstElement*, GstBuffer* buffer, GstPad* pad, Seen* counts) {
    const CapsPtr caps(gst_pad_get_current_caps(pad));
    const Pixels out = pixels_of(buffer, caps.get());
    const Pixels::Plane& plane = out.plane[0];
    ++(plane.width == 64 && plane.height == 48 ? counts->wide : counts->high);
    bool white = plane.width * plane.height == 64 * 48 && plane.width != plane.height;
    for (const uint8_t byte : plane.data) white = white && byte == plane.data[0] && byte > 200;
    counts->wrong += !white;
  };
  g_signal_connect(sink.get(), "handoff", G_CALLBACK(look), &seen);
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  {
    const Meanwhile toggler([&](int n) { g_object_set(warp.get(), "angle", n % 2 ? 90.0 : 0.0, nullptr); });
    std::this_thread::sleep_for(kShortForm / 2);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  assert_quiet(bus.get());
  ck_assert_int_eq(seen.wrong, 0);
  ck_assert_int_gt(seen.wide, 0);
  ck_assert_int_gt(seen.high, 0);
}
GST_END_TEST;

// Every property at once: nothing but frames comes of it.
GST_START_TEST(property_storm) {
  const std::string in = raw("RGBA", 33, 21);
  const Pixels src = noise(in);
  Warp warp;
  warp.set_caps(in);
  int sent = 0;
  {
    const auto change = [&warp](int n) {
      static const char* const kNicks[][2] = {{"fit", "crop"},
                                              {"fit", "letterbox"},
                                              {"framing", "crop"},
                                              {"framing", "zoom"},
                                              {"framing", "expand"},
                                              {"framing", "none"},
                                              {"border-mode", "wrap"},
                                              {"border-mode", "transparent"},
                                              {"border-mode", "mirror"},
                                              {"interpolation", "bicubic"},
                                              {"interpolation", "nearest"}};
      static const char* const kNumbers[] = {"angle", "scale-x", "offset-x", "pivot-y", "shear-x"};
      const auto& nick = kNicks[n % G_N_ELEMENTS(kNicks)];
      gst_util_set_object_arg(G_OBJECT(warp.element()), nick[0], nick[1]);
      g_object_set(warp.element(), kNumbers[n % G_N_ELEMENTS(kNumbers)], 0.25 + n % 7, nullptr);
      g_object_set(warp.element(), "edge-antialias", n % 2, "border-color", n * 12345u, nullptr);
      if (n % 5 == 0)
        gst_util_set_object_arg(G_OBJECT(warp.element()), "matrix",
                                n % 10 ? "<1.0, 0.5, 3.0, 0.0, 1.0, 2.0>" : "<>");
    };
    const Meanwhile one(change), other([&](int n) { change(n + 3); });
    repeat_for(kShortForm, [&](int n) {
      warp(src, n);
      ++sent;
    });
  }
  ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), sent);
}
GST_END_TEST;

GST_START_TEST(controlled_angle) {
  const std::string in = raw("RGBA", 64, 48);
  const Pixels src = noise(in);
  Warp warp;
  GstControlSource* angle = animate(warp.element(), "angle", 0, 90);
  warp.set_caps(in);
  for (int n = 0; n <= 25; ++n) {
    const double value = value_at(angle, n * GST_SECOND / 25);
    assert_same(warp(src, n), with_fixed(in, "", src, "angle", value), "frame " + std::to_string(n));
    if (n == 0) assert_same(with_fixed(in, "", src, "angle", value), src, "identity");
  }
}
GST_END_TEST;

// The time that counts is the stream's: not the buffer's, where a segment starts elsewhere.
GST_START_TEST(controlled_by_stream_time) {
  const std::string in = raw("GRAY8", 64, 48);
  const Pixels src = noise(in);
  Warp warp;
  GstControlSource* angle = animate(warp.element(), "angle", 0, 90);
  warp.set_caps(in);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = GST_SECOND / 5;
  ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_segment(&segment)));
  const double value = value_at(angle, GST_SECOND / 5 + GST_SECOND / 25);
  assert_same(warp(src, 251), with_fixed(in, "", src, "angle", value), "0.24 s");
}
GST_END_TEST;

GST_START_TEST(controlled_size_stays) {
  const std::string in = raw("RGB", 64, 48);
  const Pixels src = noise(in);
  Warp warp("framing=expand");
  GstControlSource* angle = animate(warp.element(), "angle", 0, 90);
  warp.set_caps(in);
  assert_same(warp(src, 0), src, "frame 0");
  const CapsEvents caps(warp.harness()->sinkpad);
  for (int n = 1; n <= 25; ++n) {
    const double value = value_at(angle, n * GST_SECOND / 25);
    const Pixels want =
        with_fixed(in, "video/x-raw,width=64,height=48", src, "angle", value, "framing=expand");
    assert_same(warp(src, n), want, "frame " + std::to_string(n));
  }
  warp.assert_size(64, 48);
  ck_assert_int_eq(caps.seen, 0);
}
GST_END_TEST;

// Where one is refused it is said once, not for every frame.
GST_START_TEST(controlled_and_refused) {
  const std::string in = raw("GRAY8", 64, 48);
  Warp warp("angle=30");
  warp.set_caps(in);
  const Pixels before = warp(noise(in));
  animate(warp.element(), "scale", 0, 0);
  for (int n = 1; n < 5; ++n) assert_same(warp(noise(in), n), before, "a refused scale");
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"scale"});
}
GST_END_TEST;

// Every kind of controlled value arrives.
GST_START_TEST(controlled_properties) {
  const std::string in = raw("RGB", 64, 48);
  const Pixels src = noise(in);
  for (const char* property : {"scale", "scale-x", "scale-y", "shear-x", "shear-y", "offset-x", "offset-y",
                               "pivot-x", "pivot-y", "align-x", "align-y"}) {
    Warp warp("angle=20 fit=none");
    GstControlSource* source = animate(warp.element(), property, 0.125, 0.875);
    warp.set_caps(in, "video/x-raw,width=80,height=80");
    for (const int n : {0, 10, 25}) {
      const double value = value_at(source, n * GST_SECOND / 25);
      assert_same(warp(src, n),
                  with_fixed(in, "video/x-raw,width=80,height=80", src, property, value, "angle=20 fit=none"),
                  property);
    }
  }
}
GST_END_TEST;

// The other thread comes at any moment of a frame: a transparent border never meets caps without alpha.
GST_START_TEST(transparent_while_playing) {
  const std::string in = raw("RGBx", 64, 48);
  Warp warp("angle=10");
  warp.set_caps(in);
  const Pixels src = solid(in, {{40, 80, 120, 255}});
  std::atomic<bool> done{false};
  std::thread toggler([&] {
    for (int k = 0; !done; ++k)
      gst_util_set_object_arg(G_OBJECT(warp.element()), "border-mode", k % 2 ? "constant" : "transparent");
  });
  for (int k = 0; k < 1000; ++k) warp(src, k);
  done = true;
  toggler.join();
}
GST_END_TEST;

GST_START_TEST(live_border_color) {
  const std::string in = raw("RGB", 64, 48);
  const Pixels src = solid(in, {{1, 2, 3}});
  Warp warp("offset-x=10");
  warp.set_caps(in);
  const CapsEvents caps(warp.harness()->sinkpad);
  for (const guint color : {0xff102030u, 0xffff0000u, 0xff00ff00u}) {
    g_object_set(warp.element(), "border-color", color, nullptr);
    const Pixels out = warp(src);
    ck_assert(pixel_is(out, 0, 9, 20, {int(color >> 16 & 255), int(color >> 8 & 255), int(color & 255)}));
    ck_assert(pixel_is(out, 0, 10, 20, {1, 2, 3}));
  }
  ck_assert_int_eq(caps.seen, 0);
}
GST_END_TEST;

// One change of the size, one CAPS event; and a change of nothing that shows in caps, none.
GST_START_TEST(caps_events) {
  const std::string in = raw("RGB", 64, 48);
  const Pixels src = noise(in);
  Warp warp("framing=expand angle=10");
  warp.set_caps(in);
  warp(src);
  const CapsEvents caps(warp.harness()->sinkpad);
  g_object_set(warp.element(), "angle", 20.0, nullptr);
  warp(src, 1), warp(src, 2);
  ck_assert_int_eq(caps.seen, 1);
  g_object_set(warp.element(), "angle", -20.0, "offset-x", 3.0, "pivot-x", 0.25, nullptr);
  warp(src, 3), warp(src, 4);
  ck_assert_int_eq(caps.seen, 1);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_live");
  TCase* tc = tcase_create("live");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, live_direction);
  tcase_add_test(tc, live_direction_in_a_pipeline);
  tcase_add_test(tc, property_storm);
  tcase_add_test(tc, controlled_angle);
  tcase_add_test(tc, controlled_by_stream_time);
  tcase_add_test(tc, controlled_size_stays);
  tcase_add_test(tc, controlled_and_refused);
  tcase_add_test(tc, controlled_properties);
  tcase_add_test(tc, live_border_color);
  tcase_add_test(tc, transparent_while_playing);
  tcase_add_test(tc, caps_events);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

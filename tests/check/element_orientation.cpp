// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The property video-direction: the eight orientations, and those that image-orientation tags name.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

using Words = std::vector<std::string>;

enum Method { identity, right, half, left, horiz, vert, ul_lr, ur_ll };  // by the interface's numbers
constexpr int kEight = 8;

// Pixel (x, y) of the result is (x, y) of the source, or (y, x), counted from the right, from the bottom.
constexpr struct {
  const char* nick;
  bool swap, from_right, from_bottom;
} kMethods[kEight] = {{"identity", false, false, false}, {"90r", true, false, true},
                      {"180", false, true, true},        {"90l", true, true, false},
                      {"horiz", false, true, false},     {"vert", false, false, true},
                      {"ul-lr", true, false, false},     {"ur-ll", true, true, true}};

Pixels oriented(const Pixels& src, int method) {
  const auto& m = kMethods[method];
  Pixels out = src;
  for (size_t p = 0; p < src.plane.size(); ++p) {
    const Pixels::Plane& from = src.plane[p];
    Pixels::Plane& to = out.plane[p];
    if (m.swap) std::swap(to.width, to.height);
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        const int u = m.swap ? y : x, v = m.swap ? x : y;
        for (int k = 0; k < from.bytes; ++k)
          to.at(x, y, k) =
              from.at(m.from_right ? from.width - 1 - u : u, m.from_bottom ? from.height - 1 - v : v, k);
      }
  }
  return out;
}

// Chroma in the middle of its luma pixels, so that it is copied too.
std::string exact(const std::string& format, int width, int height, const std::string& more = "") {
  const bool sited = format == "I420" || format == "NV12";
  return raw(format, width, height, (sited ? ",chroma-site=jpeg" : "") + more);
}

// What most tests put in, and what they get.
const std::string kIn = exact("RGB", 64, 48);
Pixels frame(int method = identity) {
  return oriented(noise(kIn), method);
}

std::string direction(int method) {
  return std::string("video-direction=") + kMethods[method].nick + " ";
}

void set_direction(const Warp& warp, const char* nick) {
  gst_util_set_object_arg(G_OBJECT(warp.element()), "video-direction", nick);
}

void assert_direction(const Warp& warp, int method) {
  int value = -1;
  g_object_get(warp.element(), "video-direction", &value, nullptr);
  ck_assert_int_eq(value, method);
}

void assert_custom_refused(const Warp& warp) {
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"video-direction", "custom"});
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

Pixels warped(const std::string& properties, const std::string& in, const Pixels& src,
              const std::string& downstream = "") {
  Warp warp(properties);
  warp.set_caps(in, downstream);
  return warp(src);
}

bool has_videoflip() {
  if (gst_registry_check_feature_version(gst_registry_get(), "videoflip", 1, 0, 0)) return true;
  g_print("no videoflip to compare with\n");
  return false;
}

Pixels by_videoflip(int method, const std::string& in, const Pixels& src) {
  GstHarness* flip = gst_harness_new_parse(("videoflip " + direction(method)).c_str());
  gst_harness_set_src_caps_str(flip, in.c_str());
  gst_harness_push(flip, buffer_of(src, in).release());
  const BufferPtr out(gst_harness_pull(flip));
  const CapsPtr caps(gst_pad_get_current_caps(flip->sinkpad));
  Pixels pixels = pixels_of(out.get(), caps.get());
  gst_harness_teardown(flip);
  return pixels;
}

// ---- events

constexpr GstTagScope kStream = GST_TAG_SCOPE_STREAM, kGlobal = GST_TAG_SCOPE_GLOBAL;
constexpr const char* kTags[kEight] = {"rotate-0",        "rotate-90",      "rotate-180",
                                       "rotate-270",      "flip-rotate-0",  "flip-rotate-90",
                                       "flip-rotate-180", "flip-rotate-270"};

// Of no orientation where that is empty.
GstEvent* tag_event(const std::string& orientation, GstTagScope scope) {
  GstTagList* tags = gst_tag_list_new(GST_TAG_TITLE, "a title", GST_TAG_BITRATE, 1234u, nullptr);
  gst_tag_list_set_scope(tags, scope);
  if (!orientation.empty())
    gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, orientation.c_str(), nullptr);
  return gst_event_new_tag(tags);
}

void send(const Warp& warp, GstEvent* event) {
  ck_assert(gst_harness_push_event(warp.harness(), event));
}
void send(const Warp& warp, const std::string& orientation, GstTagScope scope = kStream) {
  send(warp, tag_event(orientation, scope));
}

void start_stream(const Warp& warp, const char* id) {
  send(warp, gst_event_new_stream_start(id));
  send(warp, gst_event_new_caps(caps_of(kIn).get()));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  send(warp, gst_event_new_segment(&segment));
}

GstTagList* tags_of(GstEvent* event) {
  GstTagList* tags = nullptr;
  gst_event_parse_tag(event, &tags);
  return tags;
}

std::string words_of(GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    const GstVideoInfo info = info_of(caps);
    return "caps " + std::to_string(info.width) + "x" + std::to_string(info.height);
  }
  if (GST_EVENT_TYPE(event) != GST_EVENT_TAG) return GST_EVENT_TYPE_NAME(event);
  g_autofree gchar* orientation = nullptr;
  gst_tag_list_get_string(tags_of(event), GST_TAG_IMAGE_ORIENTATION, &orientation);
  const bool global = gst_tag_list_get_scope(tags_of(event)) == kGlobal;
  return std::string(global ? "global " : "stream ") + (orientation ? orientation : "none");
}

// What comes out, in its order: "caps 48x64", "stream rotate-0", "global none", "frame".
class Log {
 public:
  explicit Log(const Warp& warp) {
    const auto kinds =
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER);
    const auto note = +[](GstPad*, GstPadProbeInfo* info, gpointer seen) {
      const bool is_frame = GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER;
      static_cast<Words*>(seen)->push_back(is_frame ? "frame" : words_of(GST_PAD_PROBE_INFO_EVENT(info)));
      return GST_PAD_PROBE_OK;
    };
    gst_pad_add_probe(warp.harness()->sinkpad, kinds, note, &seen_, nullptr);
  }
  // Since the last time.
  Words take() { return std::exchange(seen_, {}); }
  void assert_seen(const Words& want) {
    std::string all;
    for (const std::string& words : seen_) all += "\n  " + words;
    ck_assert_msg(take() == want, "seen:%s", all.c_str());
  }
  // These in whatever order, and then a frame.
  void assert_seen_before_frame(Words want) {
    std::sort(seen_.begin(), seen_.begin() + std::min(want.size(), seen_.size()));
    want.push_back("frame");
    assert_seen(want);
  }

 private:
  Words seen_;
};

// Two threads that set video-direction, each to its value, while 1000 frames pass.
void stress(Warp& warp, std::array<int, 2> methods, const Pixels& src,
            const std::function<void(const Pixels&)>& look) {
  GstHarnessThread* threads[2];
  for (int k = 0; k < 2; ++k) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_VIDEO_ORIENTATION_METHOD);
    g_value_set_enum(&value, methods[k]);
    threads[k] =
        gst_harness_stress_property_start_full(warp.harness(), "video-direction", &value, 160 + 50 * k);
  }
  for (int n = 0; n < 1000; ++n) {
    look(warp(src, n));
    g_usleep(100);
  }
  for (GstHarnessThread* thread : threads) gst_harness_stress_thread_stop(thread);
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

// A tag says what is to be done: a horizontal flip, then clockwise turns.
GST_START_TEST(every_tag) {
  constexpr Method kMeant[kEight] = {identity, right, half, left, horiz, ur_ll, vert, ul_lr};
  const std::string in = exact("I420", 36, 20);
  const Pixels src = noise(in);
  const bool videoflip = has_videoflip();
  for (int k = 0; k < kEight; ++k)
    for (const GstTagScope scope : {kStream, kGlobal}) {
      Warp warp("video-direction=auto");
      warp.set_caps(in);
      send(warp, kTags[k], scope);
      const Pixels out = warp(src);
      assert_same(out, turned(oriented(src, k < 4 ? identity : horiz), k), kTags[k]);
      if (videoflip) assert_same(out, by_videoflip(kMeant[k], in, src), kTags[k]);
    }
}
GST_END_TEST;

GST_START_TEST(scopes) {
  struct Step {
    GstTagScope scope;
    const char* orientation;
    Method method;
  };
  const std::vector<Step> cases[] = {
      {{kStream, "rotate-90", right}, {kGlobal, "rotate-180", right}},
      {{kGlobal, "rotate-180", half}, {kStream, "rotate-90", right}},
      {{kGlobal, "rotate-90", right}, {kStream, "rotate-0", identity}},
      {{kGlobal, "rotate-180", half},
       {kStream, "rotate-90", right},
       {kStream, "", half},
       {kGlobal, "", identity}},
      {{kStream, "rotate-90", right}, {kGlobal, "", right}, {kStream, "", identity}},
      {{kGlobal, "rotate-270", left}, {kStream, "sideways", left}, {kGlobal, "sideways", identity}}};
  for (const auto& steps : cases)
    for (const bool each : {true, false}) {  // a frame after each step, or after the last
      Warp warp("video-direction=auto");
      warp.set_caps(kIn);
      for (const Step& step : steps) {
        send(warp, step.orientation, step.scope);
        if (each || &step == &steps.back()) assert_same(warp(frame()), frame(step.method), step.orientation);
      }
    }
}
GST_END_TEST;

GST_START_TEST(how_long_tags_hold) {
  for (const GstTagScope scope : {kStream, kGlobal}) {
    Warp warp("video-direction=auto");
    warp.set_caps(kIn);
    start_stream(warp, "one");
    send(warp, "rotate-90", scope);
    assert_same(warp(frame()), frame(right), "the first stream");
    send(warp, gst_event_new_flush_start());
    send(warp, gst_event_new_flush_stop(TRUE));
    start_stream(warp, "one");
    assert_same(warp(frame()), frame(right), "the same stream, after a flush");
    start_stream(warp, "two");
    assert_same(warp(frame()), frame(), "another stream");
    send(warp, "rotate-180", scope);
    assert_same(warp(frame()), frame(half), "with a tag of its own");
    gst_element_set_state(warp.element(), GST_STATE_NULL);
    // Upstream would say again what it has said (GStreamer 1.26): it forgets too.
    gst_pad_set_active(warp.harness()->srcpad, FALSE);
    gst_pad_set_active(warp.harness()->srcpad, TRUE);
    gst_element_set_state(warp.element(), GST_STATE_PLAYING);
    start_stream(warp, "two");
    assert_same(warp(frame()), frame(), "after NULL");
  }
}
GST_END_TEST;

// Where the element turns frames upright, downstream hears that; nothing else is changed.
GST_START_TEST(tags_downstream) {
  const struct {
    const char *direction, *sent, *told;
  } cases[] = {{"auto", "rotate-90", "rotate-0"}, {"auto", "flip-rotate-270", "rotate-0"},
               {"auto", "rotate-0", "rotate-0"},  {"auto", "", ""},
               {"auto", "sideways", "sideways"},  {"identity", "rotate-90", "rotate-90"},
               {"90r", "rotate-90", "rotate-90"}, {"180", "sideways", "sideways"}};
  for (const auto& c : cases)
    for (const GstTagScope scope : {kStream, kGlobal}) {
      Warp warp(std::string("video-direction=") + c.direction);
      warp.set_caps(kIn);
      while (GstEvent* event = gst_harness_try_pull_event(warp.harness())) gst_event_unref(event);
      GstEvent *sent = tag_event(c.sent, scope), *want = tag_event(c.told, scope);
      const guint32 number = gst_event_get_seqnum(sent);
      send(warp, sent);
      ck_assert_uint_eq(gst_harness_events_in_queue(warp.harness()), 1);
      GstEvent* told = gst_harness_pull_event(warp.harness());
      ck_assert_int_eq(GST_EVENT_TYPE(told), GST_EVENT_TAG);
      ck_assert_msg(gst_tag_list_is_equal(tags_of(told), tags_of(want)), "%s, %s", c.direction, c.sent);
      ck_assert_int_eq(gst_tag_list_get_scope(tags_of(told)), scope);
      ck_assert_uint_eq(gst_event_get_seqnum(told), number);
      gst_event_unref(told);
      gst_event_unref(want);
    }
}
GST_END_TEST;

GST_START_TEST(tags_while_playing) {
  Warp warp("video-direction=auto");
  Log log(warp);
  send(warp, "rotate-90");  // before there are caps
  warp.set_caps(kIn);
  warp(frame());
  log.assert_seen({"stream-start", "stream rotate-0", "caps 48x64", "segment", "frame"});
  send(warp, "rotate-180");
  warp(frame(), 1), warp(frame(), 2);
  log.assert_seen({"stream rotate-0", "caps 64x48", "frame", "frame"});
  send(warp, "rotate-0");
  assert_same(warp(frame(), 3), frame(), "upright");
  log.assert_seen({"stream rotate-0", "frame"});
}
GST_END_TEST;

// Frames in flight are of what came before.
GST_START_TEST(tags_behind_frames_in_flight) {
  Warp warp("video-direction=auto angle=180 async-depth=2");
  warp.set_caps(kIn);
  Log log(warp);
  for (int n = 0; n < 3; ++n) warp.push(buffer_of(frame(), kIn, n));
  log.assert_seen({"frame"});
  send(warp, "rotate-90");
  log.assert_seen({"frame", "frame", "stream rotate-0"});
  warp.push(buffer_of(frame(), kIn, 3));
  send(warp, gst_event_new_eos());
  log.assert_seen({"caps 48x64", "frame", "eos"});
}
GST_END_TEST;

GST_START_TEST(tags_are_told_again) {
  Warp warp("video-direction=auto");
  warp.set_caps(kIn);
  send(warp, "rotate-90");
  send(warp, "rotate-180", kGlobal);
  assert_same(warp(frame()), frame(right), "auto");
  Log log(warp);
  set_direction(warp, "identity");
  assert_same(warp(frame(), 1), frame(), "identity");
  log.assert_seen_before_frame({"caps 64x48", "global rotate-180", "stream rotate-90"});
  set_direction(warp, "auto");
  assert_same(warp(frame(), 2), frame(right), "auto again");
  log.assert_seen_before_frame({"caps 48x64", "global rotate-0", "stream rotate-0"});
  set_direction(warp, "90r");
  set_direction(warp, "auto");
  warp(frame(), 3);
  log.assert_seen({"frame"});
  // A tag that comes after such a change, before a frame does, is told once.
  set_direction(warp, "identity");
  send(warp, "rotate-270");
  const Words seen = log.take();
  ck_assert_int_eq(std::count(seen.begin(), seen.end(), "stream rotate-270"), 1);
}
GST_END_TEST;

// Whenever the change comes, a frame is as upright as downstream has been told.
GST_START_TEST(told_as_it_is) {
  for (const int k : {half, right}) {
    Warp warp("video-direction=auto");
    warp.set_caps(kIn);
    send(warp, kTags[k]);
    int seen[2] = {}, wrong = 0;
    const Pixels src = frame(), turn = frame(k);
    stress(warp, {identity, GST_VIDEO_ORIENTATION_AUTO}, src, [&](const Pixels& out) {
      GstEvent* event = gst_pad_get_sticky_event(warp.harness()->sinkpad, GST_EVENT_TAG, 0);
      const bool upright = words_of(event) == "stream rotate-0";
      gst_event_unref(event);
      ++seen[upright];
      wrong += out != (upright ? turn : src);
    });
    ck_assert_msg(wrong == 0, "%s: %d of 1000 frames are not as told", kTags[k], wrong);
    ck_assert(seen[0] > 0 && seen[1] > 0);
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

// The size stays, and what is turned is fitted into it; `auto` is told before its first frame; `custom` is
// refused once.
GST_START_TEST(controlled) {
  constexpr int kAuto = GST_VIDEO_ORIENTATION_AUTO, kCustom = GST_VIDEO_ORIENTATION_CUSTOM;
  Warp warp;
  GstControlSource* source = gst_interpolation_control_source_new();  // from 0, the first, to 1, the last
  for (int n = 0; n <= kCustom; ++n)
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), n * GST_SECOND / 25,
                                       static_cast<double>(n) / kCustom);
  ck_assert(gst_object_add_control_binding(
      GST_OBJECT(warp.element()),
      gst_direct_control_binding_new(GST_OBJECT(warp.element()), "video-direction", source)));
  gst_object_unref(source);
  warp.set_caps(kIn);
  send(warp, "rotate-90");
  Log log(warp);
  for (int n = 0; n < kCustom + 3; ++n) {
    const int method = n < kAuto ? n : right;
    assert_same(warp(frame(), n), warped(direction(method), kIn, frame(), "video/x-raw,width=64,height=48"),
                "frame " + std::to_string(n));
    log.assert_seen(n == kAuto ? Words{"stream rotate-0", "frame"} : Words{"frame"});
  }
  assert_custom_refused(warp);
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
  tcase_add_test(tc, every_tag);
  tcase_add_test(tc, scopes);
  tcase_add_test(tc, how_long_tags_hold);
  tcase_add_test(tc, tags_downstream);
  tcase_add_test(tc, tags_while_playing);
  tcase_add_test(tc, tags_behind_frames_in_flight);
  tcase_add_test(tc, tags_are_told_again);
  tcase_add_test(tc, told_as_it_is);
  tcase_add_test(tc, changes_while_playing);
  tcase_add_test(tc, changes_by_other_threads);
  tcase_add_test(tc, controlled);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

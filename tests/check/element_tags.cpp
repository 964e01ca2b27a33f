// SPDX-License-Identifier: LGPL-2.1-or-later
//
// video-direction=auto: orientations that image-orientation tags name, and what downstream is told of them.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include "element_directions.h"

using namespace cudawarp::element;

namespace {

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

}  // namespace

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
  Suite* s = suite_create("element_tags");
  TCase* tc = tcase_create("tags");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, every_tag);
  tcase_add_test(tc, scopes);
  tcase_add_test(tc, how_long_tags_hold);
  tcase_add_test(tc, tags_downstream);
  tcase_add_test(tc, tags_while_playing);
  tcase_add_test(tc, tags_behind_frames_in_flight);
  tcase_add_test(tc, tags_are_told_again);
  tcase_add_test(tc, told_as_it_is);
  tcase_add_test(tc, controlled);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

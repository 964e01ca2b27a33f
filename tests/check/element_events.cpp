// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What travels with frames and against them: pointers through the inverse map, flags, events in their order,
// QoS, queries.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include <gst/video/navigation.h>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

struct UnrefEvent {
  void operator()(GstEvent* event) const { gst_event_unref(event); }
};
using EventPtr = std::unique_ptr<GstEvent, UnrefEvent>;
struct FreeStructure {
  void operator()(GstStructure* s) const { gst_structure_free(s); }
};
using StructurePtr = std::unique_ptr<GstStructure, FreeStructure>;

constexpr auto kNoKeys = GST_NAVIGATION_MODIFIER_NONE;
constexpr GstClockTime kFrame = GST_SECOND / 25;
const std::string kIn = raw("GRAY8", 64, 48);

// What arrives upstream of an event from downstream.
EventPtr sent_up(const Warp& warp, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  while (const EventPtr old{gst_harness_try_pull_upstream_event(warp.harness())}) continue;
  ck_assert(gst_harness_push_upstream_event(warp.harness(), event));
  EventPtr found;
  while (EventPtr next{gst_harness_try_pull_upstream_event(warp.harness())})
    if (GST_EVENT_TYPE(next.get()) == type) found = std::move(next);
  ck_assert_msg(found != nullptr, "no %s event arrives", gst_event_type_get_name(type));
  return found;
}

struct At {
  double x, y;
};
At pointer_of(GstEvent* event) {
  At at{NAN, NAN};
  const GstStructure* s = gst_event_get_structure(event);
  gst_structure_get(s, "pointer_x", G_TYPE_DOUBLE, &at.x, "pointer_y", G_TYPE_DOUBLE, &at.y, nullptr);
  return at;
}

void assert_at(At got, At want, const std::string& what, double near = 1e-6) {
  if (!(std::abs(got.x - want.x) <= near && std::abs(got.y - want.y) <= near))
    ck_abort_msg("%s: (%g, %g), not (%g, %g)", what.c_str(), got.x, got.y, want.x, want.y);
}

At pointed(const Warp& warp, At at) {
  return pointer_of(sent_up(warp, gst_navigation_event_new_mouse_move(at.x, at.y, kNoKeys)).get());
}

StructurePtr without_pointer(GstEvent* event) {
  StructurePtr s(gst_structure_copy(gst_event_get_structure(event)));
  gst_structure_remove_fields(s.get(), "pointer_x", "pointer_y", nullptr);
  return s;
}

void assert_unchanged(const Warp& warp, GstEvent* event) {
  const StructurePtr before(gst_structure_copy(gst_event_get_structure(event)));
  const EventPtr after = sent_up(warp, event);
  const GstStructure* got = gst_event_get_structure(after.get());
  if (gst_structure_is_equal(before.get(), got)) return;
  ck_abort_msg("%s became %s", gst_structure_to_string(before.get()), gst_structure_to_string(got));
}

GstEvent* navigation_of(const char* structure) {
  return gst_event_new_navigation(gst_structure_from_string(structure, nullptr));
}

}  // namespace

GST_START_TEST(navigation) {
  const std::string in = raw("GRAY8", 1920, 1080);
  Warp warp;
  warp.set_caps(in, "video/x-raw,width=640,height=640");
  for (const bool frame_seen : {false, true}) {
    assert_at(pointed(warp, {320, 320}), {960, 540}, "middle", 1);
    assert_at(pointed(warp, {0, 140}), {0, 0}, "corner");
    assert_at(pointed(warp, {640, 500}), {1920, 1080}, "the other one");
    assert_at(pointed(warp, {320, 0}), {960, -420}, "in the border");
    if (!frame_seen) warp(black(in));
  }
}
GST_END_TEST;

GST_START_TEST(navigation_of_every_kind) {
  Warp warp("angle=180");
  warp.set_caps(kIn);
  GstEvent* const events[] = {gst_navigation_event_new_mouse_move(10, 20, GST_NAVIGATION_MODIFIER_SHIFT_MASK),
                              gst_navigation_event_new_mouse_button_press(3, 10, 20, kNoKeys),
                              gst_navigation_event_new_mouse_button_release(2, 10, 20, kNoKeys),
                              gst_navigation_event_new_touch_down(7, 10, 20, 0.25, kNoKeys),
                              gst_navigation_event_new_touch_motion(8, 10, 20, 0.5, kNoKeys),
                              gst_navigation_event_new_touch_up(9, 10, 20, kNoKeys),
                              gst_navigation_event_new_mouse_scroll(10, 20, 5, -6, kNoKeys)};
  for (GstEvent* event : events) {
    const StructurePtr others = without_pointer(event);
    const std::string kind = gst_structure_get_string(others.get(), "event");
    const guint32 number = gst_event_get_seqnum(event);
    const EventPtr up = sent_up(warp, event);
    assert_at(pointer_of(up.get()), {54, 28}, kind);
    ck_assert_msg(gst_structure_is_equal(others.get(), without_pointer(up.get()).get()), "%s", kind.c_str());
    ck_assert_uint_eq(gst_event_get_seqnum(up.get()), number);
  }
}
GST_END_TEST;

GST_START_TEST(navigation_without_a_point) {
  Warp warp("angle=180");
  warp.set_caps(kIn);
  int complaints = 0;
  const guint handler = g_log_set_handler(
      "GStreamer-Video", static_cast<GLogLevelFlags>(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING),
      [](const gchar*, GLogLevelFlags, const gchar*, gpointer count) { ++*static_cast<int*>(count); },
      &complaints);
  for (GstEvent* event :
       {gst_navigation_event_new_key_press("a", kNoKeys), gst_navigation_event_new_key_release("a", kNoKeys),
        gst_navigation_event_new_command(GST_NAVIGATION_COMMAND_LEFT),
        gst_navigation_event_new_touch_frame(kNoKeys), gst_navigation_event_new_touch_cancel(kNoKeys),
        navigation_of("application/x-gst-navigation,event=mouse-move"),
        navigation_of("application/x-gst-navigation,event=mouse-move,pointer_x=10.0"),
        navigation_of("application/x-gst-navigation,event=mouse-move,pointer_x=(int)10,pointer_y=(int)20"),
        navigation_of("application/x-gst-navigation,event=mouse-move,pointer_x=left,pointer_y=top"),
        navigation_of("application/x-gst-navigation,event=(int)5"), navigation_of("it")})
    assert_unchanged(warp, event);
  g_log_remove_handler("GStreamer-Video", handler);
  ck_assert_int_eq(complaints, 0);
}
GST_END_TEST;

GST_START_TEST(navigation_of_turned_pictures) {
  const double c = std::cos(std::numbers::pi / 6), s = std::sin(std::numbers::pi / 6);
  const struct {
    const char* properties;
    At want;  // of (10, 20)
  } cases[] = {{"video-direction=identity", {10, 20}},
               {"video-direction=90r", {20, 38}},
               {"video-direction=180", {54, 28}},
               {"video-direction=90l", {44, 10}},
               {"video-direction=horiz", {54, 20}},
               {"video-direction=vert", {10, 28}},
               {"video-direction=ul-lr", {20, 10}},
               {"video-direction=ur-ll", {44, 38}},
               {"angle=90 framing=expand", {20, 38}},
               {"angle=90", {28, 46}},
               {"angle=30", {32 - 22 * c - 4 * s, 24 + 22 * s - 4 * c}},
               {"scale=2 offset-x=4", {19, 22}},
               {"matrix=\"<2.0,0.0,4.0,0.0,1.0,5.0>\"", {3, 15}},
               {"video-direction=90r matrix=\"<2.0,0.0,4.0,0.0,1.0,5.0>\"", {15, 45}}};
  for (const auto& k : cases) {
    Warp warp(k.properties);
    warp.set_caps(kIn);
    assert_at(pointed(warp, {10, 20}), k.want, k.properties);
  }
}
GST_END_TEST;

// The map of the last frame: of its crop, and of the values that it was made with.
GST_START_TEST(navigation_by_the_last_frame) {
  Warp warp("angle=180");
  assert_at(pointed(warp, {10, 20}), {10, 20}, "before caps");
  warp.set_caps(kIn);
  warp(black(kIn));
  assert_at(pointed(warp, {10, 20}), {54, 28}, "a whole frame");
  BufferPtr cropped = buffer_of(black(kIn), kIn, 1);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(cropped.get());
  crop->x = 8, crop->y = 4, crop->width = 32, crop->height = 24;
  warp.pass(std::move(cropped));
  assert_at(pointed(warp, {10, 20}), {8 + 27, 4 + 14}, "half of one, twice as large");
  warp(black(kIn), 2);
  g_object_set(warp.element(), "scale", 0.5, nullptr);
  assert_at(pointed(warp, {10, 20}), {54, 28}, "before the next frame");
  warp(black(kIn), 3);
  assert_at(pointed(warp, {10, 20}), {32 + 44, 24 + 8}, "after it");
}
GST_END_TEST;

GST_START_TEST(navigation_of_what_passes_through) {
  Warp warp;
  warp.set_caps(kIn);
  ck_assert(passes_through(warp, black(kIn)));
  assert_unchanged(warp, gst_navigation_event_new_mouse_move(10, 20, kNoKeys));
  for (const double angle : {180.0, 0.0, 180.0, 0.0}) {
    g_object_set(warp.element(), "angle", angle, nullptr);
    warp(black(kIn));
    const At want = angle == 0 ? At{10, 20} : At{54, 28};
    assert_at(pointed(warp, {10, 20}), want, "at " + std::to_string(angle) + " degrees");
  }
  ck_assert(passes_through(warp, black(kIn)));
}
GST_END_TEST;

// Others may have the same event.
GST_START_TEST(navigation_of_a_shared_event) {
  Warp warp("angle=180");
  warp.set_caps(kIn);
  const EventPtr mine(gst_navigation_event_new_mouse_move(10, 20, kNoKeys));
  const EventPtr up = sent_up(warp, gst_event_ref(mine.get()));
  assert_at(pointer_of(up.get()), {54, 28}, "upstream");
  assert_at(pointer_of(mine.get()), {10, 20}, "mine");
}
GST_END_TEST;

// A gap without a picture stays one.
GST_START_TEST(gap_without_bytes) {
  for (const char* properties : {"angle=17", "", "angle=17 async-depth=2"}) {
    Warp warp(properties);
    warp.set_caps(raw("GRAY8", 64, 48));
    BufferPtr gap(gst_buffer_new());
    GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
    GST_BUFFER_PTS(gap.get()) = 0;
    ck_assert_int_eq(warp.push(std::move(gap)), GST_FLOW_OK);
    gst_harness_push_event(warp.harness(), gst_event_new_eos());
    const BufferPtr out(gst_harness_pull(warp.harness()));
    ck_assert_uint_eq(gst_buffer_get_size(out.get()), 0);
    ck_assert(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
    ck_assert_uint_eq(GST_BUFFER_PTS(out.get()), 0);
  }
}
GST_END_TEST;

GST_START_TEST(flags_and_times) {
  constexpr GstBufferFlags kFlags[] = {GST_BUFFER_FLAG_CORRUPTED,  GST_BUFFER_FLAG_DECODE_ONLY,
                                       GST_BUFFER_FLAG_GAP,        GST_BUFFER_FLAG_DROPPABLE,
                                       GST_BUFFER_FLAG_MARKER,     GST_BUFFER_FLAG_DELTA_UNIT,
                                       GST_BUFFER_FLAG_HEADER,     GST_BUFFER_FLAG_RESYNC,
                                       GST_BUFFER_FLAG_SYNC_AFTER, GST_BUFFER_FLAG_NON_DROPPABLE};
  guint all = 0;
  for (const guint flag : kFlags) all |= flag;
  for (const char* properties : {"", "angle=17", "angle=17 async-depth=2"})
    for (const GstBufferFlags flag : kFlags) {
      Warp warp(properties);
      warp.set_caps(kIn);
      BufferPtr in = buffer_of(black(kIn), kIn);
      GST_BUFFER_FLAG_SET(in.get(), flag);
      GST_BUFFER_PTS(in.get()) = GST_BUFFER_DURATION(in.get()) = GST_CLOCK_TIME_NONE;
      GST_BUFFER_DTS(in.get()) = flag == GST_BUFFER_FLAG_MARKER ? 7 : GST_CLOCK_TIME_NONE;
      const GstClockTime dts = GST_BUFFER_DTS(in.get());
      ck_assert_int_eq(warp.push(std::move(in)), GST_FLOW_OK);
      ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
      const BufferPtr out(gst_harness_pull(warp.harness()));
      ck_assert_msg((GST_BUFFER_FLAGS(out.get()) & all) == flag, "`%s': %x became %x", properties, flag,
                    GST_BUFFER_FLAGS(out.get()) & all);
      ck_assert(!GST_BUFFER_PTS_IS_VALID(out.get()) && !GST_BUFFER_DURATION_IS_VALID(out.get()));
      ck_assert(!GST_BUFFER_OFFSET_IS_VALID(out.get()) && !GST_BUFFER_OFFSET_END_IS_VALID(out.get()));
      ck_assert_uint_eq(GST_BUFFER_DTS(out.get()), dts);
    }
}
GST_END_TEST;

namespace {

// Frames by number and events by name, as they come out; `!` behind frames with a mark of discontinuity.
class Arrivals {
 public:
  explicit Arrivals(const Warp& warp) {
    const auto kinds =
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM);
    gst_pad_add_probe(
        warp.harness()->sinkpad, kinds,
        [](GstPad*, GstPadProbeInfo* info, gpointer text) {
          *static_cast<std::string*>(text) += word(info) + " ";
          return GST_PAD_PROBE_OK;
        },
        &text, nullptr);
  }

  std::string text;

 private:
  static std::string word(GstPadProbeInfo* info) {
    if (!(info->type & GST_PAD_PROBE_TYPE_BUFFER))
      return gst_event_type_get_name(GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)));
    GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    return std::to_string(GST_BUFFER_PTS(buffer) / kFrame) + (GST_BUFFER_IS_DISCONT(buffer) ? "!" : "");
  }
};

void push(Warp& warp, int first, int last) {
  for (int n = first; n <= last; ++n) ck_assert_int_eq(warp.push(buffer_of(black(kIn), kIn, n)), GST_FLOW_OK);
}

}  // namespace

GST_START_TEST(events_in_order) {
  for (const guint depth : {0, 2}) {
    Warp warp("angle=17");
    g_object_set(warp.element(), "async-depth", depth, nullptr);
    warp.set_caps(kIn);
    Arrivals arrivals(warp);
    const auto send = [&](GstEvent* event) { ck_assert(gst_harness_push_event(warp.harness(), event)); };
    const auto custom = [&](GstEventType type) {
      send(gst_event_new_custom(type, gst_structure_new_empty("it")));
    };
    push(warp, 0, 0);
    send(gst_event_new_gap(kFrame, kFrame));
    push(warp, 2, 3);
    custom(GST_EVENT_CUSTOM_DOWNSTREAM);
    push(warp, 4, 4);
    custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY);
    push(warp, 5, 7);
    custom(GST_EVENT_CUSTOM_BOTH);
    push(warp, 8, 9);
    custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB);
    custom(GST_EVENT_CUSTOM_BOTH_OOB);
    push(warp, 10, 10);
    send(gst_event_new_segment_done(GST_FORMAT_TIME, static_cast<gint64>(kFrame * 11)));
    push(warp, 11, 11);
    send(gst_event_new_eos());
    // Out of band: past the frames.
    const char* want = depth ? "0 gap 2 3 custom-downstream 4 custom-downstream-sticky 5 6 7 custom-both "
                               "custom-downstream-oob custom-both-oob 8 9 10 segment-done 11 eos "
                             : "0 gap 2 3 custom-downstream 4 custom-downstream-sticky 5 6 7 custom-both 8 9 "
                               "custom-downstream-oob custom-both-oob 10 segment-done 11 eos ";
    ck_assert_str_eq(arrivals.text.c_str(), want);
  }
}
GST_END_TEST;

// Frames that downstream says are late are not made; the next one says that some are missing.
GST_START_TEST(qos) {
  for (const guint depth : {0, 2})
    for (const bool on : {true, false}) {
      Warp warp("angle=17");
      g_object_set(warp.element(), "async-depth", depth, nullptr);
      if (!on)
        g_object_set(warp.element(), "qos", FALSE, nullptr);  // as with other filters of video, it is on
      warp.set_caps(kIn);
      Arrivals arrivals(warp);
      push(warp, 0, 2);
      sent_up(warp, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, kFrame, 3 * kFrame));
      push(warp, 3, 7);
      ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
      ck_assert_str_eq(arrivals.text.c_str(), on ? "0 1 2 5! 6 7 eos " : "0 1 2 3 4 5 6 7 eos ");
      int dropped = 0;
      for (; GstMessage* message = gst_bus_pop_filtered(warp.bus(), GST_MESSAGE_QOS); ++dropped)
        gst_message_unref(message);
      ck_assert_int_eq(dropped, on ? 2 : 0);
      ck_assert_uint_eq(stat(warp.element(), "frames"), on ? 6 : 8);
    }
}
GST_END_TEST;

namespace {

// What upstream answers.
GstPadProbeReturn answer(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_LATENCY:
      gst_query_set_latency(query, TRUE, 41, 410);
      return GST_PAD_PROBE_HANDLED;
    case GST_QUERY_DURATION:
      gst_query_set_duration(query, GST_FORMAT_TIME, 42 * GST_SECOND);
      return GST_PAD_PROBE_HANDLED;
    case GST_QUERY_POSITION:
      gst_query_set_position(query, GST_FORMAT_DEFAULT, 43);
      return GST_PAD_PROBE_HANDLED;
    case GST_QUERY_SEEKING:
      gst_query_set_seeking(query, GST_FORMAT_TIME, TRUE, 1, 44 * GST_SECOND);
      return GST_PAD_PROBE_HANDLED;
    default:
      return GST_PAD_PROBE_OK;
  }
}

}  // namespace

GST_START_TEST(queries) {
  for (const char* properties : {"", "angle=17", "angle=17 async-depth=2"}) {
    Warp warp(properties);
    warp.set_caps(kIn);
    GstPad *up = warp.harness()->srcpad, *down = warp.harness()->sinkpad;
    gst_pad_add_probe(up, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, answer, nullptr, nullptr);
    const QueryPtr latency(gst_query_new_latency());
    ck_assert(gst_pad_peer_query(down, latency.get()));
    gboolean live = FALSE;
    GstClockTime min = 0, max = 0, more = std::strstr(properties, "async") ? 2 * kFrame : 0;
    gst_query_parse_latency(latency.get(), &live, &min, &max);
    ck_assert(live && min == 41 + more && max == 410 + more);
    gint64 number = 0;
    ck_assert(gst_pad_peer_query_duration(down, GST_FORMAT_TIME, &number));
    ck_assert_int_eq(number, 42 * GST_SECOND);
    ck_assert(gst_pad_peer_query_position(down, GST_FORMAT_DEFAULT, &number));
    ck_assert_int_eq(number, 43);
    const QueryPtr seeking(gst_query_new_seeking(GST_FORMAT_TIME));
    ck_assert(gst_pad_peer_query(down, seeking.get()));
    gboolean seekable = FALSE;
    gst_query_parse_seeking(seeking.get(), nullptr, &seekable, nullptr, &number);
    ck_assert(seekable && number == 44 * GST_SECOND);
    // Of times the element knows itself: how far it has pushed.
    push(warp, 0, 3);
    ck_assert(gst_pad_peer_query_position(down, GST_FORMAT_TIME, &number));
    ck_assert_int_eq(number, static_cast<gint64>(gst_harness_buffers_received(warp.harness()) * kFrame));
    for (GstPad* pad : {up, down}) {
      const CapsPtr all(gst_pad_peer_query_caps(pad, nullptr));
      const CapsPtr known = caps_of(kIn), unknown = caps_of("audio/x-raw");
      ck_assert(gst_caps_can_intersect(all.get(), known.get()));
      ck_assert(!gst_caps_can_intersect(all.get(), unknown.get()));
      ck_assert(gst_pad_peer_query_accept_caps(pad, known.get()));
      ck_assert(!gst_pad_peer_query_accept_caps(pad, unknown.get()));
    }
    const QueryPtr allocation(gst_query_new_allocation(caps_of(kIn).get(), TRUE));
    ck_assert(gst_pad_peer_query(up, allocation.get()));
  }
}
GST_END_TEST;

GST_START_TEST(events_upstream) {
  for (const char* properties : {"", "angle=17", "angle=17 async-depth=2"}) {
    Warp warp(properties);
    warp.set_caps(kIn);
    push(warp, 0, 3);
    const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE);
    for (GstEvent* event :
         {gst_event_new_seek(2.0, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 5 * GST_SECOND,
                             GST_SEEK_TYPE_END, 0),
          gst_event_new_seek(-1.0, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_NONE, 0, GST_SEEK_TYPE_SET, 7),
          gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1.0, TRUE, FALSE), gst_event_new_latency(kFrame),
          gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 0.5, -20, GST_SECOND),
          gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty("it"))})
      assert_unchanged(warp, event);
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_events");
  TCase* tc = tcase_create("events");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, navigation);
  tcase_add_test(tc, navigation_of_every_kind);
  tcase_add_test(tc, navigation_without_a_point);
  tcase_add_test(tc, navigation_of_turned_pictures);
  tcase_add_test(tc, navigation_by_the_last_frame);
  tcase_add_test(tc, navigation_of_what_passes_through);
  tcase_add_test(tc, navigation_of_a_shared_event);
  tcase_add_test(tc, gap_without_bytes);
  tcase_add_test(tc, flags_and_times);
  tcase_add_test(tc, events_in_order);
  tcase_add_test(tc, qos);
  tcase_add_test(tc, queries);
  tcase_add_test(tc, events_upstream);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

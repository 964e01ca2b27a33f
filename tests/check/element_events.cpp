// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What travels with frames and against them: flags, events in their order, QoS, queries.
#include <cstring>
#include <utility>

#include "element_upstream.h"

using namespace cudawarp::element;

namespace {

constexpr GstClockTime kFrame = GST_SECOND / 25;
const std::string kIn = raw("GRAY8", 64, 48);

}  // namespace

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

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in flight (async-depth): all come out, in their order among each other and among events, with what
// they carry and with the pixels that they have without it.
#include <atomic>
#include <deque>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

// What arrives downstream, in order: a letter for each event, the number of each frame.
class Arrivals {
 public:
  explicit Arrivals(GstPad* pad) : pad_(pad) {
    const auto kinds = static_cast<GstPadProbeType>(
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH);
    probe_ = gst_pad_add_probe(pad, kinds, look, this, nullptr);
  }
  Arrivals(const Arrivals&) = delete;
  ~Arrivals() { gst_pad_remove_probe(pad_, probe_); }

  std::string text;

 private:
  static GstPadProbeReturn look(GstPad*, GstPadProbeInfo* info, gpointer self) {
    std::string& text = static_cast<Arrivals*>(self)->text;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
      text += std::to_string(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) / (GST_SECOND / 25)) + " ";
      return GST_PAD_PROBE_OK;
    }
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    text += std::string(gst_event_type_get_name(GST_EVENT_TYPE(event))) + " ";
    return GST_PAD_PROBE_OK;
  }

  GstPad* pad_;
  gulong probe_;
};

void assert_arrived(const Arrivals& arrivals, const char* want) {
  ck_assert_str_eq(arrivals.text.c_str(), want);
}

guint waiting(const Warp& warp) {
  return gst_harness_buffers_in_queue(warp.harness());
}

BufferPtr pull(const Warp& warp) {
  ck_assert_uint_gt(waiting(warp), 0);
  return BufferPtr(gst_harness_pull(warp.harness()));
}

bool send(const Warp& warp, GstEvent* event) {
  return gst_harness_push_event(warp.harness(), event);
}

GstEvent* new_segment() {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  return gst_event_new_segment(&segment);
}

void flush(const Warp& warp) {
  ck_assert(send(warp, gst_event_new_flush_start()));
  ck_assert(send(warp, gst_event_new_flush_stop(TRUE)));
  ck_assert(send(warp, new_segment()));
}

void push(Warp& warp, const std::string& in, int first, int last) {
  for (int n = first; n <= last; ++n)
    ck_assert_int_eq(warp.push(buffer_of(noise(in, n + 1), in, n)), GST_FLOW_OK);
}

struct Latency {
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
};
Latency latency_of(const Warp& warp) {
  const QueryPtr query(gst_query_new_latency());
  Latency latency;
  ck_assert(gst_pad_peer_query(warp.harness()->sinkpad, query.get()));
  gst_query_parse_latency(query.get(), &latency.live, &latency.min, &latency.max);
  return latency;
}

int latency_messages(const Warp& warp) {
  int n = 0;
  for (; GstMessage* message = gst_bus_pop_filtered(warp.bus(), GST_MESSAGE_LATENCY); ++n)
    gst_message_unref(message);
  return n;
}

// Buffers that are still alive.
struct Alive {
  std::atomic<int> count{0};
  BufferPtr operator()(BufferPtr buffer) {
    ++count;
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT_CAST(buffer.get()),
        [](gpointer self, GstMiniObject*) { --static_cast<Alive*>(self)->count; }, this);
    return buffer;
  }
};

const std::string kSmall = raw("RGBA", 64, 48);

}  // namespace

GST_START_TEST(order_count_and_pixels) {
  for (const std::string format : {"RGBA", "NV12", "I420", "P010_10LE", "YUY2"})
    for (int depth = 0; depth <= 4; ++depth) {
      const std::string in = raw(format, 66, 48);
      Warp usual("angle=17"), warp("angle=17 async-depth=" + std::to_string(depth));
      usual.set_caps(in), warp.set_caps(in);
      for (int n = 0; n < 9; ++n) {
        push(warp, in, n, n);
        ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), MAX(0, n + 1 - depth));
      }
      ck_assert(send(warp, gst_event_new_eos()));
      ck_assert_uint_eq(waiting(warp), 9);
      for (int n = 0; n < 9; ++n) {
        const BufferPtr out = pull(warp);
        ck_assert_uint_eq(GST_BUFFER_PTS(out.get()), n * (GST_SECOND / 25));
        ck_assert_uint_eq(GST_BUFFER_DURATION(out.get()), GST_SECOND / 25);
        assert_same(pixels_of(out.get(), warp.output_caps().get()), usual(noise(in, n + 1), n),
                    format + " frame " + std::to_string(n));
      }
    }
}
GST_END_TEST;

GST_START_TEST(events_keep_their_place) {
  Warp warp("angle=17 async-depth=3");
  warp.set_caps(kSmall);
  const Arrivals arrivals(warp.harness()->sinkpad);
  push(warp, kSmall, 0, 1);
  ck_assert(send(warp, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "t", nullptr))));
  push(warp, kSmall, 2, 2);
  ck_assert(send(warp, gst_event_new_gap(GST_SECOND, GST_SECOND / 25)));
  push(warp, kSmall, 3, 3);
  ck_assert(send(warp, new_segment()));
  push(warp, kSmall, 4, 5);
  ck_assert(send(warp, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("it"))));
  push(warp, kSmall, 6, 6);
  // Out of band, past the frames.
  ck_assert(send(warp, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB, gst_structure_new_empty("it"))));
  assert_arrived(arrivals, "0 1 tag 2 gap 3 segment 4 5 custom-downstream custom-downstream-oob ");
  ck_assert(send(warp, gst_event_new_eos()));
  assert_arrived(arrivals, "0 1 tag 2 gap 3 segment 4 5 custom-downstream custom-downstream-oob 6 eos ");
}
GST_END_TEST;

GST_START_TEST(queries_drain) {
  Warp warp("angle=17 async-depth=3");
  warp.set_caps(kSmall);
  push(warp, kSmall, 0, 1);
  ck_assert_uint_eq(waiting(warp), 0);
  const QueryPtr drain(gst_query_new_drain());
  gst_pad_peer_query(warp.harness()->srcpad, drain.get());
  ck_assert_uint_eq(waiting(warp), 2);
  push(warp, kSmall, 2, 3);
  const QueryPtr allocation(gst_query_new_allocation(caps_of(kSmall).get(), TRUE));
  gst_pad_peer_query(warp.harness()->srcpad, allocation.get());
  ck_assert_uint_eq(waiting(warp), 4);
  // Upstream hears how many of its buffers are held.
  guint buffers = 0;
  ck_assert_uint_eq(gst_query_get_n_allocation_pools(allocation.get()), 1);
  gst_query_parse_nth_allocation_pool(allocation.get(), 0, nullptr, nullptr, &buffers, nullptr);
  ck_assert_uint_eq(buffers, 4);
}
GST_END_TEST;

GST_START_TEST(caps_change) {
  const std::string large = raw("RGBA", 80, 60);
  Warp warp("angle=90 framing=expand async-depth=4");
  warp.set_caps(kSmall);
  const Arrivals arrivals(warp.harness()->sinkpad);
  push(warp, kSmall, 0, 2);
  ck_assert(send(warp, gst_event_new_caps(caps_of(large).get())));
  push(warp, large, 3, 5);
  ck_assert(send(warp, gst_event_new_eos()));
  assert_arrived(arrivals, "0 1 2 caps 3 4 5 eos ");
  for (int n = 0; n < 6; ++n) {
    const std::string& in = n < 3 ? kSmall : large;
    const BufferPtr out = pull(warp);
    const CapsPtr caps = caps_of(n < 3 ? raw("RGBA", 48, 64) : raw("RGBA", 60, 80));
    assert_same(pixels_of(out.get(), caps.get()), turned(noise(in, n + 1), 1), "frame " + std::to_string(n));
  }
}
GST_END_TEST;

// Values that change the size, or leave nothing to do: the frames before them have the caps and pixels of
// then.
GST_START_TEST(size_and_passthrough_change) {
  Warp warp("angle=90 framing=expand async-depth=3");
  warp.set_caps(kSmall);
  const Arrivals arrivals(warp.harness()->sinkpad);
  const int quarters[] = {1, 1, 2, 2, 0, 0, 3, 3, 0};
  for (int n = 0; n < 9; ++n) {
    g_object_set(warp.element(), "angle", quarters[n] * 90.0, nullptr);
    push(warp, kSmall, n, n);
  }
  ck_assert(send(warp, gst_event_new_eos()));
  assert_arrived(arrivals, "0 1 caps 2 3 4 5 caps 6 7 caps 8 eos ");
  for (int n = 0; n < 9; ++n) {
    const CapsPtr caps = caps_of(quarters[n] % 2 ? raw("RGBA", 48, 64) : kSmall);
    assert_same(pixels_of(pull(warp).get(), caps.get()), turned(noise(kSmall, n + 1), quarters[n]),
                "frame " + std::to_string(n));
  }
}
GST_END_TEST;

GST_START_TEST(flush_discards) {
  for (const int depth : {1, 4}) {
    Alive alive;
    Warp warp("angle=17 async-depth=" + std::to_string(depth));
    warp.set_caps(kSmall);
    for (int n = 0; n < depth; ++n)
      ck_assert_int_eq(warp.push(alive(buffer_of(noise(kSmall), kSmall, n))), GST_FLOW_OK);
    ck_assert_uint_eq(waiting(warp), 0);
    flush(warp);
    ck_assert_int_eq(alive.count, 0);
    const Arrivals arrivals(warp.harness()->sinkpad);
    push(warp, kSmall, 50, 55);
    ck_assert(send(warp, gst_event_new_eos()));
    assert_arrived(arrivals, "50 51 52 53 54 55 eos ");
  }
}
GST_END_TEST;

GST_START_TEST(stop_discards) {
  Alive alive;
  Warp warp("angle=17 async-depth=4");
  warp.set_caps(kSmall);
  for (int n = 0; n < 6; ++n)
    ck_assert_int_eq(warp.push(alive(buffer_of(noise(kSmall), kSmall, n))), GST_FLOW_OK);
  gst_element_set_state(warp.element(), GST_STATE_NULL);
  ck_assert_int_eq(alive.count, 0);
  ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), 2);
}
GST_END_TEST;

GST_START_TEST(depth_changes_live) {
  Warp warp("angle=17"), usual("angle=17");
  warp.set_caps(kSmall), usual.set_caps(kSmall);
  int sent = 0;
  for (const int depth : {2, 0, 1, 4, 3, 16, 5, 0, 0, 2}) {
    g_object_set(warp.element(), "async-depth", depth, nullptr);
    for (int n = 0; n < 7; ++n, ++sent) push(warp, kSmall, sent, sent);
    ck_assert_uint_ge(gst_harness_buffers_received(warp.harness()), sent - depth);
    if (depth < 7) ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), sent - depth);
  }
  ck_assert(send(warp, gst_event_new_eos()));
  ck_assert_uint_eq(waiting(warp), sent);
  for (int n = 0; n < sent; ++n) {
    const BufferPtr out = pull(warp);
    ck_assert_uint_eq(GST_BUFFER_PTS(out.get()), n * (GST_SECOND / 25));
    assert_same(pixels_of(out.get(), warp.output_caps().get()), usual(noise(kSmall, n + 1), n), "frame");
  }
}
GST_END_TEST;

GST_START_TEST(latency) {
  Warp warp("angle=17");
  gst_harness_set_upstream_latency(warp.harness(), 5 * GST_MSECOND);
  warp.set_caps(kSmall);
  push(warp, kSmall, 0, 0);
  const Latency before = latency_of(warp);
  ck_assert_int_eq(latency_messages(warp), 0);
  for (const guint depth : {1u, 4u, 0u, 3u}) {
    g_object_set(warp.element(), "async-depth", depth, nullptr);
    ck_assert_int_eq(latency_messages(warp), 1);
    const Latency now = latency_of(warp);
    ck_assert_uint_eq(now.min, before.min + depth * (GST_SECOND / 25));
    ck_assert_uint_eq(
        now.max, GST_CLOCK_TIME_IS_VALID(before.max) ? before.max + depth * (GST_SECOND / 25) : before.max);
    g_object_set(warp.element(), "async-depth", depth, "angle", 18.0, nullptr);
    push(warp, kSmall, 1, 1);
    ck_assert_int_eq(latency_messages(warp), 0);
  }
  // Nothing is delayed where nothing is done.
  g_object_set(warp.element(), "angle", 0.0, nullptr);
  push(warp, kSmall, 2, 2);
  ck_assert_int_eq(latency_messages(warp), 1);
  ck_assert_uint_eq(latency_of(warp).min, before.min);
  // Frames are delayed by an unknown time: none is reported.
  Warp unknown("angle=17 async-depth=2");
  const std::string in = "video/x-raw,format=RGBA,width=64,height=48,framerate=0/1";
  unknown.set_caps(in);
  push(unknown, in, 0, 2);
  ck_assert_uint_eq(waiting(unknown), 1);
  ck_assert_uint_eq(latency_of(unknown).min, 0);
  ck_assert_int_eq(latency_messages(unknown), 0);
  // Frames that take centuries: the sum stays a time.
  Warp slow("angle=17 async-depth=16");
  const std::string rare = "video/x-raw,format=RGBA,width=64,height=48,framerate=1/2147483647";
  gst_harness_set_upstream_latency(slow.harness(), GST_SECOND);
  slow.set_caps(rare);
  push(slow, rare, 0, 16);
  ck_assert(GST_CLOCK_TIME_IS_VALID(latency_of(slow).min));
  ck_assert_uint_ge(latency_of(slow).min, static_cast<GstClockTime>(G_MAXINT64));
  latency_messages(slow);
}
GST_END_TEST;

// The frame that came with a discontinuity has the mark, and no other.
GST_START_TEST(discont_stays_with_its_frame) {
  for (const int tag_after : {-1, 0, 1, 5}) {
    Warp warp("angle=17 async-depth=2");
    warp.set_caps(kSmall);
    for (int n = 0; n < 10; ++n) {
      BufferPtr buffer = buffer_of(noise(kSmall), kSmall, n);
      if (n == 0 || n == 5) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
      ck_assert_int_eq(warp.push(std::move(buffer)), GST_FLOW_OK);
      if (n == tag_after) send(warp, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "t", nullptr)));
    }
    ck_assert(send(warp, gst_event_new_eos()));
    for (int n = 0; n < 10; ++n) ck_assert_int_eq(GST_BUFFER_IS_DISCONT(pull(warp).get()), n == 0 || n == 5);
  }
}
GST_END_TEST;

GST_START_TEST(what_downstream_returns) {
  static GstFlowReturn answer;
  for (const GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_FLUSHING, GST_FLOW_ERROR}) {
    Alive alive;
    Warp warp("angle=17 async-depth=2");
    answer = GST_FLOW_OK;
    gst_pad_set_chain_function(warp.harness()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
      gst_buffer_unref(buffer);
      return answer;
    });
    warp.set_caps(kSmall);
    const auto next = [&](int n) { return warp.push(alive(buffer_of(noise(kSmall), kSmall, n))); };
    for (int n = 0; n < 3; ++n) ck_assert_int_eq(next(n), GST_FLOW_OK);
    answer = flow;
    ck_assert_int_eq(next(3), flow);
    // Where it comes out between frames, the next one hears of it.
    send(warp, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "t", nullptr)));
    answer = GST_FLOW_OK;
    ck_assert_int_eq(next(4), flow);
    ck_assert_int_eq(next(5), GST_FLOW_OK);
    ck_assert(send(warp, gst_event_new_eos()));
    ck_assert_int_eq(alive.count, 0);
  }
}
GST_END_TEST;

// A frame that cannot be warped does not take those before it along.
GST_START_TEST(bad_frame) {
  Warp warp("angle=17 async-depth=3");
  warp.set_caps(kSmall);
  const Arrivals arrivals(warp.harness()->sinkpad);
  push(warp, kSmall, 0, 1);
  BufferPtr bad(gst_buffer_new_allocate(nullptr, 100, nullptr));
  ck_assert_int_eq(warp.push(std::move(bad)), GST_FLOW_ERROR);
  assert_one_message(warp.bus(), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                     {"input buffer", "100 bytes"});
  assert_arrived(arrivals, "0 1 ");
  push(warp, kSmall, 2, 5);
  ck_assert(send(warp, gst_event_new_eos()));
  assert_arrived(arrivals, "0 1 2 3 4 5 eos ");
}
GST_END_TEST;

// A pool of downstream with fewer buffers than are in flight slows the stream and does not stop it.
GST_START_TEST(small_pool_of_downstream) {
  static GstBufferPool* pool;
  static int seen;
  const GstVideoInfo info = info_of(caps_of(kSmall).get());
  for (const guint buffers : {1u, 2u, 3u}) {
    pool = gst_video_buffer_pool_new(), seen = 0;
    Warp warp("angle=17 async-depth=8");
    offer_pool(warp, pool, GST_VIDEO_INFO_SIZE(&info), true, buffers);
    gst_pad_set_chain_function(warp.harness()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
      ck_assert(buffer->pool == pool);
      ck_assert_uint_eq(GST_BUFFER_PTS(buffer), seen++ * (GST_SECOND / 25));
      gst_buffer_unref(buffer);
      return GST_FLOW_OK;
    });
    warp.set_caps(kSmall);
    push(warp, kSmall, 0, 11);
    ck_assert(send(warp, gst_event_new_eos()));
    ck_assert_int_eq(seen, 12);
    gst_object_unref(pool);
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_async");
  TCase* tc = tcase_create("async");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, order_count_and_pixels);
  tcase_add_test(tc, events_keep_their_place);
  tcase_add_test(tc, queries_drain);
  tcase_add_test(tc, caps_change);
  tcase_add_test(tc, size_and_passthrough_change);
  tcase_add_test(tc, flush_discards);
  tcase_add_test(tc, stop_discards);
  tcase_add_test(tc, depth_changes_live);
  tcase_add_test(tc, latency);
  tcase_add_test(tc, discont_stays_with_its_frame);
  tcase_add_test(tc, what_downstream_returns);
  tcase_add_test(tc, bad_frame);
  tcase_add_test(tc, small_pool_of_downstream);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

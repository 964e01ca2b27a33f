// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in flight in pipelines that run: seeks, stops, changes by other threads; and what `stats` tells
// meanwhile.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

constexpr GstClockTime kFrame = GST_SECOND / 25;

// A test source, cudawarp, and a sink that notes the frames it gets.
class Pipeline {
 public:
  Pipeline(const std::string& source, const std::string& properties) {
    GError* error = nullptr;
    const std::string description = "videotestsrc name=source " + source +
                                    " ! video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 ! "
                                    "cudawarp name=warp " +
                                    properties + " " + engine_properties() +
                                    " ! fakesink name=sink sync=false";
    pipeline_.reset(gst_parse_launch(description.c_str(), &error));
    ck_assert_msg(pipeline_ && !error, "%s", error ? error->message : "no pipeline");
    bus_.reset(gst_element_get_bus(pipeline_.get()));
    const ElementPtr sink = named("sink");
    GstPad* pad = gst_element_get_static_pad(sink.get(), "sink");
    const auto kinds = static_cast<GstPadProbeType>(
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH);
    gst_pad_add_probe(pad, kinds, look, this, nullptr);
    gst_object_unref(pad);
  }
  ~Pipeline() {
    state(GST_STATE_NULL);
    assert_quiet(bus_.get());
  }

  GstElement* get() const { return pipeline_.get(); }
  ElementPtr named(const char* name) const {
    return ElementPtr(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  }
  void state(GstState state) {
    ck_assert_int_ne(gst_element_set_state(pipeline_.get(), state), GST_STATE_CHANGE_FAILURE);
    if (state != GST_STATE_NULL)
      ck_assert_int_ne(gst_element_get_state(pipeline_.get(), nullptr, nullptr, GST_CLOCK_TIME_NONE),
                       GST_STATE_CHANGE_FAILURE);
  }
  void wait_for(GstMessageType type) {
    GstMessage* message = gst_bus_timed_pop_filtered(bus_.get(), 20 * GST_SECOND,
                                                     static_cast<GstMessageType>(type | GST_MESSAGE_ERROR));
    ck_assert(message && GST_MESSAGE_TYPE(message) == type);
    gst_message_unref(message);
  }

  // Frame numbers since the last flush or the beginning; runs of them as "first-last".
  std::string frames() {
    std::lock_guard lock(lock_);
    return text_;
  }
  void wait_for_frames(int count) {
    std::unique_lock lock(lock_);
    ck_assert(news_.wait_for(lock, std::chrono::seconds(20), [&] { return seen_ >= count; }));
  }

 private:
  static GstPadProbeReturn look(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<Pipeline*>(data);
    std::lock_guard lock(self->lock_);
    if (!(info->type & GST_PAD_PROBE_TYPE_BUFFER)) {
      const GstEventType type = GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info));
      if (type == GST_EVENT_FLUSH_STOP) self->text_.clear(), self->seen_ = 0;
      if (type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP) self->last_ = -2;
      return GST_PAD_PROBE_OK;
    }
    const int number = static_cast<int>(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) / kFrame);
    std::string& text = self->text_;
    if (number == self->last_ + 1)
      text.resize(text.rfind('-'));
    else
      text.append(text.empty() ? "" : " ").append(std::to_string(number));
    text.append("-").append(std::to_string(number));
    self->last_ = number;
    ++self->seen_;
    self->news_.notify_one();
    return GST_PAD_PROBE_OK;
  }

  ElementPtr pipeline_;
  BusPtr bus_;
  std::mutex lock_;
  std::condition_variable news_;
  std::string text_;
  int last_ = -2, seen_ = 0;
};

void assert_frames(Pipeline& pipeline, const std::string& want) {
  const std::string got = pipeline.frames();
  ck_assert_str_eq(got.c_str(), want.c_str());
}

std::string word(GstElement* warp, const char* name) {
  GstStructure* stats = nullptr;
  g_object_get(warp, "stats", &stats, nullptr);
  const std::string value = gst_structure_get_string(stats, name);
  gst_structure_free(stats);
  return value;
}

bool seek(const Pipeline& pipeline, int flags, int first, int end) {
  return gst_element_seek(pipeline.get(), 1.0, GST_FORMAT_TIME, static_cast<GstSeekFlags>(flags),
                          GST_SEEK_TYPE_SET, first * kFrame, GST_SEEK_TYPE_SET, end * kFrame);
}

}  // namespace

GST_START_TEST(all_frames_until_the_end) {
  for (const char* depth : {"0", "1", "4", "16"}) {
    Pipeline pipeline("num-buffers=20", std::string("angle=10 async-depth=") + depth);
    pipeline.state(GST_STATE_PLAYING);
    pipeline.wait_for(GST_MESSAGE_EOS);
    assert_frames(pipeline, "0-19");
  }
}
GST_END_TEST;

// Also one frame, which is fewer than are kept in flight: pictures.
GST_START_TEST(one_frame) {
  Pipeline pipeline("num-buffers=1", "angle=10 async-depth=4");
  pipeline.state(GST_STATE_PAUSED);
  assert_frames(pipeline, "0-0");
}
GST_END_TEST;

GST_START_TEST(flushing_seek) {
  Pipeline pipeline("", "angle=10 async-depth=3");
  pipeline.state(GST_STATE_PAUSED);
  for (const int first : {100, 7, 1000}) {
    ck_assert(seek(pipeline, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, first, first + 10));
    pipeline.state(GST_STATE_PLAYING);
    pipeline.wait_for(GST_MESSAGE_EOS);
    std::string want = std::to_string(first);
    want.append("-").append(std::to_string(first + 9));
    assert_frames(pipeline, want);
  }
}
GST_END_TEST;

// Segments that follow each other without a flush: every frame of each.
GST_START_TEST(seek_without_flush) {
  Pipeline pipeline("", "angle=10 async-depth=3");
  pipeline.state(GST_STATE_PAUSED);
  ck_assert(seek(pipeline, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, 0, 10));
  pipeline.state(GST_STATE_PLAYING);
  // The source says so just before its event drains what is in flight.
  pipeline.wait_for(GST_MESSAGE_SEGMENT_DONE);
  pipeline.wait_for_frames(10);
  assert_frames(pipeline, "0-9");
  ck_assert(seek(pipeline, GST_SEEK_FLAG_SEGMENT, 50, 55));
  pipeline.wait_for(GST_MESSAGE_SEGMENT_DONE);
  pipeline.wait_for_frames(15);
  assert_frames(pipeline, "0-9 50-54");
  ck_assert(seek(pipeline, 0, 20, 25));
  pipeline.wait_for(GST_MESSAGE_EOS);
  assert_frames(pipeline, "0-9 50-54 20-24");
}
GST_END_TEST;

// Seeks at any moment; afterwards, all of the last one's frames and no other.
GST_START_TEST(many_seeks) {
  Pipeline pipeline("", "angle=10 async-depth=4");
  pipeline.state(GST_STATE_PLAYING);
  for (int n = 0; n < 50; ++n) {
    ck_assert(seek(pipeline, GST_SEEK_FLAG_FLUSH, n, 1000000));
    std::this_thread::sleep_for(std::chrono::milliseconds(n % 5));
  }
  ck_assert(seek(pipeline, GST_SEEK_FLAG_FLUSH, 30, 40));
  pipeline.wait_for(GST_MESSAGE_EOS);
  assert_frames(pipeline, "30-39");
}
GST_END_TEST;

GST_START_TEST(stop_with_frames_in_flight) {
  Pipeline pipeline("", "angle=10 async-depth=8");
  for (int run = 0; run < 20; ++run) {
    pipeline.state(GST_STATE_PLAYING);
    pipeline.wait_for_frames(5 * (run + 1));
    pipeline.state(run % 2 ? GST_STATE_READY : GST_STATE_NULL);
  }
}
GST_END_TEST;

// A query in the stream's order drains, also while the element stops; pads that are not active let it pass.
GST_START_TEST(stop_while_queried) {
  Pipeline pipeline("", "angle=10 async-depth=4");
  const ElementPtr warp = pipeline.named("warp");
  GstPad* pad = gst_element_get_static_pad(warp.get(), "sink");
  std::atomic<bool> done{false};
  std::thread asking([&] {
    while (!done) {
      const QueryPtr query(gst_query_new_drain());
      gst_pad_query(pad, query.get());
    }
  });
  for (int run = 0; run < 60; ++run) {
    pipeline.state(GST_STATE_PLAYING);
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + run % 7));
    pipeline.state(GST_STATE_NULL);
  }
  done = true;
  asking.join();
  gst_object_unref(pad);
}
GST_END_TEST;

// Every property that matters to frames in flight, and the statistics, from other threads.
GST_START_TEST(storm) {
  Pipeline pipeline("", "framing=expand async-depth=2");
  const ElementPtr warp = pipeline.named("warp");
  pipeline.state(GST_STATE_PLAYING);
  std::atomic<bool> done{false};
  std::thread depths([&] {
    for (int n = 0; !done; ++n) {
      g_object_set(warp.get(), "async-depth", n * 7 % 6, "measure-gpu-time", n % 2, nullptr);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::thread angles([&] {
    for (int n = 0; !done; ++n) {
      g_object_set(warp.get(), "angle", n % 4 * 45.0, nullptr);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  guint64 frames = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end) {
    const guint64 now = stat(warp.get(), "frames");
    ck_assert_uint_ge(now, frames);
    frames = now;
  }
  done = true;
  depths.join(), angles.join();
  ck_assert_uint_gt(frames, 0);
  // A frame that is missing or out of turn would show as another run.
  ck_assert_int_eq(pipeline.frames().find(' '), std::string::npos);
}
GST_END_TEST;

GST_START_TEST(stats) {
  for (const char* depth : {"0", "3"}) {
    Pipeline pipeline("num-buffers=20", std::string("angle=10 async-depth=") + depth);
    const ElementPtr warp = pipeline.named("warp");
    ck_assert_uint_eq(stat(warp.get(), "frames"), 0);
    ck_assert(word(warp.get(), "engine") == "none");
    for (int run = 0; run < 2; ++run) {
      pipeline.state(GST_STATE_PLAYING);
      pipeline.wait_for(GST_MESSAGE_EOS);
      // Running, and stopped.
      for (const GstState state : {GST_STATE_PLAYING, GST_STATE_NULL}) {
        pipeline.state(state);
        ck_assert_uint_eq(stat(warp.get(), "frames"), 20);
        ck_assert(word(warp.get(), "engine") == test_engine());
        const bool cuda = test_engine() == "cuda";
        ck_assert_uint_eq(stat(warp.get(), "bytes-uploaded"), cuda ? 20 * 64 * 48 : 0);
        ck_assert_uint_eq(stat(warp.get(), "bytes-downloaded"), cuda ? 20 * 64 * 48 : 0);
        ck_assert_uint_eq(stat(warp.get(), "gpu-time-frames"), 0);
        ck_assert(word(warp.get(), "device").empty() != cuda);
      }
    }
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_async_live");
  TCase* tc = tcase_create("async");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, all_frames_until_the_end);
  tcase_add_test(tc, one_frame);
  tcase_add_test(tc, flushing_seek);
  tcase_add_test(tc, seek_without_flush);
  tcase_add_test(tc, many_seeks);
  tcase_add_test(tc, stop_with_frames_in_flight);
  tcase_add_test(tc, stop_while_queried);
  tcase_add_test(tc, storm);
  tcase_add_test(tc, stats);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

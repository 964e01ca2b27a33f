// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Animations in pipelines that seek: each frame shows what belongs to its stream time.
#include <string>
#include <vector>

#include "element_control.h"

using namespace cudawarp::element;

namespace {

const std::string kGray = "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1";
constexpr GstClockTime kTick = GST_SECOND / 10;

struct Shown {
  GstClockTime time = GST_CLOCK_TIME_NONE;
  Pixels pixels;
};

// A test picture, a filter, and whoever wants the frames.
class Player {
 public:
  explicit Player(const std::string& filter) {
    GError* error = nullptr;
    pipeline_.reset(gst_parse_launch(("videotestsrc pattern=zone-plate kx2=20 ky2=20 ! " + kGray + " ! " +
                                      filter + " name=filter ! appsink name=sink sync=false max-buffers=2")
                                         .c_str(),
                                     &error));
    ck_assert_msg(pipeline_ && !error, "%s", error ? error->message : "no pipeline");
    bus_.reset(gst_element_get_bus(pipeline_.get()));
    state(GST_STATE_PAUSED);
  }
  ~Player() {
    state(GST_STATE_NULL);
    assert_quiet(bus_.get());
  }

  ElementPtr named(const char* name) const {
    return ElementPtr(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  }
  void state(GstState state) {
    ck_assert_int_ne(gst_element_set_state(pipeline_.get(), state), GST_STATE_CHANGE_FAILURE);
    if (state != GST_STATE_NULL)
      ck_assert_int_eq(gst_element_get_state(pipeline_.get(), nullptr, nullptr, 20 * GST_SECOND),
                       GST_STATE_CHANGE_SUCCESS);
  }
  void seek(double rate, int flags, GstClockTime start, GstClockTime stop) {
    ck_assert(gst_element_seek(pipeline_.get(), rate, GST_FORMAT_TIME, static_cast<GstSeekFlags>(flags),
                               GST_SEEK_TYPE_SET, static_cast<gint64>(start), GST_SEEK_TYPE_SET,
                               static_cast<gint64>(stop)));
    if (flags & GST_SEEK_FLAG_FLUSH) state(GST_STATE_PAUSED);
  }
  // Frames until there are so many, or until the end (of a segment).
  std::vector<Shown> frames(size_t count) {
    const ElementPtr sink = named("sink");
    state(GST_STATE_PLAYING);
    std::vector<Shown> all;
    while (all.size() < count) {
      GstSample* sample = nullptr;
      g_signal_emit_by_name(sink.get(), "try-pull-sample", guint64{20 * GST_SECOND}, &sample);
      if (!sample) break;
      GstBuffer* buffer = gst_sample_get_buffer(sample);
      all.push_back({GST_BUFFER_PTS(buffer), pixels_of(buffer, gst_sample_get_caps(sample))});
      gst_sample_unref(sample);
    }
    return all;
  }

 private:
  ElementPtr pipeline_;
  BusPtr bus_;
};

std::string warp_filter(const std::string& properties) {
  return "cudawarp " + engine_properties() + " " + properties;
}

// The picture at an angle.
Pixels picture(double angle) {
  static const Pixels src = Player("identity").frames(1)[0].pixels;
  Warp warp;
  g_object_set(warp.element(), "angle", angle, nullptr);
  warp.set_caps(kGray);
  return warp(src);
}

void assert_ramp(const std::vector<Shown>& frames, const std::string& what) {
  for (const Shown& frame : frames)
    assert_same(frame.pixels, picture(9 * seconds(frame.time)),
                what + " at " + std::to_string(seconds(frame.time)) + " s");
}

// 9 degrees a second, by a controller for 10 s or by a launch line for ever.
void with_ramps(void (*test)(Player&, const std::string& what)) {
  Player spun(warp_filter("spin=9"));
  test(spun, "spin");
  Player controlled(warp_filter(""));
  animate(controlled.named("filter").get(), "angle", 0, 90, 10 * GST_SECOND, true);
  test(controlled, "controller");
}

}  // namespace

GST_START_TEST(accurate_seeks) {
  with_ramps([](Player& player, const std::string& what) {
    constexpr int kFlags = GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE;
    for (const double rate : {1.0, 2.0, 0.5}) {
      player.seek(rate, kFlags, 5 * GST_SECOND, 10 * GST_SECOND);
      const auto frames = player.frames(5);
      ck_assert_uint_eq(frames.size(), 5);
      ck_assert_uint_eq(frames[0].time, 5 * GST_SECOND);
      assert_same(frames[0].pixels, picture(45), what + " at the seek's position");
      assert_ramp(frames, what);
      player.state(GST_STATE_PAUSED);
    }
    player.seek(1, kFlags, kTick, 10 * GST_SECOND);
    assert_same(player.frames(1)[0].pixels, picture(0.9), what + " back");
  });
}
GST_END_TEST;

GST_START_TEST(reverse_seek) {
  with_ramps([](Player& player, const std::string& what) {
    player.seek(-1, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, 4 * GST_SECOND, 5 * GST_SECOND);
    const auto frames = player.frames(5);
    ck_assert_uint_eq(frames.size(), 5);
    ck_assert_uint_le(frames[0].time, 5 * GST_SECOND);
    ck_assert_uint_lt(frames[4].time, frames[0].time);
    assert_ramp(frames, what + " backwards");
  });
}
GST_END_TEST;

GST_START_TEST(segment_seeks) {
  with_ramps([](Player& player, const std::string& what) {
    player.seek(1, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT, 5 * GST_SECOND, 5 * GST_SECOND + 5 * kTick);
    const auto first = player.frames(5);
    ck_assert_uint_eq(first.size(), 5);
    assert_ramp(first, what);
    player.seek(1, GST_SEEK_FLAG_SEGMENT, GST_SECOND, GST_SECOND + 3 * kTick);
    const auto second = player.frames(3);
    ck_assert_uint_eq(second.size(), 3);
    ck_assert_uint_eq(second[0].time, GST_SECOND);
    assert_ramp(second, what);
  });
}
GST_END_TEST;

// A frame that began before the position has the angle of its own time, not that of before the seek.
GST_START_TEST(seek_into_a_frame) {
  with_ramps([](Player& player, const std::string& what) {
    assert_ramp(player.frames(3), what);
    player.state(GST_STATE_PAUSED);
    player.seek(1, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, 5 * GST_SECOND + kTick / 2, 10 * GST_SECOND);
    const auto frames = player.frames(3);
    ck_assert_uint_eq(frames.size(), 3);
    assert_ramp(frames, what);
  });
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_seeks");
  TCase* tc = tcase_create("seeks");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, accurate_seeks);
  tcase_add_test(tc, reverse_seek);
  tcase_add_test(tc, segment_seeks);
  tcase_add_test(tc, seek_into_a_frame);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Values of a moment: `spin`, controllers of every property that may have one; and all properties at once by
// other threads.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <thread>

#include "element_control.h"

using namespace cudawarp::element;

namespace {

const std::string kIn = raw("RGBA", 64, 48);
constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE;

// Values that doubles hold exactly make times that do, and so angles.
GstClockTime eighths(guint64 n) {
  return n * (GST_SECOND / 8);
}

BufferPtr buffer_at(GstClockTime time) {
  BufferPtr buffer = buffer_of(noise(kIn), kIn);
  GST_BUFFER_PTS(buffer.get()) = time;
  return buffer;
}

// What becomes of a frame with this timestamp.
Pixels frame_at(Warp& warp, GstClockTime time) {
  const BufferPtr out = warp.pass(buffer_at(time));
  return pixels_of(out.get(), warp.output_caps().get());
}

// The frame that does not move.
Pixels still(double angle, const std::string& properties = "", const std::string& downstream = "") {
  Warp warp(properties);
  g_object_set(warp.element(), "angle", angle, nullptr);
  warp.set_caps(kIn, downstream);
  return frame_at(warp, 0);
}

void assert_angle(Warp& warp, GstClockTime time, double angle) {
  assert_same(frame_at(warp, time), still(angle),
              std::to_string(angle) + " degrees at " + std::to_string(seconds(time)) + " s");
}

GstSegment segment_from(GstClockTime start, GstClockTime time) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.position = start;
  segment.time = time;
  return segment;
}

void send(Warp& warp, const GstSegment& segment) {
  ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_segment(&segment)));
}

// CAPS events since the last call.
int caps_events(const Warp& warp) {
  int seen = 0;
  while (GstEvent* event = gst_harness_try_pull_event(warp.harness())) {
    seen += GST_EVENT_TYPE(event) == GST_EVENT_CAPS;
    gst_event_unref(event);
  }
  return seen;
}

// A value of any type that a controller can set.
void set(GstElement* element, const char* property, double value) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  ck_assert_msg(spec != nullptr, "%s", property);
  if (spec->value_type == G_TYPE_DOUBLE)
    g_object_set(element, property, value, nullptr);
  else if (spec->value_type == G_TYPE_UINT)
    g_object_set(element, property, static_cast<guint>(value), nullptr);
  else  // enumerations and booleans
    g_object_set(element, property, static_cast<int>(value), nullptr);
}

}  // namespace

GST_START_TEST(spin) {
  for (const double base : {0.0, 30.0, -10.5})
    for (const double spin : {90.0, -45.0, 7.25, 720.0, 1e-3}) {
      Warp warp;
      g_object_set(warp.element(), "angle", base, "spin", spin, nullptr);
      warp.set_caps(kIn);
      for (const guint64 n : {0, 1, 2, 3, 8, 13, 28801})
        assert_angle(warp, eighths(n), base + spin * (n / 8.0));
    }
}
GST_END_TEST;

// Stream time is neither a buffer's nor a clock's.
GST_START_TEST(spin_in_segments) {
  constexpr GstClockTime s = GST_SECOND;
  const struct {
    double rate, applied_rate;
    GstClockTime start, stop, time, timestamp;
    double stream_seconds;
  } cases[] = {
      {1, 1, 10 * s, kNone, s / 4, 10 * s + s / 2, 0.75},
      {1, 1, 0, kNone, 7 * s, s, 8},
      {1, 1, 3600 * s, 3700 * s, 0, 3602 * s, 2},
      {2, 1, 2 * s, kNone, 2 * s, 3 * s, 3},
      {2, 1, 2 * s, kNone, 5 * s, 3 * s, 6},
      {1, 2, 2 * s, kNone, 4 * s, 3 * s, 6},
      {2, 2, 0, kNone, 0, 3 * s / 2, 3},
      {1, 0.5, 0, kNone, s, 3 * s, 2.5},
      {-1, 1, 0, 10 * s, 0, 4 * s, 4},
      {-2, 1, 2 * s, 10 * s, 3 * s, 9 * s, 10},
      {1, -1, 0, 10 * s, 0, 4 * s, 6},
      {1, -2, 0, 10 * s, s, 9 * s, 3},
  };
  Warp warp("angle=10 spin=12.5");
  warp.set_caps(kIn);
  for (const auto& c : cases) {
    GstSegment segment = segment_from(c.start, c.time);
    segment.stop = c.stop;
    segment.rate = c.rate, segment.applied_rate = c.applied_rate;
    send(warp, segment);
    assert_angle(warp, c.timestamp, 10 + 12.5 * c.stream_seconds);
  }
}
GST_END_TEST;

GST_START_TEST(spin_without_times) {
  Warp warp("angle=10 spin=90");
  warp.set_caps(kIn);
  assert_angle(warp, kNone, 10);  // none has had one yet
  assert_angle(warp, eighths(4), 55);
  assert_angle(warp, kNone, 55);
  assert_angle(warp, kNone, 55);
  assert_angle(warp, eighths(6), 77.5);
  g_object_set(warp.element(), "angle", 20.0, nullptr);
  assert_angle(warp, kNone, 87.5);
  // Segments of bytes have no stream time.
  Warp bytes("angle=10 spin=90");
  bytes.set_caps(kIn);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  send(bytes, segment);
  assert_angle(bytes, eighths(4), 10);
}
GST_END_TEST;

// Another run begins at the base angle.
GST_START_TEST(spin_after_a_restart) {
  Warp warp("angle=10 spin=90");
  warp.set_caps(kIn);
  assert_angle(warp, eighths(4), 55);
  gst_element_set_state(warp.element(), GST_STATE_READY);
  gst_element_set_state(warp.element(), GST_STATE_PLAYING);
  const CapsPtr caps = caps_of(kIn);
  gst_harness_push_event(warp.harness(), gst_event_new_stream_start("again"));
  gst_harness_push_event(warp.harness(), gst_event_new_caps(caps.get()));
  send(warp, segment_from(0, 0));
  assert_angle(warp, kNone, 10);
}
GST_END_TEST;

GST_START_TEST(spin_with_frames_in_flight) {
  Warp warp("angle=10 spin=90 async-depth=2");
  warp.set_caps(kIn);
  for (guint64 n = 0; n < 6; ++n) ck_assert_int_eq(warp.push(buffer_at(eighths(n))), GST_FLOW_OK);
  ck_assert_uint_eq(gst_harness_buffers_in_queue(warp.harness()), 4);
  ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
  for (guint64 n = 0; n < 6; ++n) {
    const BufferPtr out(gst_harness_pull(warp.harness()));
    assert_same(pixels_of(out.get(), warp.output_caps().get()), still(10 + 90 * (n / 8.0)),
                "frame " + std::to_string(n));
  }
}
GST_END_TEST;

GST_START_TEST(spin_while_passing_through) {
  const Pixels src = noise(kIn);
  Warp warp;
  warp.set_caps(kIn);
  for (const char* on : {"spin", "both"}) {
    ck_assert(passes_through(warp, src));
    g_object_set(warp.element(), "spin", 90.0, nullptr);
    if (std::string(on) == "both") g_object_set(warp.element(), "angle", 10.0, nullptr);
    assert_angle(warp, eighths(1), std::string(on) == "both" ? 21.25 : 11.25);
    g_object_set(warp.element(), "spin", 0.0, "angle", 0.0, nullptr);
  }
  ck_assert(passes_through(warp, src));
}
GST_END_TEST;

GST_START_TEST(matrix_replaces_spin) {
  Warp warp("spin=90 matrix=\"<1.0,0.25,2.0,0.0,1.0,3.0>\""), same("matrix=\"<1.0,0.25,2.0,0.0,1.0,3.0>\"");
  warp.set_caps(kIn), same.set_caps(kIn);
  for (const guint64 n : {0, 3}) assert_same(frame_at(warp, eighths(n)), frame_at(same, 0), "a matrix");
  gst_util_set_object_arg(G_OBJECT(warp.element()), "matrix", "<>");
  assert_angle(warp, eighths(3), 33.75);
}
GST_END_TEST;

// Nothing changes, so buffers pass through, though `spin` has a value.
GST_START_TEST(identity_matrix_replaces_spin) {
  Warp warp("spin=90 matrix=\"<1.0,0.0,0.0,0.0,1.0,0.0>\"");
  warp.set_caps(kIn);
  assert_same(frame_at(warp, eighths(3)), noise(kIn), "identity");
  ck_assert(passes_through(warp, noise(kIn)));
}
GST_END_TEST;

GST_START_TEST(spin_keeps_the_size) {
  Warp base("framing=expand angle=30"), warp("framing=expand angle=30 spin=90");
  base.set_caps(kIn), warp.set_caps(kIn);
  GstVideoInfo size = base.output_info();
  caps_events(warp);
  const auto assert_frames = [&](double angle) {
    const std::string downstream =
        "video/x-raw,width=" + std::to_string(size.width) + ",height=" + std::to_string(size.height);
    for (const guint64 n : {0, 3, 8, 9})
      assert_same(frame_at(warp, eighths(n)), still(angle + 90 * (n / 8.0), "framing=expand", downstream),
                  std::to_string(n) + " eighths");
    warp.assert_size(size.width, size.height);
  };
  assert_frames(30);
  ck_assert_int_eq(caps_events(warp), 0);
  // That of another base angle when it is set by hand.
  g_object_set(warp.element(), "angle", 60.0, nullptr);
  g_object_set(base.element(), "angle", 60.0, nullptr);
  frame_at(base, 0);
  size = base.output_info();
  assert_frames(60);
  ck_assert_int_eq(caps_events(warp), 1);
}
GST_END_TEST;

// No number that is taken stops a stream, however fast and late.
GST_START_TEST(absurd_spin) {
  Warp warp("spin=1e308");
  const bool refused = !messages_on(warp.bus()).empty();
  warp.set_caps(kIn);
  for (const guint64 n : {0, 8, 80, 8000000}) frame_at(warp, eighths(n));
  if (!refused) messages_on(warp.bus());
}
GST_END_TEST;

// What has no map is refused at every angle: `spin` comes to all of them.
GST_START_TEST(singular_at_another_angle) {
  Warp warp("angle=45 shear-x=0.1 shear-y=10 spin=-45");
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"shear-y"});
  warp.set_caps(kIn);
  for (const guint64 n : {0, 7, 8, 9}) frame_at(warp, eighths(n));
}
GST_END_TEST;

namespace {

const std::string kSquare = "video/x-raw,width=80,height=80";

std::vector<GParamSpec*> properties_that(GParamFlags flag) {
  Warp warp;
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(warp.element()), &count);
  std::vector<GParamSpec*> some;
  std::copy_if(specs, specs + count, std::back_inserter(some),
               [flag](const GParamSpec* spec) { return spec->flags & flag; });
  g_free(specs);
  return some;
}

// A controlled property: two values, and its value at a stream time, for which its controller has a second to
// go from one to the other.
struct Animation {
  explicit Animation(const GParamSpec* spec) : name(spec->name), line(G_IS_PARAM_SPEC_DOUBLE(spec)) {
    if (line)
      first = 0.25, last = 0.75;
    else if (G_IS_PARAM_SPEC_ENUM(spec))
      first = 1, last = 2;
    else if (G_IS_PARAM_SPEC_UINT(spec))
      first = 0xff204060, last = 0x80ff8000;
    if (name == "precision") first = last = 0;  // nothing depends on it
  }
  void start(const Warp& warp) const { animate(warp.element(), name.c_str(), first, last, GST_SECOND, line); }
  double at(guint64 eighths) const {
    return eighths >= 8 ? last : line ? first + (last - first) * (eighths / 8.0) : first;
  }

  std::string name;
  bool line;
  double first = 0, last = 1;
};

// The frame at a stream time with values that are set by hand.
Pixels by_hand(const std::string& with, const std::map<std::string, double>& values, GstClockTime time) {
  Warp warp(with);
  for (const auto& [property, value] : values) set(warp.element(), property.c_str(), value);
  warp.set_caps(kIn, kSquare);
  return frame_at(warp, time);
}

// The frame at a stream time, which here is 9 3/4 s behind its timestamp.
Pixels controlled(Warp& warp, GstClockTime time) {
  return frame_at(warp, time + 39 * GST_SECOND / 4);
}

}  // namespace

GST_START_TEST(every_controllable_property) {
  for (const GParamSpec* spec : properties_that(static_cast<GParamFlags>(GST_PARAM_CONTROLLABLE))) {
    const Animation animation(spec);
    const std::string& name = animation.name;
    const std::string with = name.starts_with("align") ? "fit=none" : "angle=20 scale=0.75";
    Warp warp(with);
    animation.start(warp);
    warp.set_caps(kIn, kSquare);
    send(warp, segment_from(10 * GST_SECOND, GST_SECOND / 4));
    for (const guint64 n : {3, 7, 2, 8, 9})
      assert_same(controlled(warp, eighths(n)), by_hand(with, {{name, animation.at(n)}}, eighths(n)),
                  name + " at " + std::to_string(n) + " eighths");
    const Pixels first = by_hand(with, {{name, animation.first}}, eighths(8));
    ck_assert_msg(name == "precision" || controlled(warp, eighths(8)) != first, "%s does nothing",
                  name.c_str());
  }
}
GST_END_TEST;

GST_START_TEST(every_controller_at_once) {
  Warp warp;
  std::vector<Animation> all;
  for (const GParamSpec* spec : properties_that(static_cast<GParamFlags>(GST_PARAM_CONTROLLABLE)))
    all.emplace_back(spec).start(warp);
  ck_assert_uint_ge(all.size(), 22);
  warp.set_caps(kIn, kSquare);
  send(warp, segment_from(10 * GST_SECOND, GST_SECOND / 4));
  for (const guint64 n : {2, 3, 7, 8, 12}) {
    std::map<std::string, double> values;
    for (const Animation& animation : all) values[animation.name] = animation.at(n);
    assert_same(controlled(warp, eighths(n)), by_hand("", values, eighths(n)),
                std::to_string(n) + " eighths");
  }
}
GST_END_TEST;

namespace {

// Sets a property to one of its values; some of `matrix`, `scale` and others are refused.
void change(GObject* element, const GParamSpec* spec, guint32 random) {
  static constexpr double kNumbers[] = {0, 0.25, 0.5, 1, 2, -1};
  static constexpr const char* kMatrices[] = {"<>", "<1.0,0.5,3.0,0.0,1.0,2.0>", "<>",
                                              "<1.0,1.0,0.0,1.0,1.0,0.0>", "<1.0,0.0,0.0,0.0,1.0,0.0>"};
  const bool is_angle = !std::strcmp(spec->name, "angle") || !std::strcmp(spec->name, "spin");
  if (G_IS_PARAM_SPEC_DOUBLE(spec))
    g_object_set(element, spec->name, kNumbers[random % G_N_ELEMENTS(kNumbers)] * (is_angle ? 45 : 1),
                 nullptr);
  else if (G_IS_PARAM_SPEC_ENUM(spec))
    g_object_set(element, spec->name, random % G_PARAM_SPEC_ENUM(spec)->enum_class->n_values, nullptr);
  else if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    g_object_set(element, spec->name, random % 2, nullptr);
  else if (G_IS_PARAM_SPEC_UINT(spec))
    g_object_set(element, spec->name, std::min(random, G_PARAM_SPEC_UINT(spec)->maximum), nullptr);
  else if (!std::strcmp(spec->name, "matrix"))
    gst_util_set_object_arg(element, "matrix", kMatrices[random % G_N_ELEMENTS(kMatrices)]);
}

// Frames as they arrive: their order, and whether they are of the caps in force.
struct Arrivals {
  guint64 frames = 0;
  std::string wrong;

  static GstPadProbeReturn look(GstPad* pad, GstPadProbeInfo* probe, gpointer data) {
    auto* self = static_cast<Arrivals*>(data);
    GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
    const CapsPtr caps(gst_pad_get_current_caps(pad));
    const GstVideoInfo info = info_of(caps.get());
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
    const std::string here = " at frame " + std::to_string(self->frames);
    if (GST_BUFFER_PTS(buffer) != self->frames++ * (GST_SECOND / 25)) self->wrong += "out of turn" + here;
    if (gst_buffer_get_size(buffer) != GST_VIDEO_INFO_SIZE(&info)) self->wrong += "another size" + here;
    if (meta &&
        (meta->width != static_cast<guint>(info.width) || meta->height != static_cast<guint>(info.height)))
      self->wrong += "another meta" + here;
    return GST_PAD_PROBE_OK;
  }
};

}  // namespace

// By three threads, as fast as they can.
GST_START_TEST(storm_of_every_property) {
  constexpr int kFrames = 500;
  const std::string in = raw("RGBA", 33, 21);
  Warp warp("framing=expand");
  warp.set_caps(in);
  Arrivals arrivals;
  gst_pad_add_probe(warp.harness()->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, Arrivals::look, &arrivals, nullptr);
  const auto specs = properties_that(static_cast<GParamFlags>(GST_PARAM_MUTABLE_PLAYING));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (const guint32 seed : {1, 2, 3})
    threads.emplace_back([&, seed] {
      GRand* random = g_rand_new_with_seed(seed);
      while (!done) {
        change(G_OBJECT(warp.element()), specs[g_rand_int(random) % specs.size()], g_rand_int(random) >> 8);
        GValue value = G_VALUE_INIT;
        g_object_get_property(G_OBJECT(warp.element()), "forward-matrix", &value);
        g_value_unset(&value);
      }
      g_rand_free(random);
    });
  const Pixels src = noise(in);
  for (int n = 0; n < kFrames; ++n) {
    ck_assert_int_eq(warp.push(buffer_of(src, in, n)), GST_FLOW_OK);
    while (GstBuffer* out = gst_harness_try_pull(warp.harness())) gst_buffer_unref(out);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  ck_assert(gst_harness_push_event(warp.harness(), gst_event_new_eos()));
  ck_assert_str_eq(arrivals.wrong.c_str(), "");
  ck_assert_uint_eq(arrivals.frames, kFrames);
  for (const Message& m : messages_on(warp.bus()))
    if (m.type != GST_MESSAGE_WARNING || m.domain != GST_LIBRARY_ERROR ||
        m.code != GST_LIBRARY_ERROR_SETTINGS)
      ck_abort_msg("unexpected message: %s", m.text.c_str());
}
GST_END_TEST;

// The second change is held against the first, not against the stream that plays until the next frame.
GST_START_TEST(changes_between_frames) {
  Warp warp("framing=expand");
  warp.set_caps(kIn);
  frame_at(warp, 0);
  g_object_set(warp.element(), "angle", 10.0, nullptr);
  g_object_set(warp.element(), "scale", 1e4, nullptr);
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"scale"});
  frame_at(warp, eighths(1));
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_animation");
  TCase* tc = tcase_create("animation");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, spin);
  tcase_add_test(tc, spin_in_segments);
  tcase_add_test(tc, spin_without_times);
  tcase_add_test(tc, spin_after_a_restart);
  tcase_add_test(tc, spin_with_frames_in_flight);
  tcase_add_test(tc, spin_while_passing_through);
  tcase_add_test(tc, matrix_replaces_spin);
  tcase_add_test(tc, identity_matrix_replaces_spin);
  tcase_add_test(tc, spin_keeps_the_size);
  tcase_add_test(tc, absurd_spin);
  tcase_add_test(tc, singular_at_another_angle);
  tcase_add_test(tc, every_controllable_property);
  tcase_add_test(tc, every_controller_at_once);
  tcase_add_test(tc, storm_of_every_property);
  tcase_add_test(tc, changes_between_frames);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

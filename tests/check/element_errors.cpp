// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What cannot work says so once, in words, and does not stand in the way of what comes after.
#include "element_util.h"

using namespace cudawarp::element;

namespace {

// Offers caps, and a frame if they are taken, as a source does.
GstFlowReturn offer(Warp& warp, const std::string& in, const std::string& downstream = "") {
  warp.set_downstream(downstream);
  if (!gst_harness_push_event(warp.harness(), gst_event_new_caps(caps_of(in).get())))
    return GST_FLOW_NOT_NEGOTIATED;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(warp.harness(), gst_event_new_segment(&segment));
  return warp.push(buffer_of(black(in), in));
}

void assert_refused(Warp& warp, const std::string& in, const std::string& downstream,
                    std::initializer_list<const char*> words) {
  ck_assert_int_ne(offer(warp, in, downstream), GST_FLOW_OK);
  assert_one_message(warp.bus(), GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, words);
  ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), 0);
}

// What cudawarp warns of in the debug log for as long as this lives.
class Log {
 public:
  Log() {
    gst_debug_set_threshold_for_name("cudawarp", GST_LEVEL_WARNING);
    gst_debug_remove_log_function(gst_debug_log_default);  // nobody else needs to read it
    gst_debug_add_log_function(listen, this, nullptr);
  }
  Log(const Log&) = delete;
  ~Log() {
    gst_debug_remove_log_function_by_data(this);
    gst_debug_add_log_function(gst_debug_log_default, nullptr, nullptr);
    gst_debug_unset_threshold_for_name("cudawarp");
  }

  void assert_warned(std::initializer_list<const char*> words) const {
    ck_assert(!lines_.empty());
    for (const std::string& line : lines_)
      for (const char* word : words)
        ck_assert_msg(line.find(word) != std::string::npos, "`%s' is not in: %s", word, line.c_str());
  }

 private:
  static void listen(GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*, gint,
                     GObject*, GstDebugMessage* message, gpointer self) {
    if (level == GST_LEVEL_WARNING && !g_strcmp0(gst_debug_category_get_name(category), "cudawarp"))
      static_cast<Log*>(self)->lines_.push_back(gst_debug_message_get(message));
  }

  std::vector<std::string> lines_;
};

bool accepts(GstPad* pad, const std::string& caps) {
  return gst_pad_query_accept_caps(pad, caps_of(caps).get());
}

ElementPtr pipeline_of(const std::string& description) {
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(description.c_str(), &error);
  ck_assert_msg(pipeline && !error, "%s", error ? error->message : "no pipeline");
  return ElementPtr(pipeline);
}

ElementPtr named(const ElementPtr& bin, const char* name) {
  return ElementPtr(gst_bin_get_by_name(GST_BIN(bin.get()), name));
}

}  // namespace

GST_START_TEST(transparent) {
  for (const char* format : {"I420", "NV12", "GRAY8"}) {
    Warp warp("angle=30 border-mode=transparent");
    assert_refused(warp, raw(format, 64, 48), "", {"transparent", "alpha", format});
  }
  // A downstream that has alpha nowhere to put.
  Warp warp("angle=30 border-mode=transparent");
  assert_refused(warp, raw("RGBA", 64, 48), "video/x-raw,format=BGR", {"transparent", "alpha", "BGR"});
}
GST_END_TEST;

GST_START_TEST(transparent_takes_a_format_with_alpha) {
  const std::string in = raw("RGB", 64, 48);
  for (const std::string downstream :
       {"video/x-raw,format={RGB,BGRA}", "video/x-raw,format=RGB;video/x-raw,format=BGRA"}) {
    Warp warp("angle=30 border-mode=transparent");
    warp.set_caps(in, downstream);
    const GstVideoInfo info = warp.output_info();
    ck_assert_str_eq(GST_VIDEO_INFO_NAME(&info), "BGRA");
    const Pixels out = warp(solid(in, {{10, 20, 30}}));
    ck_assert(pixel_is(out, 0, 0, 0, {0, 0, 0, 0}));
    ck_assert(pixel_is(out, 0, 32, 24, {30, 20, 10, 255}));
  }
  // While nothing is transparent, the format stays.
  Warp plain;
  plain.set_caps(in, "video/x-raw,format={BGRA,RGB}");
  const GstVideoInfo info = plain.output_info();
  ck_assert_str_eq(GST_VIDEO_INFO_NAME(&info), "RGB");
}
GST_END_TEST;

// Set while RGB plays, which might become RGBA, into a sink that takes no other: the next frame is refused,
// and the one after the value is back is not.
GST_START_TEST(transparent_while_playing) {
  const std::string in = raw("RGB", 64, 48);
  Warp warp("angle=30");
  warp.set_caps(in, "video/x-raw,format=RGB");
  const Pixels before = warp(noise(in));
  gst_util_set_object_arg(G_OBJECT(warp.element()), "border-mode", "transparent");
  ck_assert_int_ne(warp.push(buffer_of(noise(in), in, 1)), GST_FLOW_OK);
  assert_one_message(warp.bus(), GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                     {"transparent", "RGB"});
  gst_util_set_object_arg(G_OBJECT(warp.element()), "border-mode", "constant");
  assert_same(warp(noise(in), 2), before, "after the error");
}
GST_END_TEST;

// Matrix coefficients and range are the stream's: a downstream that insists on others is refused.
GST_START_TEST(colours_are_not_converted) {
  for (const char* theirs : {"bt709", "bt2020", "1:4:16:4"}) {
    Warp warp("angle=5");
    assert_refused(warp, raw("I420", 64, 48), std::string("video/x-raw,colorimetry=") + theirs,
                   {"olorimetry", "bt601"});
  }
  // 255 of full range is no white in limited range.
  for (const char* format : {"RGB", "RGBA64_LE", "GBR_10LE"}) {
    Warp warp("angle=5");
    assert_refused(warp, raw("RGB", 64, 48),
                   std::string("video/x-raw,format=") + format + ",colorimetry=(string)2:1:7:1",
                   {"olorimetry", "sRGB", "2:1:7:1"});
  }
}
GST_END_TEST;

// Fields are warped, not made or woven.
GST_START_TEST(interlace_mode_is_not_converted) {
  for (const char* mode : {"interleaved", "mixed"}) {
    Warp warp("angle=5");
    assert_refused(warp, raw("I420", 64, 48), std::string("video/x-raw,interlace-mode=") + mode,
                   {"nterlace", "progressive", mode});
  }
}
GST_END_TEST;

// Nor is a chroma-site.
GST_START_TEST(unknown_chroma_site) {
  Warp in("angle=5"), out("angle=5");
  assert_refused(in, raw("I420", 64, 48, ",chroma-site=(string)left"), "", {"chroma-site", "left"});
  assert_refused(out, raw("I420", 64, 48), "video/x-raw,chroma-site=(string)left", {"chroma-site", "left"});
}
GST_END_TEST;

// A colorimetry that cannot be read is no reason to take what is usual for the size.
GST_START_TEST(unknown_colorimetry) {
  for (const char* format : {"I420", "RGB", "GRAY8"})
    for (const char* name : {"bt7O9", "rainbow", "1:4"}) {
      const std::string more = std::string(",colorimetry=(string)") + name;
      Warp in("angle=5"), out("angle=5"), same;
      assert_refused(in, raw(format, 64, 48, more), "", {"colorimetry", name});
      assert_refused(out, raw(format, 64, 48), "video/x-raw" + more, {"colorimetry", name});
      assert_refused(same, raw(format, 64, 48, more), "", {"colorimetry", name});  // where nothing is warped
    }
  // One that says nothing of the matrix is fine.
  Warp warp("angle=5");
  ck_assert_int_eq(offer(warp, raw("I420", 64, 48, ",colorimetry=(string)2:0:0:0")), GST_FLOW_OK);
}
GST_END_TEST;

GST_START_TEST(huge_output) {
  for (const std::string format : {"GRAY8", "RGBA", "I420"}) {
    Warp warp("angle=5");
    assert_refused(warp, raw(format, 64, 48), "video/x-raw,width=40000,height=40000", {"40000x40000"});
  }
  // Nobody asks for it but the properties themselves.
  Warp expand("scale=1000 framing=expand");
  assert_refused(expand, raw("GRAY8", 640, 480), "", {"640000"});
  Warp bytes("framing=expand scale=512");
  assert_refused(bytes, raw("RGBA", 64, 64), "", {"an output of 32768x32768 RGBA", "bytes"});
}
GST_END_TEST;

GST_START_TEST(huge_while_playing) {
  const std::string in = raw("GRAY8", 64, 48);
  Warp warp("framing=expand");
  warp.set_caps(in);
  warp(noise(in));
  g_object_set(warp.element(), "scale", 1e6, nullptr);
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"scale", "64000000"});
  assert_same(warp(noise(in), 1), noise(in), "the scale before");
  // Where downstream has named the size, the canvas may be as large as it likes.
  Warp fixed("framing=expand");
  fixed.set_caps(in, in);
  fixed(noise(in));
  g_object_set(fixed.element(), "scale", 1e6, nullptr);
  fixed(noise(in), 1);
  g_object_set(fixed.element(), "angle", 30.0, nullptr);
  fixed(noise(in), 2);
}
GST_END_TEST;

// A side of nothing is no video: no caps come about.
GST_START_TEST(empty_output) {
  Warp warp("angle=5");
  ck_assert_int_ne(offer(warp, raw("GRAY8", 64, 48), "video/x-raw,width=0,height=48"), GST_FLOW_OK);
  ck_assert_uint_eq(gst_harness_buffers_received(warp.harness()), 0);
}
GST_END_TEST;

GST_START_TEST(unknown_format) {
  Warp warp;
  GstPad *sink = GST_PAD_PEER(warp.harness()->srcpad), *src = GST_PAD_PEER(warp.harness()->sinkpad);
  for (const char* format : {"v210", "A420", "GRAY16_BE", "Y41B"}) {
    const Log log;
    ck_assert_msg(!accepts(sink, raw(format, 64, 48)), "%s", format);
    ck_assert_msg(!accepts(src, raw(format, 64, 48)), "%s", format);
    log.assert_warned({"format", format, "GRAY16_LE"});  // what it is, and what it could have been
  }
  for (const char* mode : {"fields", "alternate"}) {
    const Log log;
    for (const char* feature : {"", "(format:Interlaced)"}) {
      std::string caps = raw("I420", 64, 48, std::string(",interlace-mode=") + mode);
      caps.insert(std::string("video/x-raw").size(), feature);
      ck_assert_msg(!accepts(sink, caps), "%s", caps.c_str());
      ck_assert_msg(!accepts(src, caps), "%s", caps.c_str());
    }
    log.assert_warned({"interlace-mode", mode, "interleaved"});
  }
  ck_assert(!accepts(sink, "video/x-h264,width=64,height=48"));
  for (const char* mode :
       {"", ",interlace-mode=progressive", ",interlace-mode=interleaved", ",interlace-mode=mixed"}) {
    ck_assert_msg(accepts(sink, raw("I420", 64, 48, mode)), "%s", mode);
    ck_assert_msg(accepts(src, raw("I420", 64, 48, mode)), "%s", mode);
  }
}
GST_END_TEST;

// In a pipeline nothing hangs, and one element speaks.
GST_START_TEST(unknown_format_in_a_pipeline) {
  const ElementPtr pipeline(gst_pipeline_new(nullptr));
  GstElement *src = gst_element_factory_make("videotestsrc", nullptr),
             *warp = gst_element_factory_make("cudawarp", nullptr),
             *sink = gst_element_factory_make("fakesink", nullptr);
  g_object_set(src, "num-buffers", 3, nullptr);
  gst_bin_add_many(GST_BIN(pipeline.get()), src, warp, sink, nullptr);
  const CapsPtr caps = caps_of(raw("v210", 64, 48));
  ck_assert(!gst_element_link_filtered(src, warp, caps.get()) || play(pipeline.get()).size() == 1);
}
GST_END_TEST;

GST_START_TEST(engine_cuda_without_device) {
  if (cuda_works()) return;
  const ElementPtr pipeline =
      pipeline_of("videotestsrc num-buffers=3 ! cudawarp name=warp engine=cuda ! fakesink");
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  ck_assert_int_eq(gst_element_set_state(pipeline.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  assert_one_message(bus.get(), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                     {"engine=cuda", "CUDA"});
  // The pipeline is as good as new where another engine will do.
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  gst_util_set_object_arg(G_OBJECT(named(pipeline, "warp").get()), "engine", "auto");
  ck_assert_uint_eq(play(pipeline.get()).size(), 0);
}
GST_END_TEST;

GST_START_TEST(engine_auto_and_cpu) {
  const std::string in = raw("NV12", 64, 48);
  const Pixels src = noise(in);
  Warp usual("angle=20"), automatic("angle=20 engine=auto"), cpu("angle=20 engine=cpu");
  for (Warp* warp : {&usual, &automatic, &cpu}) warp->set_caps(in);
  const Pixels want = usual(src);
  assert_same(automatic(src), want, "auto");
  assert_same(cpu(src), want, "cpu");
}
GST_END_TEST;

// Errors at the start and later, each followed by valid values, in one pipeline.
GST_START_TEST(usable_after_errors) {
  const ElementPtr pipeline = pipeline_of(
      "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=64,height=48 ! cudawarp name=warp "
      "angle=30 " +
      engine_properties() + " ! fakesink name=sink sync=false");
  const ElementPtr warp = named(pipeline, "warp");
  const auto set = [&](const char* property, const char* value) {
    gst_util_set_object_arg(G_OBJECT(warp.get()), property, value);
  };
  const auto fails = [&] {
    const auto messages = play(pipeline.get());
    int theirs = 0;  // videotestsrc adds that its stream has stopped
    for (const Message& m : messages)
      theirs += m.domain == GST_STREAM_ERROR && m.code == GST_STREAM_ERROR_FORMAT;
    ck_assert_int_eq(theirs, 1);
    ck_assert_uint_le(messages.size(), 2);
  };
  for (int round = 0; round < 3; ++round) {
    set("border-mode", "transparent");
    fails();
    set("border-mode", "constant");
    ck_assert_uint_eq(play(pipeline.get()).size(), 0);
    set("framing", "expand"), set("scale", "100000");
    fails();
    set("framing", "none"), set("scale", "1");
    ck_assert_uint_eq(play(pipeline.get()).size(), 0);
  }
  // By way of READY, not NULL.
  set("border-mode", "transparent");
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstMessage* error = gst_bus_timed_pop_filtered(bus.get(), GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  gst_message_unref(error);
  gst_element_set_state(pipeline.get(), GST_STATE_READY);
  gst_bus_set_flushing(bus.get(), TRUE), gst_bus_set_flushing(bus.get(), FALSE);
  set("border-mode", "constant");
  ck_assert_uint_eq(play(pipeline.get()).size(), 0);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_errors");
  TCase* tc = tcase_create("errors");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, transparent);
  tcase_add_test(tc, transparent_takes_a_format_with_alpha);
  tcase_add_test(tc, transparent_while_playing);
  tcase_add_test(tc, colours_are_not_converted);
  tcase_add_test(tc, interlace_mode_is_not_converted);
  tcase_add_test(tc, unknown_colorimetry);
  tcase_add_test(tc, unknown_chroma_site);
  tcase_add_test(tc, huge_output);
  tcase_add_test(tc, huge_while_playing);
  tcase_add_test(tc, empty_output);
  tcase_add_test(tc, unknown_format);
  tcase_add_test(tc, unknown_format_in_a_pipeline);
  tcase_add_test(tc, engine_cuda_without_device);
  tcase_add_test(tc, engine_auto_and_cpu);
  tcase_add_test(tc, usable_after_errors);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

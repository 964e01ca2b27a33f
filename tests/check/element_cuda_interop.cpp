// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Among the nvcodec elements: decoder, encoder, copies up and down. What this machine has not is said and
// left out.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "element_cuda_util.h"

using namespace cudawarp::element;

namespace {

bool have(std::initializer_list<const char*> elements) {
  for (const char* name : elements) {
    const ElementPtr one(gst_element_factory_make(name, nullptr));
    if (one) {
      gst_object_ref_sink(one.get());
      continue;
    }
    g_printerr("left out: no %s here\n", name);
    return false;
  }
  return true;
}

// Something that makes H.264 of raw video; empty where there is nothing.
std::string h264_encoder() {
  for (const char* line : {"x264enc tune=zerolatency speed-preset=ultrafast", "openh264enc", "nvh264enc"}) {
    const std::string name = std::string(line).substr(0, std::string(line).find(' '));
    const ElementPtr one(gst_element_factory_make(name.c_str(), nullptr));
    if (!one) continue;
    gst_object_ref_sink(one.get());
    return line;
  }
  g_printerr("left out: no H.264 encoder here\n");
  return {};
}

// What passes the two pads of cudawarp in a pipeline.
struct Watch {
  std::mutex lock;
  int frames = 0, on_gpu = 0, out_of_order = 0;
  GstClockTime last = 0;
  std::chrono::steady_clock::time_point came;
  std::vector<double> milliseconds;  // from one pad to the other

  void watch(GstElement* warp) {
    for (const char* name : {"sink", "src"}) {
      GstPad* pad = gst_element_get_static_pad(warp, name);
      gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, *name == 's' && name[1] == 'i' ? enter : leave, this,
                        nullptr);
      gst_object_unref(pad);
    }
  }

 private:
  static GstPadProbeReturn enter(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<Watch*>(data);
    std::lock_guard guard(self->lock);
    self->on_gpu += gst_is_cuda_memory(gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0));
    self->came = std::chrono::steady_clock::now();
    return GST_PAD_PROBE_OK;
  }
  static GstPadProbeReturn leave(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<Watch*>(data);
    std::lock_guard guard(self->lock);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - self->came;
    self->milliseconds.push_back(took.count());
    GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    self->on_gpu += gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0));
    if (self->frames++ > 0 && GST_BUFFER_PTS(buffer) <= self->last) ++self->out_of_order;
    self->last = GST_BUFFER_PTS(buffer);
    return GST_PAD_PROBE_OK;
  }
};

ElementPtr parse(const std::string& description) {
  GError* error = nullptr;
  ElementPtr pipeline(gst_parse_launch(description.c_str(), &error));
  ck_assert_msg(pipeline && !error, "%s", error ? error->message : "no pipeline");
  return pipeline;
}

ElementPtr named(const ElementPtr& pipeline, const char* name) {
  return ElementPtr(gst_bin_get_by_name(GST_BIN(pipeline.get()), name));
}

}  // namespace

// A live decoder's frames pass on the GPU, at once: none dropped, half of them in less than a millisecond.
// CUDAWARP_LIVE_SECONDS lets it run for longer than its five seconds.
GST_START_TEST(zero_copy) {
  const std::string encoder = h264_encoder();
  if (encoder.empty() || !have({"h264parse", "nvh264dec"})) return;
  const char* seconds = std::getenv("CUDAWARP_LIVE_SECONDS");
  const int frames = 60 * (seconds ? std::atoi(seconds) : 5);
  const ElementPtr pipeline =
      parse("videotestsrc is-live=true pattern=ball num-buffers=" + std::to_string(frames) +
            " ! video/x-raw,format=I420,width=1920,height=1080,framerate=60/1 ! queue ! " + encoder +
            " ! h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory) ! cudawarp name=warp angle=90 " +
            engine_properties() +
            " ! video/x-raw(memory:CUDAMemory) ! fakesink name=sink sync=true max-lateness=500000000");
  Watch watch;
  const ElementPtr warp = named(pipeline, "warp"), sink = named(pipeline, "sink");
  watch.watch(warp.get());
  for (const Message& m : play(pipeline.get())) ck_abort_msg("%s", m.text.c_str());
  ck_assert_int_eq(watch.frames, frames);
  ck_assert_int_eq(watch.on_gpu, 2 * frames);
  ck_assert_int_eq(watch.out_of_order, 0);
  GstStructure* sunk = nullptr;
  guint64 dropped = 1;
  g_object_get(sink.get(), "stats", &sunk, nullptr);
  ck_assert(gst_structure_get_uint64(sunk, "dropped", &dropped));
  gst_structure_free(sunk);
  ck_assert_uint_eq(dropped, 0);
  std::sort(watch.milliseconds.begin(), watch.milliseconds.end());
  const double median = watch.milliseconds[watch.milliseconds.size() / 2];
  g_print("%d frames, in the element for %.3f ms (median), %.3f ms (at most)\n", frames, median,
          watch.milliseconds.back());
  ck_assert_msg(median < 1, "a frame takes %g ms", median);
  ck_assert_uint_eq(stat(warp.get(), "frames"), frames);
  ck_assert_uint_eq(stat(warp.get(), "bytes-uploaded") + stat(warp.get(), "bytes-downloaded"), 0);
  if (GST_CHECK_VERSION(1, 24, 0)) ck_assert_uint_eq(stat(warp.get(), "device-waits"), 0);
}
GST_END_TEST;

// From the decoder to system memory, frames in flight or not: the decoder never starves, all frames come.
GST_START_TEST(decoder_to_system_memory) {
  const std::string encoder = h264_encoder();
  if (encoder.empty() || !have({"h264parse", "nvh264dec"})) return;
  for (const std::string memory : {"video/x-raw(memory:CUDAMemory)", "video/x-raw"})
    for (const char* depth : {"0", "4", "16"}) {
      const ElementPtr pipeline = parse(
          "videotestsrc num-buffers=100 ! video/x-raw,format=I420,width=640,height=360 ! " + encoder +
          " ! h264parse ! nvh264dec ! " + memory + " ! cudawarp name=warp angle=90 async-depth=" + depth +
          " " + engine_properties() + " ! video/x-raw ! fakesink");
      Watch watch;
      watch.watch(named(pipeline, "warp").get());
      for (const Message& m : play(pipeline.get())) ck_abort_msg("%s", m.text.c_str());
      ck_assert_int_eq(watch.frames, 100);
      ck_assert_int_eq(watch.out_of_order, 0);
    }
}
GST_END_TEST;

// A JPEG of a plain colour, made on the GPU from what the warp left there, has that colour.
GST_START_TEST(jpeg_encoder) {
  if (!have({"nvjpegenc", "jpegdec"})) return;
  const std::string in = raw("I420", 320, 240);
  for (const bool gpu : {false, true}) {
    const std::string caps = gpu ? on_gpu(in) : in;
    GstHarness* harness = gst_harness_new_parse(("cudawarp angle=180 " + engine_properties() +
                                                 " ! video/x-raw(memory:CUDAMemory) ! nvjpegenc ! jpegdec ! "
                                                 "capsfilter caps=video/x-raw,format=I420")
                                                    .c_str());
    gst_harness_set_src_caps_str(harness, caps.c_str());
    const Pixels src = solid(in, {{150}, {90}, {200}});
    BufferPtr buffer = gpu ? Pool(device().context, caps)(src) : buffer_of(src, caps);
    ck_assert_int_eq(gst_harness_push(harness, buffer.release()), GST_FLOW_OK);
    {
      const BufferPtr out(gst_harness_pull(harness));
      const Pixels got = pixels_of(out.get(), caps_of(in).get());
      for (int p = 0; p < 3; ++p)
        ck_assert_int_le(std::abs(got.plane[p].at(80, 60) - src.plane[p].at(80, 60)), 4);
    }
    gst_harness_teardown(harness);
  }
}
GST_END_TEST;

GST_START_TEST(upload_and_download_in_flight) {
  if (!have({"cudaupload", "cudadownload"})) return;
  for (const char* line : {"cudaupload ! %s ! cudadownload", "cudaupload ! %s", "%s ! cudadownload"}) {
    std::string description = line;
    description.replace(description.find("%s"), 2,
                        "cudawarp name=warp angle=10 async-depth=3 " + engine_properties());
    const ElementPtr pipeline =
        parse("videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=640,height=360 ! " + description +
              " ! fakesink");
    Watch watch;
    watch.watch(named(pipeline, "warp").get());
    for (const Message& m : play(pipeline.get())) ck_abort_msg("%s", m.text.c_str());
    ck_assert_int_eq(watch.frames, 60);
    ck_assert_int_eq(watch.out_of_order, 0);
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_cuda_interop");
  TCase* tc = tcase_create("cuda");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, zero_copy);
  tcase_add_test(tc, decoder_to_system_memory);
  tcase_add_test(tc, jpeg_encoder);
  tcase_add_test(tc, upload_and_download_in_flight);
  return s;
}

int main(int argc, char** argv) {
  g_setenv("CUDAWARP_TEST_ENGINE", "cuda", TRUE);
  return run_tests(argc, argv, suite);
}

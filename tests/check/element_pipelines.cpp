// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Among other elements, without caps written by hand: encoders, filters, mixers, decoders, applications.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

const std::string kWarp = "cudawarp angle=10 " + engine_properties(), kSource = "videotestsrc num-buffers=5",
                  kEnd = "fakesink name=end sync=false";

// Elements in a row; those without a word are none.
std::string chain(std::initializer_list<std::string> elements) {
  std::string all;
  for (const std::string& element : elements) {
    if (element.empty()) continue;
    if (!all.empty()) all += " ! ";
    all += element;
  }
  return all;
}

std::string caps_filter(const std::string& caps) {
  return "capsfilter caps=\"" + caps + "\"";
}

// A folder that goes with its files.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("cudawarp-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

// A pipeline, or null where it has elements that are not here, which is said.
ElementPtr pipeline_of(const std::string& description) {
  GError* error = nullptr;
  ElementPtr pipeline(
      gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
  if (pipeline) return pipeline;
  const bool missing = g_error_matches(error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT);
  ck_assert_msg(missing && !std::strstr(error->message, "cudawarp"), "%s: %s", description.c_str(),
                error->message);
  g_printerr("skipped: %s (%s)\n", description.c_str(), error->message);
  g_error_free(error);
  return nullptr;
}

// Plays to the end, which some frames must reach: the element `end`, or what is a player's sink.
void run(GstElement* pipeline, const std::string& what, int frames) {
  std::atomic<int> seen{0};
  GstElement* found = gst_bin_get_by_name(GST_BIN(pipeline), "end");
  if (!found) g_object_get(pipeline, "video-sink", &found, nullptr);
  const ElementPtr end(found);
  GstPad* pad = gst_element_get_static_pad(end.get(), "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo*, gpointer count) {
        ++*static_cast<std::atomic<int>*>(count);
        return GST_PAD_PROBE_OK;
      },
      &seen, nullptr);
  gst_object_unref(pad);
  const BusPtr bus(gst_element_get_bus(pipeline));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* last = gst_bus_timed_pop_filtered(
      bus.get(), 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  ck_assert_msg(last != nullptr, "%s: neither an end nor an error", what.c_str());
  if (GST_MESSAGE_TYPE(last) == GST_MESSAGE_ERROR) gst_bus_post(bus.get(), gst_message_ref(last));
  gst_message_unref(last);
  for (const Message& m : messages_on(bus.get())) ck_abort_msg("%s: %s", what.c_str(), m.text.c_str());
  gst_element_set_state(pipeline, GST_STATE_NULL);
  ck_assert_msg(seen >= frames, "%s: %d frames", what.c_str(), seen.load());
}

void run(const std::string& description, int frames = 5) {
  if (const ElementPtr pipeline = pipeline_of(description)) run(pipeline.get(), description, frames);
}

std::string player_of(const std::string& file) {
  return "playbin uri=file://" + file + " audio-sink=fakesink video-filter=\"" + kWarp + "\" video-sink=\"" +
         kEnd + "\"";
}

// Five frames into a file; false where something is missing.
bool record(const std::string& encoder, const std::string& muxer, const std::string& file) {
  const std::string description = chain({kSource, encoder, muxer, "filesink name=end location=" + file});
  const ElementPtr pipeline = pipeline_of(description);
  if (pipeline) run(pipeline.get(), description, 1);
  return pipeline != nullptr;
}

}  // namespace

GST_START_TEST(before_encoders) {
  for (const char* encoder : {"jpegenc", "pngenc", "x264enc", "vp8enc", "theoraenc", "y4menc"})
    run(chain({kSource, kWarp, encoder, kEnd}));
  run(chain({kSource, kWarp, "encodebin profile=\"application/ogg:video/x-theora\"", kEnd}), 1);
}
GST_END_TEST;

GST_START_TEST(before_filters) {
  for (const char* filter :
       {"videoconvert", "videoscale", "videobox left=-8 top=4", "deinterlace", "queue",
        "videoflip method=clockwise", "autovideoconvert", "videocrop left=3", "timeoverlay",
        "glupload ! glcolorconvert ! gldownload", "videoconvert ! video/x-raw,format=RGB",
        "deinterlace mode=interlaced", "videoscale ! video/x-raw,width=100,height=31"})
    run(chain({kSource, kWarp, filter, kEnd}));
}
GST_END_TEST;

// Rates that are lists of ranges: no caps of which GStreamer says that they are too many.
GST_START_TEST(beside_videorate) {
  run(chain({kSource, kWarp, "videorate", kEnd}));
  run(chain({kSource, kWarp, "videorate", "video/x-raw,framerate=60/1", kEnd}));
  run(chain({kSource, "videorate", kWarp, kEnd}));
}
GST_END_TEST;

GST_START_TEST(in_branches) {
  const std::string two = chain({kSource, kWarp, "tee name=t t. ! "}),
                    mix = " compositor name=mix ! " + kEnd + " ";
  run(two + chain({"queue", "fakesink t.", "queue", kEnd}));
  run(two + chain({"queue", "videoconvert", "jpegenc", "fakesink t.", "queue", "videoconvert", kEnd}));
  run(mix + chain({kSource, kWarp, "mix. " + kSource, kWarp, "mix."}));
  run(mix + chain({kSource, "video/x-raw,format=NV12", kWarp, "mix. " + kSource, "video/x-raw,format=BGRA",
                   kWarp, "mix."}));
}
GST_END_TEST;

GST_START_TEST(behind_sources_and_filters) {
  for (const char* format : {"I420", "NV12", "YUY2", "UYVY", "RGB", "BGRx", "GRAY8", "GRAY16_LE", "P010_10LE",
                             "AYUV", "Y444", "RGBA64_LE"})
    run(chain({kSource, std::string("video/x-raw,format=") + format, kWarp, "videoconvert", kEnd}));
  for (const char* filter : {"videoconvert", "videoscale", "queue", "deinterlace", "interlace", "videobox",
                             "autovideoconvert", "videoconvert ! video/x-raw,format=Y41B ! videoconvert"})
    run(chain({kSource, filter, kWarp, kEnd}));
  for (const char* first : {" spin=90 framing=expand", " scale=0.5 async-depth=1"})
    run(chain({kSource, kWarp + first, kWarp, kEnd}));
}
GST_END_TEST;

GST_START_TEST(in_a_bin) {
  const ElementPtr pipeline = pipeline_of(chain({kSource, "identity name=it", kEnd}));
  GstElement* bin = gst_parse_bin_from_description(kWarp.c_str(), TRUE, nullptr);
  const ElementPtr it(gst_bin_get_by_name(GST_BIN(pipeline.get()), "it")),
      end(gst_bin_get_by_name(GST_BIN(pipeline.get()), "end"));
  gst_element_unlink(it.get(), end.get());
  gst_bin_add(GST_BIN(pipeline.get()), bin);
  ck_assert(gst_element_link_many(it.get(), bin, end.get(), nullptr));
  run(pipeline.get(), "a bin", 5);
}
GST_END_TEST;

// As cameras have them: some sizes, each with its rates.
GST_START_TEST(behind_a_camera) {
  for (const char* camera :
       {"video/x-raw,width=(int){320,640,1280},height=(int){240,480,720},framerate=(fraction){15/1,30/1}",
        "video/x-raw,format=(string){YUY2,NV12},width=640,height=480,framerate=30/1;"
        "video/x-raw,format=YUY2,width=1280,height=720,framerate=10/1;"
        "video/x-raw,format=YUY2,width=320,height=240,framerate=(fraction){30/1,60/1}"})
    for (const char* wanted :
         {"video/x-raw", "video/x-raw,width=640,height=640", "video/x-raw,width=100",
          "video/x-raw,width=[16,4000],height=[16,300]", "video/x-raw,height=(int){90,720}"})
      for (const char* more : {"", " framing=expand"})
        run(chain({kSource, caps_filter(camera), kWarp + more, caps_filter(wanted), kEnd}));
}
GST_END_TEST;

GST_START_TEST(between_applications) {
  for (const std::string format : {"time", "bytes", "default", "buffers"})
    for (const std::string taken : {"", "video/x-raw", "video/x-raw,format=BGRx,width=32,height=32"})
      for (const std::string rate : {"", ",framerate=25/1", ",framerate=0/1"}) {
        const std::string caps = "video/x-raw,format=RGBA,width=64,height=48" + rate;
        const std::string description =
            chain({"appsrc name=src format=" + format, kWarp + " spin=90",
                   taken.empty() ? "" : caps_filter(taken), "appsink name=end sync=false wait-on-eos=false"});
        const ElementPtr pipeline = pipeline_of(description);
        if (!pipeline) return;
        const ElementPtr src(gst_bin_get_by_name(GST_BIN(pipeline.get()), "src"));
        g_object_set(src.get(), "caps", caps_of(caps).get(), nullptr);
        gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);  // so that it takes frames
        GstFlowReturn flow = GST_FLOW_ERROR;
        for (int n = 0; n < 5; ++n) {
          const BufferPtr buffer = buffer_of(black(caps), caps, n);
          g_signal_emit_by_name(src.get(), "push-buffer", buffer.get(), &flow);
          ck_assert_int_eq(flow, GST_FLOW_OK);
        }
        g_signal_emit_by_name(src.get(), "end-of-stream", &flow);
        run(pipeline.get(), description, 4);  // one may be there before this looks
      }
}
GST_END_TEST;

GST_START_TEST(behind_decoders) {
  const Folder folder;
  const std::string png = folder.path / "a.png", ogg = folder.path / "a.ogg", avi = folder.path / "a.avi";
  if (record("pngenc snapshot=true", "", png))
    run(chain({"filesrc location=" + png, "pngdec", "imagefreeze num-buffers=5", kWarp, kEnd}));
  const bool has_ogg = record("theoraenc", "oggmux", ogg), has_avi = record("jpegenc", "avimux", avi);
  for (const auto& [made, file] : {std::pair{has_ogg, ogg}, std::pair{has_avi, avi}}) {
    if (!made) continue;
    run(chain({"filesrc location=" + file, "decodebin", kWarp, kEnd}));
    run(chain({"filesrc location=" + file, "decodebin", kWarp, "jpegenc", kEnd}));
    // Not playbin3, which in 1.22 stands still now and then, whatever its filter is.
    run(player_of(file));
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_pipelines");
  TCase* tc = tcase_create("pipelines");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, before_encoders);
  tcase_add_test(tc, before_filters);
  tcase_add_test(tc, beside_videorate);
  tcase_add_test(tc, in_branches);
  tcase_add_test(tc, behind_sources_and_filters);
  tcase_add_test(tc, in_a_bin);
  tcase_add_test(tc, behind_a_camera);
  tcase_add_test(tc, between_applications);
  tcase_add_test(tc, behind_decoders);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "element_util.h"

namespace cudawarp::element {
namespace {

template <class Visit>
void for_rows(GstBuffer* buffer, const GstCaps* caps, GstMapFlags flags, Pixels& pixels, Visit visit) {
  const GstVideoInfo info = info_of(caps);
  GstVideoFrame frame;
  ck_assert_msg(gst_video_frame_map(&frame, &info, buffer, flags), "cannot map a frame of these caps");
  for (size_t p = 0; p < pixels.plane.size(); ++p) {
    Pixels::Plane& plane = pixels.plane[p];
    const size_t row = static_cast<size_t>(plane.width) * plane.bytes;
    for (int y = 0; y < plane.height; ++y)
      visit(static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                static_cast<ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
            plane.data.data() + y * row, row);
  }
  gst_video_frame_unmap(&frame);
}

Pixels blank(const GstCaps* caps) {
  const GstVideoInfo info = info_of(caps);
  Pixels pixels;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    const size_t p = GST_VIDEO_INFO_COMP_PLANE(&info, c);
    if (p >= pixels.plane.size()) pixels.plane.resize(p + 1);
    Pixels::Plane& plane = pixels.plane[p];
    if (GST_VIDEO_INFO_COMP_PSTRIDE(&info, c) <= plane.bytes) continue;
    plane = {GST_VIDEO_INFO_COMP_WIDTH(&info, c),
             GST_VIDEO_INFO_COMP_HEIGHT(&info, c),
             GST_VIDEO_INFO_COMP_PSTRIDE(&info, c),
             {}};
  }
  for (Pixels::Plane& plane : pixels.plane)
    plane.data.resize(static_cast<size_t>(plane.width) * plane.height * plane.bytes);
  return pixels;
}

// Luma and chroma in one plane.
bool is_packed_422(const GstVideoInfo& info) {
  return GST_VIDEO_INFO_N_PLANES(&info) == 1 && GST_VIDEO_INFO_COMP_PSTRIDE(&info, 1) == 4 &&
         GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0) == 2;
}

// The second luma pixel of the last pair in a row of odd width is nobody's: 0.
void clear_unseen(Pixels& pixels, const GstVideoInfo& info) {
  if (!is_packed_422(info) || GST_VIDEO_INFO_WIDTH(&info) % 2 == 0) return;
  Pixels::Plane& plane = pixels.plane[0];
  for (int y = 0; y < plane.height; ++y)
    plane.at(plane.width - 1, y, GST_VIDEO_INFO_COMP_POFFSET(&info, 0) + 2) = 0;
}

// So are bits beside those of a sample in its word.
void clear_spare_bits(Pixels& pixels, const GstVideoInfo& info) {
  const int depth = GST_VIDEO_INFO_COMP_DEPTH(&info, 0), shift = info.finfo->shift[0];
  if (depth <= 8 || GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0) == 4) return;
  const int mask = ((1 << depth) - 1) << shift;
  for (Pixels::Plane& plane : pixels.plane)
    for (size_t k = 0; k < plane.data.size(); k += 2) plane.data[k] &= mask, plane.data[k + 1] &= mask >> 8;
}

// Making a CUDA context takes longer than most tests: the first one serves all.
GstContext* shared_context = nullptr;

// The CUDA context that an element works in, if any.
GstContext* cuda_context_of(const GstHarness* harness) {
  const QueryPtr query(gst_query_new_context("gst.cuda.context"));
  GstContext* context = nullptr;
  if (gst_pad_peer_query(harness->srcpad, query.get())) gst_query_parse_context(query.get(), &context);
  return context ? gst_context_ref(context) : nullptr;
}

}  // namespace

std::vector<FormatInfo> known_formats() {
  std::vector<FormatInfo> known;
  for (const FormatInfo& f : all_formats())
    if (gst_video_format_from_string(name_of(f).c_str()) != GST_VIDEO_FORMAT_UNKNOWN) known.push_back(f);
  return known;
}

std::string name_of(const FormatInfo& format) {
  return std::string(format.name);
}

std::string raw(const std::string& format, int width, int height, const std::string& more) {
  return "video/x-raw,format=" + format + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=25/1" + more;
}

CapsPtr caps_of(const std::string& caps) {
  CapsPtr made(gst_caps_from_string(caps.c_str()));
  ck_assert_msg(made != nullptr, "no caps: %s", caps.c_str());
  return made;
}

GstVideoInfo info_of(const GstCaps* caps) {
  GstVideoInfo info;
  ck_assert_msg(caps && gst_video_info_from_caps(&info, caps), "no fixed caps of raw video");
  return info;
}

Pixels black(const std::string& caps) {
  return blank(caps_of(caps).get());
}

Pixels noise(const std::string& caps, uint32_t seed) {
  Pixels pixels = black(caps);
  uint32_t state = seed * 2654435761u + 1;  // xorshift32 of Marsaglia
  for (Pixels::Plane& plane : pixels.plane)
    for (uint8_t& byte : plane.data) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5;
      byte = static_cast<uint8_t>(state >> 16);
    }
  const GstVideoInfo info = info_of(caps_of(caps).get());
  clear_unseen(pixels, info);
  clear_spare_bits(pixels, info);
  return pixels;
}

Pixels solid(const std::string& caps, std::initializer_list<std::vector<uint8_t>> color_by_plane) {
  Pixels pixels = black(caps);
  ck_assert_uint_eq(pixels.plane.size(), color_by_plane.size());
  auto plane = pixels.plane.begin();
  for (const std::vector<uint8_t>& color : color_by_plane) {
    ck_assert_int_eq(plane->bytes, static_cast<int>(color.size()));
    for (size_t k = 0; k < plane->data.size(); ++k) plane->data[k] = color[k % color.size()];
    ++plane;
  }
  return pixels;
}

Pixels turned(const Pixels& src, int clockwise_quarters) {
  Pixels out = src;
  for (int turn = (clockwise_quarters % 4 + 4) % 4; turn > 0; --turn)
    for (Pixels::Plane& plane : out.plane) {
      const Pixels::Plane from = plane;
      plane.width = from.height, plane.height = from.width;
      for (int y = 0; y < from.height; ++y)
        for (int x = 0; x < from.width; ++x)
          for (int k = 0; k < from.bytes; ++k) plane.at(from.height - 1 - y, x, k) = from.at(x, y, k);
    }
  return out;
}

Pixels turned(const std::string& caps, const Pixels& src, int clockwise_quarters) {
  const GstVideoInfo info = info_of(caps_of(caps).get());
  if (!is_packed_422(info)) return turned(src, clockwise_quarters);
  ck_assert_int_eq(clockwise_quarters, 2);
  const Samples samples(info);
  Pixels out = black(caps);
  for (int c = 0; c < samples.count(); ++c)
    for (int y = 0; y < samples.height(c); ++y)
      for (int x = 0; x < samples.width(c); ++x)
        samples.set(out, c, x, y, samples.get(src, c, samples.width(c) - 1 - x, samples.height(c) - 1 - y));
  return out;
}

Pixels pixels_of(GstBuffer* buffer, const GstCaps* caps) {
  Pixels pixels = blank(caps);
  for_rows(buffer, caps, GST_MAP_READ, pixels,
           [](uint8_t* frame, uint8_t* row, size_t size) { std::memcpy(row, frame, size); });
  clear_unseen(pixels, info_of(caps));
  return pixels;
}

void write_pixels(const Pixels& pixels, GstBuffer* buffer, const GstCaps* caps) {
  Pixels copy = pixels;
  for_rows(buffer, caps, GST_MAP_WRITE, copy,
           [](uint8_t* frame, uint8_t* row, size_t size) { std::memcpy(frame, row, size); });
}

BufferPtr buffer_of(const Pixels& pixels, const GstCaps* caps, int number) {
  const GstVideoInfo info = info_of(caps);
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_memset(buffer.get(), 0, 0xc5, GST_VIDEO_INFO_SIZE(&info));
  write_pixels(pixels, buffer.get(), caps);
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 25;
  GST_BUFFER_PTS(buffer.get()) = number * (GST_SECOND / 25);
  return buffer;
}

BufferPtr buffer_of(const Pixels& pixels, const std::string& caps, int number) {
  return buffer_of(pixels, caps_of(caps).get(), number);
}

void assert_same(const Pixels& got, const Pixels& want, const std::string& what) {
  ck_assert_uint_eq(got.plane.size(), want.plane.size());
  for (size_t p = 0; p < want.plane.size(); ++p) {
    const Pixels::Plane &g = got.plane[p], &w = want.plane[p];
    if (g.width != w.width || g.height != w.height || g.bytes != w.bytes)
      ck_abort_msg("%s: plane %zu is %dx%d of %d bytes, not %dx%d of %d", what.c_str(), p, g.width, g.height,
                   g.bytes, w.width, w.height, w.bytes);
    const auto at = std::mismatch(g.data.begin(), g.data.end(), w.data.begin());
    if (at.first == g.data.end()) continue;
    const int byte = static_cast<int>(at.first - g.data.begin()), pixel = byte / w.bytes;
    ck_abort_msg("%s: plane %zu, pixel (%d, %d), byte %d is %d, not %d", what.c_str(), p, pixel % w.width,
                 pixel / w.width, byte % w.bytes, *at.first, *at.second);
  }
}

bool pixel_is(const Pixels& p, int plane, int x, int y, std::initializer_list<int> bytes) {
  int k = 0;
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](int byte) { return p.plane[plane].at(x, y, k++) == byte; });
}

std::string test_engine() {
  const char* engine = std::getenv("CUDAWARP_TEST_ENGINE");
  return engine ? engine : "cpu";
}

std::string engine_properties() {
  return "engine=" + test_engine() + " precision=exact";
}

std::vector<Message> messages_on(GstBus* bus) {
  std::vector<Message> messages;
  const auto kinds = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  while (GstMessage* message = gst_bus_pop_filtered(bus, kinds)) {
    GError* error = nullptr;
    const GstMessageType type = GST_MESSAGE_TYPE(message);
    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error(message, &error, nullptr);
    else
      gst_message_parse_warning(message, &error, nullptr);
    messages.push_back({type, error->domain, error->code, error->message});
    g_error_free(error);
    gst_message_unref(message);
  }
  return messages;
}

void assert_one_message(GstBus* bus, GstMessageType type, GQuark domain, int code,
                        std::initializer_list<const char*> words) {
  const auto messages = messages_on(bus);
  if (messages.size() != 1) {
    std::string all;
    for (const Message& m : messages) all += "\n  " + m.text;
    ck_abort_msg("%zu messages where one was expected:%s", messages.size(), all.c_str());
  }
  const Message& m = messages.front();
  ck_assert_msg(m.type == type && m.domain == domain && m.code == code, "another kind of message: %s",
                m.text.c_str());
  for (const char* word : words)
    ck_assert_msg(m.text.find(word) != std::string::npos, "`%s' is not in: %s", word, m.text.c_str());
}

void assert_quiet(GstBus* bus) {
  for (const Message& m : messages_on(bus)) ck_abort_msg("unexpected message: %s", m.text.c_str());
}

Warp::Warp(const std::string& properties, GstContext* context) : bus_(gst_bus_new()) {
  const std::string description = "cudawarp " + engine_properties() + " " + properties;
  GError* error = nullptr;
  GstElement* element = gst_parse_launch(description.c_str(), &error);
  ck_assert_msg(element && !error, "%s: %s", description.c_str(), error ? error->message : "no element");
  gst_element_set_bus(element, bus_.get());
  gst_object_ref_sink(element);
  if (!context) context = shared_context;
  if (context) gst_element_set_context(element, context);
  harness_ = gst_harness_new_with_element(element, "sink", "src");
  gst_object_unref(element);
  if (!shared_context && test_engine() == "cuda") shared_context = cuda_context_of(harness_);
}

Warp::~Warp() {
  GstElement* element = GST_ELEMENT(gst_object_ref(harness_->element));
  gst_harness_teardown(harness_);
  gst_element_set_bus(element, nullptr);
  assert_quiet(bus_.get());
  gst_object_unref(element);
}

void Warp::set_caps(const std::string& in, const std::string& downstream) {
  set_downstream(downstream);
  gst_harness_set_src_caps_str(harness_, in.c_str());
  in_ = in;
}

void Warp::set_downstream(const std::string& caps) {
  gst_harness_set_sink_caps(harness_, caps.empty() ? gst_caps_new_any() : caps_of(caps).release());
}

CapsPtr Warp::output_caps() const {
  return CapsPtr(gst_pad_get_current_caps(harness_->sinkpad));
}

void Warp::assert_size(int width, int height) const {
  const GstVideoInfo info = output_info();
  ck_assert_int_eq(GST_VIDEO_INFO_WIDTH(&info), width);
  ck_assert_int_eq(GST_VIDEO_INFO_HEIGHT(&info), height);
}

BufferPtr Warp::pass(BufferPtr buffer) {
  const GstFlowReturn flow = push(std::move(buffer));
  if (flow != GST_FLOW_OK) {
    assert_quiet(bus());
    ck_abort_msg("flow: %s", gst_flow_get_name(flow));
  }
  ck_assert_uint_eq(gst_harness_buffers_in_queue(harness_), 1);
  return BufferPtr(gst_harness_pull(harness_));
}

Pixels Warp::operator()(const Pixels& in, int number) {
  const BufferPtr out = pass(buffer_of(in, in_, number));
  return pixels_of(out.get(), output_caps().get());
}

guint64 stat(GstElement* warp, const char* name) {
  GstStructure* stats = nullptr;
  g_object_get(warp, "stats", &stats, nullptr);
  guint64 value = 0;
  ck_assert_msg(gst_structure_get_uint64(stats, name, &value), "%s", name);
  gst_structure_free(stats);
  return value;
}

void offer_pool(const Warp& warp, GstBufferPool* pool, guint size, bool video_meta, guint max) {
  struct Offer {
    GstBufferPool* pool;
    guint size;
    bool video_meta;
    guint max;
  };
  gst_pad_add_probe(
      warp.harness()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        const auto* offer = static_cast<const Offer*>(data);
        GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
        if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION || !(info->type & GST_PAD_PROBE_TYPE_PUSH))
          return GST_PAD_PROBE_OK;
        gst_query_add_allocation_pool(query, offer->pool, offer->size, 0, offer->max);
        if (offer->video_meta) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
        return GST_PAD_PROBE_HANDLED;
      },
      new Offer{pool, size, video_meta, max}, [](gpointer data) { delete static_cast<Offer*>(data); });
}

bool passes_through(Warp& warp, const Pixels& in) {
  const CapsPtr caps(gst_pad_get_current_caps(warp.harness()->srcpad));
  BufferPtr buffer = buffer_of(in, caps.get());
  const BufferPtr keep(gst_buffer_ref(buffer.get()));  // so that its address is not used again
  const BufferPtr out = warp.pass(std::move(buffer));
  return out && gst_buffer_peek_memory(out.get(), 0) == gst_buffer_peek_memory(keep.get(), 0);
}

std::vector<Message> play(GstElement* pipeline) {
  const BusPtr bus(gst_element_get_bus(pipeline));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const auto ends = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  // Looks at the messages and leaves them there for messages_on().
  std::vector<Message> messages;
  for (bool playing = true; playing;) {
    GstMessage* message = gst_bus_timed_pop_filtered(bus.get(), GST_CLOCK_TIME_NONE,
                                                     static_cast<GstMessageType>(ends | GST_MESSAGE_WARNING));
    playing = !(GST_MESSAGE_TYPE(message) & ends);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
      gst_message_unref(message);
      continue;
    }
    const BusPtr one(gst_bus_new());
    gst_bus_post(one.get(), message);
    for (Message& m : messages_on(one.get())) messages.push_back(std::move(m));
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  for (Message& m : messages_on(bus.get())) messages.push_back(std::move(m));
  return messages;
}

std::vector<Message> play(const std::string& description) {
  GError* error = nullptr;
  const ElementPtr pipeline(gst_parse_launch(description.c_str(), &error));
  ck_assert_msg(pipeline && !error, "%s: %s", description.c_str(), error ? error->message : "no pipeline");
  return play(pipeline.get());
}

bool cuda_works() {
  const ElementPtr element(gst_element_factory_make("cudawarp", nullptr));
  if (!element) return false;
  gst_object_ref_sink(element.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "engine", "cuda");
  const bool works = gst_element_set_state(element.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
  gst_element_set_state(element.get(), GST_STATE_NULL);
  return works;
}

int run_tests(int argc, char** argv, Suite* (*suite)()) {
  if (test_engine() == "cuda") g_setenv("CK_FORK", "no", TRUE);
  gst_check_init(&argc, &argv);
  if (test_engine() == "cuda" && !cuda_works()) {
    const char* required = std::getenv("CUDAWARP_REQUIRE_CUDA");
    const bool failure = required && *required && std::strcmp(required, "0") != 0;
    g_printerr("%s: no CUDA device works\n", failure ? "FAILED" : "skipped");
    return failure ? 1 : 77;
  }
  const int failed = gst_check_run_suite(suite(), argv[0], argv[0]);
  if (shared_context) gst_context_unref(shared_context);
  return failed;
}

}  // namespace cudawarp::element

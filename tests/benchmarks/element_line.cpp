// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_line.h"

#include <cuda_runtime.h>
#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

#include <stdexcept>

namespace cudawarp::bench {
namespace {

void require(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

size_t size_of(GstCaps* caps) {
  GstVideoInfo info;
  require(gst_video_info_from_caps(&info, caps), "caps of no frames");
  return GST_VIDEO_INFO_SIZE(&info);
}

void touch(GstBuffer* buffer, int value) {
  gst_buffer_memset(buffer, 0, static_cast<guint8>(value), gst_buffer_get_size(buffer));
}

}  // namespace

GstCudaContext* context() {
  static GstCudaContext* const one = [] {
    require(gst_cuda_load_library(), "no CUDA driver");
    gst_cuda_memory_init_once();
    GstCudaContext* made = gst_cuda_context_new(0);
    require(made && gst_cuda_context_push(made), "no CUDA context");
    return made;
  }();
  return one;
}

Ref<GstCaps> caps_of(const char* format, int width, int height, bool cuda) {
  GstCaps* caps =
      gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT, width,
                          "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 0, 1, nullptr);
  if (cuda) gst_caps_set_features_simple(caps, gst_caps_features_new("memory:CUDAMemory", nullptr));
  return Ref<GstCaps>(caps);
}

Line::Line(const std::string& description, GstCaps* caps, GstBufferPool* downstream)
    : element_(gst_parse_launch(description.c_str(), nullptr)),
      caps_(gst_caps_ref(caps)),
      downstream_(downstream) {
  require(element_ != nullptr, "no such element or property: " + description);
  gst_object_ref_sink(element_);
  Ref<GstPad> in(gst_element_get_static_pad(element_, "sink")),
      out(gst_element_get_static_pad(element_, "src"));
  src_ = gst_pad_new("src", GST_PAD_SRC);
  Ref<GstPadTemplate> only(gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_object_ref_sink(only.get());
  sink_ = gst_pad_new_from_template(only.get(), "sink");
  gst_object_ref_sink(src_);
  gst_object_ref_sink(sink_);
  gst_pad_set_element_private(sink_, this);
  gst_pad_set_chain_function(sink_, take);
  gst_pad_set_query_function(sink_, answer);
  gst_pad_set_active(src_, TRUE);
  gst_pad_set_active(sink_, TRUE);
  require(
      gst_pad_link(src_, in.get()) == GST_PAD_LINK_OK && gst_pad_link(out.get(), sink_) == GST_PAD_LINK_OK,
      "pads do not link");
  GstContext* shared = gst_context_new_cuda_context(context());
  gst_element_set_context(element_, shared);
  gst_context_unref(shared);
  require(gst_element_set_state(element_, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE,
          "it does not start");
  gst_pad_push_event(src_, gst_event_new_stream_start("bench"));
  require(gst_pad_push_event(src_, gst_event_new_caps(caps)), "it does not take the caps");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(src_, gst_event_new_segment(&segment));
}

Line::~Line() {
  gst_pad_push_event(src_, gst_event_new_eos());
  gst_element_set_state(element_, GST_STATE_NULL);
  gst_pad_set_active(src_, FALSE);
  gst_pad_set_active(sink_, FALSE);
  gst_object_unref(src_);
  gst_object_unref(sink_);
  gst_object_unref(element_);
  gst_caps_unref(caps_);
}

bool Line::has_property(const char* name) const {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element_), name) != nullptr;
}

Ref<GstBufferPool> Line::proposed_pool() const {
  Ref<GstQuery> query(gst_query_new_allocation(caps_, TRUE));
  if (!gst_pad_peer_query(src_, query.get()) || gst_query_get_n_allocation_pools(query.get()) == 0)
    return nullptr;
  GstBufferPool* pool = nullptr;
  guint size = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, &size, nullptr, nullptr);
  if (!pool) return nullptr;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps_, size, 0, 0);
  gst_buffer_pool_set_config(pool, config);
  require(gst_buffer_pool_set_active(pool, TRUE), "the proposed pool does not start");
  return Ref<GstBufferPool>(pool);
}

void Line::push(const Ref<GstBuffer>& buffer) {
  const GstFlowReturn flow = gst_pad_push(src_, gst_buffer_ref(buffer.get()));
  require(flow == GST_FLOW_OK, std::string("a push ended with ") + gst_flow_get_name(flow));
}

GstFlowReturn Line::take(GstPad* pad, GstObject*, GstBuffer* buffer) {
  const auto* line = static_cast<Line*>(gst_pad_get_element_private(pad));
  if (line->on_output) line->on_output(buffer);
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}

gboolean Line::answer(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return gst_pad_query_default(pad, parent, query);
  const auto* line = static_cast<Line*>(gst_pad_get_element_private(pad));
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (line->downstream_ && caps)
    gst_query_add_allocation_pool(query, line->downstream_, static_cast<guint>(size_of(caps)), 0, 0);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return TRUE;
}

Ref<GstBufferPool> make_pool(GstCaps* caps, bool cuda) {
  Ref<GstBufferPool> pool(cuda ? gst_cuda_buffer_pool_new(context()) : gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size_of(caps)), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  require(gst_buffer_pool_set_config(pool.get(), config) && gst_buffer_pool_set_active(pool.get(), TRUE),
          "a pool does not start");
  return pool;
}

Buffers take_buffers(GstBufferPool* pool, int count) {
  Buffers buffers;
  for (int n = 0; n < count; ++n) {
    GstBuffer* buffer = nullptr;
    require(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) == GST_FLOW_OK, "a pool gives no buffer");
    buffers.emplace_back(buffer);
    if (!gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0))) touch(buffer, n);
  }
  return buffers;
}

Buffers pinned_buffers(GstCaps* caps, int count) {
  Buffers buffers;
  const size_t size = size_of(caps);
  context();
  for (int n = 0; n < count; ++n) {
    void* data = nullptr;
    require(cudaMallocHost(&data, size) == cudaSuccess, "no pinned memory");
    buffers.emplace_back(gst_buffer_new_wrapped_full(GstMemoryFlags(0), data, size, 0, size, data,
                                                     [](gpointer p) { cudaFreeHost(p); }));
    touch(buffers.back().get(), n);
  }
  return buffers;
}

bool is_pinned(GstBuffer* buffer) {
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) return false;
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, map.data) == cudaSuccess;
  gst_buffer_unmap(buffer, &map);
  return known && attributes.type == cudaMemoryTypeHost;
}

}  // namespace cudawarp::bench

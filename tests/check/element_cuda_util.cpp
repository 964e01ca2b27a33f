// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_cuda_util.h"

namespace cudawarp::element {

const Device& device() {
  static const Device one = [] {
    gst_cuda_load_library();
    gst_cuda_memory_init_once();
    GstCudaContext* context = gst_cuda_context_new(0);
    ck_assert(context != nullptr);
    return Device{context, gst_context_new_cuda_context(context)};
  }();
  return one;
}

std::string on_gpu(std::string caps) {
  return caps.replace(0, std::string("video/x-raw").size(), "video/x-raw(memory:CUDAMemory)");
}

bool is_on_gpu(const BufferPtr& buffer) {
  return gst_is_cuda_memory(gst_buffer_peek_memory(buffer.get(), 0));
}

GstCudaContext* context_of(const BufferPtr& buffer) {
  return GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer.get(), 0))->context;
}

Pool::Pool(GstCudaContext* context, const std::string& caps)
    : pool_(gst_cuda_buffer_pool_new(context)), caps_(caps_of(caps)) {
  GstStructure* config = gst_buffer_pool_get_config(pool_);
  const GstVideoInfo info = info_of(caps_.get());
  gst_buffer_pool_config_set_params(config, caps_.get(), GST_VIDEO_INFO_SIZE(&info), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  ck_assert(gst_buffer_pool_set_config(pool_, config));
  ck_assert(gst_buffer_pool_set_active(pool_, TRUE));
}

Pool::Pool(const Warp& warp, const std::string& caps) : caps_(caps_of(caps)) {
  const QueryPtr query(gst_query_new_allocation(caps_.get(), TRUE));
  ck_assert(gst_pad_peer_query(warp.harness()->srcpad, query.get()));
  ck_assert_uint_ge(gst_query_get_n_allocation_pools(query.get()), 1);
  ck_assert(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  guint size = 0, its_size = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool_, &size, nullptr, nullptr);
  ck_assert(GST_IS_CUDA_BUFFER_POOL(pool_));
  GstStructure* config = gst_buffer_pool_get_config(pool_);
  gst_buffer_pool_config_get_params(config, nullptr, &its_size, nullptr, nullptr);
  gst_structure_free(config);
  ck_assert_uint_eq(size, its_size);
  ck_assert(gst_buffer_pool_set_active(pool_, TRUE));
}

Pool::~Pool() {
  gst_buffer_pool_set_active(pool_, FALSE);
  gst_object_unref(pool_);
}

BufferPtr Pool::acquire(int number) const {
  GstBuffer* buffer = nullptr;
  ck_assert_int_eq(gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr), GST_FLOW_OK);
  GST_BUFFER_PTS(buffer) = number * (GST_SECOND / 25);
  return BufferPtr(buffer);
}

BufferPtr Pool::operator()(const Pixels& pixels, int number) const {
  BufferPtr buffer = acquire(number);
  write_pixels(pixels, buffer.get(), caps_.get());
  return buffer;
}

Pixels on_cpu(const std::string& properties, const std::string& in, const Pixels& src) {
  Warp warp(properties + " engine=cpu");
  warp.set_caps(in);
  return warp(src);
}

}  // namespace cudawarp::element

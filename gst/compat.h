// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every difference between the versions of GStreamer's CUDA library, and nothing else. From 1.24 on, memory
// carries the stream on which it was last written, and consumers follow it; in 1.22 there is no such thing,
// and a producer must finish before it pushes.
#pragma once

#include <gst/gst.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif

#include <utility>

namespace cudawarp {

// Makes a context current for as long as this lives.
class Current {
 public:
  explicit Current(GstCudaContext* context) : ok_(context && gst_cuda_context_push(context)) {}
  Current(const Current&) = delete;
  ~Current() {
    if (ok_) gst_cuda_context_pop(nullptr);
  }
  explicit operator bool() const { return ok_; }

 private:
  bool ok_;
};

// A stream of one's own in a context. Create and destroy it with that context current.
class OwnStream {
 public:
  OwnStream() = default;
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() { reset(); }
  // Of a context that has been destroyed: the stream stays, in whose driver calls would crash.
  void forget() { stream_ = nullptr; }

#if GST_CHECK_VERSION(1, 24, 0)
  bool create(GstCudaContext* context) {
    reset();
    stream_ = gst_cuda_stream_new(context);
    return stream_ != nullptr;
  }
  void reset() {
    gst_clear_cuda_stream(&stream_);
  }
  CUstream handle() const {
    return gst_cuda_stream_get_handle(stream_);
  }

  // Buffers of a pool with this configuration are to be on this stream, unless the pool has one already.
  void set_on(GstStructure* pool_config) const {
    GstCudaStream* theirs = gst_buffer_pool_config_get_cuda_stream(pool_config);
    if (!theirs) gst_buffer_pool_config_set_cuda_stream(pool_config, stream_);
    gst_clear_cuda_stream(&theirs);
  }

 private:
  GstCudaStream* stream_ = nullptr;
#else
  bool create(GstCudaContext*) {
    reset();
    return CuStreamCreate(&stream_, CU_STREAM_DEFAULT) == CUDA_SUCCESS;
  }
  void reset() {
    if (stream_) CuStreamDestroy(std::exchange(stream_, nullptr));
  }
  CUstream handle() const {
    return stream_;
  }
  void set_on(GstStructure*) const {}

 private:
  CUstream stream_ = nullptr;
#endif
};

// The stream that users of this memory follow; null where it has none, and its producer has finished.
inline CUstream memory_stream(GstMemory* memory) {
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaStream* stream = gst_cuda_memory_get_stream(GST_CUDA_MEMORY_CAST(memory));
  return stream ? gst_cuda_stream_get_handle(stream) : nullptr;
#else
  (void)memory;
  return nullptr;
#endif
}

// Says that nothing is under way on this memory any more, whatever stream it is on. After its last mapping.
inline void mark_finished(GstMemory* memory) {
#if GST_CHECK_VERSION(1, 24, 0)
  GST_MEMORY_FLAG_UNSET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
#else
  (void)memory;
#endif
}

}  // namespace cudawarp

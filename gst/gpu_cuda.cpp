// SPDX-License-Identifier: LGPL-2.1-or-later
#include <mutex>

#include "allocation.h"
#include "compat.h"
#include "gpu.h"
#include "warp.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

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

GstMemory* cuda_memory_of(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) != 1) return nullptr;
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return gst_is_cuda_memory(memory) ? memory : nullptr;
}

int device_of(GstCudaContext* context) {
  guint id = 0;
  g_object_get(context, "cuda-device-id", &id, nullptr);
  return static_cast<int>(id);
}

const Error kNoContext{"gst_cuda_context_push: cannot make the CUDA context current"};

class CudaGpu final : public Gpu {
 public:
  ~CudaGpu() override {
    close();
    gst_clear_object(&context_);
  }

  void set_context(GstElement* element, GstContext* context, int device_id) override {
    std::lock_guard lock(mutex_);
    gst_cuda_handle_set_context(element, context, device_id, &context_);
  }
  bool context_query(GstElement* element, GstQuery* query) override {
    std::lock_guard lock(mutex_);
    return gst_cuda_handle_context_query(element, query, context_);
  }

  Status open(GstElement* element, int device_id) override;
  void close() override;
  bool is_open() const override { return engine_ != nullptr; }
  std::string device_name() const override { return engine_ ? engine_->device_name() : std::string(); }
  bool adopt(GstBuffer* buffer, int device_id) override;
  bool propose_allocation(GstQuery* query) override;
  bool decide_allocation(GstQuery* query) override;
  Status warp(const WarpPlan& plan, const Picture& in, const Picture& out) override;

 private:
  Status make_engine();
  bool is_ours(GstMemory* memory) const;
  CUstream choose_stream(GstMemory* in, GstMemory* out) const;
  GstBufferPool* configure(GstBufferPool* pool, GstCaps* caps, guint& size, guint min, guint max) const;

  // Recursive: finding a context calls set_context() back.
  mutable std::recursive_mutex mutex_;
  GstCudaContext* context_ = nullptr;
  std::unique_ptr<CudaEngine> engine_;
  OwnStream stream_;
};

Status CudaGpu::open(GstElement* element, int device_id) {
  if (!Gpu::driver_available()) return Error{"no CUDA driver is installed, or it finds no device"};
  std::lock_guard lock(mutex_);
  if (!gst_cuda_ensure_element_context(element, device_id, &context_)) {
    const std::string which =
        device_id < 0 ? "CUDA device" : "CUDA device with number " + std::to_string(device_id);
    return Error{"no " + which + " can be used"};
  }
  return make_engine();
}

Status CudaGpu::make_engine() {
  const Current current(context_);
  if (!current) return kNoContext;
  auto engine = CudaEngine::create();
  if (const Error* why = error_of(engine)) return *why;
  if (!stream_.create(context_)) return Error{"cuStreamCreate: cannot make a CUDA stream"};
  engine_ = std::move(std::get<std::unique_ptr<CudaEngine>>(engine));
  return std::nullopt;
}

void CudaGpu::close() {
  std::lock_guard lock(mutex_);
  {
    const Current current(context_);
    engine_.reset();
    stream_.reset();
  }
  gst_clear_object(&context_);
}

bool CudaGpu::is_ours(GstMemory* memory) const {
  GstCudaContext* theirs = GST_CUDA_MEMORY_CAST(memory)->context;
  return theirs == context_ || gst_cuda_context_get_handle(theirs) == gst_cuda_context_get_handle(context_);
}

bool CudaGpu::adopt(GstBuffer* buffer, int device_id) {
  GstMemory* memory = cuda_memory_of(buffer);
  if (!engine_ || !memory || is_ours(memory)) return false;
  GstCudaContext* theirs = GST_CUDA_MEMORY_CAST(memory)->context;
  if (device_id >= 0 && device_of(theirs) != device_id) return false;
  std::lock_guard lock(mutex_);
  gst_object_ref(theirs);
  close();
  context_ = theirs;
  if (auto failed = make_engine()) {
    GST_WARNING("cannot use the context of an input buffer: %s", failed->words.c_str());
    return false;
  }
  return true;
}

// Gives a pool this configuration and reads back the size it made of it. Takes the pool; null where it
// refuses.
GstBufferPool* CudaGpu::configure(GstBufferPool* pool, GstCaps* caps, guint& size, guint min,
                                  guint max) const {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  stream_.set_on(config);
  if (!gst_buffer_pool_set_config(pool, config)) {
    gst_object_unref(pool);
    return nullptr;
  }
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  return pool;
}

bool CudaGpu::propose_allocation(GstQuery* query) {
  GstVideoInfo info;
  GstCaps* caps = allocation_caps(query, info);
  if (!caps) return false;
  guint size = GST_VIDEO_INFO_SIZE(&info);
  GstBufferPool* pool = configure(gst_cuda_buffer_pool_new(context_), caps, size, 0, 0);
  if (!pool) return false;
  gst_query_add_allocation_pool(query, pool, size, 0, 0);
  gst_object_unref(pool);
  return true;
}

bool CudaGpu::decide_allocation(GstQuery* query) {
  GstVideoInfo info;
  GstCaps* caps = allocation_caps(query, info);
  if (!caps) return false;
  GstBufferPool* pool = nullptr;
  guint size = GST_VIDEO_INFO_SIZE(&info), min = 0, max = 0;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  if (pool && (!GST_IS_CUDA_BUFFER_POOL(pool) || GST_CUDA_BUFFER_POOL(pool)->context != context_))
    gst_clear_object(&pool);
  if (pool) pool = configure(pool, caps, size, min, max);
  if (!pool) {
    size = GST_VIDEO_INFO_SIZE(&info);
    pool = configure(gst_cuda_buffer_pool_new(context_), caps, size, min, max);
  }
  if (!pool) return false;
  put_pool(query, pool, size, min, max);
  return true;
}

// Work goes on the output's stream, so that its consumers follow it; else on the input's; else on one's own.
CUstream CudaGpu::choose_stream(GstMemory* in, GstMemory* out) const {
  if (out)
    if (CUstream stream = memory_stream(out)) return stream;
  if (in)
    if (CUstream stream = memory_stream(in)) return stream;
  return stream_.handle();
}

Status CudaGpu::warp(const WarpPlan& plan, const Picture& in, const Picture& out) {
  // Device memory of another context is no memory of ours: it is mapped to the host.
  const auto device_memory = [this](GstBuffer* buffer) {
    GstMemory* memory = cuda_memory_of(buffer);
    return memory && is_ours(memory) ? memory : nullptr;
  };
  const auto flags = [](GstMemory* device, int access) { return device ? access | GST_MAP_CUDA : access; };
  const bool in_on_device = device_memory(in.buffer), out_on_device = device_memory(out.buffer);
  const MappedFrame src(in, flags(device_memory(in.buffer), GST_MAP_READ));
  if (src.error()) return src.error();
  const MappedFrame dst(out, flags(device_memory(out.buffer), GST_MAP_WRITE));
  if (dst.error()) return dst.error();
  // Mapping may have replaced a memory; look only now.
  GstMemory *in_memory = in_on_device ? device_memory(in.buffer) : nullptr,
            *out_memory = out_on_device ? device_memory(out.buffer) : nullptr;

  const Current current(context_);
  if (!current) return kNoContext;
  const CUstream stream = choose_stream(in_memory, out_memory);
  const CUstream in_stream = in_memory ? memory_stream(in_memory) : nullptr;
  const CUstream out_stream = out_memory ? memory_stream(out_memory) : nullptr;
  if (in_stream)
    if (auto failed = engine_->order(in_stream, stream)) return failed;
  if (auto failed = engine_->warp(plan, src.view<ConstImage>(in_on_device ? Memory::device : Memory::host),
                                  dst.view<Image>(out_on_device ? Memory::device : Memory::host), stream))
    return failed;
  // Upstream writes the next frame into this memory as soon as it is given back: not before it has been read.
  if (in_stream)
    if (auto failed = engine_->order(stream, in_stream)) return failed;
  // Whoever cannot follow the stream gets finished work, and host memory is read and written by then.
  if (!in_on_device || !out_stream)
    if (auto failed = engine_->synchronize(stream)) return failed;
  return std::nullopt;
}

bool start_driver() {
  if (!gst_cuda_load_library() || CuInit(0) != CUDA_SUCCESS) return false;
  gst_cuda_memory_init_once();
  return true;
}

}  // namespace

std::unique_ptr<Gpu> Gpu::create() {
  return std::make_unique<CudaGpu>();
}

bool Gpu::driver_available() {
  static const bool available = start_driver();
  return available;
}

}  // namespace cudawarp

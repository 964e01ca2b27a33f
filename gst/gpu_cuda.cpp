// SPDX-License-Identifier: LGPL-2.1-or-later
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocation.h"
#include "compat.h"
#include "context.h"
#include "device_pool.h"
#include "gpu.h"
#include "pinned_memory.h"
#include "warp.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

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

// What frames in flight do not share: each is on a lane of its own.
struct Lane {
  std::unique_ptr<CudaEngine> engine;
  OwnStream stream;
  bool busy = false;  // a frame has begun and not been waited for
};

// A frame on its way, which the host has to wait for.
class LaneWork final : public Work {
 public:
  LaneWork(GstCudaContext* context, const Picture& in, int in_flags, const Picture& out, int out_flags)
      : context_(context), dst_(out, out_flags) {
    src_.emplace(in, in_flags);
  }
  ~LaneWork() override { wait(); }

  Status error() const { return src_->error() ? src_->error() : dst_.error(); }
  ConstImage source(Memory memory) const { return src_->view<ConstImage>(memory); }
  Image target(Memory memory) const { return dst_.view<Image>(memory); }

  // The frame is under way; `output` is its CUDA memory, if it is in such.
  void begun(Lane& lane, CUstream stream, GstMemory* output, bool input_is_free) {
    lane_ = &lane, stream_ = stream, output_ = output, input_is_free_ = input_is_free;
    lane.busy = true;
    if (input_is_free) src_.reset();
  }

  Status wait() override {
    if (!lane_) return std::nullopt;
    Lane& lane = *std::exchange(lane_, nullptr);
    lane.busy = false;
    const Live live(context_);
    if (!live) return live.error();
    if (auto failed = lane.engine->synchronize(stream_)) return failed;
    if (output_) mark_finished(output_);
    return std::nullopt;
  }
  bool input_is_free() const override { return input_is_free_; }

 private:
  GstCudaContext* context_;
  MappedFrame dst_;
  std::optional<MappedFrame> src_;
  Lane* lane_ = nullptr;
  CUstream stream_ = nullptr;
  GstMemory* output_ = nullptr;
  bool input_is_free_ = false;
};

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
  Status check() const override { return is_open() ? Live(context_).error() : std::nullopt; }
  void close() override;
  bool is_open() const override { return !lanes_.empty(); }
  std::string device_name() const override { return is_open() ? lanes_[0]->engine->device_name() : ""; }
  bool is_elsewhere(GstBuffer* buffer, int device_id) const override;
  bool adopt(GstBuffer* buffer) override;
  bool propose_allocation(GstQuery* query, guint buffers) override;
  Status decide_allocation(GstQuery* query) override;
  bool propose_host_allocation(GstQuery* query, guint buffers) override;
  void decide_host_allocation(GstQuery* query) override;
  Expected<std::unique_ptr<Work>> begin(const WarpPlan& plan, const Picture& in, const Picture& out) override;
  void measure_time(bool on) override { timed_ = on; }
  Numbers numbers() const override;

 private:
  Status make_lane();
  Expected<Lane*> free_lane();
  bool is_ours(GstMemory* memory) const;
  // The buffer's memory where it is CUDA memory of this context. Memory of another context is none to us: it
  // is mapped to the host.
  GstMemory* device_memory(GstBuffer* buffer) const {
    GstMemory* memory = cuda_memory_of(buffer);
    return memory && is_ours(memory) ? memory : nullptr;
  }
  GstBufferPool* configure(GstBufferPool* pool, GstCaps* caps, guint& size, guint min, guint max) const;

  // Guards what other threads look at: the context, the set of lanes, the numbers. Recursive: finding a
  // context calls set_context() back.
  mutable std::recursive_mutex mutex_;
  GstCudaContext* context_ = nullptr;
  std::vector<std::unique_ptr<Lane>>
      lanes_;                       // while open, at least one; its stream is that of one's own pools
  GstAllocator* pinned_ = nullptr;  // while open
  Numbers past_;                    // of the lanes that are gone
  bool timed_ = false;
};

Status CudaGpu::open(GstElement* element, int device_id) {
  if (!Gpu::driver_available()) return Error{"no CUDA driver is installed, or it finds no device"};
  std::lock_guard lock(mutex_);
  past_ = {};
  if (!gst_cuda_ensure_element_context(element, device_id, &context_)) {
    const std::string which =
        device_id < 0 ? "CUDA device" : "CUDA device with number " + std::to_string(device_id);
    return Error{"no " + which + " can be used"};
  }
  return make_lane();
}

Status CudaGpu::make_lane() {
  keep_handle(context_);
  const Live live(context_);
  if (!live) return live.error();
  auto lane = std::make_unique<Lane>();
  auto engine = CudaEngine::create();
  if (const Error* why = error_of(engine)) return *why;
  lane->engine = std::move(std::get<std::unique_ptr<CudaEngine>>(engine));
  if (!lane->stream.create(context_)) return Error{"cuStreamCreate: cannot make a CUDA stream"};
  std::lock_guard lock(mutex_);
  lanes_.push_back(std::move(lane));
  if (!pinned_) pinned_ = pinned_allocator_new(context_);
  return std::nullopt;
}

Expected<Lane*> CudaGpu::free_lane() {
  for (const auto& lane : lanes_)
    if (!lane->busy) return lane.get();
  if (auto failed = make_lane()) return *failed;
  return lanes_.back().get();
}

void CudaGpu::close() {
  std::lock_guard lock(mutex_);
  past_ = numbers();
  {
    const Live live(context_);
    if (!live)  // its objects have gone with the context; the runtime would look for them in another
      for (const auto& lane : lanes_) (void)lane->engine.release(), lane->stream.forget();
    lanes_.clear();
  }
  gst_clear_object(&pinned_);
  gst_clear_object(&context_);
}

Gpu::Numbers CudaGpu::numbers() const {
  std::lock_guard lock(mutex_);
  Numbers all = past_;
  for (const auto& lane : lanes_) all.engine += lane->engine->counters();
  if (is_open()) all.device = device_name();
  if (pinned_) all.pinned_allocations += pinned_allocations(pinned_);
  return all;
}

bool CudaGpu::is_ours(GstMemory* memory) const {
  GstCudaContext* theirs = GST_CUDA_MEMORY_CAST(memory)->context;
  return theirs == context_ || gst_cuda_context_get_handle(theirs) == gst_cuda_context_get_handle(context_);
}

bool CudaGpu::is_elsewhere(GstBuffer* buffer, int device_id) const {
  GstMemory* memory = cuda_memory_of(buffer);
  if (!is_open() || !memory || is_ours(memory)) return false;
  return device_id < 0 || device_of(GST_CUDA_MEMORY_CAST(memory)->context) == device_id;
}

bool CudaGpu::adopt(GstBuffer* buffer) {
  GstCudaContext* theirs = GST_CUDA_MEMORY_CAST(cuda_memory_of(buffer))->context;
  std::lock_guard lock(mutex_);
  gst_object_ref(theirs);
  close();
  context_ = theirs;
  if (auto failed = make_lane()) {
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
  lanes_[0]->stream.set_on(config);
  if (!gst_buffer_pool_set_config(pool, config)) {
    gst_object_unref(pool);
    return nullptr;
  }
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  return pool;
}

bool CudaGpu::propose_allocation(GstQuery* query, guint buffers) {
  GstVideoInfo info;
  GstCaps* caps = allocation_caps(query, info);
  if (!caps) return false;
  guint size = GST_VIDEO_INFO_SIZE(&info);
  GstBufferPool* pool = configure(device_pool_new(context_), caps, size, buffers, 0);
  if (!pool) return false;
  gst_query_add_allocation_pool(query, pool, size, buffers, 0);
  gst_object_unref(pool);
  return true;
}

bool CudaGpu::propose_host_allocation(GstQuery* query, guint buffers) {
  return propose_system_allocation(query, pinned_, buffers);
}

void CudaGpu::decide_host_allocation(GstQuery* query) {
  if (!has_pool(query)) prefer_allocator(query, pinned_);
}

Status CudaGpu::decide_allocation(GstQuery* query) {
  GstVideoInfo info;
  GstCaps* caps = allocation_caps(query, info);
  if (!caps) return Error{"no video caps"};
  if (auto failed = check()) return failed;
  GstBufferPool* pool = nullptr;
  guint size = GST_VIDEO_INFO_SIZE(&info), min = 0, max = 0;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  if (pool && (!GST_IS_CUDA_BUFFER_POOL(pool) || GST_CUDA_BUFFER_POOL(pool)->context != context_))
    gst_clear_object(&pool);
  if (pool) pool = configure(pool, caps, size, min, max);
  if (!pool) {
    size = GST_VIDEO_INFO_SIZE(&info);
    pool = configure(device_pool_new(context_), caps, size, min, max);
  }
  if (!pool)  // it tries its memory when it is configured
    return Error{"cuMemAlloc: no memory for an output frame of " + std::to_string(info.width) + "x" +
                 std::to_string(info.height)};
  put_pool(query, pool, size, min, max);
  return std::nullopt;
}

// Between CUDA memories work goes on the output's stream, so that its consumers follow it; else on the
// input's; else on one's own. With a side in host memory it goes on its lane's stream, beside the other
// lanes, and the output's stream is left to its consumers.
Expected<std::unique_ptr<Work>> CudaGpu::begin(const WarpPlan& plan, const Picture& in, const Picture& out) {
  const auto flags = [](bool device, int access) { return device ? access | GST_MAP_CUDA : access; };
  const auto memory_of = [](bool device) { return device ? Memory::device : Memory::host; };
  const bool in_on_device = device_memory(in.buffer), out_on_device = device_memory(out.buffer);
  const Live live(context_);
  if (!live) return *live.error();
  auto work = std::make_unique<LaneWork>(context_, in, flags(in_on_device, GST_MAP_READ), out,
                                         flags(out_on_device, GST_MAP_WRITE));
  if (auto failed = work->error()) return *failed;
  // Mapping may have replaced a memory; look only now.
  GstMemory *in_memory = in_on_device ? device_memory(in.buffer) : nullptr,
            *out_memory = out_on_device ? device_memory(out.buffer) : nullptr;
  const CUstream in_stream = in_memory ? memory_stream(in_memory) : nullptr;
  const CUstream out_stream = out_memory ? memory_stream(out_memory) : nullptr;

  const auto found = free_lane();
  if (const Error* why = error_of(found)) return *why;
  Lane& lane = *std::get<Lane*>(found);
  CudaEngine& engine = *lane.engine;
  CUstream stream = lane.stream.handle();
  if (in_on_device && out_on_device) stream = out_stream ? out_stream : in_stream ? in_stream : stream;

  // The input has been written, and whoever read the output's memory before has done so.
  for (const CUstream before : {in_stream, out_stream})
    if (before)
      if (auto failed = engine.order(before, stream)) return *failed;
  engine.measure_time(timed_);
  if (auto failed = engine.warp(plan, work->source(memory_of(in_on_device)),
                                work->target(memory_of(out_on_device)), stream))
    return *failed;
  // Upstream writes the next frame into this memory as soon as it is given back: not before it has been read.
  if (in_stream && in_stream != stream)
    if (auto failed = engine.let_overwrite_source(in_stream)) {
      (void)engine.synchronize(stream);
      return *failed;
    }
  // Whoever cannot follow the stream gets finished work, and host memory is read and written by then.
  if (in_on_device && out_stream && stream == out_stream) return std::unique_ptr<Work>();
  work->begun(lane, stream, out_memory, in_stream != nullptr);
  return std::unique_ptr<Work>(std::move(work));
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

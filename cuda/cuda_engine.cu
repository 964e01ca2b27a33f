// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "cuda_kernels.h"
#include "device_memory.h"
#include "gpu_timer.h"
#include "pass_io.h"
#include "trace.h"
#include "warp.h"

namespace cudawarp {
namespace {

// Of planes and rows in staging memory: right for textures.
constexpr size_t kPlaneAlignment = 512, kRowAlignment = 32;

size_t align(size_t n) {
  return (n + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
}

// A frame in staging memory: every plane and row aligned. Where tight rows are, they stay tight, so that a
// tight frame is one piece here as in host memory.
struct Layout {
  int planes;
  std::array<size_t, kMaxPlanes> offset{}, pitch{};
  std::array<int, kMaxPlanes> row_bytes{}, rows{};
  size_t size = 0;

  Layout(const FrameDesc& frame) {
    const FormatInfo& f = info(frame.format);
    planes = f.planes;
    for (int k = 0; k < f.planes; ++k) {
      row_bytes[k] = f.row_bytes(k, frame.skip_x + frame.width);
      rows[k] = f.rows(k, frame.skip_y + frame.height);
      pitch[k] = row_bytes[k] % kRowAlignment == 0 ? row_bytes[k] : align(row_bytes[k]);
      offset[k] = align(size);
      size = offset[k] + pitch[k] * rows[k];
    }
  }

  size_t plane_bytes(int k) const { return size_t(row_bytes[k]) * rows[k]; }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (int k = 0; k < planes; ++k) sum += plane_bytes(k);
    return sum;
  }
};

// Copies a frame of this layout's size: planes without gaps, and planes that follow each other without gaps
// on both sides, in one piece.
template <class Byte>
Status copy_frame(const Layout& layout, const Image& to, const BasicImage<Byte>& from, cudaMemcpyKind kind,
                  cudaStream_t stream) {
  const auto tight = [&](int k) {
    return to.plane[k].pitch == layout.row_bytes[k] && from.plane[k].pitch == layout.row_bytes[k];
  };
  for (int k = 0, next; k < layout.planes; k = next) {
    next = k + 1;
    if (!tight(k)) {
      CUDAWARP_TRY(cudaMemcpy2DAsync(to.plane[k].data, to.plane[k].pitch, from.plane[k].data,
                                     from.plane[k].pitch, layout.row_bytes[k], layout.rows[k], kind, stream));
      continue;
    }
    size_t bytes = layout.plane_bytes(k);
    for (; next < layout.planes && tight(next); ++next) {
      if (to.plane[next].data != to.plane[k].data + bytes ||
          from.plane[next].data != from.plane[k].data + bytes)
        break;
      bytes += layout.plane_bytes(next);
    }
    CUDAWARP_TRY(cudaMemcpyAsync(to.plane[k].data, from.plane[k].data, bytes, kind, stream));
  }
  return std::nullopt;
}

class Engine final : public CudaEngine {
 public:
  ~Engine() override {
    if (done_.get()) cudaEventSynchronize(done_.get());
    // The staging buffers go back to the pool before it does.
    src_staging_ = StagingBuffer{};
    dst_staging_ = StagingBuffer{};
    if (pool_) cudaMemPoolDestroy(pool_);
  }

  Status init();
  Status warp(const WarpPlan& plan, const ConstImage& src, const Image& dst, CUstream_st* stream) override;
  Status order(CUstream_st* earlier, CUstream_st* later) override;
  Status let_overwrite_source(CUstream_st* writer) override;
  Status synchronize(CUstream_st* stream) override;
  void measure_time(bool on) override { timed_ = on; }
  Counters counters() const override {
    std::lock_guard lock(published_lock_);
    return published_;
  }
  const std::string& device_name() const override { return device_name_; }

 private:
  Status reserve(StagingBuffer& staging, const Layout& layout, Image& frame, cudaStream_t stream);
  Status stage_source(const WarpPlan& plan, ConstImage& src, cudaStream_t stream);
  Status set_textures(KernelArgs& args, const WarpPlan& plan, bool& gather);
  struct Field;
  void set_field(Field& field, const KernelArgs& args, Interpolation interpolation, bool gather);
  Status launch(const WarpPlan& plan, const ConstImage& src, const Image& dst, cudaStream_t stream);
  Status queue(const WarpPlan& plan, const ConstImage& src, const Image& dst, cudaStream_t stream);
  void publish();

  cudaMemPool_t pool_ = nullptr;
  Event order_;
  Event done_;  // all work queued so far, on whatever streams
  Event read_;  // the last frame's source has been read; where that is not done_
  bool done_is_read_ = true;
  TextureCache textures_;
  bool gathers_ = false;
  // What was launched last for a frame, or for each of its fields: frames mostly differ in addresses only.
  struct Field {
    KernelArgs args{};
    Launch launch{};
    Interpolation interpolation{};
    bool gather = false;
  };
  std::array<Field, 2> fields_;
  StagingBuffer src_staging_, dst_staging_;
  GpuTimer timer_;
  bool timed_ = false;
  Counters counters_;  // of the thread that queues frames
  mutable std::mutex published_lock_;
  Counters published_;  // a copy for the others
  std::string device_name_;
};

Status Engine::init() {
  CUDAWARP_TRY(probe_kernels());
  int device = 0;
  CUDAWARP_TRY(cudaGetDevice(&device));
  cudaDeviceProp device_properties;
  CUDAWARP_TRY(cudaGetDeviceProperties(&device_properties, device));
  device_name_ = device_properties.name;
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, device};
  CUDAWARP_TRY(cudaMemPoolCreate(&pool_, &props));
  uint64_t keep_all = UINT64_MAX;
  CUDAWARP_TRY(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all));
  if (auto failed = order_.create()) return failed;
  if (auto failed = done_.create()) return failed;
  if (auto failed = read_.create()) return failed;
  if (auto failed = textures_.init()) return failed;
  return probe_gathers(gathers_);
}

// Whether the kernels can read a device frame where it lies: words must be aligned.
bool readable(const WarpPlan& plan, const ConstImage& src) {
  const FormatInfo& f = info(plan.src.format);
  for (int g = 0; g < f.groups; ++g)
    for (int k = 0; k < f.group[g].channels; ++k) {
      const ConstImage::Plane& plane = src.plane[f.group[g].plane[k]];
      const auto at = reinterpret_cast<uintptr_t>(plane.data) | static_cast<uintptr_t>(plane.pitch);
      if (at % loaded_bytes(f.group[g].packing) != 0) return false;
    }
  return true;
}

// Makes `frame` the place of a frame of this layout in staging memory.
Status Engine::reserve(StagingBuffer& staging, const Layout& layout, Image& frame, cudaStream_t stream) {
  const uint64_t before = counters_.staging_allocations;
  if (auto failed = staging.reserve(layout.size, pool_, stream, counters_.staging_allocations)) return failed;
  ++(counters_.staging_allocations == before ? counters_.staging_hits : counters_.staging_misses);
  frame.memory = Memory::device;
  for (int k = 0; k < layout.planes; ++k)
    frame.plane[k] = {staging.data() + layout.offset[k], static_cast<ptrdiff_t>(layout.pitch[k])};
  return std::nullopt;
}

// Leaves `src` as a device frame that the kernels can read.
Status Engine::stage_source(const WarpPlan& plan, ConstImage& src, cudaStream_t stream) {
  if (src.memory == Memory::device && readable(plan, src)) return std::nullopt;
  const Range range("cudawarp upload");
  const Layout layout(plan.src);
  Image staged;
  if (auto failed = reserve(src_staging_, layout, staged, stream)) return failed;
  const bool upload = src.memory == Memory::host;
  if (auto failed =
          copy_frame(layout, staged, src, upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice, stream))
    return failed;
  if (upload) counters_.bytes_uploaded += layout.bytes();
  src.memory = Memory::device;
  for (int k = 0; k < layout.planes; ++k) src.plane[k] = {staged.plane[k].data, staged.plane[k].pitch};
  return std::nullopt;
}

// Textures for every pass where all can be done by gathers.
Status Engine::set_textures(KernelArgs& args, const WarpPlan& plan, bool& gather) {
  gather = gathers_;
  const auto for_each_plane = [&](const auto& run) -> Status {
    for (int n = 0; n < args.passes && gather; ++n) {
      KernelPass& k = args.pass[n];
      const int planes = is_packed(k.plan.store) ? 1 : k.plan.src_channels;
      for (int c = 0; c < planes && gather; ++c)
        if (auto failed = run(k, c)) return failed;
    }
    return std::nullopt;
  };
  if (auto failed = for_each_plane([&](KernelPass& k, int c) -> Status {
        gather = texel_bytes(k, plan.interpolation) > 0 &&
                 textures_.can_hold(k.src.data[c], k.src.pitch[c], k.plan.src_w, k.plan.src_h);
        return std::nullopt;
      }))
    return failed;
  return for_each_plane([&](KernelPass& k, int c) {
    return textures_.get(k.src.data[c], k.src.pitch[c], k.plan.src_w, k.plan.src_h,
                         texel_bytes(k, plan.interpolation), address_mode(k.plan.outside), done_.get(),
                         k.texture[c]);
  });
}

// Whether the same layout serves both passes: the plans are the same, and so is what decides about words.
bool same_layout(const KernelPass& a, const KernelPass& b) {
  const auto alike = [](const auto& one, const auto& other) {
    for (int c = 0; c < kMaxChannels; ++c)
      if ((reinterpret_cast<uintptr_t>(one.data[c]) ^ reinterpret_cast<uintptr_t>(other.data[c])) %
                  kLayoutAlignment !=
              0 ||
          one.pitch[c] != other.pitch[c])
        return false;
    return true;
  };
  return std::memcmp(&a.plan, &b.plan, sizeof a.plan) == 0 && alike(a.src, b.src) && alike(a.dst, b.dst);
}

// A frame in one launch, an interlaced one field by field; all in device memory.
void Engine::set_field(Field& field, const KernelArgs& args, Interpolation interpolation, bool gather) {
  bool same = field.launch.kernel && field.args.passes == args.passes &&
              field.interpolation == interpolation && field.gather == gather;
  for (int n = 0; n < args.passes && same; ++n) same = same_layout(field.args.pass[n], args.pass[n]);
  if (!same) {
    field = {args, {}, interpolation, gather};
    field.launch = lay_out(field.args, interpolation, gather);
    return;
  }
  for (int n = 0; n < args.passes; ++n) {
    KernelPass& k = field.args.pass[n];
    k.src = args.pass[n].src, k.dst = args.pass[n].dst;
    std::copy_n(args.pass[n].texture, kMaxChannels, k.texture);
  }
}

Status Engine::launch(const WarpPlan& plan, const ConstImage& src, const Image& dst, cudaStream_t stream) {
  const Range range("cudawarp warp");
  if (timed_)
    if (auto failed = timer_.begin(stream)) return failed;
  const int groups = info(plan.src.format).groups;
  for (int first = 0; first < plan.passes; first += groups) {
    KernelArgs args{};
    args.passes = std::min(groups, plan.passes - first);
    for (int n = 0; n < args.passes; ++n) {
      KernelPass& k = args.pass[n];
      k.plan = plan.pass[first + n];
      k.src = source_of(plan, k.plan, src);
      k.dst = target_of(plan, k.plan, dst);
    }
    bool gather = false;
    if (auto failed = set_textures(args, plan, gather)) return failed;
    Field& field = fields_[first > 0];
    set_field(field, args, plan.interpolation, gather);
    if (auto failed = cuda_status(launch_warp(field.launch, field.args, stream), "cudaLaunchKernel"))
      return failed;
  }
  return timer_.end(stream);
}

Status Engine::queue(const WarpPlan& plan, const ConstImage& source, const Image& dst, cudaStream_t stream) {
  // Staging memory and textures serve one frame after the other, whatever streams the frames come on: streams
  // go when pools are renegotiated, an event stays.
  CUDAWARP_TRY(cudaStreamWaitEvent(stream, done_.get(), 0));
  ConstImage src = source;
  if (auto failed = stage_source(plan, src, stream)) return failed;
  Image result = dst;
  const bool download = dst.memory == Memory::host;
  const Layout layout(plan.dst);
  if (download)
    if (auto failed = reserve(dst_staging_, layout, result, stream)) return failed;
  if (auto failed = launch(plan, src, result, stream)) return failed;
  done_is_read_ = !download;
  if (download) {
    CUDAWARP_TRY(cudaEventRecord(read_.get(), stream));
    const Range range("cudawarp download");
    if (auto failed = copy_frame(layout, dst, result, cudaMemcpyDeviceToHost, stream)) return failed;
    counters_.bytes_downloaded += layout.bytes();
  }
  CUDAWARP_TRY(cudaEventRecord(done_.get(), stream));
  return std::nullopt;
}

Status Engine::warp(const WarpPlan& plan, const ConstImage& src, const Image& dst, CUstream_st* stream) {
  Status failed = timer_.collect(counters_.timed_frames, counters_.total_time, counters_.last_time);
  if (!failed) failed = queue(plan, src, dst, stream);
  if (failed)
    cuda_status(cudaStreamSynchronize(stream), "");  // part of it may be on its way
  else
    ++counters_.frames;
  publish();
  return failed;
}

void Engine::publish() {
  counters_.textures_created = textures_.created();
  counters_.texture_hits = textures_.hits();
  std::lock_guard lock(published_lock_);
  published_ = counters_;
}

Status Engine::order(CUstream_st* earlier, CUstream_st* later) {
  if (earlier == later) return std::nullopt;
  CUDAWARP_TRY(cudaEventRecord(order_.get(), earlier));
  CUDAWARP_TRY(cudaStreamWaitEvent(later, order_.get(), 0));
  return std::nullopt;
}

Status Engine::let_overwrite_source(CUstream_st* writer) {
  CUDAWARP_TRY(cudaStreamWaitEvent(writer, done_is_read_ ? done_.get() : read_.get(), 0));
  return std::nullopt;
}

Status Engine::synchronize(CUstream_st* stream) {
  ++counters_.waits;
  const cudaError_t error = cudaStreamSynchronize(stream);
  Status failed = cuda_status(error, "cudaStreamSynchronize");
  if (!failed) failed = timer_.collect(counters_.timed_frames, counters_.total_time, counters_.last_time);
  publish();
  return failed;
}

}  // namespace

Expected<std::unique_ptr<CudaEngine>> CudaEngine::create() {
  auto engine = std::make_unique<Engine>();
  if (auto failed = engine->init()) return *failed;
  return std::unique_ptr<CudaEngine>(std::move(engine));
}

}  // namespace cudawarp

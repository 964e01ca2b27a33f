// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>

#include "cuda_kernels.h"
#include "device_memory.h"
#include "pass_io.h"
#include "warp.h"

namespace cudawarp {
namespace {

constexpr size_t kPlaneAlignment = 512;  // of rows and planes in staging memory: right for textures

size_t align(size_t n) {
  return (n + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
}

// A frame in staging memory: every plane and row aligned.
struct Layout {
  std::array<size_t, kMaxPlanes> offset{}, pitch{};
  std::array<int, kMaxPlanes> row_bytes{}, rows{};
  size_t size = 0;

  Layout(const FrameDesc& frame) {
    const FormatInfo& f = info(frame.format);
    for (int k = 0; k < f.planes; ++k) {
      row_bytes[k] = f.row_bytes(k, frame.skip_x + frame.width);
      rows[k] = f.rows(k, frame.skip_y + frame.height);
      pitch[k] = align(row_bytes[k]);
      offset[k] = size;
      size += pitch[k] * rows[k];
    }
  }
};

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
  Status synchronize(CUstream_st* stream) override;
  Counters counters() const override {
    Counters c = counters_;
    c.textures_created = textures_.created();
    return c;
  }
  const std::string& device_name() const override { return device_name_; }

 private:
  Status try_gathers();
  Status stage_source(const WarpPlan& plan, ConstImage& src, cudaStream_t stream);
  Status set_textures(KernelArgs& args, const WarpPlan& plan, bool& gather);
  Status fetch_result(const WarpPlan& plan, const Image& staged, const Image& dst, cudaStream_t stream);

  cudaMemPool_t pool_ = nullptr;
  Event order_;
  Event done_;  // all work queued so far, on whatever streams
  TextureCache textures_;
  bool gathers_ = false;
  StagingBuffer src_staging_, dst_staging_;
  Counters counters_{};
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
  if (auto failed = textures_.init()) return failed;
  return try_gathers();
}

// CUDA promises gathers from textures over arrays only. Where those over plain memory give the same, they are
// used.
Status Engine::try_gathers() {
  constexpr int kSide = 5, kSize = static_cast<int>(kPlaneAlignment) * kSide;
  uint8_t noise[kSize];
  for (int k = 0; k < kSize; ++k) noise[k] = static_cast<uint8_t>(k * 167 + k / 256 * 59);
  StagingBuffer buffer;
  uint64_t allocations = 0;
  Stream stream_owner;
  if (auto failed = stream_owner.create()) return failed;
  const cudaStream_t stream = stream_owner.get();
  if (auto failed = buffer.reserve(kSize + sizeof(int), pool_, stream, allocations)) return failed;
  CUDAWARP_TRY(cudaMemcpyAsync(buffer.data(), noise, kSize, cudaMemcpyHostToDevice, stream));
  int* const wrong = reinterpret_cast<int*>(buffer.data() + kSize);
  CUDAWARP_TRY(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream));
  cudaTextureObject_t textures[3]{};
  Status failed;
  for (int n = 0; n < 3 && !failed; ++n) {
    failed = create_texture(buffer.data(), kPlaneAlignment, kSide, kSide, 1 << n, textures[n]);
    if (!failed) probe_gather(textures[n], 1 << n, buffer.data(), kPlaneAlignment, kSide, wrong, stream);
  }
  int result = 1;
  if (!failed) failed = cuda_status(cudaGetLastError(), "probe_gather");
  if (!failed)
    failed = cuda_status(cudaMemcpyAsync(&result, wrong, sizeof result, cudaMemcpyDeviceToHost, stream),
                         "cudaMemcpyAsync");
  if (!failed) failed = cuda_status(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (const cudaTextureObject_t texture : textures)
    if (texture) cudaDestroyTextureObject(texture);
  gathers_ = !failed && result == 0;
  return failed;
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

// Leaves `src` as a device frame that the kernels can read.
Status Engine::stage_source(const WarpPlan& plan, ConstImage& src, cudaStream_t stream) {
  if (src.memory == Memory::device && readable(plan, src)) return std::nullopt;
  const Layout layout(plan.src);
  if (auto failed = src_staging_.reserve(layout.size, pool_, stream, counters_.staging_allocations))
    return failed;
  const bool upload = src.memory == Memory::host;
  for (int k = 0; k < info(plan.src.format).planes; ++k) {
    uint8_t* to = src_staging_.data() + layout.offset[k];
    CUDAWARP_TRY(cudaMemcpy2DAsync(to, layout.pitch[k], src.plane[k].data, src.plane[k].pitch,
                                   layout.row_bytes[k], layout.rows[k],
                                   upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice, stream));
    src.plane[k] = {to, static_cast<ptrdiff_t>(layout.pitch[k])};
    if (upload) counters_.bytes_uploaded += uint64_t(layout.row_bytes[k]) * layout.rows[k];
  }
  src.memory = Memory::device;
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
                         texel_bytes(k, plan.interpolation), done_.get(), k.texture[c]);
  });
}

Status Engine::fetch_result(const WarpPlan& plan, const Image& staged, const Image& dst,
                            cudaStream_t stream) {
  const Layout layout(plan.dst);
  for (int k = 0; k < info(plan.dst.format).planes; ++k) {
    CUDAWARP_TRY(cudaMemcpy2DAsync(dst.plane[k].data, dst.plane[k].pitch, staged.plane[k].data,
                                   staged.plane[k].pitch, layout.row_bytes[k], layout.rows[k],
                                   cudaMemcpyDeviceToHost, stream));
    counters_.bytes_downloaded += uint64_t(layout.row_bytes[k]) * layout.rows[k];
  }
  return std::nullopt;
}

Status Engine::warp(const WarpPlan& plan, const ConstImage& source, const Image& dst, CUstream_st* stream) {
  // Staging memory and textures serve one frame after the other, whatever streams the frames come on: streams
  // go when pools are renegotiated, an event stays.
  CUDAWARP_TRY(cudaStreamWaitEvent(stream, done_.get(), 0));
  ConstImage src = source;
  if (auto failed = stage_source(plan, src, stream)) return failed;
  Image result = dst;
  if (dst.memory == Memory::host) {
    const Layout layout(plan.dst);
    if (auto failed = dst_staging_.reserve(layout.size, pool_, stream, counters_.staging_allocations))
      return failed;
    for (int k = 0; k < info(plan.dst.format).planes; ++k)
      result.plane[k] = {dst_staging_.data() + layout.offset[k], static_cast<ptrdiff_t>(layout.pitch[k])};
  }

  // A frame in one launch, an interlaced one field by field.
  const int groups = info(plan.src.format).groups;
  for (int first = 0; first < plan.passes; first += groups) {
    KernelArgs args{};
    args.passes = std::min(groups, plan.passes - first);
    for (int n = 0; n < args.passes; ++n) {
      KernelPass& k = args.pass[n];
      k.plan = plan.pass[first + n];
      k.src = source_of(plan, k.plan, src);
      k.dst = target_of(plan, k.plan, result);
    }
    bool gather = false;
    if (auto failed = set_textures(args, plan, gather)) return failed;
    CUDAWARP_TRY(launch_warp(args, plan.interpolation, gather, stream));
  }
  if (dst.memory == Memory::host)
    if (auto failed = fetch_result(plan, result, dst, stream)) return failed;
  CUDAWARP_TRY(cudaEventRecord(done_.get(), stream));
  ++counters_.frames;
  return std::nullopt;
}

Status Engine::order(CUstream_st* earlier, CUstream_st* later) {
  if (earlier == later) return std::nullopt;
  CUDAWARP_TRY(cudaEventRecord(order_.get(), earlier));
  CUDAWARP_TRY(cudaStreamWaitEvent(later, order_.get(), 0));
  return std::nullopt;
}

Status Engine::synchronize(CUstream_st* stream) {
  CUDAWARP_TRY(cudaStreamSynchronize(stream));
  return std::nullopt;
}

}  // namespace

Expected<std::unique_ptr<CudaEngine>> CudaEngine::create() {
  auto engine = std::make_unique<Engine>();
  if (auto failed = engine->init()) return *failed;
  return std::unique_ptr<CudaEngine>(std::move(engine));
}

}  // namespace cudawarp

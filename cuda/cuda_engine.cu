// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>

#include "cuda_kernels.h"
#include "device_memory.h"
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
      row_bytes[k] = f.plane_width(k, frame.width) * f.plane[k].bytes;
      rows[k] = f.plane_height(k, frame.height);
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
  Status stage_source(const WarpPlan& plan, ConstImage& src, cudaStream_t stream);
  Status set_textures(KernelArgs& args, const WarpPlan& plan, bool& textures);
  Status fetch_result(const WarpPlan& plan, const Image& staged, const Image& dst, cudaStream_t stream);

  cudaMemPool_t pool_ = nullptr;
  Event order_;
  Event done_;  // all work queued so far, on whatever streams
  TextureCache textures_;
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
  return textures_.init();
}

// Whether the kernels can read a device frame where it lies: words of 2 and 4 bytes must be aligned.
bool readable(const WarpPlan& plan, const ConstImage& src) {
  for (int k = 0; k < plan.planes; ++k) {
    const int bytes = info(plan.src.format).plane[k].bytes;
    const auto at =
        reinterpret_cast<uintptr_t>(src.plane[k].data) | static_cast<uintptr_t>(src.plane[k].pitch);
    if (bytes != 3 && at % bytes != 0) return false;
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
  for (int k = 0; k < plan.planes; ++k) {
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

// Textures for every plane where all can have one and the plan's result allows the texture unit's weights.
Status Engine::set_textures(KernelArgs& args, const WarpPlan& plan, bool& textures) {
  textures = plan.precision == Precision::fast && plan.interpolation == Interpolation::bilinear;
  for (int k = 0; k < args.planes && textures; ++k) {
    const KernelPlane& p = args.plane[k];
    textures =
        has_texture_path(p.plan.pipe) && textures_.can_hold(p.src, p.src_pitch, p.plan.src_w, p.plan.src_h);
  }
  for (int k = 0; k < args.planes && textures; ++k) {
    KernelPlane& p = args.plane[k];
    if (auto failed = textures_.get(p.src, p.src_pitch, p.plan.src_w, p.plan.src_h,
                                    info(plan.src.format).plane[k].bytes, done_.get(), p.texture))
      return failed;
  }
  return std::nullopt;
}

Status Engine::fetch_result(const WarpPlan& plan, const Image& staged, const Image& dst,
                            cudaStream_t stream) {
  const Layout layout(plan.dst);
  for (int k = 0; k < plan.planes; ++k) {
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
    for (int k = 0; k < plan.planes; ++k)
      result.plane[k] = {dst_staging_.data() + layout.offset[k], static_cast<ptrdiff_t>(layout.pitch[k])};
  }

  KernelArgs args{};
  args.planes = plan.planes;
  for (int k = 0; k < plan.planes; ++k) {
    KernelPlane& p = args.plane[k];
    p.plan = plan.plane[k];
    p.src = src.plane[k].data, p.src_pitch = src.plane[k].pitch;
    p.dst = result.plane[k].data, p.dst_pitch = result.plane[k].pitch;
    p.whole_words = (reinterpret_cast<uintptr_t>(p.dst) | static_cast<uintptr_t>(p.dst_pitch)) % 4 == 0;
  }
  bool textures = false;
  if (auto failed = set_textures(args, plan, textures)) return failed;
  CUDAWARP_TRY(launch_warp(args, plan.interpolation, textures, stream));
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

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How long the CUDA engine takes for a frame in device memory, beside a device-to-device copy of the same
// bytes in the same run. Frames rotate through more memory than any L2 cache holds. Times are those of the
// device (CUDA events around a batch of frames); run with --benchmark_repetitions=N for medians.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "warp.h"

using namespace cudawarp;

namespace {

constexpr int kWidth = 3840, kHeight = 2160, kBatch = 24, kFrames = 12;

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Frames of random bytes, opaque, in one allocation each, planes behind one another, rows of one pitch.
class Frames {
 public:
  Frames(Format format, int frame_width, int frame_height)
      : info_(info(format)), frame_height_(frame_height) {
    size_t width = 0;
    for (int k = 0; k < info_.planes; ++k) {
      rows_ += info_.rows(k, frame_height);
      const size_t row = info_.row_bytes(k, frame_width);
      bytes_ += row * info_.rows(k, frame_height);
      width = std::max(width, row);
    }
    std::vector<uint8_t> noise(width * rows_);
    uint32_t state = 1;
    for (uint8_t& b : noise) b = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    if (format == Format::RGBA)  // as video is
      for (size_t at = 3; at < noise.size(); at += 4) noise[at] = 255;
    for (int n = 0; n < kFrames; ++n) {
      void* data = nullptr;
      require(cudaMallocPitch(&data, &pitch_, width, rows_), "cudaMallocPitch");
      require(cudaMemcpy2D(data, pitch_, noise.data(), width, width, rows_, cudaMemcpyHostToDevice),
              "upload");
      frames_.push_back(static_cast<uint8_t*>(data));
    }
  }
  Frames(const Frames&) = delete;
  ~Frames() {
    for (uint8_t* f : frames_) cudaFree(f);
  }

  template <class View>
  View view(int n) const {
    View v;
    v.memory = Memory::device;
    size_t row = 0;
    for (int k = 0; k < info_.planes; ++k) {
      v.plane[k] = {frames_[n % kFrames] + row * pitch_, static_cast<ptrdiff_t>(pitch_)};
      row += info_.rows(k, frame_height_);
    }
    return v;
  }
  void copy(int n, const Frames& from, cudaStream_t stream) const {
    require(cudaMemcpyAsync(frames_[n % kFrames], from.frames_[n % kFrames], pitch_ * rows_,
                            cudaMemcpyDeviceToDevice, stream),
            "cudaMemcpyAsync");
  }
  size_t bytes() const { return bytes_; }

 private:
  const FormatInfo& info_;
  int frame_height_;
  size_t pitch_ = 0, rows_ = 0, bytes_ = 0;
  std::vector<uint8_t*> frames_;
};

// Runs `frame(n, stream)` in batches and reports the device's time for one.
template <class Frame>
void measure(benchmark::State& state, size_t bytes, Frame frame) {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  require(cudaStreamCreate(&stream), "cudaStreamCreate");
  require(cudaEventCreate(&start), "cudaEventCreate");
  require(cudaEventCreate(&stop), "cudaEventCreate");
  int n = 0;
  for (; n < kFrames; ++n) frame(n, stream);  // warm: textures made, code loaded
  for (auto _ : state) {
    require(cudaEventRecord(start, stream), "cudaEventRecord");
    for (int k = 0; k < kBatch; ++k) frame(n++, stream);
    require(cudaEventRecord(stop, stream), "cudaEventRecord");
    require(cudaEventSynchronize(stop), "cudaEventSynchronize");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    state.SetIterationTime(ms / 1e3 / kBatch);
  }
  state.counters["read_and_written"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kIsIterationInvariantRate,
                         benchmark::Counter::OneK::kIs1000);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaStreamDestroy(stream);
}

void copy_frame(benchmark::State& state, Format format) {
  const Frames src(format, kWidth, kHeight), dst(format, kWidth, kHeight);
  measure(state, 2 * src.bytes(), [&](int n, cudaStream_t stream) { dst.copy(n, src, stream); });
}

// Into a frame of 1/`shrink` of the sides.
void warp_frame(benchmark::State& state, Format format, WarpParams params, int shrink) {
  const FrameDesc from{.format = format, .width = kWidth, .height = kHeight, .full_range = false};
  FrameDesc to = from;
  to.width /= shrink, to.height /= shrink;
  const Frames src(format, from.width, from.height), dst(format, to.width, to.height);
  const auto plan = make_plan(params, from, to);
  auto engine = CudaEngine::create();
  if (error_of(plan) || error_of(engine)) return state.SkipWithError("no plan or no engine");
  auto& cuda = *std::get<0>(engine);
  measure(state, src.bytes() + dst.bytes(), [&](int n, cudaStream_t stream) {
    if (auto failed = cuda.warp(std::get<0>(plan), src.view<ConstImage>(n), dst.view<Image>(n), stream))
      require(cudaErrorUnknown, failed->words.c_str());
  });
}

void add_warp(Format format, const std::string& what, const WarpParams& params, int shrink = 1) {
  benchmark::RegisterBenchmark(("warp/" + std::string(info(format).name) + "/" + what).c_str(), warp_frame,
                               format, params, shrink)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  for (Format format : {Format::RGBA, Format::NV12, Format::P010_10LE, Format::GRAY8}) {
    benchmark::RegisterBenchmark(("copy/" + std::string(info(format).name)).c_str(), copy_frame, format)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
    for (double angle : {0.0, 17.0, 45.0, 90.0}) {
      WarpParams p;
      p.angle = angle;
      p.offset_x = angle == 0 ? 0.25 : 0;  // not an exact copy
      const std::string at = std::to_string(static_cast<int>(angle)) + "deg";
      add_warp(format, "bilinear/fast/" + at, p);
      p.precision = Precision::exact;
      add_warp(format, "bilinear/exact/" + at, p);
      p.interpolation = Interpolation::bicubic;
      add_warp(format, "bicubic/" + at, p);
      p.interpolation = Interpolation::lanczos;
      add_warp(format, "lanczos/" + at, p);
      for (const int shrink : {2, 4}) {
        p.interpolation = Interpolation::bilinear;
        add_warp(format, "shrink" + std::to_string(shrink) + "/bilinear/" + at, p, shrink);
        p.interpolation = Interpolation::bicubic;
        add_warp(format, "shrink" + std::to_string(shrink) + "/bicubic/" + at, p, shrink);
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How long the CUDA engine takes for a frame in device memory, beside device-to-device copies of the same
// bytes in the same run: cudaMemcpyAsync, and a kernel with 1 and with 4 words of 16 bytes a thread. Frames
// rotate through more memory than any L2 cache holds. Times are the device's: CUDA events around a batch of
// frames, queued while the stream is held busy, so that the host does not count. Counters: `host_us`, what
// the host takes to queue a frame; `starved`, the share of batches that it queued too late.
//
// Names: copy/KIND/FORMAT/SIZE and warp/FORMAT/SIZE/INTERPOLATION/PRECISION/BORDER/DEGREES. SIZE is the
// output's: full, half, quarter; a copy named so is of as many bytes as such a warp reads and writes. BORDER
// "constant-hard" is without edge-antialias. FORMAT RGBA is opaque, as video is; RGBA-alpha has random alpha.
//
// Unless told otherwise it repeats everything five times in random order, in about a minute.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bench_kernels.h"
#include "warp.h"

using namespace cudawarp;

namespace {

constexpr int kWidth = 3840, kHeight = 2160, kBatch = 24, kFrames = 12;

const std::map<int, const char*> kSizes = {{1, "full"}, {2, "half"}, {4, "quarter"}};  // by divisor of sides

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// What a frame holds, and how large it is.
struct Kind {
  Format format;
  bool random_alpha;
  int divisor;

  auto key() const { return std::tuple(format, random_alpha, divisor); }
  bool operator<(const Kind& other) const { return key() < other.key(); }
  std::string name() const { return std::string(info(format).name) + (random_alpha ? "-alpha" : ""); }
  FrameDesc desc() const {
    return {.format = format, .width = kWidth / divisor, .height = kHeight / divisor, .full_range = false};
  }
  size_t bytes() const {
    size_t sum = 0;
    for (int k = 0; k < info(format).planes; ++k)
      sum += size_t(info(format).row_bytes(k, kWidth / divisor)) * info(format).rows(k, kHeight / divisor);
    return sum;
  }
};

// Frames of random bytes in one allocation each, planes behind one another, rows of one pitch.
class Frames {
 public:
  explicit Frames(const Kind& kind) : info_(info(kind.format)), height_(kHeight / kind.divisor) {
    size_t width = 0, rows = 0;
    for (int k = 0; k < info_.planes; ++k) {
      rows += info_.rows(k, height_);
      width = std::max<size_t>(width, info_.row_bytes(k, kWidth / kind.divisor));
    }
    std::vector<uint8_t> noise(width * rows);
    uint32_t state = 1;
    for (uint8_t& b : noise) b = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    if (kind.format == Format::RGBA && !kind.random_alpha)
      for (size_t at = 3; at < noise.size(); at += 4) noise[at] = 255;
    for (uint8_t*& frame : frames_) {
      void* data = nullptr;
      require(cudaMallocPitch(&data, &pitch_, width, rows), "cudaMallocPitch");
      frame = static_cast<uint8_t*>(data);
      if (&frame == &frames_[0])
        require(cudaMemcpy2D(data, pitch_, noise.data(), width, width, rows, cudaMemcpyHostToDevice),
                "upload");
      else
        require(cudaMemcpy(data, frames_[0], pitch_ * rows, cudaMemcpyDeviceToDevice), "cudaMemcpy");
    }
  }

  template <class View>
  View view(int n) const {
    View v;
    v.memory = Memory::device;
    size_t row = 0;
    for (int k = 0; k < info_.planes; ++k) {
      v.plane[k] = {frames_[n % kFrames] + row * pitch_, static_cast<ptrdiff_t>(pitch_)};
      row += info_.rows(k, height_);
    }
    return v;
  }
  uint8_t* data(int n) const { return frames_[n % kFrames]; }

 private:
  const FormatInfo& info_;
  int height_;
  size_t pitch_ = 0;
  std::array<uint8_t*, kFrames> frames_{};  // as long as the process
};

// The frames of a kind; a set to read and a set to write.
const Frames& frames(const Kind& kind, bool to_write) {
  static std::map<std::pair<Kind, bool>, std::unique_ptr<Frames>> all;
  auto& one = all[{kind, to_write}];
  if (!one) one = std::make_unique<Frames>(kind);
  return *one;
}

// Runs `frame(n, stream)` in batches and reports the device's time for one; `bytes` are read and written.
template <class Frame>
void measure(benchmark::State& state, size_t bytes, Frame frame) {
  using Clock = std::chrono::steady_clock;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  require(cudaStreamCreate(&stream), "cudaStreamCreate");
  require(cudaEventCreate(&start), "cudaEventCreate");
  require(cudaEventCreate(&stop), "cudaEventCreate");
  int n = 0;
  for (; n < kFrames; ++n) frame(n, stream);  // warm: textures made, code loaded
  require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  double hold_us = 500, host_us = 0, starved = 0;
  for (auto _ : state) {
    require(bench::hold(static_cast<uint64_t>(hold_us * 1e3), stream), "hold");
    require(cudaEventRecord(start, stream), "cudaEventRecord");
    const auto begin = Clock::now();
    for (int k = 0; k < kBatch; ++k) frame(n++, stream);
    const double queued_us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    require(cudaEventRecord(stop, stream), "cudaEventRecord");
    require(cudaEventSynchronize(stop), "cudaEventSynchronize");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    state.SetIterationTime(ms / 1e3 / kBatch);
    host_us += queued_us / kBatch;
    starved += queued_us > hold_us;
    hold_us = std::min(5000.0, std::max(100.0, 2 * queued_us));
  }
  state.counters["host_us"] = benchmark::Counter(host_us, benchmark::Counter::kAvgIterations);
  state.counters["starved"] = benchmark::Counter(starved, benchmark::Counter::kAvgIterations);
  state.counters["read_and_written"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kIsIterationInvariantRate,
                         benchmark::Counter::OneK::kIs1000);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaStreamDestroy(stream);
}

// `words` a thread; 0 is cudaMemcpyAsync.
void copy_frame(benchmark::State& state, const Kind& to, int words) {
  const Kind from{to.format, to.random_alpha, 1};
  const size_t bytes = (from.bytes() + to.bytes()) / 2 / 16 * 16;
  const Frames &src = frames(from, false), &dst = frames(from, true);
  measure(state, 2 * bytes, [&](int n, cudaStream_t stream) {
    require(words ? bench::copy(dst.data(n), src.data(n), bytes, words, stream)
                  : cudaMemcpyAsync(dst.data(n), src.data(n), bytes, cudaMemcpyDeviceToDevice, stream),
            "copy");
  });
}

void warp_frame(benchmark::State& state, const Kind& to, const WarpParams& params) {
  const Kind from{to.format, to.random_alpha, 1};
  const Frames &src = frames(from, false), &dst = frames(to, true);
  const auto plan = make_plan(params, from.desc(), to.desc());
  auto engine = CudaEngine::create();
  if (error_of(plan) || error_of(engine)) return state.SkipWithError("no plan or no engine");
  auto& cuda = *std::get<0>(engine);
  measure(state, from.bytes() + to.bytes(), [&](int n, cudaStream_t stream) {
    if (auto failed = cuda.warp(std::get<0>(plan), src.view<ConstImage>(n), dst.view<Image>(n), stream))
      require(cudaErrorUnknown, failed->words.c_str());
  });
}

template <class Run>
void add(const std::string& name, Run run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

struct Setting {
  Interpolation interpolation = Interpolation::bilinear;
  Precision precision = Precision::fast;
  const char* border = "constant";
};

void add_warp(const Kind& kind, const Setting& setting, int degrees) {
  static const std::map<std::string, Border> borders = {
      {"constant", Border::constant},      {"constant-hard", Border::constant},
      {"replicate", Border::replicate},    {"mirror", Border::mirror},
      {"mirror-101", Border::mirror_101},  {"wrap", Border::wrap},
      {"transparent", Border::transparent}};
  static const char* const interpolations[] = {"nearest", "bilinear", "bicubic", "lanczos"};
  WarpParams p;
  p.angle = degrees;
  p.offset_x = degrees == 0 ? 0.25 : 0;  // not an exact copy
  p.interpolation = setting.interpolation;
  p.precision = setting.precision;
  p.border = borders.at(setting.border);
  p.edge_antialias = std::string(setting.border) != "constant-hard";
  add("warp/" + kind.name() + "/" + kSizes.at(kind.divisor) + "/" +
          interpolations[static_cast<int>(setting.interpolation)] + "/" +
          (setting.precision == Precision::fast ? "fast" : "exact") + "/" + setting.border + "/" +
          std::to_string(degrees),
      [kind, p](benchmark::State& state) { warp_frame(state, kind, p); });
}

void add_format(const Kind& kind) {
  using enum Interpolation;
  constexpr Precision exact = Precision::exact;
  for (const auto& [divisor, size] : kSizes) {
    const Kind to{kind.format, kind.random_alpha, divisor};
    for (const auto& [words, how] :
         {std::pair(0, "memcpy"), std::pair(1, "kernel1"), std::pair(4, "kernel4")})
      add(std::string("copy/") + how + "/" + to.name() + "/" + size,
          [to, words = words](benchmark::State& state) { copy_frame(state, to, words); });
    if (divisor > 1)
      for (const int degrees : {0, 17})
        for (const Interpolation interpolation : {bilinear, bicubic})
          add_warp(to, {.interpolation = interpolation}, degrees);
  }
  for (const int degrees : {0, 17, 45, 90}) {
    add_warp(kind, {}, degrees);
    add_warp(kind, {.border = "replicate"}, degrees);
    add_warp(kind, {.precision = exact}, degrees);
    add_warp(kind, {.interpolation = bicubic}, degrees);
  }
  for (const int degrees : {17, 45}) {
    for (const char* border : {"constant-hard", "mirror", "mirror-101", "wrap"})
      add_warp(kind, {.border = border}, degrees);
    if (kind.format == Format::RGBA) add_warp(kind, {.border = "transparent"}, degrees);
    add_warp(kind, {.interpolation = lanczos}, degrees);
  }
  add_warp(kind, {.interpolation = nearest}, 17);
  for (const Interpolation interpolation : {bicubic, lanczos})
    add_warp(kind, {.interpolation = interpolation, .precision = exact}, 17);
}

}  // namespace

int main(int argc, char** argv) {
  // What the command line says comes later, and wins. An iteration is a batch, but its time is a frame's:
  // half a millisecond of them is 24 times as long.
  std::vector<std::string> defaults = {"--benchmark_repetitions=5", "--benchmark_min_time=0.0005",
                                       "--benchmark_enable_random_interleaving=true",
                                       "--benchmark_display_aggregates_only=true"};
  std::vector<char*> arguments = {argv[0]};
  for (std::string& d : defaults) arguments.push_back(d.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0;
  require(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  require(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  benchmark::AddCustomContext("device", properties.name);
  benchmark::AddCustomContext("cuda_driver", std::to_string(driver));
  benchmark::AddCustomContext("cuda_runtime", std::to_string(runtime));
  for (const Format format : {Format::RGBA, Format::NV12, Format::P010_10LE, Format::GRAY8})
    add_format({format, false, 1});
  add_format({Format::RGBA, true, 1});
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

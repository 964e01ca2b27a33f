// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_line.h"
#include "element_parts.h"

#include <cstring>

namespace cudawarp::bench {
namespace {

constexpr size_t kFrameBytes = size_t(kWidth) * kHeight * 4;

// Copies of frames: alone, both ways at once, and of pageable memory up and then down. All in frames/s.
class Bus {
 public:
  Bus() {
    for (void** device : {&up_device_, &down_device_}) check(cudaMalloc(device, kFrameBytes));
    for (void** host : {&up_host_, &down_host_}) {
      check(cudaMallocHost(host, kFrameBytes));
      std::memset(*host, 1, kFrameBytes);
    }
    for (auto* memory : {&pageable_up_, &pageable_down_}) memory->assign(kFrameBytes, 1);
    check(cudaStreamCreateWithFlags(&up_, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&down_, cudaStreamNonBlocking));
  }
  Bus(const Bus&) = delete;
  ~Bus() {
    cudaStreamDestroy(up_);
    cudaStreamDestroy(down_);
    for (void* host : {up_host_, down_host_}) cudaFreeHost(host);
    for (void* device : {up_device_, down_device_}) cudaFree(device);
  }

  double pinned(bool up, bool down) const {
    constexpr int kFrames = 60;
    const auto begin = Clock::now();
    for (int n = 0; n < kFrames; ++n) {
      if (up) check(cudaMemcpyAsync(up_device_, up_host_, kFrameBytes, cudaMemcpyHostToDevice, up_));
      if (down) check(cudaMemcpyAsync(down_host_, down_device_, kFrameBytes, cudaMemcpyDeviceToHost, down_));
    }
    check(cudaDeviceSynchronize());
    return kFrames / since(begin);
  }
  double pageable() {
    constexpr int kFrames = 10;
    const auto begin = Clock::now();
    for (int n = 0; n < kFrames; ++n) {
      check(cudaMemcpy(up_device_, pageable_up_.data(), kFrameBytes, cudaMemcpyHostToDevice));
      check(cudaMemcpy(pageable_down_.data(), down_device_, kFrameBytes, cudaMemcpyDeviceToHost));
    }
    return kFrames / since(begin);
  }

 private:
  void *up_device_ = nullptr, *down_device_ = nullptr, *up_host_ = nullptr, *down_host_ = nullptr;
  std::vector<uint8_t> pageable_up_, pageable_down_;
  cudaStream_t up_ = nullptr, down_ = nullptr;
};

// The element between pinned or pageable neighbours.
struct SystemLine {
  std::string name;
  Ref<GstBufferPool> downstream, upstream;  // of pageable memory, or null; and what gave the buffers
  std::unique_ptr<Line> line;
  Buffers buffers;
  bool pinned_out = false;

  SystemLine(bool pinned, int depth, Report& report) {
    const std::string kind = pinned ? "pinned" : "pageable";
    name = "system/" + kind + "/depth" + std::to_string(depth);
    const auto caps = caps_of("RGBA", kWidth, kHeight, false);
    if (!pinned) downstream = make_pool(caps.get(), false);
    const std::string property = depth > 0 ? " async-depth=" + std::to_string(depth) : "";
    line = std::make_unique<Line>(kWarp + property, caps.get(), downstream.get());
    const int count = depth + 4;
    upstream = pinned ? line->proposed_pool() : make_pool(caps.get(), false);
    if (upstream) buffers = take_buffers(upstream.get(), count);
    if (pinned && (buffers.empty() || !is_pinned(buffers[0].get()))) {
      report.skipped[name + ", its pool"] = "it proposes none of pinned memory; the frames are of our own";
      buffers = pinned_buffers(caps.get(), count);
    }
    line->on_output = [this](GstBuffer* buffer) { pinned_out = is_pinned(buffer); };
    run(3 * count);
    line->on_output = nullptr;
    if (pinned_out != pinned)
      report.skipped[name + ", its output"] = pinned ? "it is in pageable memory" : "it is in pinned memory";
  }

  double run(int frames) const {
    const auto begin = Clock::now();
    for (int n = 0; n < frames; ++n) line->push(buffers[n % buffers.size()]);
    return frames / since(begin);
  }
};

}  // namespace

void measure_system(Report& report) {
  context();
  Bus bus;
  std::vector<std::unique_ptr<SystemLine>> lines;
  const bool has_depth =
      Line("cudawarp", caps_of("RGBA", kWidth, kHeight, false).get()).has_property("async-depth");
  for (const bool pinned : {true, false})
    for (const int depth : {0, 1, 2, 4}) {
      if (depth == 0 || has_depth)
        lines.push_back(std::make_unique<SystemLine>(pinned, depth, report));
      else
        report.skipped["system/*/depth" + std::to_string(depth)] = "no property async-depth";
    }
  bus.pinned(true, true), bus.pageable();
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    report.results["bus/pinned-up"].push_back(bus.pinned(true, false));
    report.results["bus/pinned-down"].push_back(bus.pinned(false, true));
    report.results["bus/pinned-both"].push_back(bus.pinned(true, true));
    report.results["bus/pageable"].push_back(bus.pageable());
    for (const auto& line : lines) report.results[line->name].push_back(line->run(40));
  }
}

}  // namespace cudawarp::bench

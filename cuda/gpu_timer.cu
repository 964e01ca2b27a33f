// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_timer.h"

#include "device_memory.h"

namespace cudawarp {

GpuTimer::~GpuTimer() {
  for (const Pair& pair : ring_) {
    if (pair.begin) cudaEventDestroy(pair.begin);
    if (pair.end) cudaEventDestroy(pair.end);
  }
}

Status GpuTimer::begin(cudaStream_t stream) {
  if (under_way_ == ring_.size()) return std::nullopt;
  Pair& pair = ring_[(oldest_ + under_way_) % ring_.size()];
  if (!pair.begin) CUDAWARP_TRY(cudaEventCreate(&pair.begin));
  if (!pair.end) CUDAWARP_TRY(cudaEventCreate(&pair.end));
  CUDAWARP_TRY(cudaEventRecord(pair.begin, stream));
  open_ = true;
  return std::nullopt;
}

Status GpuTimer::end(cudaStream_t stream) {
  if (!open_) return std::nullopt;
  open_ = false;
  CUDAWARP_TRY(cudaEventRecord(ring_[(oldest_ + under_way_) % ring_.size()].end, stream));
  ++under_way_;
  return std::nullopt;
}

Status GpuTimer::collect(uint64_t& count, uint64_t& total, uint64_t& last) {
  for (; under_way_ > 0; --under_way_, oldest_ = (oldest_ + 1) % ring_.size()) {
    const cudaError_t passed = cudaEventQuery(ring_[oldest_].end);
    if (passed == cudaErrorNotReady) {
      cudaGetLastError();
      return std::nullopt;
    }
    CUDAWARP_TRY(passed);
    float milliseconds = 0;
    CUDAWARP_TRY(cudaEventElapsedTime(&milliseconds, ring_[oldest_].begin, ring_[oldest_].end));
    last = static_cast<uint64_t>(milliseconds * 1e6);
    total += last;
    ++count;
  }
  return std::nullopt;
}

}  // namespace cudawarp

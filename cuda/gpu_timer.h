// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

#include "status.h"

namespace cudawarp {

// Times work on streams and never waits for it: a ring of pairs of events, read once they have passed. Of the
// context that is current when it is first used; inside the CUDA engine only.
class GpuTimer {
 public:
  GpuTimer() = default;
  GpuTimer(const GpuTimer&) = delete;
  ~GpuTimer();

  // Around the work. Where the whole ring is still under way, this piece goes untimed.
  Status begin(cudaStream_t stream);
  Status end(cudaStream_t stream);

  // Reads what has passed by now. Adds the number of pieces to `count` and their nanoseconds to `total`.
  Status collect(uint64_t& count, uint64_t& total, uint64_t& last);

 private:
  struct Pair {
    cudaEvent_t begin = nullptr, end = nullptr;
  };
  std::array<Pair, 8> ring_;
  size_t oldest_ = 0, under_way_ = 0;
  bool open_ = false;  // between begin() and end()
};

}  // namespace cudawarp

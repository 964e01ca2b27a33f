// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The engines' face: both run a plan over frames, to the same pixels.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "counters.h"
#include "image.h"
#include "plan.h"
#include "status.h"

struct CUstream_st;

namespace cudawarp {

// Runs job(0) .. job(count - 1), each once, in any order and on any threads, and returns when all are done.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& job)>;

// Warps `src` into `dst`, both host memory of the plan's formats and sizes that do not overlap. Any thread.
void warp_on_cpu(const WarpPlan& plan, const ConstImage& src, const Image& dst, const ParallelFor& parallel);

// Says that the current CUDA context has been destroyed, where its handle is all that is left of it. Costs
// next to nothing, and changes nothing.
Status check_context();

// Page-locks host memory, whole pages of it, for every context of the device, or says why not. The lock goes
// with the current context, the memory stays. Unlock it with the same context current.
Status lock_pages(void* pages, size_t size);
Status unlock_pages(void* pages);

// The CUDA engine: a kernel, staging memory for host frames, and textures over the device buffers it has
// seen.
//
// An engine belongs to the CUDA context that is current when it is made. That context must be current at
// every call, destruction included; one call at a time. Errors name the CUDA call that failed; an engine that
// failed can be destroyed, and used again where the device still works.
class CudaEngine {
 public:
  using Counters = cudawarp::Counters;

  // Fails where the current context's device cannot run the kernels of this build.
  static Expected<std::unique_ptr<CudaEngine>> create();
  virtual ~CudaEngine() = default;

  // Queues the warp on `stream`, copies of host frames included; never waits for the device, except inside
  // copies from and to pageable host memory. Host frames must stay valid until the stream has passed this
  // work; where it fails nothing reads or writes them any more. One engine's frames share its staging memory
  // and follow each other, on whatever streams they come; frames of several engines overlap.
  virtual Status warp(const WarpPlan& plan, const ConstImage& src, const Image& dst, CUstream_st* stream) = 0;

  // Work queued on `later` after this call starts only when the work now on `earlier` is done. The host goes
  // on.
  virtual Status order(CUstream_st* earlier, CUstream_st* later) = 0;

  // Work queued on `writer` after this call starts only when the last frame's source has been read, whether
  // or not its result has been copied to the host. The host goes on.
  virtual Status let_overwrite_source(CUstream_st* writer) = 0;

  // Waits until all work now on `stream` is done.
  virtual Status synchronize(CUstream_st* stream) = 0;

  // Whether frames queued from now on are timed. Times are read when they are there, a few frames late; where
  // the device is far behind, frames go untimed.
  virtual void measure_time(bool on) = 0;

  // Since the engine was made; any thread, at any time.
  virtual Counters counters() const = 0;
  virtual const std::string& device_name() const = 0;
};

}  // namespace cudawarp

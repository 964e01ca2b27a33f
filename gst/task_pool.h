// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>

namespace cudawarp {

// The cores, for the CPU engine's rows: a GstSharedTaskPool.
class TaskPool {
 public:
  TaskPool();
  TaskPool(const TaskPool&) = delete;
  ~TaskPool();

  // A ParallelFor (warp.h): job(0) .. job(count - 1), on the pool's threads and the calling one.
  void run(int count, const std::function<void(int)>& job) const;

 private:
  GstTaskPool* pool_;
  int threads_;
};

}  // namespace cudawarp

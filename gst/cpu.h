// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "frame.h"
#include "plan.h"
#include "status.h"
#include "task_pool.h"
#include "work.h"

namespace cudawarp {

// The CPU engine at work for an element: on all cores, buffer to buffer, each in memory that the host can
// map. Of the streaming thread.
class Cpu {
 public:
  Cpu() = default;
  Cpu(const Cpu&) = delete;
  ~Cpu();  // all work has ended

  // Warps before it returns. Not while other work is under way.
  Status warp(const WarpPlan& plan, const Picture& in, const Picture& out) const;

  // Maps the buffers and leaves the warp to a thread that does one frame after the other.
  Expected<std::unique_ptr<Work>> begin(std::shared_ptr<const WarpPlan> plan, const Picture& in,
                                        const Picture& out);

 private:
  class Task;

  void run();

  TaskPool cores_;
  std::thread thread_;  // from the first begin() on
  std::mutex lock_;     // guards what follows, and the state of the tasks
  std::condition_variable begun_, ended_;
  std::deque<Task*> waiting_;
  bool closing_ = false;
};

}  // namespace cudawarp

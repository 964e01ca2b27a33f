// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <mutex>

#include "gpu.h"

namespace cudawarp {

// What the property `stats` tells. Any thread.
class Stats {
 public:
  // A run begins, on this engine.
  void start(bool on_gpu);
  void count_frame();

  // Owned by the caller.
  GstStructure* to_structure(const Gpu::Numbers& of_gpu) const;

 private:
  mutable std::mutex lock_;
  bool on_gpu_ = false;
  const char* engine_ = "none";  // before the first run
  guint64 frames_ = 0;
};

}  // namespace cudawarp

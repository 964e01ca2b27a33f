// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats.h"

namespace cudawarp {

void Stats::start(bool on_gpu) {
  std::lock_guard lock(lock_);
  on_gpu_ = on_gpu;
  engine_ = on_gpu ? "cuda" : "cpu";
  frames_ = 0;
}

void Stats::count_frame() {
  std::lock_guard lock(lock_);
  ++frames_;
}

GstStructure* Stats::to_structure(const Gpu::Numbers& of_gpu) const {
  std::lock_guard lock(lock_);
  // An earlier run's, where this one does without.
  const Gpu::Numbers gpu = on_gpu_ ? of_gpu : Gpu::Numbers{};
  const Counters& c = gpu.engine;
  const guint64 mean = c.timed_frames ? c.total_time / c.timed_frames : 0;
  return gst_structure_new(
      "cudawarp-stats", "frames", G_TYPE_UINT64, frames_, "engine", G_TYPE_STRING, engine_, "device",
      G_TYPE_STRING, gpu.device.c_str(), "bytes-uploaded", G_TYPE_UINT64, c.bytes_uploaded,
      "bytes-downloaded", G_TYPE_UINT64, c.bytes_downloaded, "staging-allocations", G_TYPE_UINT64,
      c.staging_allocations, "staging-hits", G_TYPE_UINT64, c.staging_hits, "staging-misses", G_TYPE_UINT64,
      c.staging_misses, "pinned-allocations", G_TYPE_UINT64, gpu.pinned_allocations, "texture-hits",
      G_TYPE_UINT64, c.texture_hits, "texture-misses", G_TYPE_UINT64, c.textures_created, "device-waits",
      G_TYPE_UINT64, c.waits, "gpu-time-last", G_TYPE_UINT64, c.last_time, "gpu-time-mean", G_TYPE_UINT64,
      mean, "gpu-time-frames", G_TYPE_UINT64, c.timed_frames, nullptr);
}

}  // namespace cudawarp

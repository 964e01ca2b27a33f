// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudawarp {

// What a CUDA engine counts from when it is made. Times are nanoseconds of the device.
struct Counters {
  uint64_t frames = 0;
  uint64_t bytes_uploaded = 0, bytes_downloaded = 0;
  // Frames that found staging memory large enough (hits) or had to make some (misses); blocks of it made.
  uint64_t staging_hits = 0, staging_misses = 0, staging_allocations = 0;
  // Planes whose texture was there (hits) or had to be made.
  uint64_t texture_hits = 0, textures_created = 0;
  uint64_t waits = 0;  // times that the host waited for the device
  // Frames whose warp was timed, without their copies; the last one's time, and the sum.
  uint64_t timed_frames = 0, last_time = 0, total_time = 0;

  Counters& operator+=(const Counters& c) {
    frames += c.frames;
    bytes_uploaded += c.bytes_uploaded, bytes_downloaded += c.bytes_downloaded;
    staging_hits += c.staging_hits, staging_misses += c.staging_misses;
    staging_allocations += c.staging_allocations;
    texture_hits += c.texture_hits, textures_created += c.textures_created;
    waits += c.waits;
    timed_frames += c.timed_frames, total_time += c.total_time;
    if (c.timed_frames) last_time = c.last_time;
    return *this;
  }
};

}  // namespace cudawarp

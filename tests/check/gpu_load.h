// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernels for tests. All calls act in the CUDA context that is current; false where CUDA refuses.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace cudawarp::gpu_load {

// A stream that no other stream waits for; null where there is none.
CUstream_st* new_stream();
void destroy(CUstream_st* stream);
bool wait(CUstream_st* stream);
bool is_idle(CUstream_st* stream);

// Queues a kernel that keeps `blocks` multiprocessors busy for so long.
bool spin(CUstream_st* stream, int microseconds, int blocks);

// Queues a kernel that fails: from then on so does every call in this context.
bool trap(CUstream_st* stream);

// 32-bit pixels: fills a plane, and adds how many of its pixels are others to a number in device memory.
bool fill(CUstream_st* stream, void* data, size_t pitch, int width, int height, uint32_t pixel);
bool count_others(CUstream_st* stream, const void* data, size_t pitch, int width, int height, uint32_t pixel,
                  unsigned* others);
// Such a number, 0; and its value once the stream is done (-1 where that fails).
unsigned* new_count();
int64_t take_count(unsigned* count, CUstream_st* stream);

// Allocates until less than 64 KiB of the device's memory is free, and gives all of it back.
class Hog {
 public:
  Hog();
  Hog(const Hog&) = delete;
  ~Hog();

 private:
  struct Block {
    void* data;
    Block* next;
  };
  Block* blocks_ = nullptr;
};

}  // namespace cudawarp::gpu_load

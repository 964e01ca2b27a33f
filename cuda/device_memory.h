// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Owners of CUDA objects; inside the CUDA engine only. Each is of the context that was current when it was
// made, and that context must be current at every call, destruction included.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "status.h"

namespace cudawarp {

// The error of a CUDA call, named by its text in the source; nothing for cudaSuccess. Clears the runtime's
// memory of it.
Status cuda_status(cudaError_t error, const char* call);

#define CUDAWARP_TRY(call)                                                                 \
  do {                                                                                     \
    if (::cudawarp::Status failed = ::cudawarp::cuda_status((call), #call)) return failed; \
  } while (0)

// An event without timing, for ordering streams.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event();

  Status create();
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// A stream that waits for no other.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  ~Stream();

  Status create();
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Device memory that grows on demand: plain memory at first, which then stays until the end; later ones are
// allocated and freed in the order of a stream, from a pool that keeps what it has. Contents are lost when it
// grows.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(StagingBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        first_(std::exchange(other.first_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  StagingBuffer& operator=(StagingBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~StagingBuffer();

  // At least `size` bytes, aligned for textures. `grown` counts allocations.
  Status reserve(size_t size, cudaMemPool_t pool, cudaStream_t stream, uint64_t& grown);
  uint8_t* data() const;

 private:
  void* data_ = nullptr;
  void* first_ = nullptr;  // plain memory that has become too small
  size_t size_ = 0;
};

// A texture object over a device buffer, to be destroyed by the caller. It reads words of 1, 2 or 4 bytes as
// they are, clamped to the edges at unnormalised coordinates, or repeated as `mode` says at normalised ones.
Status create_texture(const void* data, ptrdiff_t pitch, int width, int height, int bytes,
                      cudaTextureAddressMode mode, cudaTextureObject_t& texture);

// Such textures, one for each buffer, shape and mode ever asked for, up to a limit.
class TextureCache {
 public:
  TextureCache() = default;
  TextureCache(const TextureCache&) = delete;
  ~TextureCache();

  Status init();  // reads the device's limits
  bool can_hold(const void* data, ptrdiff_t pitch, int width, int height) const;
  // `idle` comes when no work reads textures of this cache; it is waited for when one must go.
  Status get(const void* data, ptrdiff_t pitch, int width, int height, int bytes, cudaTextureAddressMode mode,
             cudaEvent_t idle, cudaTextureObject_t& texture);
  uint64_t created() const { return created_; }
  uint64_t hits() const { return hits_; }  // textures that were there

 private:
  struct Entry {
    const void* data;
    ptrdiff_t pitch;
    int width, height, bytes;
    cudaTextureAddressMode mode;
    cudaTextureObject_t texture;
    uint64_t used;
  };
  std::vector<Entry> entries_;
  uint64_t clock_ = 0, created_ = 0, hits_ = 0;
  size_t base_alignment_ = 0, pitch_alignment_ = 0;
  int max_width_ = 0, max_height_ = 0, max_pitch_ = 0;
};

}  // namespace cudawarp

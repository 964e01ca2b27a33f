// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_runtime.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

namespace context = boost::context;

[[noreturn]] void fail(const char* words) {
  std::fprintf(stderr, "emulation: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, words);
  std::abort();
}

// What waits for `size` threads to come, and gives each what all have passed. A thread can be one meeting
// ahead of another.
struct Meeting {
  unsigned come = 0;
  uint64_t number = 0;
  std::vector<uint32_t> values[2];
};

struct Thread {
  context::fiber fiber;
  context::fiber* main = nullptr;  // what runs the threads, while this one waits for nothing
  bool done = true;
};

// One block at a time, on fibers that stay for the next.
class Block {
 public:
  void run(unsigned threads, const std::function<void()>& thread) {
    thread_ = &thread;
    while (threads_.size() < threads) add();
    count_ = threads;
    all_.values[0].assign(threads, 0), all_.values[1].assign(threads, 0);
    warps_.assign((threads + 31) / 32, Meeting{});
    for (Meeting& warp : warps_) warp.values[0].assign(32, 0), warp.values[1].assign(32, 0);
    all_.come = 0;
    for (unsigned t = 0; t < threads; ++t) threads_[t].done = false;
    for (left_ = threads; left_ > 0;) {
      moved_ = false;
      for (unsigned n = 0; n < threads; ++n) {
        const unsigned t = blockIdx.x % 2 == 0 ? n : threads - 1 - n;  // one order hides what another shows
        if (threads_[t].done) continue;
        threadIdx.x = t;
        threads_[t].fiber = std::move(threads_[t].fiber).resume();
      }
      if (!moved_) fail("waits for threads that do not come");
    }
  }

  const uint32_t* meet(Meeting& meeting, unsigned size, unsigned place, uint32_t value) {
    const uint64_t number = meeting.number;
    std::vector<uint32_t>& values = meeting.values[number % 2];
    values[place] = value;
    moved_ = true;
    if (++meeting.come == size)
      meeting.come = 0, ++meeting.number;
    else
      while (meeting.number == number) leave();
    return values.data();
  }

  const uint32_t* of_warp(uint32_t value) {
    return meet(warps_[threadIdx.x / 32], std::min(32u, count_ - threadIdx.x / 32 * 32), threadIdx.x % 32,
                value);
  }
  bool of_block(bool value) {
    const uint32_t* values = meet(all_, count_, threadIdx.x, value);
    return std::all_of(values, values + count_, [](uint32_t v) { return v != 0; });
  }

 private:
  void add() {
    threads_.emplace_back();
    threads_.back().fiber = context::fiber(std::allocator_arg, context::fixedsize_stack(256 * 1024),
                                           [this, t = threads_.size() - 1](context::fiber&& main) {
                                             for (threads_[t].main = &main;; leave()) {
                                               (*thread_)();
                                               threads_[t].done = moved_ = true;
                                               --left_;
                                             }
                                             return std::move(main);
                                           });
  }

  // From the running thread to the next.
  void leave() {
    context::fiber& main = *threads_[threadIdx.x].main;
    main = std::move(main).resume();
  }

  const std::function<void()>* thread_ = nullptr;
  std::vector<Thread> threads_;
  unsigned count_ = 0, left_ = 0;
  bool moved_ = false;
  Meeting all_;
  std::vector<Meeting> warps_;
};

struct Texture {
  const uint8_t* data;
  int width, height;
  size_t pitch;
  int bytes;
  cudaTextureAddressMode mode;
};

int texel_index(int i, int n, cudaTextureAddressMode mode) {
  if (mode == cudaAddressModeClamp) return std::clamp(i, 0, n - 1);
  const int period = mode == cudaAddressModeMirror ? 2 * n : n, m = (i % period + period) % period;
  return m < n ? m : period - 1 - m;
}

Block& block() {
  static Block* const one = new Block;  // its fibers never end
  return *one;
}

std::vector<uint8_t> shared;

cudaError_t allocate(void** data, size_t size) {
  constexpr size_t kAlignment = 512;
  *data = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  return *data ? cudaSuccess : cudaErrorMemoryAllocation;
}

template <class T>
cudaError_t create(T** object) {
  *object = reinterpret_cast<T*>(std::malloc(1));
  return *object ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t destroy(void* object) {
  std::free(object);
  return cudaSuccess;
}

}  // namespace

namespace emulation {

void run(unsigned blocks, unsigned threads, size_t shared_bytes, const std::function<void()>& thread) {
  constexpr size_t kMostThreads = 1024, kMostShared = 48 * 1024;
  if (blocks == 0 || threads == 0 || threads > kMostThreads || shared_bytes > kMostShared)
    fail("a launch that no device takes");
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    shared.assign(shared_bytes + 15, 0);
    shared.shrink_to_fit();
    for (size_t k = 0; k < shared.size(); ++k) shared[k] = static_cast<uint8_t>(k * 151 + blockIdx.x * 37);
    block().run(threads, thread);
  }
}

uint8_t* shared_memory() {
  return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(shared.data()) + 15) & ~uintptr_t{15});
}

std::pair<int, int> first_texel(cudaTextureObject_t texture, float x, float y) {
  const Texture& t = *reinterpret_cast<const Texture*>(texture);
  const bool pixels = t.mode == cudaAddressModeClamp;
  const auto index = [](double at) { return static_cast<int>(std::clamp(std::floor(at), -1e9, 1e9)); };
  return {index(x * (pixels ? 1.0 : t.width) - 0.5), index(y * (pixels ? 1.0 : t.height) - 0.5)};
}

uint32_t texel(cudaTextureObject_t texture, int x, int y) {
  const Texture& t = *reinterpret_cast<const Texture*>(texture);
  x = texel_index(x, t.width, t.mode), y = texel_index(y, t.height, t.mode);
  uint32_t word = 0;
  std::memcpy(&word, t.data + y * t.pitch + static_cast<size_t>(x) * t.bytes, t.bytes);
  return word;
}

const uint32_t* of_warp(uint32_t value) {
  return block().of_warp(value);
}

bool of_block(bool value) {
  return block().of_block(value);
}

}  // namespace emulation

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess                 ? "no error"
         : error == cudaErrorMemoryAllocation ? "out of memory"
                                              : "an error";
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "emulation");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrTextureAlignment:
      *value = 512;
      break;
    case cudaDevAttrTexturePitchAlignment:
      *value = 32;
      break;
    case cudaDevAttrMaxTexture2DLinearWidth:
      *value = 131072;
      break;
    case cudaDevAttrMaxTexture2DLinearHeight:
      *value = 65000;
      break;
    case cudaDevAttrMaxTexture2DLinearPitch:
      *value = 2097120;
      break;
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void*, size_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void*) {
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** data, size_t size) {
  return allocate(data, size);
}
cudaError_t cudaFree(void* data) {
  return destroy(data);
}
cudaError_t cudaFreeAsync(void* data, cudaStream_t) {
  return destroy(data);
}
cudaError_t cudaMallocFromPoolAsync(void** data, size_t size, cudaMemPool_t, cudaStream_t) {
  return allocate(data, size);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  return create(pool);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return destroy(pool);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, size);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t) {
  for (size_t y = 0; y < height; ++y)
    std::memcpy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
                width);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* data, int value, size_t size, cudaStream_t) {
  std::memset(data, value, size);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return create(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return destroy(stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return create(event);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return create(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return destroy(event);
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* desc, const void*) {
  const auto& p = resource->res.pitch2D;
  if (desc->normalizedCoords != (desc->addressMode[0] != cudaAddressModeClamp)) return cudaErrorInvalidValue;
  auto* made = new Texture{static_cast<const uint8_t*>(p.devPtr),
                           static_cast<int>(p.width),
                           static_cast<int>(p.height),
                           p.pitchInBytes,
                           p.desc.x / 8,
                           desc->addressMode[0]};
  *texture = reinterpret_cast<uintptr_t>(made);
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  delete reinterpret_cast<Texture*>(texture);
  return cudaSuccess;
}

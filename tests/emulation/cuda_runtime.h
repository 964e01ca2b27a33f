// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CUDA for hosts without it: what cuda/*.cu and the tests of the engine use of the runtime API and of the
// device's functions, so that g++ compiles them and every kernel runs on the CPU, thread by thread. For
// tests: pixels, barriers and addresses are those of a GPU, times and orders of memory are not. Calls do
// their work at once; there is one device and no error but out of memory.
//
// A kernel's block runs on fibers, in turn (forwards or backwards) from barrier to barrier, so that a missing
// barrier shows; in shared memory that begins as garbage.
// A barrier or a warp function that not all threads reach aborts with a message.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

// ---- types

struct int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct float2 {
  float x, y;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned columns = 1, unsigned rows = 1, unsigned layers = 1) : x(columns), y(rows), z(layers) {}
};

enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorNotReady,
  cudaErrorDeviceUninitialized,
  cudaErrorContextIsDestroyed
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
struct CUstream_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaMemPool_t = struct CUmemPoolHandle_st*;
using cudaTextureObject_t = unsigned long long;

constexpr unsigned cudaEventDisableTiming = 2, cudaStreamNonBlocking = 1, cudaHostRegisterPortable = 1;

struct cudaDeviceProp {
  char name[256];
};
struct cudaFuncAttributes {};
enum cudaDeviceAttr {
  cudaDevAttrTextureAlignment,
  cudaDevAttrTexturePitchAlignment,
  cudaDevAttrMaxTexture2DLinearWidth,
  cudaDevAttrMaxTexture2DLinearHeight,
  cudaDevAttrMaxTexture2DLinearPitch
};

enum cudaMemAllocationType { cudaMemAllocationTypePinned };
enum cudaMemLocationType { cudaMemLocationTypeDevice };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold };
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemLocation location;
};

enum cudaChannelFormatKind { cudaChannelFormatKindUnsigned };
enum cudaResourceType { cudaResourceTypePitch2D };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror };
enum cudaTextureFilterMode { cudaFilterModePoint };
enum cudaTextureReadMode { cudaReadModeElementType };
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
struct cudaResourceDesc {
  cudaResourceType resType;
  struct {
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int normalizedCoords;
};

// ---- calls

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

cudaError_t cudaHostRegister(void* pages, size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void* pages);
cudaError_t cudaMalloc(void** data, size_t size);
template <class T>
cudaError_t cudaMalloc(T** data, size_t size) {
  return cudaMalloc(reinterpret_cast<void**>(data), size);
}
cudaError_t cudaFree(void* data);
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void** data, size_t size, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* data, int value, size_t size, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* desc, const void* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel*) {
  return cudaSuccess;
}

namespace emulation {

// Runs `thread` for every thread of every block, x only.
void run(unsigned blocks, unsigned threads, size_t shared_bytes, const std::function<void()>& thread);

uint8_t* shared_memory();

// The first of the texels that a gather takes, and the word of one, clamped to the texture's edges or
// repeated.
std::pair<int, int> first_texel(cudaTextureObject_t texture, float x, float y);
uint32_t texel(cudaTextureObject_t texture, int x, int y);

// What all 32 lanes of the calling thread's warp pass, once all have come.
const uint32_t* of_warp(uint32_t value);

// Waits for all threads of the block; whether all have passed true.
bool of_block(bool value);

}  // namespace emulation

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, void** arguments,
                             size_t shared_bytes, cudaStream_t) {
  emulation::run(blocks.x, threads.x, shared_bytes, [&] {
    [&]<size_t... N>(std::index_sequence<N...>) {
      kernel(*static_cast<std::remove_cv_t<std::tuple_element_t<N, std::tuple<Parameters...>>>*>(
          arguments[N])...);
    }
    (std::index_sequence_for<Parameters...>{});
  });
  return cudaSuccess;
}

// ---- the device's functions

inline dim3 threadIdx, blockIdx;

inline void __syncthreads() {
  emulation::of_block(true);
}
inline int __syncthreads_and(int value) {
  return emulation::of_block(value != 0);
}
inline void __syncwarp() {
  emulation::of_warp(0);
}
inline int __all_sync(unsigned, int value) {
  const uint32_t* all = emulation::of_warp(value != 0);
  for (int lane = 0; lane < 32; ++lane)
    if (!all[lane]) return 0;
  return 1;
}
inline int __any_sync(unsigned mask, int value) {
  return !__all_sync(mask, !value);
}
inline uint32_t __ballot_sync(unsigned, int value) {
  const uint32_t* all = emulation::of_warp(value != 0);
  uint32_t bits = 0;
  for (int lane = 0; lane < 32; ++lane) bits |= all[lane] << lane;
  return bits;
}
inline int __popc(uint32_t bits) {
  return std::popcount(bits);
}
inline uint32_t __shfl_sync(unsigned, uint32_t value, int lane) {
  return emulation::of_warp(value)[lane & 31];
}

inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t select) {
  const uint64_t bytes = a | uint64_t{b} << 32;
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k)
    result |= static_cast<uint32_t>(bytes >> (8 * (select >> (4 * k) & 7)) & 0xff) << (8 * k);
  return result;
}
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((low | uint64_t{high} << 32) >> (shift & 31));
}
inline uint32_t __umulhi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
inline uint32_t __dp2a_lo(uint32_t a, uint32_t b, uint32_t sum) {
  return sum + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
inline uint32_t __dp2a_hi(uint32_t a, uint32_t b, uint32_t sum) {
  return __dp2a_lo(a, b >> 16, sum);
}
inline size_t __cvta_generic_to_shared(const void* at) {
  return reinterpret_cast<size_t>(at);
}
template <class T>
T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T max(T a, T b) {
  return a < b ? b : a;
}

inline float __int_as_float(int bits) {
  return std::bit_cast<float>(bits);
}

template <class Word>
Word tex2Dgather(cudaTextureObject_t texture, float x, float y, int) {
  const auto [i, j] = emulation::first_texel(texture, x, y);
  using emulation::texel;
  return {texel(texture, i, j + 1), texel(texture, i + 1, j + 1), texel(texture, i + 1, j),
          texel(texture, i, j)};
}

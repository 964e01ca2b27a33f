// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_load.h"

#include <cuda_runtime.h>

namespace cudawarp::gpu_load {
namespace {

__global__ void spin_kernel(uint64_t nanoseconds) {
  uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}

__global__ void trap_kernel() {
  asm volatile("trap;");
}

__device__ bool place(int width, int height, int& x, int& y) {
  x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  return x < width && y < height;
}

__global__ void fill_kernel(char* data, size_t pitch, int width, int height, uint32_t pixel) {
  int x, y;
  if (place(width, height, x, y)) reinterpret_cast<uint32_t*>(data + y * pitch)[x] = pixel;
}

__global__ void count_kernel(const char* data, size_t pitch, int width, int height, uint32_t pixel,
                             unsigned* others) {
  int x, y;
  if (place(width, height, x, y) && reinterpret_cast<const uint32_t*>(data + y * pitch)[x] != pixel)
    atomicAdd(others, 1u);
}

bool launched() {
  return cudaGetLastError() == cudaSuccess;
}

dim3 grid(int width, int height) {
  return dim3((width + 255) / 256, height);
}

}  // namespace

CUstream_st* new_stream() {
  cudaStream_t stream = nullptr;
  return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess ? stream : nullptr;
}

void destroy(CUstream_st* stream) {
  cudaStreamDestroy(stream);
}

bool wait(CUstream_st* stream) {
  return cudaStreamSynchronize(stream) == cudaSuccess;
}

bool is_idle(CUstream_st* stream) {
  return cudaStreamQuery(stream) == cudaSuccess;
}

bool spin(CUstream_st* stream, int microseconds, int blocks) {
  spin_kernel<<<blocks, 32, 0, stream>>>(uint64_t(microseconds) * 1000);
  return launched();
}

bool trap(CUstream_st* stream) {
  trap_kernel<<<1, 1, 0, stream>>>();
  return launched();
}

bool fill(CUstream_st* stream, void* data, size_t pitch, int width, int height, uint32_t pixel) {
  fill_kernel<<<grid(width, height), 256, 0, stream>>>(static_cast<char*>(data), pitch, width, height, pixel);
  return launched();
}

bool count_others(CUstream_st* stream, const void* data, size_t pitch, int width, int height, uint32_t pixel,
                  unsigned* others) {
  count_kernel<<<grid(width, height), 256, 0, stream>>>(static_cast<const char*>(data), pitch, width, height,
                                                        pixel, others);
  return launched();
}

unsigned* new_count() {
  unsigned* count = nullptr;
  return cudaMalloc(&count, sizeof *count) == cudaSuccess &&
                 cudaMemset(count, 0, sizeof *count) == cudaSuccess
             ? count
             : nullptr;
}

int64_t take_count(unsigned* count, CUstream_st* stream) {
  unsigned value = 0;
  const bool read =
      wait(stream) && cudaMemcpy(&value, count, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(count);
  return read ? int64_t{value} : -1;
}

Hog::Hog() {
  for (size_t size = size_t{4} << 30; size >= size_t{64} << 10;) {
    void* data = nullptr;
    if (cudaMalloc(&data, size) == cudaSuccess) {
      blocks_ = new Block{data, blocks_};
    } else {
      cudaGetLastError();
      size /= 2;
    }
  }
}

Hog::~Hog() {
  while (blocks_) {
    Block* block = blocks_;
    blocks_ = block->next;
    cudaFree(block->data);
    delete block;
  }
}

}  // namespace cudawarp::gpu_load

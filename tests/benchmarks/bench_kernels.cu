// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench_kernels.h"

namespace cudawarp::bench {
namespace {

constexpr int kThreads = 256;

template <int words>
__global__ void __launch_bounds__(kThreads) copy_kernel(uint4* to, const uint4* from, size_t count) {
  const size_t first = size_t(blockIdx.x) * kThreads * words + threadIdx.x;
  uint4 word[words];
#pragma unroll
  for (int k = 0; k < words; ++k)
    if (first + k * kThreads < count) word[k] = from[first + k * kThreads];
#pragma unroll
  for (int k = 0; k < words; ++k)
    if (first + k * kThreads < count) to[first + k * kThreads] = word[k];
}

__device__ uint64_t now() {
  uint64_t t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

__global__ void hold_kernel(uint64_t nanoseconds) {
  for (const uint64_t start = now(); now() - start < nanoseconds;) __nanosleep(200);
}

}  // namespace

cudaError_t copy(void* to, const void* from, size_t bytes, int words_per_thread, cudaStream_t stream) {
  const size_t count = bytes / sizeof(uint4), per_block = size_t(kThreads) * words_per_thread;
  const auto blocks = static_cast<unsigned>((count + per_block - 1) / per_block);
  auto* dst = static_cast<uint4*>(to);
  const auto* src = static_cast<const uint4*>(from);
  if (words_per_thread == 1)
    copy_kernel<1><<<blocks, kThreads, 0, stream>>>(dst, src, count);
  else
    copy_kernel<4><<<blocks, kThreads, 0, stream>>>(dst, src, count);
  return cudaGetLastError();
}

cudaError_t hold(uint64_t nanoseconds, cudaStream_t stream) {
  hold_kernel<<<1, 1, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

}  // namespace cudawarp::bench

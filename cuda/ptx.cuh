// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Instructions and memory that CUDA C++ has no name for. Where the host compiles them (tests/emulation), the
// same in C++.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cudawarp {
namespace {

// Of a launch, aligned to 16 bytes.
__device__ uint8_t* shared_memory() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) uint8_t bytes[];
  return bytes;
#else
  return emulation::shared_memory();
#endif
}

// 0, which the compiler cannot know: what is read through it is read there and not before, where all threads
// would read it.
__device__ int zero() {
  int z = 0;
#ifdef __CUDA_ARCH__
  asm volatile("mov.u32 %0, 0;" : "=r"(z));
#endif
  return z;
}

// Two weights of 16 bits, signed, times the two lower bytes.
__device__ int dot_low(uint32_t weights, uint32_t bytes, int sum) {
#ifdef __CUDA_ARCH__
  asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(bytes));
  return sum;
#else
  return sum + static_cast<int16_t>(weights) * static_cast<int>(bytes & 0xff) +
         static_cast<int16_t>(weights >> 16) * static_cast<int>(bytes >> 8 & 0xff);
#endif
}

// The same times the two upper ones.
__device__ int dot_high(uint32_t weights, uint32_t bytes, int sum) {
#ifdef __CUDA_ARCH__
  asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(bytes));
  return sum;
#else
  return dot_low(weights, bytes >> 16, sum);
#endif
}

// Clamped to -128..127 and put side by side in two's complement, the first lowest.
__device__ uint32_t saturated_signed_bytes(int a, int b, int c, int d) {
#ifdef __CUDA_ARCH__
  uint32_t high, all;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(d), "r"(c), "r"(0));
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(high));
  return all;
#else
  const auto byte = [](int v) { return static_cast<uint32_t>(v < -128 ? -128 : v > 127 ? 127 : v) & 0xff; };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
#endif
}

}  // namespace
}  // namespace cudawarp

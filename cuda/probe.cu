// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the current device can do. Its kernels are a module of their own, which is quick to load.
#include <memory>

#include "device_memory.h"
#include "gather.cuh"

namespace cudawarp {
namespace {

constexpr int kSide = 5, kPitch = 512;  // of the picture that is probed
constexpr int kFar = 16;                // corners to each side

// Gathers about corners of the picture and beyond, beside loads.
template <class Word>
__global__ void probe_kernel(cudaTextureObject_t texture, Outside outside, const uint8_t* data, float scale,
                             int* wrong) {
  const int u = static_cast<int>(threadIdx.x) - kFar, v = static_cast<int>(blockIdx.x) - kFar;
  const auto word = [&](int x, int y) -> uint32_t {
    x = border_index(x, kSide, outside), y = border_index(y, kSide, outside);
    return reinterpret_cast<const Word*>(data + y * kPitch)[x];
  };
  const int64_t x[] = {int64_t{u} << 32}, y[] = {int64_t{v} << 32};
  uint4 taps[1];
  gather(texture, x, y, is_repeated(outside), scale, scale, taps);
  const uint4& t = taps[0];
  if (t00(t) != word(u - 1, v - 1) || t10(t) != word(u, v - 1) || t01(t) != word(u - 1, v) ||
      t11(t) != word(u, v))
    *wrong = 1;
}

Status probe(const uint8_t* data, int bytes, Outside outside, int* wrong, cudaStream_t stream) {
  cudaTextureObject_t texture = 0;
  if (auto failed = create_texture(data, kPitch, kSide, kSide, bytes, address_mode(outside), texture))
    return failed;
  const auto kernel = bytes == 1   ? probe_kernel<uint8_t>
                      : bytes == 2 ? probe_kernel<uint16_t>
                                   : probe_kernel<uint32_t>;
  float scale = 1.0f / kSide;
  void* arguments[] = {&texture, &outside, &data, &scale, &wrong};
  Status failed =
      cuda_status(cudaLaunchKernel(kernel, 2 * kFar, 2 * kFar, arguments, 0, stream), "cudaLaunchKernel");
  if (!failed) failed = cuda_status(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  cudaDestroyTextureObject(texture);
  return failed;
}

}  // namespace

cudaError_t probe_kernels() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, probe_kernel<uint8_t>);
}

Status probe_gathers(bool& right) {
  constexpr int kSize = kPitch * kSide;
  uint8_t noise[kSize + sizeof(int)]{};
  for (int k = 0; k < kSize; ++k) noise[k] = static_cast<uint8_t>(k * 167 + k / 256 * 59);
  // Not from a pool: a process's first takes it 12 ms.
  uint8_t* data = nullptr;
  CUDAWARP_TRY(cudaMalloc(&data, sizeof noise));
  const auto free = [](uint8_t* memory) { cudaFree(memory); };
  const std::unique_ptr<uint8_t, decltype(free)> owner(data, free);
  Stream stream;
  if (auto failed = stream.create()) return failed;
  CUDAWARP_TRY(cudaMemcpyAsync(data, noise, sizeof noise, cudaMemcpyHostToDevice, stream.get()));
  int* const wrong = reinterpret_cast<int*>(data + kSize);
  for (const Outside outside : {Outside::replicate, Outside::mirror, Outside::wrap})
    for (const int bytes : {1, 2, 4})
      if (auto failed = probe(data, bytes, outside, wrong, stream.get())) return failed;
  int result = 1;
  CUDAWARP_TRY(cudaMemcpyAsync(&result, wrong, sizeof result, cudaMemcpyDeviceToHost, stream.get()));
  CUDAWARP_TRY(cudaStreamSynchronize(stream.get()));
  right = result == 0;
  return std::nullopt;
}

}  // namespace cudawarp

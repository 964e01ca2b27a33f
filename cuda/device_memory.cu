// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>
#include <string>

#include "device_memory.h"
#include "warp.h"

namespace cudawarp {
namespace {

// Enough for the buffers of two large pools of three-plane frames.
constexpr size_t kMaxTextures = 256;
// More than any device asks of a texture's base address; cudaMallocAsync promises less.
constexpr size_t kBaseAlignment = 512;

}  // namespace

Status cuda_status(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return std::nullopt;
  cudaGetLastError();
  return Error{std::string(call, std::strcspn(call, "(")) + ": " + cudaGetErrorString(error)};
}

Status check_context() {
  int least = 0, greatest = 0;
  const cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (error != cudaSuccess) cudaGetLastError();
  // Another error is an earlier call's, in a context that is still there.
  if (error != cudaErrorDeviceUninitialized && error != cudaErrorContextIsDestroyed) return std::nullopt;
  return Error{"cudaDeviceGetStreamPriorityRange: the CUDA context has been destroyed"};
}

Status lock_pages(void* pages, size_t size) {
  CUDAWARP_TRY(cudaHostRegister(pages, size, cudaHostRegisterPortable));
  return std::nullopt;
}

Status unlock_pages(void* pages) {
  CUDAWARP_TRY(cudaHostUnregister(pages));
  return std::nullopt;
}

Event::~Event() {
  if (event_) cudaEventDestroy(event_);
}

Status Event::create() {
  CUDAWARP_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  return std::nullopt;
}

Stream::~Stream() {
  if (stream_) cudaStreamDestroy(stream_);
}

Status Stream::create() {
  CUDAWARP_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  return std::nullopt;
}

StagingBuffer::~StagingBuffer() {
  if (data_) cudaFree(data_);
  if (first_) cudaFree(first_);
}

uint8_t* StagingBuffer::data() const {
  const auto at = reinterpret_cast<uintptr_t>(data_);
  return reinterpret_cast<uint8_t*>((at + kBaseAlignment - 1) / kBaseAlignment * kBaseAlignment);
}

Status StagingBuffer::reserve(size_t size, cudaMemPool_t pool, cudaStream_t stream, uint64_t& grown) {
  if (size <= size_) return std::nullopt;
  const bool first = !data_ && !first_;
  void* const old = std::exchange(data_, nullptr);
  size_ = 0;
  if (old && !first_)
    first_ = old;  // plain memory is freed by waiting for the device
  else if (old)
    CUDAWARP_TRY(cudaFreeAsync(old, stream));
  // A process's first memory from a pool takes 12 ms, plain memory next to nothing.
  if (first)
    CUDAWARP_TRY(cudaMalloc(&data_, size + kBaseAlignment));
  else
    CUDAWARP_TRY(cudaMallocFromPoolAsync(&data_, size + kBaseAlignment, pool, stream));
  // Bytes that no sample owns (in packed 4:2:2 of odd width) go to the host with the rest.
  CUDAWARP_TRY(cudaMemsetAsync(data_, 0, size + kBaseAlignment, stream));
  size_ = size;
  ++grown;
  return std::nullopt;
}

Status create_texture(const void* data, ptrdiff_t pitch, int width, int height, int bytes,
                      cudaTextureAddressMode mode, cudaTextureObject_t& texture) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void*>(data);
  resource.res.pitch2D.desc = cudaCreateChannelDesc(8 * bytes, 0, 0, 0, cudaChannelFormatKindUnsigned);
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc desc{};
  desc.addressMode[0] = desc.addressMode[1] = mode;
  desc.normalizedCoords = mode != cudaAddressModeClamp;
  desc.filterMode = cudaFilterModePoint;
  desc.readMode = cudaReadModeElementType;
  CUDAWARP_TRY(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  return std::nullopt;
}

TextureCache::~TextureCache() {
  for (const Entry& e : entries_) cudaDestroyTextureObject(e.texture);
}

Status TextureCache::init() {
  int device = 0, base = 0, pitch = 0;
  CUDAWARP_TRY(cudaGetDevice(&device));
  CUDAWARP_TRY(cudaDeviceGetAttribute(&base, cudaDevAttrTextureAlignment, device));
  CUDAWARP_TRY(cudaDeviceGetAttribute(&pitch, cudaDevAttrTexturePitchAlignment, device));
  CUDAWARP_TRY(cudaDeviceGetAttribute(&max_width_, cudaDevAttrMaxTexture2DLinearWidth, device));
  CUDAWARP_TRY(cudaDeviceGetAttribute(&max_height_, cudaDevAttrMaxTexture2DLinearHeight, device));
  CUDAWARP_TRY(cudaDeviceGetAttribute(&max_pitch_, cudaDevAttrMaxTexture2DLinearPitch, device));
  base_alignment_ = base, pitch_alignment_ = pitch;
  return std::nullopt;
}

bool TextureCache::can_hold(const void* data, ptrdiff_t pitch, int width, int height) const {
  return reinterpret_cast<uintptr_t>(data) % base_alignment_ == 0 && pitch > 0 && pitch <= max_pitch_ &&
         pitch % static_cast<ptrdiff_t>(pitch_alignment_) == 0 && width <= max_width_ &&
         height <= max_height_;
}

Status TextureCache::get(const void* data, ptrdiff_t pitch, int width, int height, int bytes,
                         cudaTextureAddressMode mode, cudaEvent_t idle, cudaTextureObject_t& texture) {
  for (Entry& e : entries_) {
    if (e.data == data && e.pitch == pitch && e.width == width && e.height == height && e.bytes == bytes &&
        e.mode == mode) {
      e.used = ++clock_;
      ++hits_;
      texture = e.texture;
      return std::nullopt;
    }
  }
  if (entries_.size() == kMaxTextures) {
    CUDAWARP_TRY(cudaEventSynchronize(idle));
    const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                         [](const Entry& l, const Entry& r) { return l.used < r.used; });
    const cudaTextureObject_t gone = oldest->texture;
    entries_.erase(oldest);
    CUDAWARP_TRY(cudaDestroyTextureObject(gone));
  }

  if (auto failed = create_texture(data, pitch, width, height, bytes, mode, texture)) return failed;
  entries_.push_back({data, pitch, width, height, bytes, mode, texture, ++clock_});
  ++created_;
  return std::nullopt;
}

}  // namespace cudawarp

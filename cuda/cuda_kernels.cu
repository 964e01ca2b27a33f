// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_kernels.h"

namespace cudawarp {
namespace {

// How a thread's pixels lie, so that it writes whole words, and the blocks that cover the grid. A sample
// between others' bytes (packed 4:2:2) is written by itself.
int lay_out(KernelPass& k, int pixels) {
  const PassPlan& p = k.plan;
  const int bytes = stored_bytes(p.store);
  const bool dense = p.dst_step == bytes;
  k.cell_shift = pixels == 1 || !dense || bytes >= 4 ? 0 : bytes == 2 ? 1 : 2;
  for (int n = 0; n < pixels; ++n) {
    k.column[n] = n & ((1 << k.cell_shift) - 1), k.row[n] = (n >> k.cell_shift) * kBlockY;
    k.x[n] = k.column[n] * p.x_per_i + k.row[n] * p.x_per_j;
    k.y[n] = k.column[n] * p.y_per_i + k.row[n] * p.y_per_j;
  }
  uintptr_t places = 0;
  for (int c = 0; c < kMaxChannels; ++c)
    places |= reinterpret_cast<uintptr_t>(k.dst.data[c]) | static_cast<uintptr_t>(k.dst.pitch[c]);
  k.whole_words = dense && places % (bytes == 8 ? 8 : 4) == 0;
  const int width = kBlockX << k.cell_shift, height = kBlockY * (pixels >> k.cell_shift);
  k.blocks_x = (p.dst_w + width - 1) / width;
  return k.blocks_x * ((p.dst_h + height - 1) / height);
}

Kernel kernel_for(const KernelArgs& args, Interpolation interpolation, bool antialias, bool textures) {
  switch (interpolation) {
    case Interpolation::nearest:
      return kernel_of<Interpolation::nearest>(args, antialias, textures);
    case Interpolation::bilinear:
      return kernel_of<Interpolation::bilinear>(args, antialias, textures);
    case Interpolation::bicubic:
      return kernel_of<Interpolation::bicubic>(args, antialias, textures);
    case Interpolation::lanczos:
      break;
  }
  return kernel_of<Interpolation::lanczos>(args, antialias, textures);
}

}  // namespace

cudaError_t launch_warp(KernelArgs& args, Interpolation interpolation, bool textures, cudaStream_t stream) {
  bool antialias = false;
  for (int n = 0; n < args.passes; ++n) antialias = antialias || args.pass[n].plan.shrinks;
  int blocks = 0;
  for (int n = 0; n < args.passes; ++n) {
    args.pass[n].first_block = blocks;
    blocks += lay_out(args.pass[n], pixels_per_thread(interpolation, antialias));
  }
  kernel_for(args, interpolation, antialias, textures)<<<blocks, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

int texture_channels(const PassPlan& p) {
  if (p.shrinks || !p.same_words) return 0;
  switch (p.fetch) {
    case FetchId::samples8_1:
    case FetchId::samples8_2:
      return p.src_step == 1 ? 1 : 0;
    case FetchId::bytes2:
      return 2;
    case FetchId::bytes4:
    case FetchId::bytes4_alpha:
      return 4;
    default:
      return 0;
  }
}

int loaded_bytes(Packing packing) {
  return packing == Packing::bytes3 ? 1 : stored_bytes(packing);
}

cudaError_t probe_kernels() {
  KernelArgs any{};
  any.passes = 1;
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel_of<Interpolation::nearest>(any, false, false));
}

}  // namespace cudawarp

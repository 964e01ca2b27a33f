// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp kernel's arguments and launch; inside the CUDA engine only.
#pragma once

#include <cuda_runtime.h>

#include "plan.h"
#include "store.h"

namespace cudawarp {

// A warp covers 8x4 cells, so that a turned row still reads few lines of the source; a block is 2x4 warps.
constexpr int kWarpX = 8, kWarpY = 4, kBlockX = 16, kBlockY = 16, kThreads = kBlockX * kBlockY;

// Pixels of a thread: where a pixel takes little, a cell of 1, 2 or 4 neighbours, in 4, 2 or 1 rows that lie
// kBlockY apart.
constexpr int kMaxPixels = 4;
CUDAWARP_BOTH constexpr int pixels_per_thread(Interpolation interpolation, bool antialias) {
  const bool light = interpolation == Interpolation::nearest || interpolation == Interpolation::bilinear;
  return light && !antialias ? kMaxPixels : 1;
}

struct KernelPass {
  PassPlan plan;
  Source src;
  Target dst;
  // Over src where the pass is read through textures: by channel where each has its plane, else the first
  // only. Point addressing in pixels, clamped, bilinear.
  cudaTextureObject_t texture[2];
  int32_t first_block, blocks_x;
  int32_t cell_shift;  // log2 of the pixels of a cell
  bool whole_words;    // rows of dst begin and end at multiples of what is written at once
  // From a thread's first pixel to its others: in the output, and their source points.
  int32_t column[kMaxPixels], row[kMaxPixels];
  int64_t x[kMaxPixels], y[kMaxPixels];
};

// The passes of a frame, or of one field of it.
struct KernelArgs {
  int32_t passes;
  KernelPass pass[kMaxGroups];
};

using Kernel = void (*)(KernelArgs);

// The kernel that does these passes; each of kernels_*.cu defines one.
template <Interpolation I>
Kernel kernel_of(const KernelArgs& args, bool antialias, bool textures);

// Queues one launch that does all passes. Sources must be aligned to the words that their packing reads
// (loaded_bytes()). With `textures` every pass has them, and bilinear interpolation is left to the texture
// unit (weights of 8 bits) where it can do it. Fills in what follows the textures in each pass.
cudaError_t launch_warp(KernelArgs& args, Interpolation interpolation, bool textures, cudaStream_t stream);

// Channels of a texture over this pass's source; 0 where it cannot be read through textures.
int texture_channels(const PassPlan& pass);

// What one load of a packing must be aligned to.
int loaded_bytes(Packing packing);

// cudaSuccess where the current device can run this build's kernels.
cudaError_t probe_kernels();

}  // namespace cudawarp

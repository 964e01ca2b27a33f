// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp kernel's arguments and launch; inside the CUDA engine only.
#pragma once

#include <cuda_runtime.h>

#include "plan.h"

namespace cudawarp {

struct KernelPlane {
  PlanePlan plan;
  const uint8_t* src;
  uint8_t* dst;
  ptrdiff_t src_pitch, dst_pitch;
  cudaTextureObject_t
      texture;  // over src: point addressing in pixels, clamped, bilinear; 0 where there is none
  int32_t first_block, blocks_x;
  bool whole_words;  // dst and dst_pitch are multiples of 4
};

struct KernelArgs {
  int32_t planes;
  KernelPlane plane[kMaxPlanes];
};

// Queues one launch that fills all planes. Sources read by 2 or 4 bytes must be aligned to that. With
// `textures` every plane has one, and bilinear interpolation is left to the texture unit (weights of 8 bits)
// where it can do it. Fills in first_block and blocks_x.
cudaError_t launch_warp(KernelArgs& args, Interpolation interpolation, bool textures, cudaStream_t stream);

// Whether the pixels of this pipe can be read through a texture.
bool has_texture_path(PipeId pipe);

// cudaSuccess where the current device can run this build's kernels.
cudaError_t probe_kernels();

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The warp kernel's arguments and launch; inside the CUDA engine only.
#pragma once

#include <cuda_runtime.h>

#include "plan.h"
#include "status.h"
#include "store.h"

namespace cudawarp {

// Pixels of a thread, where a pixel takes little; else 1.
constexpr int kMaxPixels = 4;
CUDAWARP_BOTH constexpr int pixels_per_thread(Interpolation interpolation, bool antialias) {
  const bool light = interpolation == Interpolation::nearest || interpolation == Interpolation::bilinear;
  return light && !antialias ? kMaxPixels : 1;
}

// Threads by the way that taps are read.
// With loads, a warp covers 8x4 cells, so that a turned row still reads few lines of the source; a block is
// 2x4 warps. A cell has 1, 2 or 4 neighbours, in 4, 2 or 1 rows that lie kBlockY apart.
constexpr int kWarpX = 8, kWarpY = 4, kBlockX = 16, kBlockY = 16, kThreads = kBlockX * kBlockY;
// With texture gathers a block covers 64x8 pixels, wide for the sake of the caches' lines. Pixels of 4 bytes:
// warps of 16x2, four rows that lie 2 apart. Of 2: warps of 8x4 cells of two neighbours, two rows 4 apart. Of
// 1: warps of 8x4, four of these side by side, whose results the lanes exchange for words.
constexpr int kGatherX = 64, kGatherY = 8, kGatherThreads = 128;

// With tiles of averages a thread has pixels of a row of its warp's 8x4, side by side; a block is 8 warps
// below each other, or fewer and 2 side by side.
constexpr int kTileThreads = 256;
constexpr int kAverageBytes = 48 * 1024;  // at most, of shared memory

// With cells (kernels_turned.cu) a warp does 4 rows at a time of a block of 32 rows, and as many of its
// columns at once as its threads write in whole words. By the bytes of a texel.
constexpr int kTurnedWarps = 4, kTurnedThreads = 32 * kTurnedWarps, kTurnedHeight = 32, kTurnedPixels = 8;
constexpr int kTurnedBytes = 48 * 1024;  // at most, of shared memory
CUDAWARP_BOTH constexpr int turned_width(int texel) {
  return texel == 1 ? 64 : 32;
}
CUDAWARP_BOTH constexpr int turned_cell(int texel) {  // bytes
  return texel == 1 ? 4 : 8;
}

// In maps that keep columns and rows apart (kernels_upright.cu) a block is 32 words of output across, and as
// many rows as the source that they need allows; lines are 32 units of 16 bytes, and 16 more so that lines
// lie in different banks.
constexpr int kUprightUnitShift = 5, kUprightUnits = 1 << kUprightUnitShift, kUprightThreads = 128;
constexpr int kLinePitch = 16 * (kUprightUnits + 1);
constexpr int kUprightBytes = 27 * 1024, kMostUprightBytes = 48 * 1024;  // as a rule, at most

// Coordinates of textures that repeat go from 0 to 1, the others' are pixels.
CUDAWARP_BOTH constexpr bool is_repeated(Outside outside) {
  return outside == Outside::mirror || outside == Outside::wrap;
}
constexpr cudaTextureAddressMode address_mode(Outside outside) {
  return outside == Outside::mirror ? cudaAddressModeMirror
         : outside == Outside::wrap ? cudaAddressModeWrap
                                    : cudaAddressModeClamp;
}

struct KernelPass {
  PassPlan plan;
  Source src;
  Target dst;
  // Over src where the taps are gathered: by channel where each has its plane, else the first only.
  cudaTextureObject_t texture[kMaxChannels];
  int32_t first_block, blocks_x, blocks_y;
  uint32_t per_blocks_x;  // 2^32 / blocks_x, rounded up; 0 for 1
  int32_t cell_shift;     // log2 of the pixels of a cell; with loads
  bool whole_words;       // rows of dst begin and end at multiples of what is written at once
  bool copy;              // exactly: the first tap is the pixel
  // Corners of source pixels (source point + 1/2, rounded down) about which the picture covers the output
  // pixel, and taps are right as a texture gives them, or clamped.
  int32_t left, right, top, bottom;
  // With gathers: the corner of the output's first pixel; whether the texture repeats, and from a corner to a
  // coordinate of it; how far out coordinates are exact enough; beyond which corners pixels need more.
  int64_t corner_x, corner_y;
  bool repeats;
  float scale_x, scale_y;
  int32_t most, edge_left, edge_right, edge_top, edge_bottom;
  // Beyond any of these an output pixel is the border, which is stored so (by channel, or side by side).
  int32_t out_left, out_right, out_top, out_bottom;
  uint32_t border_stored[kMaxChannels];
  // A texel beyond a border of constant colour, by channel or as it is stored.
  uint32_t border_texel[kMaxChannels];
  // Of bytes2 and bytes4 that stay such: out = permute(stored, select) | set; the same where their channels
  // 2 and 3 come as bytes 4 and 5. The bits of alpha, where it could weigh.
  uint32_t select, join, set, alpha;
  // With tiles: from the source point of a block's first pixel to the least and the greatest of the block's;
  // from a source point to its first tap; columns and rows of the source that a block reads, and the bytes
  // between rows in shared memory. Whether rows can be read 16 bytes at once.
  int64_t low_x, high_x, low_y, high_y, tap_x, tap_y;
  int32_t box_w, box_h, box_pitch;
  bool wide;
  // In maps that keep columns and rows apart, `swapped` or not: rows of a block, 2^row_shift; where in shared
  // memory its lines begin, and its weights.
  bool swapped;
  int32_t rows, row_shift, lines_at, table_at;
  // Averages over turned footprints: warps side by side and below each other (the rest of the 8 only help to
  // fill the tile), and pixels of a thread; from the source point of one of these to the next. The tile's
  // place in shared memory, behind the pieces of the kernels, of each of which there are so many copies; from
  // the first kernel's to the second's, 0 where they are the same.
  int32_t warps_x, warps_y, pixels;
  int64_t step_x, step_y;
  int32_t tile_at, line_copies, second_lines;
  Interpolation interpolation;
  // With cells: where they begin in shared memory, and bytes between their rows; 16 bytes of cells at a time
  // in a row (`per_chunks` is 2^32 / chunks, rounded up). Of 4-byte texels, the bytes of two neighbours that
  // make a cell, channels in canonical order, and from there to an output pixel. From a thread's first pixel
  // to the others of its row, and to its next row, in the source.
  int32_t cells_at, cell_pitch, chunks;
  uint32_t per_chunks, low_cell, high_cell, cell_order;
  int64_t pixel_x[kTurnedPixels], pixel_y[kTurnedPixels], round_x, round_y;
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
Kernel kernel_of(const KernelArgs& args, bool antialias);
// The same by gathers: bilinear in integers, or copies.
Kernel gather_kernel_of(const KernelArgs& args);

// By tiles, filters in integers (integers.h): for maps that keep columns and rows apart, with as many taps;
// for those that turn, bicubic (4 taps) and Lanczos (6).
Kernel upright_kernel_of(const KernelArgs& args, int taps);
Kernel turned_kernel_of(const KernelArgs& args, int taps);

// The same by tiles: averages over turned footprints in integers.
Kernel average_kernel_of(const KernelArgs& args);

struct Launch {
  Kernel kernel;
  int blocks, threads, shared_bytes;
};

// One launch that does all passes, and what of `args` it needs: all that follows the textures in each pass.
// Depends on the plans, and on the frames' places and pitches by what they are aligned to (kLayoutAlignment)
// only. Sources must be aligned to the words that their packing reads (loaded_bytes()). With `gather` every
// pass has its textures by the time that it is queued.
constexpr int kLayoutAlignment = 16;
Launch lay_out(KernelArgs& args, Interpolation interpolation, bool gather);
cudaError_t launch_warp(const Launch& launch, KernelArgs& args, cudaStream_t stream);

// Bytes of a texel of a texture over this pass's source; 0 where the pass cannot be done by gathers.
int texel_bytes(const KernelPass& pass, Interpolation interpolation);

// What one load of a packing must be aligned to.
int loaded_bytes(Packing packing);

// cudaSuccess where the current device can run this build's kernels.
cudaError_t probe_kernels();

// Whether gathers give what loads do, from textures of words of 1, 2 and 4 bytes over plain memory, which
// CUDA promises for arrays only. Waits for the device.
Status probe_gathers(bool& right);

}  // namespace cudawarp

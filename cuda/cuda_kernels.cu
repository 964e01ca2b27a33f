// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_kernels.h"

#include <algorithm>

#include "layout.h"
#include "make_pass.h"

namespace cudawarp {
namespace {

void set_steps(KernelPass& k) {
  const PassPlan& p = k.plan;
  for (int n = 0; n < kMaxPixels; ++n) {
    k.x[n] = k.column[n] * p.x_per_i + k.row[n] * p.x_per_j;
    k.y[n] = k.column[n] * p.y_per_i + k.row[n] * p.y_per_j;
  }
}

// How a thread's pixels lie where it reads by loads, so that it writes whole words. A sample between others'
// bytes (packed 4:2:2) is written by itself.
void lay_out_loads(KernelPass& k, int pixels, int& blocks) {
  const PassPlan& p = k.plan;
  const int bytes = stored_bytes(p.store);
  const bool dense = p.dst_step == bytes;
  k.cell_shift = pixels == 1 || !dense || bytes >= 4 ? 0 : bytes == 2 ? 1 : 2;
  for (int n = 0; n < pixels; ++n)
    k.column[n] = n & ((1 << k.cell_shift) - 1), k.row[n] = (n >> k.cell_shift) * kBlockY;
  set_steps(k);
  k.whole_words = dense && is_aligned(k, bytes == 8 ? 8 : 4);
  set_blocks(k, kBlockX << k.cell_shift, kBlockY * (pixels >> k.cell_shift), blocks);
}

void set_corners(KernelPass& k) {
  const PassPlan& p = k.plan;
  set_region(k);
  k.corner_x = p.x0 + kHalfPixel, k.corner_y = p.y0 + kHalfPixel;
  k.repeats = is_repeated(p.outside);
  k.scale_x = 1.0f / static_cast<float>(p.src_w), k.scale_y = 1.0f / static_cast<float>(p.src_h);
  // Off by 1/16 of a pixel at the furthest of those that are divided; a gather takes up to 1/2.
  k.most = k.repeats ? 1 << 19 : 1 << 30;
  if (k.repeats) k.left = k.top = -k.most, k.right = k.bottom = k.most;
  const auto near = [&](int32_t corner) { return std::clamp(corner, -k.most, k.most); };
  k.edge_left = near(k.left), k.edge_right = near(k.right);
  k.edge_top = near(k.top), k.edge_bottom = near(k.bottom);
  if (p.outside == Outside::mirror_101) {  // once
    k.edge_left = near(3 - p.src_w), k.edge_right = near(2 * p.src_w - 2);
    k.edge_top = near(3 - p.src_h), k.edge_bottom = near(2 * p.src_h - 2);
  }
  for (int32_t* corner : {&k.left, &k.right, &k.top, &k.bottom}) *corner = near(*corner);
}

// The same where it gathers.
void lay_out_gather(KernelPass& k, int& blocks) {
  const PassPlan& p = k.plan;
  const int bytes = stored_bytes(p.store);
  for (int n = 0; n < kMaxPixels; ++n) {
    k.column[n] = bytes == 4 ? 0 : bytes == 2 ? n % 2 : 8 * n;
    k.row[n] = bytes == 4 ? 2 * n : bytes == 2 ? n / 2 * 4 : 0;
  }
  set_steps(k);
  k.whole_words = true;
  k.copy = is_copy(p);
  set_corners(k);
  set_permutation(k);
  set_border_texel(k);
  set_blocks(k, kGatherX, kGatherY, blocks);
}

Kernel kernel_for(const KernelArgs& args, Interpolation interpolation, bool antialias) {
  switch (interpolation) {
    case Interpolation::nearest:
      return kernel_of<Interpolation::nearest>(args, antialias);
    case Interpolation::bilinear:
      return kernel_of<Interpolation::bilinear>(args, antialias);
    case Interpolation::bicubic:
      return kernel_of<Interpolation::bicubic>(args, antialias);
    case Interpolation::lanczos:
      break;
  }
  return kernel_of<Interpolation::lanczos>(args, antialias);
}

}  // namespace

Launch lay_out(KernelArgs& args, Interpolation interpolation, bool gather) {
  Launch launch{};
  if (gather) {
    for (int n = 0; n < args.passes; ++n) lay_out_gather(args.pass[n], launch.blocks);
    launch.kernel = gather_kernel_of(args), launch.threads = kGatherThreads;
    launch.shared_bytes = kGatherThreads * kMaxPixels;  // a queue of pixels
    return launch;
  }
  if (interpolation != Interpolation::nearest)
    if (Launch tiles = lay_out_tiles(args, interpolation); tiles.kernel) return tiles;
  bool antialias = false;
  for (int n = 0; n < args.passes; ++n) antialias = antialias || args.pass[n].plan.shrinks;
  for (int n = 0; n < args.passes; ++n)
    lay_out_loads(args.pass[n], pixels_per_thread(interpolation, antialias), launch.blocks);
  launch.kernel = kernel_for(args, interpolation, antialias), launch.threads = kThreads;
  return launch;
}

cudaError_t launch_warp(const Launch& launch, KernelArgs& args, cudaStream_t stream) {
  void* arguments[] = {&args};
  return cudaLaunchKernel(launch.kernel, launch.blocks, launch.threads, arguments, launch.shared_bytes,
                          stream);
}

int texel_bytes(const KernelPass& k, Interpolation interpolation) {
  const bool done = interpolation == Interpolation::nearest    ? is_copy(k.plan)
                    : interpolation == Interpolation::bilinear ? k.plan.integers && !k.plan.shrinks
                                                               : false;
  return done && has_border_texel(k.plan) ? same_texels(k) : 0;
}

int loaded_bytes(Packing packing) {
  return packing == Packing::bytes3 ? 1 : stored_bytes(packing);
}

}  // namespace cudawarp

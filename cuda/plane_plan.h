// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an engine needs to fill one plane of the output: plain numbers, made once per change by make_plan(),
// the same on host and device.
#pragma once

#include <cstdint>

namespace cudawarp {

enum class Interpolation : uint8_t { nearest, bilinear, bicubic };

// What lies outside the picture. `blend` is a constant border behind an anti-aliased edge: taps are clamped
// and the result is mixed with the border colour by coverage. `border_taps` reads the border colour instead.
enum class Outside : uint8_t { blend, border_taps, replicate, mirror, mirror_101, wrap };

// Every way of reading and writing a plane's pixels: name, bytes read, channels computed, whether the last
// channel is alpha, bytes written. Both engines make their kernels from this list.
#define CUDAWARP_PIPES(X)         \
  X(one, 1, 1, false, 1)          \
  X(two, 2, 2, false, 2)          \
  X(rgb_to_rgb, 3, 3, false, 3)   \
  X(rgb_to_rgbx, 3, 4, false, 4)  \
  X(rgbx_to_rgb, 4, 3, false, 3)  \
  X(rgbx_to_rgbx, 4, 4, false, 4) \
  X(rgb_to_rgba, 3, 4, true, 4)   \
  X(rgba_to_rgb, 4, 4, true, 3)   \
  X(rgba_to_rgba, 4, 4, true, 4)

enum class PipeId : uint8_t {
#define CUDAWARP_PIPE_ID(name, load, channels, alpha, store) name,
  CUDAWARP_PIPES(CUDAWARP_PIPE_ID)
#undef CUDAWARP_PIPE_ID
};

// Coordinates and lengths with 32 fraction bits ("Q32"), in pixels of the source plane.
inline constexpr int64_t kHalfPixel = int64_t{1} << 31;

struct PlanePlan {
  // The source point of the centre of output pixel (i, j): x = x0 + x_per_i i + x_per_j j, y likewise. Within
  // +-2^30 pixels for every pixel of the output.
  int64_t x0, x_per_i, x_per_j;
  int64_t y0, y_per_i, y_per_j;

  // The picture's edges, the rectangle inside which output pixels are wholly covered, and output pixels per
  // source pixel across the edges. Used where `outside` is `blend`.
  int64_t edge_left, edge_right, edge_top, edge_bottom;
  int64_t inner_left, inner_right, inner_top, inner_bottom;
  float ramp_x, ramp_y;

  int32_t src_w, src_h, dst_w, dst_h;

  // The border colour in code values and canonical order: as the core mixes it (premultiplied where the pipe
  // has alpha), and packed.
  float border[4];
  uint32_t border_word;

  // canonical = permute(stored, load_select) | load_or;  stored = permute(canonical | store_or, store_select)
  uint32_t load_select, load_or, store_select, store_or;

  Outside outside;
  PipeId pipe;
};

}  // namespace cudawarp

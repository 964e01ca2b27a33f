// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an engine needs to fill one grid of the output's pixels, and where its bytes lie: plain numbers, made
// once per change by make_plan(), the same on host and device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format.h"

namespace cudawarp {

enum class Interpolation : uint8_t { nearest, bilinear, bicubic, lanczos };

// What lies outside the picture. `blend` is a constant border behind an anti-aliased edge: taps are clamped
// and the result is mixed with the border colour by coverage. `border_taps` reads the border colour instead.
enum class Outside : uint8_t { blend, border_taps, replicate, mirror, mirror_101, wrap };

// Every way of reading a source: name, packing, channels computed, whether the last of them is alpha, by
// which the others are multiplied. Both engines make their sampling code from this list; writing depends on
// the output's packing alone (store.h).
#define CUDAWARP_FETCHES(X)              \
  X(samples8_1, samples8, 1, false)      \
  X(samples8_2, samples8, 2, false)      \
  X(samples8_3, samples8, 3, false)      \
  X(samples8_alpha, samples8, 4, true)   \
  X(samples16_1, samples16, 1, false)    \
  X(samples16_2, samples16, 2, false)    \
  X(samples16_3, samples16, 3, false)    \
  X(samples16_alpha, samples16, 4, true) \
  X(bytes2, bytes2, 2, false)            \
  X(bytes3, bytes3, 3, false)            \
  X(bytes3_alpha, bytes3, 4, true)       \
  X(bytes4, bytes4, 4, false)            \
  X(bytes4_alpha, bytes4, 4, true)       \
  X(words2, words2, 2, false)            \
  X(words4_alpha, words4, 4, true)       \
  X(bits10_alpha, bits10, 4, true)

enum class FetchId : uint8_t {
#define CUDAWARP_FETCH_ID(name, packing, channels, alpha) name,
  CUDAWARP_FETCHES(CUDAWARP_FETCH_ID)
#undef CUDAWARP_FETCH_ID
};

// Coordinates and lengths with 32 fraction bits ("Q32"), in pixels of the source grid.
inline constexpr int64_t kHalfPixel = int64_t{1} << 31;

// Taps of a footprint along each axis; where it is wider, every second, third, ... pixel is read.
inline constexpr int kMaxTaps = 32;

// What an output pixel covers of the source where the map shrinks: a rectangle or parallelogram about the
// source point, `2 half` source pixels wide across each of two directions (unit vectors), each at least one
// pixel. The box that holds the weights is `span` (Q32) to every side.
struct Footprint {
  float x1, y1, half1;
  float x2, y2, half2;
  int64_t span_x, span_y;
  int32_t step_x, step_y;  // pixels from tap to tap
  bool upright;            // both directions are along rows and columns
};

// A straight piece of an averaged kernel: at + per q, where q goes from 0 in its middle to 1 at its end.
struct KernelLine {
  float at, per;
};

// How the integer average over a turned footprint finds and weighs its taps: `rows` rows of
// PassPlan::taps each. A tap at (dx, dy) from the source point lies at x1 dx + y1 dy of the first direction's
// kernel, in pixels (bilinear) or in parts of its reach (the others); likewise the second. The taps of a row
// lie beyond slope1 dy - before1 and slope2 dy - before2.
struct TurnedTaps {
  float x1, y1, x2, y2;
  float edge1, edge2;  // of the tents of bilinear
  float slope1, before1, slope2, before2;
  float span;  // Footprint::span_x, in pixels
  int32_t rows;
  int32_t lines;  // of each averaged kernel (weights.h)
};

struct PassPlan {
  // The source point of the centre of output pixel (i, j): x = x0 + x_per_i i + x_per_j j, y likewise. Within
  // +-2^30 pixels for every pixel of the output.
  int64_t x0, x_per_i, x_per_j;
  int64_t y0, y_per_i, y_per_j;

  // The picture's edges, the rectangle inside which output pixels are wholly covered, and output pixels per
  // source pixel across the edges. Used where `outside` is `blend`.
  int64_t edge_left, edge_right, edge_top, edge_bottom;
  int64_t inner_left, inner_right, inner_top, inner_bottom;
  float ramp_x, ramp_y;

  // Whole source pixels: an output pixel whose source point lies in one of these columns and rows reads taps
  // inside the picture only, and is wholly covered by it.
  int32_t inside_left, inside_right, inside_top, inside_bottom;

  Footprint footprint;
  TurnedTaps turned;
  const KernelLine* lines;  // of both directions (weights.h); the CPU engine's own, null elsewhere
  bool shrinks;             // average over the footprint

  Outside outside;
  FetchId fetch;
  Packing store;

  int32_t src_w, src_h, dst_w, dst_h;

  // Samples are computed in the source's own values (words, low zeros included), colours multiplied by alpha
  // where the fetch says so. By channel: the border in such values; a source value to a code value of the
  // output, and the largest of those; code values to words.
  float border[kMaxChannels];
  float scale[kMaxChannels], largest[kMaxChannels];
  uint8_t low_zeros;
  bool same_words;  // the output's words are the source's
  // In integers where the taps are opaque: words of up to 10 bits (bilinear) or of 8 (bicubic, lanczos, and
  // all where the map shrinks, with an upright footprint that `taps` along each axis hold, or a turned one
  // whose rows do) stay what they are.
  bool integers;
  uint8_t taps;
  uint32_t largest_code;  // of a colour of the output
  // The border in words of the output; where there are such passes, as a tap of theirs.
  uint32_t border_word[kMaxChannels], border_tap[kMaxChannels];

  // Where channels lie in a pixel: Group::at. A source without the fourth channel has the word `src_opaque`
  // in its place.
  uint8_t src_at[kMaxChannels], dst_at[kMaxChannels];
  uint8_t src_step, dst_step, src_channels, dst_channels;
  uint32_t src_opaque;

  // Words of bytes2 and bytes4: canonical = permute(stored, load_select) | load_or, and back.
  uint32_t load_select, load_or, store_select, store_or;

  // The group of both formats that this pass reads and writes, the first row of its field in each frame, and
  // the rows from one of the field's to the next (2 in interlaced frames).
  uint8_t group, src_first_row, dst_first_row, row_step;
};

}  // namespace cudawarp

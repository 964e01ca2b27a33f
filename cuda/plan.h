// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "affine.h"
#include "format.h"
#include "pass_plan.h"
#include "status.h"

namespace cudawarp {

enum class Fit : uint8_t { letterbox, stretch, crop, none };
enum class Framing : uint8_t { none, expand, crop, zoom };
enum class Border : uint8_t { constant, replicate, mirror, mirror_101, wrap, transparent };
enum class Precision : uint8_t { fast, exact };
// Quarter turns clockwise, and flips: left and right, top and bottom, about the diagonal from the upper left
// and about that from the upper right.
enum class Orientation : uint8_t {
  identity,
  turn_90,
  turn_180,
  turn_270,
  horizontal,
  vertical,
  ul_lr,
  ur_ll
};

// What a user asks for; docs/conventions.md defines each value.
struct WarpParams {
  Affine picture{};  // the picture within its frame, 0..1 of it on both axes; before all else
  Orientation orientation = Orientation::identity;  // what follows sees a frame of the turned size
  bool by_tags = false;  // whether tags of the stream say how it is oriented; no plan depends on it
  double angle = 0;      // degrees, clockwise
  double spin = 0;       // degrees a second; a plan is of one moment, whose time is in `angle`
  double scale_x = 1, scale_y = 1;      // not 0
  double shear_x = 0, shear_y = 0;      // shear_x * shear_y is not 1
  double offset_x = 0, offset_y = 0;    // output pixels
  double pivot_x = 0.5, pivot_y = 0.5;  // of the source frame, 0..1 inside it
  std::optional<Affine> matrix{};       // oriented source to output; replaces `angle` to `pivot`, and `fit`
  Fit fit = Fit::letterbox;
  double align_x = 0.5, align_y = 0.5;  // 0..1
  Framing framing = Framing::none;
  Border border = Border::constant;
  uint32_t border_color = 0xff000000;  // ARGB, sRGB
  bool edge_antialias = true;
  Interpolation interpolation = Interpolation::bilinear;
  bool antialias = true;  // where the map shrinks, average over the footprint of each output pixel
  Precision precision = Precision::fast;  // nothing depends on it: both are exact

  bool operator==(const WarpParams&) const = default;
};

// One side of a warp.
struct FrameDesc {
  Format format = Format::GRAY8;
  int width = 0, height = 0;
  double pixel_aspect = 1;        // width of a pixel over its height
  double kr = 0.299, kb = 0.114;  // luma weights of the colorimetry; used by gray and YUV
  bool full_range = true;
  bool cosited_x = false,
       cosited_y = false;  // chroma sits on the first luma sample of its block, else between
  // A frame cut out of a larger one: luma pixels of its first chroma block (in interlaced frames, of its
  // first two rows of blocks) that lie left of it and above it. Images begin with that block.
  int skip_x = 0, skip_y = 0;
  bool interlaced = false;  // two fields, line by line, each warped by itself

  bool operator==(const FrameDesc&) const = default;
};

inline constexpr int kMaxPasses = 2 * kMaxGroups;  // each group; in interlaced frames, field by field

struct WarpPlan {
  FrameDesc src, dst;
  Affine dst_from_src, src_from_dst;  // pixels to pixels, of the frames
  Interpolation interpolation;        // `nearest` where every pass is an exact copy, whatever was asked for
  bool identity;                      // the output equals the input, byte for byte
  int passes;
  std::array<PassPlan, kMaxPasses> pass;
};

// Sides of a frame that a plan accepts.
inline constexpr int kMaxSide = 32768;

// Nothing where frames of this size can be; else words, which begin with `which` ("an output").
Status check_size(const char* which, int width, int height);

// Nothing where the values give a map that can be inverted, for any frame; else what is wrong with them.
Status check(const WarpParams& params);

// Computes everything an engine needs, once. Pure; any thread. Fails, with words, where the map is singular,
// a size is out of 1..kMaxSide, the formats do not go together, only one frame is interlaced, or a
// transparent border meets a format without alpha.
Expected<WarpPlan> make_plan(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst);

}  // namespace cudawarp

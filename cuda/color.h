// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "plan.h"

namespace cudawarp {

// A border colour as code values of a frame's format, 0..255.
struct BorderColor {
  std::array<int, 3> component;  // R, G, B or Y, U, V; gray is the first
  int alpha;
};

// `argb` is sRGB, 8 bits each, alpha in the highest byte. YUV by the frame's luma weights kr and kb:
// Y = kr R + (1 - kr - kb) G + kb B, U = (B - Y) / (2 - 2 kb), V = (R - Y) / (2 - 2 kr), quantised as in
// ITU-R BT.601 and BT.709: limited range 16 + 219 Y, 128 + 224 U; full range 255 Y, 128 + 255 U.
BorderColor border_color(uint32_t argb, const FrameDesc& frame);

}  // namespace cudawarp

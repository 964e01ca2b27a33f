// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "plan.h"

namespace cudawarp {

// A border colour as code values of a frame's format: R, G, B or Y, U, V (gray is the first), then alpha,
// which is opaque where the format has none.
using BorderColor = std::array<int, kMaxChannels>;

// `argb` is sRGB, 8 bits each, alpha in the highest byte. YUV by the frame's luma weights kr and kb:
// Y = kr R + (1 - kr - kb) G + kb B, U = (B - Y) / (2 - 2 kb), V = (R - Y) / (2 - 2 kr), quantised to n bits
// as in ITU-R BT.709 and BT.2020: limited range (16 + 219 Y) 2^(n-8), (128 + 224 U) 2^(n-8); full range (2^n
// - 1) Y, 2^(n-1) + (2^n - 1) U. RGB as Y; alpha in full range.
BorderColor border_color(uint32_t argb, const FrameDesc& frame);

}  // namespace cudawarp

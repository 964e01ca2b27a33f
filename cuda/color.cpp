// SPDX-License-Identifier: LGPL-2.1-or-later
#include "color.h"

#include <algorithm>
#include <cmath>

namespace cudawarp {

BorderColor border_color(uint32_t argb, const FrameDesc& frame) {
  const FormatInfo& f = info(frame.format);
  const auto channel = [&](int shift) { return ((argb >> shift) & 0xff) / 255.0; };
  const double r = channel(16), g = channel(8), b = channel(0);
  const double largest = (1 << f.depth) - 1, unit = std::ldexp(1.0, f.depth - 8);
  const auto code = [&](double v) { return static_cast<int>(std::clamp(std::round(v), 0.0, largest)); };
  const auto luma_code = [&](double v) {
    return code(frame.full_range ? largest * v : (16 + 219 * v) * unit);
  };
  const auto chroma_code = [&](double v) {
    return code(128 * unit + (frame.full_range ? largest : 224 * unit) * v);
  };
  const int opaque = (1 << (f.has_alpha() ? f.alpha_depth : f.depth)) - 1;
  const int alpha = f.has_alpha() ? static_cast<int>(std::round(opaque * channel(24))) : opaque;
  if (f.family == Family::rgb) return {luma_code(r), luma_code(g), luma_code(b), alpha};
  const double y = frame.kr * r + (1 - frame.kr - frame.kb) * g + frame.kb * b;
  const double u = (b - y) / (2 - 2 * frame.kb), v = (r - y) / (2 - 2 * frame.kr);
  return {luma_code(y), chroma_code(u), chroma_code(v), alpha};
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "color.h"

#include <algorithm>
#include <cmath>

namespace cudawarp {

BorderColor border_color(uint32_t argb, const FrameDesc& frame) {
  const double r = ((argb >> 16) & 0xff) / 255.0, g = ((argb >> 8) & 0xff) / 255.0, b = (argb & 0xff) / 255.0;
  const auto code = [](double v) { return static_cast<int>(std::clamp(std::round(v), 0.0, 255.0)); };
  const auto luma_code = [&](double v) { return code(frame.full_range ? 255 * v : 16 + 219 * v); };
  const auto chroma_code = [&](double v) { return code(128 + (frame.full_range ? 255 : 224) * v); };
  const int alpha = static_cast<int>(argb >> 24);
  if (info(frame.format).family == Family::rgb) return {{luma_code(r), luma_code(g), luma_code(b)}, alpha};
  const double y = frame.kr * r + (1 - frame.kr - frame.kb) * g + frame.kb * b;
  const double u = (b - y) / (2 - 2 * frame.kb), v = (r - y) / (2 - 2 * frame.kr);
  return {{luma_code(y), chroma_code(u), chroma_code(v)}, alpha};
}

}  // namespace cudawarp

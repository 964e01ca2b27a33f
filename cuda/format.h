// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cudawarp {

// Formats by the names of GStreamer. The rows of the table in format.cpp, in this order; everything else
// (caps, dispatch, test grids) derives from that table.
enum class Format : uint8_t {
  GRAY8,
  RGB,
  BGR,
  RGBA,
  BGRA,
  ARGB,
  ABGR,
  RGBx,
  BGRx,
  xRGB,
  xBGR,
  NV12,
  I420,
};

enum class Family : uint8_t { gray, rgb, yuv };

// What one position of a stored pixel holds. R, G, B stand for Y, U, V in YUV formats; gray is R.
enum class Component : uint8_t { R, G, B, A, padding };

inline constexpr int kMaxPlanes = 3;

struct PlaneFormat {
  uint8_t bytes;                        // bytes of one pixel of the plane = samples in it (all are 8 bit)
  std::array<Component, 4> components;  // by position in memory, the first `bytes` count
  uint8_t shift_x, shift_y;             // log2 of the sub-sampling
};

struct FormatInfo {
  Format format;
  std::string_view name;  // as in caps
  Family family;
  uint8_t planes;
  std::array<PlaneFormat, kMaxPlanes> plane;

  bool has(Component c) const;
  bool has_alpha() const { return has(Component::A); }

  // Size of a plane in its own pixels; partial chroma samples count.
  int plane_width(int p, int width) const {
    return (width + (1 << plane[p].shift_x) - 1) >> plane[p].shift_x;
  }
  int plane_height(int p, int height) const {
    return (height + (1 << plane[p].shift_y) - 1) >> plane[p].shift_y;
  }
};

std::span<const FormatInfo> all_formats();
const FormatInfo& info(Format format);
std::optional<Format> format_from_name(std::string_view name);

// Whether one warp can read `src` and write `dst`: the same format, or both of the RGB family.
bool convertible(Format src, Format dst);

}  // namespace cudawarp

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
  GRAY16_LE,
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
  RGBA64_LE,
  RGB10A2_LE,
  BGR10A2_LE,
  RGBP,
  BGRP,
  GBR,
  GBRA,
  GBR_10LE,
  GBR_12LE,
  GBR_16LE,
  NV12,
  NV21,
  NV16,
  NV24,
  I420,
  YV12,
  Y42B,
  Y444,
  P010_10LE,
  P012_LE,
  P016_LE,
  I420_10LE,
  I420_12LE,
  I422_10LE,
  I422_12LE,
  Y444_10LE,
  Y444_12LE,
  Y444_16LE,
  YUY2,
  UYVY,
  YVYU,
  VUYA,
  AYUV,
};

enum class Family : uint8_t { gray, rgb, yuv };

// What a channel holds. R, G, B stand for Y, U, V in YUV formats; gray is R.
enum class Component : uint8_t { R, G, B, A };

// How the channels of a pixel lie in memory: the classes of code that read and write them (sampler.h,
// store.h). All words are little-endian.
enum class Packing : uint8_t {
  samples8,   // each channel by itself, 8 bits: in a plane of its own, or between other channels
  samples16,  // the same in words of 16 bits
  bytes2,     // 2, 3 or 4 channels side by side in one plane, 8 bits each
  bytes3,
  bytes4,
  words2,  // 2 or 4 channels side by side in one plane, words of 16 bits each
  words4,
  bits10,  // 10 + 10 + 10 + 2 bits in a word of 32; alpha in the highest
};

inline constexpr int kMaxPlanes = 4, kMaxChannels = 4, kMaxGroups = 2;

// Channels of one grid of pixels, which are read, interpolated and written together. Channels are in
// canonical order: R, G, B, A, or U, V.
struct Group {
  Packing packing;
  uint8_t channels;                               // 1..4
  std::array<Component, kMaxChannels> component;  // of each channel
  std::array<uint8_t, kMaxChannels> plane;        // of each channel
  std::array<uint8_t, kMaxChannels> at;           // its first byte in a pixel; for bits10 its lowest bit
  uint8_t step;                                   // bytes from one pixel to the next in a row
  uint8_t shift_x, shift_y;                       // log2 of the sub-sampling
};

struct FormatInfo {
  Format format;
  std::string_view name;  // as in caps
  Family family;
  uint8_t depth;        // bits of a colour or luma sample
  uint8_t alpha_depth;  // bits of alpha; 0 where there is none
  uint8_t low_zeros;    // unused bits below each sample in its word
  bool padding;         // bytes4 without alpha: the fourth byte means nothing
  uint8_t planes, groups;
  std::array<Group, kMaxGroups> group;

  bool has_alpha() const { return alpha_depth > 0; }

  // Sides of the smallest block of luma pixels that holds whole chroma samples.
  int block_width() const { return 1 << group[groups - 1].shift_x; }
  int block_height() const { return 1 << group[groups - 1].shift_y; }

  // Size of a group in its own pixels; partial chroma samples count.
  int group_width(int g, int width) const { return shifted_up(width, group[g].shift_x); }
  int group_height(int g, int height) const { return shifted_up(height, group[g].shift_y); }

  // What a plane of a frame holds.
  int row_bytes(int plane, int width) const;
  int rows(int plane, int height) const;

 private:
  static int shifted_up(int n, int shift) { return (n + (1 << shift) - 1) >> shift; }
};

std::span<const FormatInfo> all_formats();
const FormatInfo& info(Format format);
std::optional<Format> format_from_name(std::string_view name);

// Whether one warp can read `src` and write `dst`: the same format, or both of the RGB family.
bool convertible(Format src, Format dst);

}  // namespace cudawarp

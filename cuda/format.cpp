// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format.h"

#include <algorithm>

namespace cudawarp {
namespace {

using enum Component;

constexpr std::array<Component, kMaxChannels> kPixel{R, G, B, A}, kChroma{G, B, G, B};

constexpr Packing samples(int depth) {
  return depth > 8 ? Packing::samples16 : Packing::samples8;
}
constexpr uint8_t sample_bytes(int depth) {
  return depth > 8 ? 2 : 1;
}

// Luma or gray in plane 0, for formats with another grid, or none, for chroma.
constexpr Group luma(int depth) {
  return {samples(depth), 1, kPixel, {0}, {0}, sample_bytes(depth), 0, 0};
}

constexpr FormatInfo gray(Format format, std::string_view name, uint8_t depth) {
  return {format, name, Family::gray, depth, 0, 0, false, 1, 1, {luma(depth), Group{}}};
}

// Three or four bytes of a pixel side by side: `at` are the places of R, G, B (or Y, U, V) and A or padding.
constexpr FormatInfo packed(Format format, std::string_view name, Family family, uint8_t bytes, bool alpha,
                            std::array<uint8_t, 4> at) {
  return {format,
          name,
          family,
          8,
          alpha ? uint8_t{8} : uint8_t{0},
          0,
          bytes == 4 && !alpha,
          1,
          1,
          {Group{bytes == 4 ? Packing::bytes4 : Packing::bytes3,
                 static_cast<uint8_t>(alpha ? 4 : 3),
                 kPixel,
                 {0, 0, 0, 0},
                 at,
                 bytes,
                 0,
                 0},
           Group{}}};
}

constexpr FormatInfo bits10(Format format, std::string_view name, std::array<uint8_t, 4> at) {
  return {format,      name,
          Family::rgb, 10,
          2,           0,
          false,       1,
          1,           {Group{Packing::bits10, 4, kPixel, {0, 0, 0, 0}, at, 4, 0, 0}, Group{}}};
}

// Every channel in a plane of its own, all of one size; `plane` is that of R, G, B (or Y, U, V) and A.
constexpr FormatInfo planar(Format format, std::string_view name, Family family, uint8_t depth,
                            uint8_t channels, std::array<uint8_t, 4> plane) {
  return {format,
          name,
          family,
          depth,
          channels == 4 ? depth : uint8_t{0},
          0,
          false,
          channels,
          1,
          {Group{samples(depth), channels, kPixel, plane, {0, 0, 0, 0}, sample_bytes(depth), 0, 0}, Group{}}};
}

// Y, U and V in planes of their own, U and V sub-sampled.
constexpr FormatInfo planar_yuv(Format format, std::string_view name, uint8_t depth, uint8_t u, uint8_t v,
                                uint8_t shift_x, uint8_t shift_y) {
  return {format,
          name,
          Family::yuv,
          depth,
          0,
          0,
          false,
          3,
          2,
          {luma(depth),
           Group{samples(depth), 2, kChroma, {u, v}, {0, 0}, sample_bytes(depth), shift_x, shift_y}}};
}

// Y in one plane, U and V side by side in another; `u` and `v` count samples.
constexpr FormatInfo semi_planar(Format format, std::string_view name, uint8_t depth, uint8_t low_zeros,
                                 uint8_t u, uint8_t v, uint8_t shift_x, uint8_t shift_y) {
  const uint8_t bytes = sample_bytes(depth);
  return {format,
          name,
          Family::yuv,
          depth,
          0,
          low_zeros,
          false,
          2,
          2,
          {luma(depth), Group{depth > 8 ? Packing::words2 : Packing::bytes2,
                              2,
                              kChroma,
                              {1, 1},
                              {static_cast<uint8_t>(u * bytes), static_cast<uint8_t>(v * bytes)},
                              static_cast<uint8_t>(2 * bytes),
                              shift_x,
                              shift_y}}};
}

// 4:2:2 in one plane: two luma pixels and a U and a V in four bytes.
constexpr FormatInfo packed_422(Format format, std::string_view name, uint8_t y, uint8_t u, uint8_t v) {
  return {format,
          name,
          Family::yuv,
          8,
          0,
          0,
          false,
          1,
          2,
          {Group{Packing::samples8, 1, kPixel, {0}, {y}, 2, 0, 0},
           Group{Packing::samples8, 2, kChroma, {0, 0}, {u, v}, 4, 1, 0}}};
}

constexpr FormatInfo kFormats[] = {
    gray(Format::GRAY8, "GRAY8", 8),
    gray(Format::GRAY16_LE, "GRAY16_LE", 16),
    packed(Format::RGB, "RGB", Family::rgb, 3, false, {0, 1, 2, 0}),
    packed(Format::BGR, "BGR", Family::rgb, 3, false, {2, 1, 0, 0}),
    packed(Format::RGBA, "RGBA", Family::rgb, 4, true, {0, 1, 2, 3}),
    packed(Format::BGRA, "BGRA", Family::rgb, 4, true, {2, 1, 0, 3}),
    packed(Format::ARGB, "ARGB", Family::rgb, 4, true, {1, 2, 3, 0}),
    packed(Format::ABGR, "ABGR", Family::rgb, 4, true, {3, 2, 1, 0}),
    packed(Format::RGBx, "RGBx", Family::rgb, 4, false, {0, 1, 2, 3}),
    packed(Format::BGRx, "BGRx", Family::rgb, 4, false, {2, 1, 0, 3}),
    packed(Format::xRGB, "xRGB", Family::rgb, 4, false, {1, 2, 3, 0}),
    packed(Format::xBGR, "xBGR", Family::rgb, 4, false, {3, 2, 1, 0}),
    {Format::RGBA64_LE,
     "RGBA64_LE",
     Family::rgb,
     16,
     16,
     0,
     false,
     1,
     1,
     {Group{Packing::words4, 4, kPixel, {0, 0, 0, 0}, {0, 2, 4, 6}, 8, 0, 0}, Group{}}},
    bits10(Format::RGB10A2_LE, "RGB10A2_LE", {0, 10, 20, 30}),
    bits10(Format::BGR10A2_LE, "BGR10A2_LE", {20, 10, 0, 30}),
    planar(Format::RGBP, "RGBP", Family::rgb, 8, 3, {0, 1, 2, 0}),
    planar(Format::BGRP, "BGRP", Family::rgb, 8, 3, {2, 1, 0, 0}),
    planar(Format::GBR, "GBR", Family::rgb, 8, 3, {2, 0, 1, 0}),
    planar(Format::GBRA, "GBRA", Family::rgb, 8, 4, {2, 0, 1, 3}),
    planar(Format::GBR_10LE, "GBR_10LE", Family::rgb, 10, 3, {2, 0, 1, 0}),
    planar(Format::GBR_12LE, "GBR_12LE", Family::rgb, 12, 3, {2, 0, 1, 0}),
    planar(Format::GBR_16LE, "GBR_16LE", Family::rgb, 16, 3, {2, 0, 1, 0}),
    semi_planar(Format::NV12, "NV12", 8, 0, 0, 1, 1, 1),
    semi_planar(Format::NV21, "NV21", 8, 0, 1, 0, 1, 1),
    semi_planar(Format::NV16, "NV16", 8, 0, 0, 1, 1, 0),
    semi_planar(Format::NV24, "NV24", 8, 0, 0, 1, 0, 0),
    planar_yuv(Format::I420, "I420", 8, 1, 2, 1, 1),
    planar_yuv(Format::YV12, "YV12", 8, 2, 1, 1, 1),
    planar_yuv(Format::Y42B, "Y42B", 8, 1, 2, 1, 0),
    planar(Format::Y444, "Y444", Family::yuv, 8, 3, {0, 1, 2, 0}),
    semi_planar(Format::P010_10LE, "P010_10LE", 10, 6, 0, 1, 1, 1),
    semi_planar(Format::P012_LE, "P012_LE", 12, 4, 0, 1, 1, 1),
    semi_planar(Format::P016_LE, "P016_LE", 16, 0, 0, 1, 1, 1),
    planar_yuv(Format::I420_10LE, "I420_10LE", 10, 1, 2, 1, 1),
    planar_yuv(Format::I420_12LE, "I420_12LE", 12, 1, 2, 1, 1),
    planar_yuv(Format::I422_10LE, "I422_10LE", 10, 1, 2, 1, 0),
    planar_yuv(Format::I422_12LE, "I422_12LE", 12, 1, 2, 1, 0),
    planar(Format::Y444_10LE, "Y444_10LE", Family::yuv, 10, 3, {0, 1, 2, 0}),
    planar(Format::Y444_12LE, "Y444_12LE", Family::yuv, 12, 3, {0, 1, 2, 0}),
    planar(Format::Y444_16LE, "Y444_16LE", Family::yuv, 16, 3, {0, 1, 2, 0}),
    packed_422(Format::YUY2, "YUY2", 0, 1, 3),
    packed_422(Format::UYVY, "UYVY", 1, 0, 2),
    packed_422(Format::YVYU, "YVYU", 0, 3, 1),
    packed(Format::VUYA, "VUYA", Family::yuv, 4, true, {2, 1, 0, 3}),
    packed(Format::AYUV, "AYUV", Family::yuv, 4, true, {1, 2, 3, 0}),
};

}  // namespace

int FormatInfo::row_bytes(int p, int width) const {
  int bytes = 0;
  for (int g = 0; g < groups; ++g)
    for (int k = 0; k < group[g].channels; ++k)
      if (group[g].plane[k] == p) bytes = std::max(bytes, group_width(g, width) * group[g].step);
  return bytes;
}

int FormatInfo::rows(int p, int height) const {
  for (int g = 0; g < groups; ++g)
    for (int k = 0; k < group[g].channels; ++k)
      if (group[g].plane[k] == p) return group_height(g, height);
  return 0;
}

std::span<const FormatInfo> all_formats() {
  return kFormats;
}

const FormatInfo& info(Format format) {
  return kFormats[static_cast<size_t>(format)];
}

std::optional<Format> format_from_name(std::string_view name) {
  for (const FormatInfo& f : kFormats)
    if (f.name == name) return f.format;
  return std::nullopt;
}

bool convertible(Format src, Format dst) {
  return src == dst || (info(src).family == Family::rgb && info(dst).family == Family::rgb);
}

}  // namespace cudawarp

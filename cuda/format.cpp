// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format.h"

#include <algorithm>

namespace cudawarp {
namespace {

using enum Component;

constexpr PlaneFormat kNone{0, {}, 0, 0};
constexpr PlaneFormat kOne{1, {R}, 0, 0};

constexpr PlaneFormat packed(Component a, Component b, Component c) {
  return {3, {a, b, c}, 0, 0};
}
constexpr PlaneFormat packed(Component a, Component b, Component c, Component d) {
  return {4, {a, b, c, d}, 0, 0};
}

constexpr FormatInfo rgb(Format format, std::string_view name, PlaneFormat plane) {
  return {format, name, Family::rgb, 1, {plane, kNone, kNone}};
}

constexpr FormatInfo kFormats[] = {
    {Format::GRAY8, "GRAY8", Family::gray, 1, {kOne, kNone, kNone}},
    rgb(Format::RGB, "RGB", packed(R, G, B)),
    rgb(Format::BGR, "BGR", packed(B, G, R)),
    rgb(Format::RGBA, "RGBA", packed(R, G, B, A)),
    rgb(Format::BGRA, "BGRA", packed(B, G, R, A)),
    rgb(Format::ARGB, "ARGB", packed(A, R, G, B)),
    rgb(Format::ABGR, "ABGR", packed(A, B, G, R)),
    rgb(Format::RGBx, "RGBx", packed(R, G, B, padding)),
    rgb(Format::BGRx, "BGRx", packed(B, G, R, padding)),
    rgb(Format::xRGB, "xRGB", packed(padding, R, G, B)),
    rgb(Format::xBGR, "xBGR", packed(padding, B, G, R)),
    {Format::NV12, "NV12", Family::yuv, 2, {kOne, {2, {G, B}, 1, 1}, kNone}},
    {Format::I420, "I420", Family::yuv, 3, {kOne, {1, {G}, 1, 1}, {1, {B}, 1, 1}}},
};

}  // namespace

bool FormatInfo::has(Component c) const {
  return std::any_of(plane.begin(), plane.begin() + planes, [c](const PlaneFormat& p) {
    return std::find(p.components.begin(), p.components.begin() + p.bytes, c) !=
           p.components.begin() + p.bytes;
  });
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

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats.h"

#include <gst/video/video.h>

#include <algorithm>
#include <string>

namespace cudawarp {
namespace {

// What GStreamer's CUDA memory has a layout for, in each of 1.22 to 1.28; 1.22 aborts when asked for another.
bool cuda_memory_holds(Format f) {
  switch (f) {
    case Format::RGB:
    case Format::BGR:
    case Format::RGBA:
    case Format::BGRA:
    case Format::ARGB:
    case Format::ABGR:
    case Format::RGBx:
    case Format::BGRx:
    case Format::RGB10A2_LE:
    case Format::BGR10A2_LE:
    case Format::RGBP:
    case Format::BGRP:
    case Format::GBR:
    case Format::GBRA:
    case Format::NV12:
    case Format::NV21:
    case Format::I420:
    case Format::YV12:
    case Format::Y42B:
    case Format::Y444:
    case Format::P010_10LE:
    case Format::P016_LE:
    case Format::I420_10LE:
    case Format::I422_10LE:
    case Format::I422_12LE:
    case Format::Y444_16LE:
    case Format::YUY2:
    case Format::UYVY:
      return true;
    default:
      return false;
  }
}

// How much is lost on the way: alpha weighs most, then depth; what is gained for nothing weighs least.
int loss(Format from, Format to) {
  const FormatInfo &a = info(from), &b = info(to);
  int sum = from == to ? 0 : 1;
  if (a.has_alpha() != b.has_alpha()) sum += a.has_alpha() ? 1000 : 2;
  const int gained = b.depth - a.depth;
  return sum + (gained < 0 ? -20 * gained : 4 * gained);
}

}  // namespace

const std::vector<Format>& known_formats() {
  static const std::vector<Format> known = [] {
    std::vector<Format> formats;
    for (const FormatInfo& f : all_formats())
      if (gst_video_format_from_string(std::string(f.name).c_str()) != GST_VIDEO_FORMAT_UNKNOWN)
        formats.push_back(f.format);
    return formats;
  }();
  return known;
}

std::vector<Format> formats_in(const GstStructure* s) {
  const GValue* value = gst_structure_get_value(s, "format");
  if (!value) return known_formats();
  std::vector<Format> formats;
  const auto add = [&](const GValue* v) {
    if (!G_VALUE_HOLDS_STRING(v)) return;
    const auto f = format_from_name(g_value_get_string(v));
    if (f && std::ranges::count(known_formats(), *f) > 0) formats.push_back(*f);
  };
  if (GST_VALUE_HOLDS_LIST(value)) {
    for (guint k = 0; k < gst_value_list_get_size(value); ++k) add(gst_value_list_get_value(value, k));
  } else {
    add(value);
  }
  return formats;
}

bool set_formats(GstStructure* s, const std::vector<Format>& formats, bool cuda) {
  GValue list = G_VALUE_INIT;
  gst_value_list_init(&list, formats.size());
  for (Format f : formats) {
    if (cuda && !cuda_memory_holds(f)) continue;
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_string(&name, std::string(info(f).name).c_str());
    gst_value_list_append_and_take_value(&list, &name);
  }
  const bool any = gst_value_list_get_size(&list) > 0;
  gst_structure_take_value(s, "format", &list);
  return any;
}

std::vector<Format> with_conversions(const std::vector<Format>& formats) {
  std::vector<Format> all = formats;
  for (Format from : formats)
    for (Format to : known_formats())
      if (convertible(from, to) && std::ranges::count(all, to) == 0) all.push_back(to);
  const Format first = formats.front();
  std::ranges::stable_sort(all.begin() + static_cast<ptrdiff_t>(formats.size()), all.end(), {},
                           [first](Format f) { return loss(first, f); });
  return all;
}

Format nearest_format(const std::vector<Format>& offered, Format src, bool alpha) {
  return *std::ranges::min_element(
      offered, {}, [&](Format f) { return loss(src, f) + (alpha && !info(f).has_alpha() ? 1000000 : 0); });
}

}  // namespace cudawarp

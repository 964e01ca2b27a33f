// SPDX-License-Identifier: LGPL-2.1-or-later
#include "caps.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats.h"
#include "geometry.h"
#include "stream.h"

namespace cudawarp {
namespace {

// As GStreamer's CUDA library spells it; a build without that library has no use for it but to know it by
// name.
constexpr const char* kCudaMemory = "memory:CUDAMemory";

void set_any_size(GstStructure* s) {
  gst_structure_set(s, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height", GST_TYPE_INT_RANGE, 1, G_MAXINT,
                    nullptr);
}

bool has_cuda_feature(const GstCapsFeatures* features) {
  return features && !gst_caps_features_is_any(features) && gst_caps_features_contains(features, kCudaMemory);
}

bool is_system(const GstCapsFeatures* features) {
  return !features || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

// Adds `s` with these formats, as far as the memory has them, unless `caps` say as much already. (Nothing
// more is simplified: that makes lists of ranges of framerates, which GStreamer does not find in one
// another.)
void append(GstCaps*& caps, const GstStructure* s, const std::vector<Format>& formats, bool cuda) {
  GstStructure* copy = gst_structure_copy(s);
  if (!set_formats(copy, formats, cuda)) {
    gst_structure_free(copy);
    return;
  }
  caps =
      gst_caps_merge_structure_full(caps, copy, cuda ? gst_caps_features_new_single(kCudaMemory) : nullptr);
}

void set_interlace_modes(GstStructure* s) {
  GValue list = G_VALUE_INIT;
  gst_value_list_init(&list, G_N_ELEMENTS(kInterlaceModes));
  for (const char* mode : kInterlaceModes) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_STRING);
    g_value_set_static_string(&value, mode);
    gst_value_list_append_and_take_value(&list, &value);
  }
  gst_structure_take_value(s, "interlace-mode", &list);
}

// The output's pixel aspect ratio: downstream's where it names one.
double fixate_pixel_aspect(GstStructure* out, const GstVideoInfo& in, const WarpParams& params) {
  int n = GST_VIDEO_INFO_PAR_N(&in), d = GST_VIDEO_INFO_PAR_D(&in);
  if (n <= 0 || d <= 0) n = d = 1;  // no ratio: as frame_desc() has it
  if (swaps_sides(params)) std::swap(n, d);
  if (!gst_structure_has_field(out, "pixel-aspect-ratio")) {
    if (n == d) return 1;  // as caps without the field say
    gst_structure_set(out, "pixel-aspect-ratio", GST_TYPE_FRACTION, n, d, nullptr);
  }
  gst_structure_fixate_field_nearest_fraction(out, "pixel-aspect-ratio", n, d);
  gst_structure_get_fraction(out, "pixel-aspect-ratio", &n, &d);
  return static_cast<double>(n) / d;
}

int to_side(double v) {
  return static_cast<int>(std::clamp(std::round(v), 1.0, static_cast<double>(G_MAXINT)));
}

// Fixes one side as near as can be to what is natural, the other to what then keeps the aspect ratio (width /
// height, in pixels); says how far from that ratio it remains.
double fixate_sides(GstStructure* s, Size natural, double aspect, bool width_first) {
  const char *first = width_first ? "width" : "height", *second = width_first ? "height" : "width";
  const int wanted = width_first ? natural.width : natural.height;
  int side = 0;
  gst_structure_fixate_field_nearest_int(s, first, wanted);
  gst_structure_get_int(s, first, &side);
  const int other = width_first ? natural.height : natural.width;
  gst_structure_fixate_field_nearest_int(
      s, second, side == wanted ? other : to_side(width_first ? side / aspect : side * aspect));
  int width = 0, height = 0;
  gst_structure_get(s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, nullptr);
  return std::abs(std::log(width / (height * aspect)));
}

void fixate_size(GstStructure* out, const GstVideoInfo& in, const WarpParams& params, double pixel_aspect) {
  const FrameDesc stored = frame_desc(in), src = oriented(params, stored);
  const Size natural = natural_size(params, stored, pixel_aspect);
  // Frames that do not follow the canvas keep the input's number of pixels, if they may; else its aspect
  // ratio.
  const double aspect = follows_canvas(params) ? static_cast<double>(natural.width) / natural.height
                                               : src.width * src.pixel_aspect / pixel_aspect / src.height;
  GstStructure* by_height = gst_structure_copy(out);
  if (fixate_sides(out, natural, aspect, true) > fixate_sides(by_height, natural, aspect, false))
    gst_structure_set(out, "width", G_TYPE_INT, g_value_get_int(gst_structure_get_value(by_height, "width")),
                      "height", G_TYPE_INT, g_value_get_int(gst_structure_get_value(by_height, "height")),
                      nullptr);
  gst_structure_free(by_height);
}

// Caps without colorimetry or chroma site mean what is usual for their size and format: where the output's
// size or format make it mean something else than the input's, it is named. Downstream may ask for another
// chroma site: chroma is sampled anyway.
void fixate_color(GstStructure* out, const GstCaps* in_caps, const GstVideoInfo& in) {
  const char* site = gst_video_chroma_to_string(in.chroma_site);
  if (gst_structure_has_field(out, "chroma-site"))
    gst_structure_fixate_field_string(out, "chroma-site", site ? site : "");
  else if (const GValue* same = gst_structure_get_value(gst_caps_get_structure(in_caps, 0), "chroma-site"))
    gst_structure_set_value(out, "chroma-site", same);
  GstCaps* caps = gst_caps_fixate(gst_caps_new_full(gst_structure_copy(out), nullptr));
  GstVideoInfo usual;
  const bool known = video_info(usual, caps);
  gst_caps_unref(caps);
  if (!known || GST_VIDEO_INFO_IS_YUV(&usual) != GST_VIDEO_INFO_IS_YUV(&in)) return;
  if (!gst_structure_has_field(out, "colorimetry") &&
      !gst_video_colorimetry_is_equal(&usual.colorimetry, &in.colorimetry)) {
    if (g_autofree gchar* name = gst_video_colorimetry_to_string(&in.colorimetry))
      gst_structure_set(out, "colorimetry", G_TYPE_STRING, name, nullptr);
  }
  if (!gst_structure_has_field(out, "chroma-site") && usual.chroma_site != in.chroma_site && site)
    gst_structure_set(out, "chroma-site", G_TYPE_STRING, site, nullptr);
}

}  // namespace

GstCaps* template_caps(bool cuda) {
  GstStructure* s = gst_structure_new_empty("video/x-raw");
  set_any_size(s);
  gst_structure_set(s, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  set_interlace_modes(s);
  GstCaps* caps = gst_caps_new_empty();
  if (cuda) append(caps, s, known_formats(), true);
  append(caps, s, known_formats(), false);
  gst_structure_free(s);
  return caps;
}

GstCaps* transform_caps(GstCaps* caps, bool cuda) {
  if (gst_caps_is_any(caps)) return template_caps(cuda);
  GstCaps* same = gst_caps_new_empty();
  GstCaps* other = gst_caps_new_empty();
  for (guint k = 0; k < gst_caps_get_size(caps); ++k) {
    const GstCapsFeatures* features = gst_caps_get_features(caps, k);
    const bool on_gpu = has_cuda_feature(features);
    if (!on_gpu && !is_system(features)) continue;
    const GstStructure* in = gst_caps_get_structure(caps, k);
    const auto formats = formats_in(in);
    if (formats.empty()) continue;
    GstStructure* out = gst_structure_copy(in);
    const auto converted = with_conversions(formats);
    set_any_size(out);
    gst_structure_remove_field(out, "chroma-site");
    if (gst_structure_has_field(out, "pixel-aspect-ratio"))
      gst_structure_set(out, "pixel-aspect-ratio", GST_TYPE_FRACTION_RANGE, 1, G_MAXINT, G_MAXINT, 1,
                        nullptr);
    if (cuda || !on_gpu) append(same, out, converted, on_gpu);
    if (cuda || on_gpu) append(other, out, converted, !on_gpu);
    gst_structure_free(out);
  }
  return gst_caps_merge(same, other);
}

GstCaps* fixate_output(GstCaps* in, GstCaps* out, const WarpParams& params) {
  GstVideoInfo in_info;
  if (!video_info(in_info, in)) return gst_caps_fixate(out);
  const FrameDesc src = frame_desc(in_info);

  // Caps are in downstream's order; a transparent border moves a structure with alpha to the front.
  const bool alpha = params.border == Border::transparent;
  guint chosen = 0;
  for (guint k = 0; alpha && k < gst_caps_get_size(out); ++k) {
    const auto formats = formats_in(gst_caps_get_structure(out, k));
    if (std::ranges::none_of(formats, [](Format f) { return info(f).has_alpha(); })) continue;
    chosen = k;
    break;
  }
  GstCaps* caps = gst_caps_copy_nth(out, chosen);
  gst_caps_unref(out);
  GstStructure* s = gst_caps_get_structure(caps, 0);
  if (const auto offered = formats_in(s); !offered.empty())
    gst_structure_fixate_field_string(
        s, "format", std::string(info(nearest_format(offered, src.format, alpha)).name).c_str());
  if (gst_structure_has_field(s, "interlace-mode"))
    gst_structure_fixate_field_string(
        s, "interlace-mode", gst_video_interlace_mode_to_string(GST_VIDEO_INFO_INTERLACE_MODE(&in_info)));
  const double pixel_aspect = fixate_pixel_aspect(s, in_info, params);
  fixate_size(s, in_info, params, pixel_aspect);
  fixate_color(s, in, in_info);
  return gst_caps_fixate(caps);
}

bool takes_any_size(const GstCaps* out) {
  if (gst_caps_get_size(out) == 0) return false;
  const auto open = [s = gst_caps_get_structure(out, 0)](const char* side) {
    const GValue* value = gst_structure_get_value(s, side);
    return !value || (GST_VALUE_HOLDS_INT_RANGE(value) && gst_value_get_int_range_max(value) == G_MAXINT);
  };
  return open("width") && open("height");
}

bool same_video(const GstCaps* in, const GstCaps* out, const WarpParams& params) {
  // The output's caps name the interlace-mode that caps without one have.
  GstCaps* full = gst_caps_copy(in);
  GstStructure* s = gst_caps_get_structure(full, 0);
  if (!gst_structure_has_field(s, "interlace-mode") &&
      gst_structure_has_field(gst_caps_get_structure(out, 0), "interlace-mode"))
    gst_structure_set(s, "interlace-mode", G_TYPE_STRING, kInterlaceModes[0], nullptr);
  const bool same = gst_caps_is_equal(full, out);
  gst_caps_unref(full);
  if (!same) return false;
  const auto made = make_stream(in, out);
  const auto* stream = std::get_if<Stream>(&made);
  return stream && is_identity(params, *stream);
}

bool is_cuda_caps(const GstCaps* caps) {
  return has_cuda_feature(gst_caps_get_features(caps, 0));
}

}  // namespace cudawarp

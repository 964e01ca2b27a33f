// SPDX-License-Identifier: LGPL-2.1-or-later
#include "caps.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "geometry.h"

namespace cudawarp {
namespace {

// As GStreamer's CUDA library spells it; a build without that library has no use for it but to know it by
// name.
constexpr const char* kCudaMemory = "memory:CUDAMemory";

// gst_video_info_from_caps() that heeds `chroma-site` where the caps name no colorimetry: GStreamer (1.22
// to 1.26) then replaces both by what is usual for the size.
bool video_info(GstVideoInfo& info, const GstCaps* caps) {
  if (!gst_video_info_from_caps(&info, caps)) return false;
  if (const char* site = gst_structure_get_string(gst_caps_get_structure(caps, 0), "chroma-site"))
    info.chroma_site = gst_video_chroma_from_string(site);
  return true;
}

FrameDesc frame_desc(const GstVideoInfo& info) {
  FrameDesc f;
  f.format = format_from_name(GST_VIDEO_INFO_NAME(&info)).value_or(Format::GRAY8);
  f.width = GST_VIDEO_INFO_WIDTH(&info);
  f.height = GST_VIDEO_INFO_HEIGHT(&info);
  if (GST_VIDEO_INFO_PAR_N(&info) > 0 && GST_VIDEO_INFO_PAR_D(&info) > 0)
    f.pixel_aspect = static_cast<double>(GST_VIDEO_INFO_PAR_N(&info)) / GST_VIDEO_INFO_PAR_D(&info);
  const GstVideoColorimetry& c = GST_VIDEO_INFO_COLORIMETRY(&info);
  if (!gst_video_color_matrix_get_Kr_Kb(c.matrix, &f.kr, &f.kb)) {
    const FrameDesc standard;
    f.kr = standard.kr, f.kb = standard.kb;
  }
  f.full_range = c.range != GST_VIDEO_COLOR_RANGE_16_235;
  f.cosited_x = info.chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED;
  f.cosited_y = info.chroma_site & GST_VIDEO_CHROMA_SITE_V_COSITED;
  return f;
}

std::string size_and_format(const GstCaps* caps) {
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  int width = 0, height = 0;
  gst_structure_get(s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, nullptr);
  const char* format = gst_structure_get_string(s, "format");
  return std::to_string(width) + "x" + std::to_string(height) + " " + (format ? format : "without a format");
}

void set_any_size(GstStructure* s) {
  gst_structure_set(s, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height", GST_TYPE_INT_RANGE, 1, G_MAXINT,
                    nullptr);
}

// Formats that GStreamer's CUDA memory has no layout for, in 1.22 to 1.28; 1.22 aborts when asked.
bool cuda_memory_holds(Format f) {
  return f != Format::GRAY8 && f != Format::xRGB && f != Format::xBGR;
}

void set_formats(GstStructure* s, const std::vector<Format>& formats, bool cuda) {
  GValue list = G_VALUE_INIT;
  gst_value_list_init(&list, formats.size());
  for (Format f : formats) {
    if (cuda && !cuda_memory_holds(f)) continue;
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_string(&name, std::string(info(f).name).c_str());
    gst_value_list_append_and_take_value(&list, &name);
  }
  gst_structure_take_value(s, "format", &list);
}

std::vector<Format> formats_in(const GstStructure* s) {
  std::vector<Format> formats;
  const auto add = [&](const GValue* v) {
    if (!G_VALUE_HOLDS_STRING(v)) return;
    if (auto f = format_from_name(g_value_get_string(v))) formats.push_back(*f);
  };
  const GValue* value = gst_structure_get_value(s, "format");
  if (!value) {
    for (const FormatInfo& f : all_formats()) formats.push_back(f.format);
  } else if (GST_VALUE_HOLDS_LIST(value)) {
    for (guint k = 0; k < gst_value_list_get_size(value); ++k) add(gst_value_list_get_value(value, k));
  } else {
    add(value);
  }
  return formats;
}

// The given formats first, as they are preferred, then what they convert to.
std::vector<Format> with_conversions(const std::vector<Format>& formats) {
  std::vector<Format> all = formats;
  for (Format from : formats)
    for (const FormatInfo& to : all_formats())
      if (convertible(from, to.format) && std::find(all.begin(), all.end(), to.format) == all.end())
        all.push_back(to.format);
  return all;
}

bool has_cuda_feature(const GstCapsFeatures* features) {
  return features && !gst_caps_features_is_any(features) && gst_caps_features_contains(features, kCudaMemory);
}

bool is_system(const GstCapsFeatures* features) {
  return !features || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

// Adds `s` with these formats, as far as the memory has them.
void append(GstCaps* caps, const GstStructure* s, const std::vector<Format>& formats, bool cuda) {
  GstStructure* copy = gst_structure_copy(s);
  set_formats(copy, formats, cuda);
  if (gst_value_list_get_size(gst_structure_get_value(copy, "format")) == 0) {
    gst_structure_free(copy);
    return;
  }
  gst_caps_append_structure_full(caps, copy, cuda ? gst_caps_features_new_single(kCudaMemory) : nullptr);
}

bool wants_alpha(const WarpParams& params, Format src) {
  return params.border == Border::transparent && !info(src).has_alpha();
}

void fixate_format(GstStructure* out, Format src, const WarpParams& params) {
  const auto offered = formats_in(out);
  Format chosen = src;
  if (wants_alpha(params, src))
    for (Format f : offered)
      if (info(f).has_alpha()) {
        chosen = f;
        break;
      }
  gst_structure_fixate_field_string(out, "format", std::string(info(chosen).name).c_str());
}

// The output's pixel aspect ratio: downstream's where it names one.
double fixate_pixel_aspect(GstStructure* out, const GstVideoInfo& in, const WarpParams& params) {
  int n = GST_VIDEO_INFO_PAR_N(&in), d = GST_VIDEO_INFO_PAR_D(&in);
  if (swaps_sides(params) && follows_canvas(params)) std::swap(n, d);
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
  const FrameDesc src = frame_desc(in);
  const Size natural = natural_size(params, src, pixel_aspect);
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
// size or format make it mean something else than the input's, it is named.
void fixate_color(GstStructure* out, const GstVideoInfo& in) {
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
  if (!gst_structure_has_field(out, "chroma-site") && usual.chroma_site != in.chroma_site)
    gst_structure_set(out, "chroma-site", G_TYPE_STRING, gst_video_chroma_to_string(in.chroma_site), nullptr);
}

}  // namespace

GstCaps* template_caps(bool cuda) {
  GstStructure* s = gst_structure_new_empty("video/x-raw");
  std::vector<Format> formats;
  for (const FormatInfo& f : all_formats()) formats.push_back(f.format);
  set_any_size(s);
  gst_structure_set(s, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  GstCaps* caps = gst_caps_new_empty();
  if (cuda) append(caps, s, formats, true);
  append(caps, s, formats, false);
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
    if (gst_structure_has_field(out, "pixel-aspect-ratio"))
      gst_structure_set(out, "pixel-aspect-ratio", GST_TYPE_FRACTION_RANGE, 1, G_MAXINT, G_MAXINT, 1,
                        nullptr);
    if (cuda || !on_gpu) append(same, out, converted, on_gpu);
    if (cuda || on_gpu) append(other, out, converted, !on_gpu);
    gst_structure_free(out);
  }
  return gst_caps_simplify(gst_caps_merge(same, other));
}

GstCaps* fixate_output(GstCaps* in, GstCaps* out, const WarpParams& params) {
  GstVideoInfo in_info;
  if (!video_info(in_info, in)) return gst_caps_fixate(out);
  const FrameDesc src = frame_desc(in_info);

  // Caps are in downstream's order; a transparent border moves a structure with alpha to the front.
  guint chosen = 0;
  if (wants_alpha(params, src.format))
    for (guint k = 0; k < gst_caps_get_size(out); ++k) {
      const auto formats = formats_in(gst_caps_get_structure(out, k));
      if (std::any_of(formats.begin(), formats.end(), [](Format f) { return info(f).has_alpha(); })) {
        chosen = k;
        break;
      }
    }
  GstCaps* caps = gst_caps_copy_nth(out, chosen);
  gst_caps_unref(out);
  GstStructure* s = gst_caps_get_structure(caps, 0);
  fixate_format(s, src.format, params);
  const double pixel_aspect = fixate_pixel_aspect(s, in_info, params);
  fixate_size(s, in_info, params, pixel_aspect);
  fixate_color(s, in_info);
  return gst_caps_fixate(caps);
}

Expected<Stream> make_stream(const GstCaps* in, const GstCaps* out) {
  for (const GstCaps* caps : {in, out}) {
    int width = 0, height = 0;
    gst_structure_get(gst_caps_get_structure(caps, 0), "width", G_TYPE_INT, &width, "height", G_TYPE_INT,
                      &height, nullptr);
    if (auto bad = check_size(caps == in ? "an input" : "an output", width, height)) return *bad;
  }
  Stream s;
  if (!video_info(s.in, in) || !video_info(s.out, out))
    return Error{"no frames can be made of " + size_and_format(in) + " or " + size_and_format(out)};
  // The same name on both sides is the same, also where GStreamer does not know it and takes what is usual.
  const auto colorimetry = [](const GstCaps* caps) {
    return gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry");
  };
  if (colorimetry(in) && g_strcmp0(colorimetry(in), colorimetry(out)) == 0)
    s.out.colorimetry = s.in.colorimetry;
  if (GST_VIDEO_INFO_IS_INTERLACED(&s.in)) {
    const char* mode = gst_video_interlace_mode_to_string(GST_VIDEO_INFO_INTERLACE_MODE(&s.in));
    return Error{std::string("interlaced video (interlace-mode=") + mode + ") is not supported"};
  }
  s.src = frame_desc(s.in);
  s.dst = frame_desc(s.out);
  if (GST_VIDEO_INFO_IS_YUV(&s.in) &&
      (s.src.kr != s.dst.kr || s.src.kb != s.dst.kb || s.src.full_range != s.dst.full_range)) {
    g_autofree gchar* from = gst_video_colorimetry_to_string(&s.in.colorimetry);
    g_autofree gchar* to = gst_video_colorimetry_to_string(&s.out.colorimetry);
    return Error{std::string("colours are not converted, from colorimetry ") + from + " to " + to};
  }
  return s;
}

bool is_identity(const WarpParams& params, const Stream& stream) {
  const auto plan = make_plan(params, stream.src, stream.dst);
  const auto* p = std::get_if<WarpPlan>(&plan);
  return p && p->identity;
}

bool change_caps(const Stream& s, const WarpParams& before, const WarpParams& after) {
  const double aspect = s.dst.pixel_aspect;
  if (natural_size(before, s.src, aspect) != natural_size(after, s.src, aspect)) return true;
  if (swaps_sides(before) != swaps_sides(after) && s.src.pixel_aspect != 1) return true;
  return (before.border == Border::transparent) != (after.border == Border::transparent);
}

Status check_natural_size(const Stream& s, const WarpParams& before, const WarpParams& after) {
  const double aspect = s.dst.pixel_aspect;
  if (natural_size(before, s.src, aspect) != Size{s.dst.width, s.dst.height}) return std::nullopt;
  const Size size = natural_size(after, s.src, aspect);
  return check_size("an output", size.width, size.height);
}

bool is_cuda_caps(const GstCaps* caps) {
  return has_cuda_feature(gst_caps_get_features(caps, 0));
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stream.h"

#include <algorithm>
#include <string>

#include "caps.h"
#include "geometry.h"

namespace cudawarp {
namespace {

const char* string_in(const GstCaps* caps, const char* field) {
  return gst_structure_get_string(gst_caps_get_structure(caps, 0), field);
}

std::string size_and_format(const GstCaps* caps) {
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  int width = 0, height = 0;
  gst_structure_get(s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, nullptr);
  const char* format = string_in(caps, "format");
  return std::to_string(width) + "x" + std::to_string(height) + " " + (format ? format : "without a format");
}

Error too_many_bytes(const char* which, const std::string& size_and_format) {
  return {std::string(which) + " of " + size_and_format +
          " cannot be: GStreamer has no frames of so many bytes"};
}

Error no_frames(const char* which, const GstCaps* caps) {
  if (string_in(caps, "format")) return too_many_bytes(which, size_and_format(caps));
  return {std::string(which) + " of " + size_and_format(caps) + " cannot be: its caps name no format"};
}

std::string colorimetry_name(const GstVideoInfo& info) {
  g_autofree gchar* name = gst_video_colorimetry_to_string(&info.colorimetry);
  return name ? name : "unknown";
}

std::string interlace_mode(const GstVideoInfo& info) {
  return gst_video_interlace_mode_to_string(GST_VIDEO_INFO_INTERLACE_MODE(&info));
}

// Of the same stream, with fields.
FrameDesc of_kind(FrameDesc frame, bool interlaced) {
  frame.interlaced = interlaced;
  return frame;
}

}  // namespace

Status unsupported(const GstCaps* caps) {
  if (gst_caps_is_any(caps) || gst_caps_is_empty(caps)) return std::nullopt;
  if (const char* format = string_in(caps, "format"))
    if (!format_from_name(format)) return Error{std::string("format ") + format + " is not supported"};
  if (const char* mode = string_in(caps, "interlace-mode"))
    if (std::ranges::count(kInterlaceModes, std::string(mode)) == 0)
      return Error{std::string("interlaced video with interlace-mode=") + mode + " is not supported"};
  GstVideoColorimetry parsed;
  if (const char* colorimetry = string_in(caps, "colorimetry"))
    if (!gst_video_colorimetry_from_string(&parsed, colorimetry))
      return Error{std::string("colorimetry ") + colorimetry + " is not known"};
  if (const char* site = string_in(caps, "chroma-site"))
    if (gst_video_chroma_from_string(site) == GST_VIDEO_CHROMA_SITE_UNKNOWN)
      return Error{std::string("chroma-site ") + site + " is not known"};
  return std::nullopt;
}

bool video_info(GstVideoInfo& info, const GstCaps* caps) {
  if (!gst_video_info_from_caps(&info, caps)) return false;
  if (const char* site = string_in(caps, "chroma-site"))
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
  // DV, cosited on alternate lines for U and V, counts as cosited.
  f.cosited_x = info.chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED;
  f.cosited_y = info.chroma_site & GST_VIDEO_CHROMA_SITE_V_COSITED;
  return f;
}

bool brings(const GstVideoInfo& info, bool interlaced) {
  switch (GST_VIDEO_INFO_INTERLACE_MODE(&info)) {
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      return true;
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
      return interlaced;
    default:
      return !interlaced;
  }
}

Expected<Stream> make_stream(const GstCaps* in, const GstCaps* out) {
  for (const GstCaps* caps : {in, out}) {
    if (auto bad = unsupported(caps)) return *bad;
    int width = 0, height = 0;
    gst_structure_get(gst_caps_get_structure(caps, 0), "width", G_TYPE_INT, &width, "height", G_TYPE_INT,
                      &height, nullptr);
    if (auto bad = check_size(caps == in ? "an input" : "an output", width, height)) return *bad;
  }
  Stream s;
  if (!video_info(s.in, in)) return no_frames("an input", in);
  if (!video_info(s.out, out)) return no_frames("an output", out);
  // The same name on both sides is the same, also where GStreamer does not know its matrix and takes what is
  // usual.
  const char* colorimetry = string_in(in, "colorimetry");
  if (colorimetry && g_strcmp0(colorimetry, string_in(out, "colorimetry")) == 0)
    s.out.colorimetry = s.in.colorimetry;
  if (GST_VIDEO_INFO_INTERLACE_MODE(&s.in) != GST_VIDEO_INFO_INTERLACE_MODE(&s.out))
    return Error{"interlaced video is not converted, from interlace-mode=" + interlace_mode(s.in) + " to " +
                 interlace_mode(s.out)};
  s.src = frame_desc(s.in);
  s.dst = frame_desc(s.out);
  s.in_on_device = is_cuda_caps(in), s.out_on_device = is_cuda_caps(out);
  const bool other_matrix = s.src.kr != s.dst.kr || s.src.kb != s.dst.kb;
  if (s.src.full_range != s.dst.full_range || (GST_VIDEO_INFO_IS_YUV(&s.in) && other_matrix))
    return Error{"colours are not converted, from colorimetry " + colorimetry_name(s.in) + " to " +
                 colorimetry_name(s.out)};
  return s;
}

bool is_identity(const WarpParams& params, const Stream& stream) {
  if (params.spin != 0 && !params.matrix) return false;
  for (const bool interlaced : {false, true}) {
    if (!brings(stream.in, interlaced)) continue;
    const auto plan = make_plan(params, of_kind(stream.src, interlaced), of_kind(stream.dst, interlaced));
    const auto* p = std::get_if<WarpPlan>(&plan);
    if (!p || !p->identity) return false;
  }
  return true;
}

bool change_caps(const Stream& s, const WarpParams& before, const WarpParams& after) {
  const double aspect = s.dst.pixel_aspect;
  if (natural_size(before, s.src, aspect) != natural_size(after, s.src, aspect)) return true;
  if (swaps_sides(before) != swaps_sides(after) && s.src.pixel_aspect != 1) return true;
  return (before.border == Border::transparent) != (after.border == Border::transparent);
}

Status check_change(const Stream& s, bool open_size, const WarpParams& after) {
  const double aspect = s.dst.pixel_aspect;
  FrameDesc src = s.src, dst = s.dst;
  if (open_size) {
    const Size size = natural_size(after, s.src, aspect);
    if (auto bad = check_size("an output", size.width, size.height)) return bad;
    GstVideoInfo frame;
    if (!gst_video_info_set_format(&frame, GST_VIDEO_INFO_FORMAT(&s.out), size.width, size.height))
      return too_many_bytes("an output", std::to_string(size.width) + "x" + std::to_string(size.height) +
                                             " " + GST_VIDEO_INFO_NAME(&s.out));
    dst.width = size.width, dst.height = size.height;
  }
  // RGB may be negotiated anew, with alpha.
  if (GST_VIDEO_INFO_IS_RGB(&s.out) && !info(dst.format).has_alpha()) src.format = dst.format = Format::RGBA;
  const auto plan = make_plan(after, src, dst);
  if (const Error* why = error_of(plan)) return *why;
  return std::nullopt;
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every row of the table of formats against what GStreamer says of the format.
#include <string>

#include "cuda/format.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers
#include <gst/video/video.h>

using namespace cudawarp;

namespace {

const FormatInfo& row(int index) {
  return all_formats()[index];
}

const GstVideoFormatInfo* gst_row(const FormatInfo& f) {
  const GstVideoFormat format = gst_video_format_from_string(std::string(f.name).c_str());
  ck_assert_msg(format != GST_VIDEO_FORMAT_UNKNOWN, "GStreamer has no %s", f.name.data());
  return gst_video_format_get_info(format);
}

}  // namespace

GST_START_TEST(found_by_name_and_place) {
  const FormatInfo& f = row(__i__);
  ck_assert_int_eq(static_cast<int>(f.format), __i__);
  ck_assert(&info(f.format) == &f);
  ck_assert(format_from_name(f.name) == f.format);
}
GST_END_TEST;

GST_START_TEST(unknown_names) {
  for (const char* name : {"", "gray8", "RGB ", "ENCODED", "RGBAx"}) ck_assert(!format_from_name(name));
}
GST_END_TEST;

GST_START_TEST(family_and_alpha) {
  const FormatInfo& f = row(__i__);
  const GstVideoFormatInfo* g = gst_row(f);
  ck_assert((f.family == Family::gray) == !!GST_VIDEO_FORMAT_INFO_IS_GRAY(g));
  ck_assert((f.family == Family::rgb) == !!GST_VIDEO_FORMAT_INFO_IS_RGB(g));
  ck_assert((f.family == Family::yuv) == !!GST_VIDEO_FORMAT_INFO_IS_YUV(g));
  ck_assert(f.has_alpha() == !!GST_VIDEO_FORMAT_INFO_HAS_ALPHA(g));
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(g); ++c)
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_DEPTH(g, c), 8);
}
GST_END_TEST;

GST_START_TEST(components) {
  const FormatInfo& f = row(__i__);
  const GstVideoFormatInfo* g = gst_row(f);
  ck_assert_int_eq(f.planes, GST_VIDEO_FORMAT_INFO_N_PLANES(g));
  guint found = 0;
  for (int p = 0; p < f.planes; ++p)
    for (int at = 0; at < f.plane[p].bytes; ++at) {
      if (f.plane[p].components[at] == Component::padding) continue;
      const guint c = static_cast<guint>(f.plane[p].components[at]);
      ++found;
      ck_assert_uint_lt(c, GST_VIDEO_FORMAT_INFO_N_COMPONENTS(g));
      ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_PLANE(g, c), p);
      ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_POFFSET(g, c), at);
      ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_PSTRIDE(g, c), f.plane[p].bytes);
      ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_W_SUB(g, c), f.plane[p].shift_x);
      ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_H_SUB(g, c), f.plane[p].shift_y);
      ck_assert(f.has(f.plane[p].components[at]));
    }
  ck_assert_uint_eq(found, GST_VIDEO_FORMAT_INFO_N_COMPONENTS(g));
}
GST_END_TEST;

GST_START_TEST(plane_sizes) {
  const FormatInfo& f = row(__i__);
  for (int w = 1; w < 10; ++w)
    for (int h = 1; h < 10; ++h) {
      GstVideoInfo video;
      gst_video_info_set_format(&video, GST_VIDEO_FORMAT_INFO_FORMAT(gst_row(f)), w, h);
      for (int p = 0; p < f.planes; ++p) {
        const int c =
            static_cast<int>(f.plane[p].components[0] == Component::padding ? f.plane[p].components[1]
                                                                            : f.plane[p].components[0]);
        ck_assert_int_eq(f.plane_width(p, w), GST_VIDEO_INFO_COMP_WIDTH(&video, c));
        ck_assert_int_eq(f.plane_height(p, h), GST_VIDEO_INFO_COMP_HEIGHT(&video, c));
      }
    }
}
GST_END_TEST;

GST_START_TEST(what_converts) {
  for (const FormatInfo& a : all_formats())
    for (const FormatInfo& b : all_formats())
      ck_assert(convertible(a.format, b.format) ==
                (a.format == b.format || (a.family == Family::rgb && b.family == Family::rgb)));
}
GST_END_TEST;

static Suite* core_formats_suite() {
  Suite* s = suite_create("core_formats");
  TCase* tc = tcase_create("formats");
  const int rows = static_cast<int>(all_formats().size());
  suite_add_tcase(s, tc);
  tcase_add_loop_test(tc, found_by_name_and_place, 0, rows);
  tcase_add_test(tc, unknown_names);
  tcase_add_loop_test(tc, family_and_alpha, 0, rows);
  tcase_add_loop_test(tc, components, 0, rows);
  tcase_add_loop_test(tc, plane_sizes, 0, rows);
  tcase_add_test(tc, what_converts);
  return s;
}

GST_CHECK_MAIN(core_formats);

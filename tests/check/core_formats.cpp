// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every row of the table of formats against what GStreamer says of the format, and what it makes of noise.
#include <algorithm>
#include <string>
#include <vector>

#include "frames.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers
#include <gst/video/video.h>

using namespace cudawarp;

namespace {

const FormatInfo& row(int index) {
  return all_formats()[index];
}

// Nothing where this GStreamer is older than the format.
const GstVideoFormatInfo* gst_row(const FormatInfo& f) {
  const GstVideoFormat format = gst_video_format_from_string(std::string(f.name).c_str());
  if (format != GST_VIDEO_FORMAT_UNKNOWN) return gst_video_format_get_info(format);
  GST_DEBUG("this GStreamer has no %s", f.name.data());
  return nullptr;
}

template <class Check>
void for_each_channel(const FormatInfo& f, const Check& check) {
  for (int g = 0; g < f.groups; ++g)
    for (int k = 0; k < f.group[g].channels; ++k) check(g, k, static_cast<guint>(f.group[g].component[k]));
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

// GBR_16LE came with 1.24. What GStreamer does not know, the other tests skip.
GST_START_TEST(known_to_gstreamer) {
  std::vector<std::string> missing;
  for (const FormatInfo& f : all_formats())
    if (!gst_row(f)) missing.emplace_back(f.name);
  if (!missing.empty()) {
    ck_assert_uint_eq(missing.size(), 1);
    ck_assert_str_eq(missing[0].c_str(), "GBR_16LE");
  }
  ck_assert_uint_eq(all_formats().size(), 45);
}
GST_END_TEST;

GST_START_TEST(family_and_alpha) {
  const FormatInfo& f = row(__i__);
  const GstVideoFormatInfo* g = gst_row(f);
  if (!g) return;
  ck_assert((f.family == Family::gray) == !!GST_VIDEO_FORMAT_INFO_IS_GRAY(g));
  ck_assert((f.family == Family::rgb) == !!GST_VIDEO_FORMAT_INFO_IS_RGB(g));
  ck_assert((f.family == Family::yuv) == !!GST_VIDEO_FORMAT_INFO_IS_YUV(g));
  ck_assert(f.has_alpha() == !!GST_VIDEO_FORMAT_INFO_HAS_ALPHA(g));
  ck_assert(f.padding == (f.group[0].packing == Packing::bytes4 && !f.has_alpha()));
}
GST_END_TEST;

GST_START_TEST(channels) {
  const FormatInfo& f = row(__i__);
  const GstVideoFormatInfo* g = gst_row(f);
  if (!g) return;
  ck_assert_int_eq(f.planes, GST_VIDEO_FORMAT_INFO_N_PLANES(g));
  std::vector<guint> found;
  for_each_channel(f, [&](int group, int k, guint c) {
    const Group& channels = f.group[group];
    found.push_back(c);
    ck_assert_uint_lt(c, GST_VIDEO_FORMAT_INFO_N_COMPONENTS(g));
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_PLANE(g, c), channels.plane[k]);
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_W_SUB(g, c), channels.shift_x);
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_H_SUB(g, c), channels.shift_y);
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_DEPTH(g, c), c == GST_VIDEO_COMP_A ? f.alpha_depth : f.depth);
    if (channels.packing == Packing::bits10) return;  // GStreamer's table does not say which bits
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_PSTRIDE(g, c), channels.step);
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_SHIFT(g, c), f.low_zeros);
    if (channels.packing == Packing::words2)
      return;  // nor where V lies in P010: it says byte 1, and reads at 2
    ck_assert_int_eq(GST_VIDEO_FORMAT_INFO_POFFSET(g, c), channels.at[k]);
  });
  std::sort(found.begin(), found.end());
  ck_assert_uint_eq(found.size(), GST_VIDEO_FORMAT_INFO_N_COMPONENTS(g));
  ck_assert(std::unique(found.begin(), found.end()) == found.end());
}
GST_END_TEST;

// The code that reads a packing counts on the places that its channels have there.
GST_START_TEST(packings) {
  const FormatInfo& f = row(__i__);
  for (int g = 0; g < f.groups; ++g) {
    const Group& group = f.group[g];
    const auto side_by_side = [&](int channels, int bytes) {
      ck_assert_int_eq(group.channels + f.padding, channels);
      ck_assert_int_eq(group.step, channels * bytes);
      ck_assert_int_eq(f.depth > 8 ? 2 : 1, bytes);
      std::vector<int> places;
      for (int k = 0; k < channels; ++k) {
        places.push_back(group.at[k]);
        ck_assert_int_eq(group.plane[k], group.plane[0]);
      }
      std::sort(places.begin(), places.end());
      for (int k = 0; k < channels; ++k) ck_assert_int_eq(places[k], k * bytes);
    };
    switch (group.packing) {
      case Packing::samples8:
        ck_assert_int_eq(f.depth, 8);
        break;
      case Packing::samples16:
        ck_assert_int_gt(f.depth, 8);
        ck_assert_int_eq(group.step % 2, 0);
        break;
      case Packing::bytes2:
        side_by_side(2, 1);
        break;
      case Packing::bytes3:
        side_by_side(3, 1);
        break;
      case Packing::bytes4:
        side_by_side(4, 1);
        break;
      case Packing::words2:
        side_by_side(2, 2);
        ck_assert_int_eq(group.at[0], 0);
        break;
      case Packing::words4:
        side_by_side(4, 2);
        for (int k = 0; k < 4; ++k) ck_assert_int_eq(group.at[k], 2 * k);
        break;
      case Packing::bits10:
        ck_assert_int_eq(group.step, 4);
        ck_assert_int_eq(group.at[3], 30);
        break;
    }
  }
}
GST_END_TEST;

// GStreamer's own code takes noise apart into A, R, G, B or A, Y, U, V; deep samples into the high bits
// of 16.
GST_START_TEST(unpacked_by_gstreamer) {
  constexpr int kWidth = 12, kHeight = 6;
  const FormatInfo& f = row(__i__);
  const GstVideoFormatInfo* g = gst_row(f);
  if (!g) return;
  TestFrame frame({.format = f.format, .width = kWidth, .height = kHeight}, 4);
  fill_noise(frame, 17);
  gpointer data[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  for (int p = 0; p < f.planes; ++p) {
    data[p] = frame.view().plane[p].data;
    stride[p] = static_cast<gint>(frame.view().plane[p].pitch);
  }
  const bool deep = f.depth > 8;
  for (int y = 0; y < kHeight; ++y) {
    guint8 bytes[4 * kWidth] = {};
    guint16 words[4 * kWidth] = {};
    g->unpack_func(g, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, deep ? static_cast<gpointer>(words) : bytes, data,
                   stride, 0, y, kWidth);
    for (int x = 0; x < kWidth; ++x)
      for_each_channel(f, [&](int group, int k, guint c) {
        const Group& channels = f.group[group];
        const int at = 4 * x + (c == GST_VIDEO_COMP_A ? 0 : static_cast<int>(c) + 1);
        const int got = deep ? words[at] >> (16 - frame.place(group, k).bits) : bytes[at];
        const int want = frame.at(group, x >> channels.shift_x, y >> channels.shift_y, k);
        ck_assert_msg(got == want, "%s: component %u of (%d, %d) is %d, the table finds %d", f.name.data(), c,
                      x, y, got, want);
      });
  }
}
GST_END_TEST;

GST_START_TEST(sizes) {
  const FormatInfo& f = row(__i__);
  const GstVideoFormatInfo* g = gst_row(f);
  if (!g) return;
  int block_width = 1, block_height = 1;
  for (int w = 1; w < 10; ++w)
    for (int h = 1; h < 10; ++h) {
      GstVideoInfo video;
      gst_video_info_set_format(&video, GST_VIDEO_FORMAT_INFO_FORMAT(g), w, h);
      for_each_channel(f, [&](int group, int k, guint c) {
        ck_assert_int_eq(f.group_width(group, w), GST_VIDEO_INFO_COMP_WIDTH(&video, c));
        ck_assert_int_eq(f.group_height(group, h), GST_VIDEO_INFO_COMP_HEIGHT(&video, c));
        ck_assert_int_eq(f.rows(f.group[group].plane[k], h), GST_VIDEO_INFO_COMP_HEIGHT(&video, c));
        block_width = std::max(block_width, 1 << GST_VIDEO_FORMAT_INFO_W_SUB(g, c));
        block_height = std::max(block_height, 1 << GST_VIDEO_FORMAT_INFO_H_SUB(g, c));
      });
      for (int p = 0; p < f.planes; ++p) {
        const int stride = GST_VIDEO_INFO_PLANE_STRIDE(&video, p);
        ck_assert_int_le(f.row_bytes(p, w), stride);
        ck_assert_int_gt(f.row_bytes(p, w) + 4, stride);  // GStreamer rounds up to 4
      }
    }
  ck_assert_int_eq(f.block_width(), block_width);
  ck_assert_int_eq(f.block_height(), block_height);
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
  tcase_add_test(tc, known_to_gstreamer);
  tcase_add_loop_test(tc, family_and_alpha, 0, rows);
  tcase_add_loop_test(tc, channels, 0, rows);
  tcase_add_loop_test(tc, packings, 0, rows);
  tcase_add_loop_test(tc, unpacked_by_gstreamer, 0, rows);
  tcase_add_loop_test(tc, sizes, 0, rows);
  tcase_add_test(tc, what_converts);
  return s;
}

GST_CHECK_MAIN(core_formats);

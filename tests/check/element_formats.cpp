// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every format of the table through the element, those whose luma and chroma share a plane, and huge frames.
#include <algorithm>
#include <set>

#include "element_util.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

const char* const kPacked422[] = {"YUY2", "UYVY", "YVYU"};

// A quarter turn takes the chroma grid to itself.
bool turns_exactly(const FormatInfo& f) {
  const Group& last = f.group[f.groups - 1];
  return last.shift_x == last.shift_y;
}

struct Color {
  int y, u, v;
};
const Color kBars[] = {{235, 128, 128}, {162, 44, 142}, {131, 156, 44}, {112, 72, 58},
                       {84, 184, 198},  {65, 100, 212}, {35, 212, 114}, {16, 128, 128}};

// A frame of one component of 8 bits that is too large to be kept twice.
template <class Value>
BufferPtr gray_frame(const std::string& caps, Value value) {
  const GstVideoInfo info = info_of(caps_of(caps).get());
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  GstMapInfo map;
  ck_assert(gst_buffer_map(buffer.get(), &map, GST_MAP_WRITE));
  for (int y = 0; y < GST_VIDEO_INFO_HEIGHT(&info); ++y) {
    uint8_t* row = map.data + static_cast<size_t>(y) * GST_VIDEO_INFO_PLANE_STRIDE(&info, 0);
    for (int x = 0; x < GST_VIDEO_INFO_WIDTH(&info); ++x) row[x] = value(x, y);
  }
  gst_buffer_unmap(buffer.get(), &map);
  return buffer;
}

}  // namespace

// Both pads offer the table's formats, as far as GStreamer knows them, in system memory, and no other.
GST_START_TEST(templates) {
  std::set<std::string> known;
  for (const FormatInfo& f : known_formats()) known.insert(name_of(f));
  ck_assert_uint_ge(known.size(), 44);
  Warp warp;
  for (const char* name : {"sink", "src"}) {
    const CapsPtr caps(gst_pad_template_get_caps(gst_element_get_pad_template(warp.element(), name)));
    const GstStructure* s = gst_caps_get_structure(caps.get(), gst_caps_get_size(caps.get()) - 1);
    std::set<std::string> offered;
    const GValue* formats = gst_structure_get_value(s, "format");
    for (guint k = 0; k < gst_value_list_get_size(formats); ++k)
      offered.insert(g_value_get_string(gst_value_list_get_value(formats, k)));
    ck_assert(offered == known);
    ck_assert_uint_eq(gst_value_list_get_size(formats), known.size());
    const GValue* modes = gst_structure_get_value(s, "interlace-mode");
    ck_assert_uint_eq(gst_value_list_get_size(modes), 3);
  }
}
GST_END_TEST;

GST_START_TEST(every_format) {
  for (const FormatInfo& f : known_formats())
    for (const auto& size : {std::pair{64, 48}, {6, 2}}) {
      const std::string in = raw(name_of(f), size.first, size.second);
      const Pixels src = noise(in);
      Warp half("angle=180"), quarter("angle=90 framing=expand"), back("angle=-90 framing=expand");
      half.set_caps(in), quarter.set_caps(in);
      assert_same(half(src), turned(in, src, 2), in);
      const Pixels out = quarter(src);
      quarter.assert_size(size.second, size.first);
      if (turns_exactly(f)) assert_same(out, turned(src, 1), in);
      const Samples samples(in), upright(raw(name_of(f), size.second, size.first));
      for (int y = 0; y < size.second; ++y)
        for (int x = 0; x < size.first; ++x)
          ck_assert_int_eq(upright.get(out, 0, size.second - 1 - y, x), samples.get(src, 0, x, y));
    }
}
GST_END_TEST;

// Nothing is left unwritten, at any angle and odd sizes: what is one colour stays one.
GST_START_TEST(every_sample_is_written) {
  for (const FormatInfo& f : known_formats())
    for (const char* properties : {"angle=17", "angle=90", "scale=0.4", "scale=3 interpolation=bicubic"}) {
      const std::string in = raw(name_of(f), 33, 23), to = raw(name_of(f), 47, 29);
      const Samples source(in), target(to);
      Pixels src = black(in), want = black(to);
      for (int c = 0; c < source.count(); ++c) {
        const int value = c == 3 ? source.largest(3) : (source.largest(c) * (3 + c) / 8) | 1;
        source.fill(src, c, value), target.fill(want, c, value);
      }
      if (f.padding) {  // it is carried
        for (size_t k = f.group[0].at[3]; k < src.plane[0].data.size(); k += 4) src.plane[0].data[k] = 99;
        for (size_t k = f.group[0].at[3]; k < want.plane[0].data.size(); k += 4) want.plane[0].data[k] = 99;
      }
      Warp warp(std::string("border-mode=replicate ") + properties);
      warp.set_caps(in, to);
      assert_same(warp(src), want, in + " " + properties);
    }
}
GST_END_TEST;

GST_START_TEST(packed_422_shift) {
  for (const char* format : kPacked422)
    for (const auto& size : {std::pair{1280, 720}, {1281, 11}, {33, 8}, {5, 1}}) {
      const std::string in = raw(format, size.first, size.second);
      const Samples samples(in);
      Pixels src = noise(in);
      for (const int c : {1, 2}) samples.fill(src, c, 128);
      Warp warp("offset-x=3");
      warp.set_caps(in);
      const Pixels out = warp(src);
      for (int y = 0; y < size.second; ++y) {
        for (int x = 0; x < size.first; ++x)
          if (samples.get(out, 0, x, y) != (x < 3 ? 16 : samples.get(src, 0, x - 3, y)))
            ck_abort_msg("%s: luma at (%d, %d)", in.c_str(), x, y);
        for (const int c : {1, 2})
          for (int x = 0; x < samples.width(c); ++x)
            if (samples.get(out, c, x, y) != 128) ck_abort_msg("%s: chroma at (%d, %d)", in.c_str(), x, y);
      }
    }
}
GST_END_TEST;

GST_START_TEST(packed_422_turn) {
  for (const char* format : kPacked422)
    for (const char* site : {"", ",chroma-site=mpeg2"}) {
      const std::string in = raw(format, 640, 480, site), to = raw(format, 480, 640, site);
      const Samples source(in), target(to);
      Pixels src = black(in);
      for (int y = 0; y < 480; ++y)
        for (int x = 0; x < 640; ++x) {
          const Color& bar = kBars[x / 80];
          source.set(src, 0, x, y, bar.y);
          if (x % 2 == 0) source.set(src, 1, x / 2, y, bar.u), source.set(src, 2, x / 2, y, bar.v);
        }
      Warp warp("angle=90 framing=expand");
      warp.set_caps(in);
      warp.assert_size(480, 640);
      const Pixels out = warp(src);
      for (int y = 0; y < 640; ++y) {
        const Color& bar = kBars[y / 80];
        for (int x = 0; x < 480; ++x)
          if (target.get(out, 0, x, y) != bar.y) ck_abort_msg("%s: luma at (%d, %d)", in.c_str(), x, y);
        const bool at_edge = y % 80 == 0 || y % 80 == 79;  // within a pixel of it
        const int u = at_edge ? target.get(out, 1, 0, y) : bar.u,
                  v = at_edge ? target.get(out, 2, 0, y) : bar.v;
        for (int x = 0; x < 240; ++x)
          if (target.get(out, 1, x, y) != u || target.get(out, 2, x, y) != v)
            ck_abort_msg("%s: chroma at (%d, %d)", in.c_str(), x, y);
      }
    }
}
GST_END_TEST;

// Every pixel of 16384x16384 is where it should be, as source and as output.
GST_START_TEST(huge_frames) {
  const std::string huge = raw("GRAY8", 16384, 16384), small = raw("GRAY8", 64, 64);
  const auto value = [](int x, int y) {
    return static_cast<uint8_t>((x >> 8) * 31 + (y >> 8) * 17 + (x & 255) * 3 + (y & 255) * 5);
  };
  Warp shrink("interpolation=nearest antialias=false");
  shrink.set_caps(huge, small);
  BufferPtr out = shrink.pass(gray_frame(huge, value));
  const Pixels got = pixels_of(out.get(), shrink.output_caps().get());
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) ck_assert_int_eq(got.plane[0].at(x, y), value(256 * x + 128, 256 * y + 128));

  const auto coarse = [](int x, int y) { return static_cast<uint8_t>(x * 3 + y * 65); };
  Warp grow("interpolation=nearest");
  grow.set_caps(small, huge);
  out = grow.pass(gray_frame(small, coarse));
  GstMapInfo map;
  ck_assert(gst_buffer_map(out.get(), &map, GST_MAP_READ));
  size_t wrong = 0;
  for (int y = 0; y < 16384; ++y)
    for (int x = 0; x < 16384; ++x)
      wrong += map.data[static_cast<size_t>(y) * 16384 + x] != coarse(x >> 8, y >> 8);
  gst_buffer_unmap(out.get(), &map);
  ck_assert_uint_eq(wrong, 0);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_formats");
  TCase* tc = tcase_create("formats");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, templates);
  tcase_add_test(tc, every_format);
  tcase_add_test(tc, every_sample_is_written);
  tcase_add_test(tc, packed_422_shift);
  tcase_add_test(tc, packed_422_turn);
  tcase_add_test(tc, huge_frames);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

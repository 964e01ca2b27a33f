// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Interleaved and mixed video: two fields in a frame, line by line, each warped by itself.
#include <cmath>
#include <numbers>

#include "gst/plan_cache.h"

#include "element_util.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

constexpr const char* kInterleaved = ",interlace-mode=interleaved";
constexpr const char* kMixed = ",interlace-mode=mixed";
const char* const kFormats[] = {"I420", "NV12", "YUY2", "P010_10LE", "Y42B", "RGB", "GRAY8"};

// Code values of a component in the top field, and in the bottom one.
int value_of(int field, int c) {
  return field == 0 ? 60 + 20 * c : 180 - 20 * c;
}

// Every line has its field's colour. Lines of chroma alternate as those of luma do.
Pixels fields_of(const std::string& caps) {
  const Samples samples(caps);
  Pixels pixels = black(caps);
  for (int c = 0; c < samples.count(); ++c)
    for (int y = 0; y < samples.height(c); ++y)
      for (int x = 0; x < samples.width(c); ++x) samples.set(pixels, c, x, y, value_of(y % 2, c));
  return pixels;
}

void assert_fields(const Pixels& pixels, const std::string& caps, const std::string& what) {
  const Samples samples(caps);
  for (int c = 0; c < samples.count(); ++c)
    for (int y = 0; y < samples.height(c); ++y)
      for (int x = 0; x < samples.width(c); ++x)
        if (samples.get(pixels, c, x, y) != value_of(y % 2, c))
          ck_abort_msg("%s: sample %d at (%d, %d) is %d", what.c_str(), c, x, y,
                       samples.get(pixels, c, x, y));
}

// Lines move down by an even number: by whole lines of a field.
Pixels moved_down(const Pixels& src, const std::string& caps, int lines) {
  const Samples samples(caps);
  Pixels out = src;
  for (int c = 0; c < samples.count(); ++c) {
    const int by = samples.height(c) == samples.height(0) ? lines : lines / 2;
    for (int y = samples.height(c) - 1; y >= 0; --y)
      for (int x = 0; x < samples.width(c); ++x)
        samples.set(out, c, x, y, samples.get(src, c, x, std::max(y - by, y % 2)));
  }
  return out;
}

BufferPtr with_flags(BufferPtr buffer, guint flags) {
  GST_BUFFER_FLAG_SET(buffer.get(), flags);
  return buffer;
}

Pixels through(Warp& warp, BufferPtr buffer) {
  const BufferPtr out = warp.pass(std::move(buffer));
  return pixels_of(out.get(), warp.output_caps().get());
}

}  // namespace

// A bar that moves from field to field: at any angle each field shows it once, where that field has it.
GST_START_TEST(fields) {
  const std::string in = raw("I420", 720, 576, std::string(kInterleaved) + ",field-order=top-field-first");
  const int bar[2] = {300, 340};
  Pixels src = solid(in, {{40}, {128}, {128}});
  for (int y = 0; y < 576; ++y)
    for (int x = 0; x < 12; ++x) src.plane[0].at(bar[y % 2] + x, y) = 200;
  Warp warp("angle=5 border-mode=replicate");
  warp.set_caps(in);
  const BufferPtr out =
      warp.pass(with_flags(buffer_of(src, in), GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF));
  ck_assert(GST_BUFFER_FLAG_IS_SET(out.get(), GST_VIDEO_BUFFER_FLAG_TFF));
  const Pixels got = pixels_of(out.get(), warp.output_caps().get());
  const double slope = std::tan(5 * std::numbers::pi / 180), c = std::cos(5 * std::numbers::pi / 180);
  for (int y = 8; y < 568; ++y) {
    double sum = 0, moment = 0;
    for (int x = 0; x < 720; ++x) {
      const double v = got.plane[0].at(x, y) - 40;
      sum += v, moment += v * (x + 0.5);
    }
    const double dy = y + 0.5 - 288, x0 = bar[y % 2] + 6 - 360;
    ck_assert_msg(std::abs(sum - 160 * 12 / c) < 40, "line %d: %g of the bar", y, sum);
    ck_assert_msg(std::abs(moment / sum - (360 + x0 / c - slope * dy)) < 0.1, "line %d: bar at %g, not %g", y,
                  moment / sum, 360 + x0 / c - slope * dy);
  }
}
GST_END_TEST;

// Luma and chroma of one field are never in the other, whatever becomes of them.
GST_START_TEST(no_line_of_the_other_field) {
  for (const char* format : kFormats)
    for (const auto& size : {std::pair{64, 48}, {33, 23}, {5, 3}, {4, 2}})
      for (const char* properties :
           {"angle=5", "angle=90", "angle=180", "scale-y=-1", "scale=0.3", "scale=0.3 antialias=false",
            "offset-y=1 interpolation=bicubic", "angle=17 interpolation=lanczos", "shear-y=0.5"}) {
        const std::string in = raw(format, size.first, size.second, kInterleaved);
        Warp warp(std::string("border-mode=replicate ") + properties);
        warp.set_caps(in);
        assert_fields(warp(fields_of(in)), in, in + " " + properties);
      }
}
GST_END_TEST;

// Also between sizes.
GST_START_TEST(fields_of_other_sizes) {
  for (const char* format : {"I420", "YUY2", "RGB"}) {
    const std::string in = raw(format, 64, 48, kInterleaved);
    for (const std::string& to : {raw(format, 128, 96, kInterleaved), raw(format, 20, 15, kInterleaved),
                                  raw(format, 64, 1, kInterleaved)}) {
      Warp warp("fit=stretch");
      warp.set_caps(in, to);
      assert_fields(warp(fields_of(in)), to, to);
    }
    const std::string line = raw(format, 16, 1, kInterleaved);
    Warp one("angle=180");
    one.set_caps(line);
    assert_fields(one(fields_of(line)), line, line);
  }
}
GST_END_TEST;

// By whole lines of a field everything is a copy; by an odd line it is not one of the other field's.
GST_START_TEST(whole_lines_are_copied) {
  for (const char* format : kFormats) {
    const std::string in = raw(format, 64, 48, kInterleaved);
    const Pixels src = noise(in);
    Warp warp("offset-y=4 border-mode=replicate");
    warp.set_caps(in);
    assert_same(warp(src), moved_down(src, in, 4), in);
  }
  const std::string in = raw("GRAY8", 64, 48, kInterleaved);
  const Pixels src = noise(in);
  Warp warp("offset-y=1");
  warp.set_caps(in);
  const Pixels out = warp(src);
  // Half a line of the field: the mean of two.
  for (int y = 4; y < 44; ++y)
    for (int x = 0; x < 64; ++x) {
      const double want = (src.plane[0].at(x, y - 2) + src.plane[0].at(x, y)) / 2.0;
      ck_assert(std::abs(out.plane[0].at(x, y) - want) <= 0.5);
    }
}
GST_END_TEST;

// In mixed video the buffer's flag decides, and in no other.
GST_START_TEST(mixed) {
  for (const char* format : {"I420", "YUY2", "RGB"}) {
    const std::string progressive = raw(format, 64, 48), interleaved = raw(format, 64, 48, kInterleaved),
                      mixed = raw(format, 64, 48, kMixed);
    const Pixels src = noise(progressive);
    Warp one("angle=5"), two("angle=5"), warp("angle=5");
    one.set_caps(progressive), two.set_caps(interleaved), warp.set_caps(mixed);
    const Pixels frame = one(src), fields = two(src);
    ck_assert(frame != fields);
    for (int n = 0; n < 8; ++n) {
      const bool interlaced = n % 2 || n == 4;
      const guint flags = interlaced ? GST_VIDEO_BUFFER_FLAG_INTERLACED : 0;
      assert_same(through(warp, with_flags(buffer_of(src, mixed, n), flags)), interlaced ? fields : frame,
                  mixed + " " + std::to_string(n));
    }
    assert_same(through(one, with_flags(buffer_of(src, progressive), GST_VIDEO_BUFFER_FLAG_INTERLACED)),
                frame, "progressive");
    assert_same(through(two, with_flags(buffer_of(src, interleaved), GST_VIDEO_BUFFER_FLAG_INTERLACED)),
                fields, "interleaved");
  }
}
GST_END_TEST;

GST_START_TEST(values_change_for_both_kinds) {
  const std::string in = raw("NV12", 64, 48, kMixed);
  const Pixels src = noise(in);
  Warp warp;
  warp.set_caps(in, in);
  for (const double angle : {5.0, 9.0, 5.0}) {
    Warp fresh;
    g_object_set(fresh.element(), "angle", angle, nullptr);
    g_object_set(warp.element(), "angle", angle, nullptr);
    fresh.set_caps(in, in);
    for (const guint flags : {0u, guint{GST_VIDEO_BUFFER_FLAG_INTERLACED}})
      assert_same(through(warp, with_flags(buffer_of(src, in), flags)),
                  through(fresh, with_flags(buffer_of(src, in), flags)), std::to_string(angle));
  }
}
GST_END_TEST;

GST_START_TEST(plans_of_both_kinds_are_kept) {
  const FrameDesc frame{.format = Format::I420, .width = 64, .height = 48};
  FrameDesc fields = frame;
  fields.interlaced = true;
  PlanCache plans;
  const auto get = [&](const WarpParams& params, const FrameDesc& desc) {
    const auto plan = plans.get(params, desc, desc);
    ck_assert(!error_of(plan));
    return const_cast<WarpPlan*>(std::get<std::shared_ptr<const WarpPlan>>(plan).get());
  };
  // A mark that a new plan would not have.
  get({.angle = 5}, frame)->passes = 101, get({.angle = 5}, fields)->passes = 102;
  for (int n = 0; n < 3; ++n) {
    ck_assert_int_eq(get({.angle = 5}, frame)->passes, 101);
    ck_assert_int_eq(get({.angle = 5}, fields)->passes, 102);
  }
  ck_assert_int_eq(get({.angle = 6}, fields)->passes, 4);
  ck_assert_int_eq(get({.angle = 5}, frame)->passes, 101);
  FrameDesc cut = frame;
  cut.skip_x = 1;
  ck_assert_int_eq(get({.angle = 5}, cut)->passes, 2);
  plans.clear();
  ck_assert_int_eq(get({.angle = 6}, fields)->passes, 4);
}
GST_END_TEST;

GST_START_TEST(flags_are_kept) {
  const guint all[] = {GST_VIDEO_BUFFER_FLAG_INTERLACED, GST_VIDEO_BUFFER_FLAG_TFF, GST_VIDEO_BUFFER_FLAG_RFF,
                       GST_VIDEO_BUFFER_FLAG_ONEFIELD};
  const guint mask = all[0] | all[1] | all[2] | all[3];
  for (const char* more : {kInterleaved, kMixed})
    for (const char* properties : {"angle=5", "scale-y=-1", ""}) {
      const std::string in = raw("I420", 64, 48, more);
      Warp warp(properties);
      warp.set_caps(in);
      for (guint n = 0; n < 16; ++n) {
        guint flags = 0;
        for (int k = 0; k < 4; ++k) flags |= n >> k & 1 ? all[k] : 0;
        const BufferPtr out = warp.pass(with_flags(buffer_of(noise(in), in), flags));
        ck_assert_uint_eq(GST_BUFFER_FLAGS(out.get()) & mask, flags);
      }
      const GstVideoInfo info = warp.output_info();
      ck_assert_str_eq(gst_video_interlace_mode_to_string(GST_VIDEO_INFO_INTERLACE_MODE(&info)),
                       more + std::string(",interlace-mode=").size());
    }
}
GST_END_TEST;

// The input's mode, which a caps without one has too.
GST_START_TEST(mode_in_caps) {
  const struct {
    const char *in, *downstream, *mode;
  } cases[] = {{"", "", "progressive"},
               {"", "{interleaved,progressive}", "progressive"},
               {kInterleaved, "", "interleaved"},
               {kInterleaved, "{progressive,interleaved}", "interleaved"},
               {kMixed, "{progressive,interleaved,mixed,fields}", "mixed"}};
  for (const auto& c : cases) {
    Warp warp("angle=5");
    warp.set_caps(raw("I420", 64, 48, c.in),
                  *c.downstream ? std::string("video/x-raw,interlace-mode=") + c.downstream : "");
    const GstVideoInfo info = warp.output_info();
    ck_assert_str_eq(gst_video_interlace_mode_to_string(GST_VIDEO_INFO_INTERLACE_MODE(&info)), c.mode);
  }
}
GST_END_TEST;

GST_START_TEST(passthrough) {
  for (const char* more : {"", ",interlace-mode=progressive", kInterleaved, kMixed}) {
    const std::string in = raw("I420", 64, 48, more);
    Warp warp;
    warp.set_caps(in);
    ck_assert(passes_through(warp, noise(in)));
    g_object_set(warp.element(), "offset-y", 2.0, nullptr);
    ck_assert(!passes_through(warp, noise(in)));
    g_object_set(warp.element(), "offset-y", 0.0, nullptr);
    ck_assert(passes_through(warp, noise(in)));
  }
}
GST_END_TEST;

// Top remains top in a cut that begins with a line of the bottom field; nothing from outside the cut shows,
// and luma is copied where lines fall on lines.
GST_START_TEST(crop) {
  for (const char* format : kFormats)
    for (const int y0 : {0, 1, 2, 3, 4, 7}) {
      const std::string stored = raw(format, 64, 48, kInterleaved), small = raw(format, 30, 21, kInterleaved);
      const Samples source(stored), target(small);
      Pixels src = fields_of(stored);
      const auto cut_out = [&](const std::string& properties, const Pixels& pixels) {
        Warp warp("border-mode=replicate " + properties);
        warp.set_caps(stored, small);
        BufferPtr buffer = buffer_of(pixels, stored);
        GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
        crop->x = 3, crop->y = y0, crop->width = 30, crop->height = 21;
        return through(warp, std::move(buffer));
      };
      // Outside of the blocks that the cut touches there is something else.
      for (int c = 0; c < source.count(); ++c) {
        const bool half_x = source.width(c) < 64, half_y = source.height(c) < 48;
        for (int y = 0; y < source.height(c); ++y)
          for (int x = 0; x < source.width(c); ++x) {
            const int left = half_x ? 2 * x : x, right = half_x ? left + 1 : left;
            const int top = half_y ? 4 * (y / 2) + y % 2 : y, bottom = half_y ? top + 2 : top;
            const bool top_in = top >= y0 && top < y0 + 21, bottom_in = bottom >= y0 && bottom < y0 + 21;
            if (right < 3 || left >= 33 || (!top_in && !bottom_in)) source.set(src, c, x, y, 255);
          }
      }
      for (const char* properties : {"", "angle=180", "angle=17 interpolation=lanczos", "scale=0.3"})
        assert_fields(cut_out(properties, src), small,
                      small + " from " + std::to_string(y0) + " " + properties);

      if (y0 % 2) continue;
      const Pixels random = noise(stored), got = cut_out("", random);
      for (int y = 0; y < 21; ++y)
        for (int x = 0; x < 30; ++x)
          ck_assert_int_eq(target.get(got, 0, x, y), source.get(random, 0, 3 + x, y0 + y));
    }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_interlaced");
  TCase* tc = tcase_create("interlaced");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, fields);
  tcase_add_test(tc, no_line_of_the_other_field);
  tcase_add_test(tc, fields_of_other_sizes);
  tcase_add_test(tc, whole_lines_are_copied);
  tcase_add_test(tc, mixed);
  tcase_add_test(tc, values_change_for_both_kinds);
  tcase_add_test(tc, plans_of_both_kinds_are_kept);
  tcase_add_test(tc, flags_are_kept);
  tcase_add_test(tc, mode_in_caps);
  tcase_add_test(tc, passthrough);
  tcase_add_test(tc, crop);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Faults that belong to a kind of format: packed 4:2:2, fields, frames cut out of larger ones, alpha, other
// depths. Values are worked out by hand.
#include <algorithm>
#include <cmath>

#include "cuda/geometry.h"
#include "frames.h"
#include "grid.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

constexpr Format kPacked422[] = {Format::YUY2, Format::UYVY, Format::YVYU};
constexpr Format kAlpha[] = {Format::GBRA, Format::AYUV, Format::RGBA64_LE, Format::RGB10A2_LE};

FrameDesc frame(Format format, int width, int height) {
  return {.format = format, .width = width, .height = height};
}

// BT.709, limited range.
FrameDesc video(Format format, int width, int height) {
  return {
      .format = format, .width = width, .height = height, .kr = 0.2126, .kb = 0.0722, .full_range = false};
}

int most(Format format) {
  return (1 << info(format).depth) - 1;
}
int opaque(Format format) {
  return (1 << info(format).alpha_depth) - 1;
}

void set_pixel(TestFrame& f, int group, int x, int y, const std::array<int, kMaxChannels>& color) {
  const Group& g = f.format().group[group];
  for (int k = 0; k < g.channels; ++k) f.at(group, x, y, k) = color[static_cast<int>(g.component[k])];
}

}  // namespace

GST_START_TEST(packed_422_shift) {
  for (const Format format : kPacked422)
    for (const int width : {1280, 1279, 5}) {
      TestFrame src(video(format, width, 72), 0, true);
      fill_color(src, {120, 128, 128, 0});
      const TestFrame out = warped({.offset_x = 3}, src, src.desc());
      for (int y = 0; y < 72; ++y)
        for (int x = 0; x < width; ++x) {
          ck_assert_int_eq(out.at(0, x, y), x < 3 ? 16 : 120);
          for (int k = 0; k < 2; ++k) ck_assert_int_eq(out.at(1, x / 2, y, k), 128);
        }
    }
}
GST_END_TEST;

// Of odd width: nothing of a row is left as it was in memory.
GST_START_TEST(packed_422_odd) {
  for (const Format format : kPacked422)
    for (const int width : {33, 1}) {
      TestFrame src(video(format, width, 21), 0, true);
      fill_noise(src, 3);
      TestFrame out = warped({.angle = 20}, src, src.desc());
      const Image::Plane plane = out.view().plane[0];
      const int at = format == Format::UYVY ? 1 : 0;
      for (int y = 0; y < 21; ++y)
        ck_assert_int_eq(plane.data[y * plane.pitch + 2 * width + at], out.at(0, width - 1, y));
    }
}
GST_END_TEST;

// Bars 80 pixels wide, turned: luma is copied; chroma, which shrinks down the picture and widens across it,
// is that of the bar everywhere but in the rows at its sides.
GST_START_TEST(packed_422_turn) {
  constexpr int kBars[8][3] = {{235, 128, 128}, {219, 16, 138}, {188, 154, 16}, {173, 42, 26},
                               {78, 214, 230},  {63, 102, 240}, {32, 240, 118}, {16, 128, 128}};
  for (const Format format : {Format::YUY2, Format::UYVY, Format::YVYU, Format::NV16, Format::Y42B})
    for (const bool cosited : {false, true}) {
      FrameDesc desc = video(format, 640, 48), turned = video(format, 48, 640);
      desc.cosited_x = turned.cosited_x = cosited;
      TestFrame src(desc);
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 640; ++x) {
          src.at(0, x, y) = kBars[x / 80][0];
          for (int k = 0; k < 2; ++k) src.at(1, x / 2, y, k) = kBars[x / 80][1 + k];
        }
      const TestFrame out = warped({.angle = 90, .framing = Framing::expand}, src, turned);
      for (int y = 0; y < 640; ++y)
        for (int x = 0; x < 48; ++x) {
          ck_assert_int_eq(out.at(0, x, y), kBars[y / 80][0]);
          const int near = y % 80 == 0 ? std::max(y - 1, 0) : std::min(y + 1, 639);
          for (int k = 0; k < 2; ++k) {
            const int got = out.at(1, x / 2, y, k), bar = kBars[y / 80][1 + k],
                      next = kBars[near / 80][1 + k];
            ck_assert_msg(got >= std::min(bar, next) && got <= std::max(bar, next),
                          "%s: chroma %d in row %d is %d, the bar has %d", info(format).name.data(), k, y,
                          got, bar);
          }
        }
    }
}
GST_END_TEST;

// The top field is light, the bottom field dark: not a line may have anything of the other.
GST_START_TEST(fields) {
  for (const Format format : {Format::I420, Format::NV12, Format::YUY2, Format::RGB, Format::P010_10LE})
    for (const Interpolation interpolation : kInterpolations)
      for (WarpParams params : {WarpParams{.angle = 5},
                                {.angle = 90},
                                {.offset_y = 1},
                                {.scale_y = -1},
                                {.scale_x = 0.4, .scale_y = 0.4},
                                {.angle = -30, .scale_x = 2, .scale_y = 2}}) {
        FrameDesc desc = frame(format, 40, 33);
        desc.interlaced = true;
        TestFrame src(desc);
        const int light = most(format) * 4 / 5, dark = most(format) / 5;
        for (int g = 0; g < src.format().groups; ++g)
          for (int y = 0; y < src.height(g); ++y)
            for (int x = 0; x < src.width(g); ++x)
              for (int k = 0; k < src.samples(g); ++k) src.at(g, x, y, k) = y % 2 ? dark : light;
        params.interpolation = interpolation;
        params.border = Border::replicate;
        assert_same(src, warped(params, src, desc), name_of(interpolation));
      }
}
GST_END_TEST;

// The bars of a letterbox are whole rows of both fields, and the picture between them is copied.
GST_START_TEST(fields_in_a_letterbox) {
  for (const Format format : {Format::GRAY8, Format::I420, Format::RGB}) {
    FrameDesc desc = frame(format, 64, 48), tall = frame(format, 64, 64);
    desc.interlaced = tall.interlaced = true;
    TestFrame src(desc);
    fill_noise(src, 4);
    const TestFrame out = warped({.border_color = 0xff000000}, src, tall);
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x)
        for (int k = 0; k < out.samples(0); ++k) {
          const int want = y < 8 || y >= 56 ? 0 : src.at(0, x, y - 8, k);
          ck_assert_msg(out.at(0, x, y, k) == want, "(%d, %d) is %d, should be %d", x, y, out.at(0, x, y, k),
                        want);
        }
  }
}
GST_END_TEST;

// A frame inside another, its corner where it likes: as if the whole frame were warped by the same map.
GST_START_TEST(cut_out) {
  constexpr int kWidth = 168, kHeight = 120;
  for (const Format format :
       {Format::I420, Format::NV12, Format::YUY2, Format::I422_10LE, Format::RGB10A2_LE})
    for (const bool interlaced : {false, true})
      for (const Size corner : {Size{16, 48}, Size{17, 49}, Size{16, 51}, Size{21, 50}}) {
        FrameDesc whole = frame(format, 216, 192), cut = frame(format, kWidth, kHeight), out = cut;
        whole.interlaced = cut.interlaced = out.interlaced = interlaced;
        TestFrame src(whole, 6);
        fill_noise(src, 8);
        const FormatInfo& f = info(format);
        cut.skip_x = corner.width % f.block_width();
        cut.skip_y = corner.height % (f.block_height() * (interlaced ? 2 : 1));
        ConstImage image = src.contents();
        for (int g = 0; g < f.groups; ++g)
          for (int k = 0; k < f.group[g].channels; ++k) {
            const Group& group = f.group[g];
            const int p = group.plane[k];
            const int x = (corner.width - cut.skip_x) >> group.shift_x,
                      y = (corner.height - cut.skip_y) >> group.shift_y;
            image.plane[p].data = src.row(p, y) + x * group.step;
          }
        const Affine turn{0.96, -0.28, 35.5, 0.28, 0.96, -15.25};
        const WarpParams params{.matrix = turn, .border = Border::replicate};
        TestFrame got(out);
        warp_on_cpu(plan_or_fail(params, cut, out), image, got.view(), backwards);
        const WarpParams same{.matrix = turn * Affine::translation(-corner.width, -corner.height),
                              .border = Border::replicate};
        const FrameDesc& target = out;
        const TestFrame want = warped(same, src, target);
        int compared = 0, differing = 0;
        for (int g = 0; g < f.groups; ++g)
          for (int y = 0; y < got.height(g); ++y)
            for (int x = 0; x < got.width(g); ++x) {
              const Group& group = f.group[g];
              const Point at =
                  (*turn.inverse())({double((x + 1) << group.shift_x), double((y + 1) << group.shift_y)});
              if (at.x < 8 || at.y < 8 || at.x > kWidth - 8 || at.y > kHeight - 8) continue;
              for (int k = 0; k < got.samples(g); ++k) {
                ++compared;
                differing += got.at(g, x, y, k) != want.at(g, x, y, k);
                ck_assert_int_le(std::abs(got.at(g, x, y, k) - want.at(g, x, y, k)), 1);
              }
            }
        ck_assert_int_gt(compared, 10000);
        ck_assert_int_le(differing, compared / 1000);
      }
}
GST_END_TEST;

GST_START_TEST(transparent_border) {
  for (const Format format : kAlpha)
    for (const bool antialias : {true, false}) {
      const std::array<int, 4> color{most(format) / 3, most(format) / 2, most(format), opaque(format)};
      TestFrame src(frame(format, 64, 48));
      fill_color(src, color);
      const TestFrame out =
          warped({.angle = 30, .border = Border::transparent, .edge_antialias = antialias}, src, src.desc());
      for (const int x : {0, 63})
        for (const int y : {0, 47}) ck_assert_int_eq(out.at(0, x, y, 3), 0);
      for (int k = 0; k < 4; ++k) ck_assert_int_eq(out.at(0, 32, 24, k), color[k]);
    }
}
GST_END_TEST;

// Half a pixel to the right: half the first column is seen, in its own colour; so is half of the one beyond
// it.
GST_START_TEST(coverage_is_alpha) {
  for (const Format format : kAlpha) {
    const std::array<int, 4> color{most(format) / 3, most(format) / 2, most(format), opaque(format)};
    TestFrame src(frame(format, 16, 8));
    fill_color(src, color);
    const TestFrame out = warped({.offset_x = 1.5, .border = Border::transparent}, src, frame(format, 16, 8));
    for (int y = 0; y < 8; ++y) {
      ck_assert_int_eq(out.at(0, 0, y, 3), 0);
      ck_assert_int_eq(out.at(0, 1, y, 3), (opaque(format) + 1) / 2);
      ck_assert_int_eq(out.at(0, 2, y, 3), opaque(format));
      for (int k = 0; k < 3; ++k) ck_assert_int_eq(out.at(0, 1, y, k), color[k]);
    }
  }
}
GST_END_TEST;

// An opaque rectangle on transparent black: its edges are as bright as its middle, turned, enlarged or
// shrunk.
GST_START_TEST(no_dark_fringe) {
  for (const Format format : kAlpha)
    for (const double scale : {1.0, 0.4, 1.3})
      for (const Interpolation interpolation :
           {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos}) {
        const std::array<int, 4> color{most(format) / 3, most(format) / 2, most(format), opaque(format)};
        TestFrame src(frame(format, 100, 60));
        fill_color(src, {0, 0, 0, 0});
        for (int y = 15; y < 45; ++y)
          for (int x = 20; x < 80; ++x) set_pixel(src, 0, x, y, color);
        const TestFrame out = warped({.angle = 4,
                                      .scale_x = scale,
                                      .scale_y = scale,
                                      .border = Border::transparent,
                                      .interpolation = interpolation},
                                     src, src.desc());
        int full = 0, mixed = 0;
        for (int y = 0; y < 60; ++y)
          for (int x = 0; x < 100; ++x) {
            const int alpha = out.at(0, x, y, 3);
            if (alpha < opaque(format) / 16.0) continue;
            ++(alpha == opaque(format) ? full : mixed);
            for (int k = 0; k < 3; ++k)
              ck_assert_msg(std::abs(out.at(0, x, y, k) - color[k]) <= 1,
                            "%s %s: channel %d at alpha %d is %d, not %d", info(format).name.data(),
                            name_of(interpolation), k, alpha, out.at(0, x, y, k), color[k]);
          }
        ck_assert_int_gt(full, 150);
        ck_assert_int_gt(mixed, 20);
      }
}
GST_END_TEST;

// Code values from one depth to another: by the largest ones in full range, by shifting in limited range;
// alpha always by the largest.
GST_START_TEST(depth_changes) {
  const struct {
    Format src, dst;
    bool full_range;
    std::array<int, 4> from, to;
  } cases[] = {
      {Format::RGBA, Format::RGBA64_LE, true, {255, 128, 1, 255}, {65535, 32896, 257, 65535}},
      {Format::RGBA, Format::RGBA64_LE, false, {235, 16, 128, 128}, {60160, 4096, 32768, 32896}},
      {Format::RGBA64_LE, Format::BGRA, true, {65535, 32896, 257, 65535}, {255, 128, 1, 255}},
      {Format::RGB10A2_LE, Format::RGBA, true, {1023, 512, 4, 2}, {255, 128, 1, 170}},
      {Format::RGB10A2_LE, Format::RGBA, false, {940, 64, 502, 1}, {235, 16, 126, 85}},
      {Format::RGBA, Format::BGR10A2_LE, true, {255, 128, 1, 128}, {1023, 514, 4, 2}},
      {Format::GBR_10LE, Format::GBR_12LE, true, {1023, 512, 1, 0}, {4095, 2050, 4, 0}},
      {Format::GBR_12LE, Format::GBR_16LE, false, {3760, 256, 2049, 0}, {60160, 4096, 32784, 0}},
      {Format::RGB, Format::RGBA64_LE, true, {255, 128, 1, 0}, {65535, 32896, 257, 65535}},
      {Format::RGBx, Format::RGB10A2_LE, true, {255, 128, 1, 0}, {1023, 514, 4, 3}},
      {Format::GBRA, Format::RGB, true, {200, 100, 50, 128}, {200, 100, 50, 0}},
      {Format::RGBP, Format::ARGB, true, {200, 100, 50, 0}, {200, 100, 50, 255}},
      {Format::GBR_10LE, Format::RGBA64_LE, true, {1023, 0, 1023, 0}, {65535, 0, 65535, 65535}},
  };
  for (const auto& c : cases)
    for (const WarpParams& params : {WarpParams{}, {.angle = 30, .border = Border::replicate}}) {
      FrameDesc from = frame(c.src, 9, 7), to = frame(c.dst, 9, 7);
      from.full_range = to.full_range = c.full_range;
      TestFrame src(from), want(to);
      fill_color(src, c.from);
      fill_color(want, c.to);
      assert_same(want, warped(params, src, to), info(c.dst).name.data());
    }
}
GST_END_TEST;

// White on a white border of alpha 129 / 255, half a pixel of each: the alpha of the output's depth is mixed.
GST_START_TEST(border_of_another_depth) {
  for (const Format format : {Format::RGBA, Format::RGB, Format::GBR_10LE, Format::RGB10A2_LE})
    for (const bool antialias : {true, false}) {
      TestFrame src(frame(format, 16, 8));
      fill_color(src, {most(format), most(format), most(format), opaque(format)});
      const TestFrame out = warped({.offset_x = 1.5, .border_color = 0x81ffffff, .edge_antialias = antialias},
                                   src, frame(Format::RGBA64_LE, 16, 8));
      for (int x = 0; x < 3; ++x) {
        const int alpha = x == 0 ? 33153 : x == 1 ? 49344 : 65535;
        ck_assert_msg(out.at(0, x, 4, 3) == alpha, "%s: alpha %d is %d, should be %d",
                      info(format).name.data(), x, out.at(0, x, 4, 3), alpha);
        for (int k = 0; k < 3; ++k) ck_assert_int_eq(out.at(0, x, 4, k), 65535);
      }
    }
}
GST_END_TEST;

static Suite* cpu_formats_suite() {
  Suite* s = suite_create("cpu_formats");
  TCase* tc = tcase_create("formats");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, packed_422_shift);
  tcase_add_test(tc, packed_422_odd);
  tcase_add_test(tc, packed_422_turn);
  tcase_add_test(tc, fields);
  tcase_add_test(tc, fields_in_a_letterbox);
  tcase_add_test(tc, cut_out);
  tcase_add_test(tc, transparent_border);
  tcase_add_test(tc, coverage_is_alpha);
  tcase_add_test(tc, no_dark_fringe);
  tcase_add_test(tc, depth_changes);
  tcase_add_test(tc, border_of_another_depth);
  return s;
}

GST_CHECK_MAIN(cpu_formats);

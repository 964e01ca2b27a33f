// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a viewer would see: averages where pictures shrink, no blur where they do not, nothing that jumps.
#include <algorithm>
#include <cmath>

#include "cuda/geometry.h"
#include "frames.h"
#include "grid.h"
#include "oracle.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

FrameDesc frame(Format format, int width, int height) {
  return {.format = format, .width = width, .height = height};
}

// A colour that no two channels share, `alpha` of opaque where the format has alpha.
std::array<int, kMaxChannels> some_color(const FormatInfo& f, double alpha) {
  const int most = (1 << f.depth) - 1, opaque = (1 << f.alpha_depth) - 1;
  return {most * 3 / 10 + 1, most * 6 / 10 + 1, most * 9 / 10 + 1,
          static_cast<int>(std::lround(opaque * alpha))};
}

TestFrame turned(const TestFrame& src) {
  const FrameDesc& d = src.desc();
  return warped({.angle = 90, .framing = Framing::expand}, src, frame(d.format, d.height, d.width));
}

TestFrame resized(const TestFrame& src, int width, int height, Interpolation interpolation) {
  return warped({.fit = Fit::stretch, .interpolation = interpolation}, src,
                frame(src.desc().format, width, height));
}

double differing(const TestFrame& a, const TestFrame& b) {
  double samples = 0, other = 0;
  for (int g = 0; g < a.format().groups; ++g)
    for (int y = 0; y < a.height(g); ++y)
      for (int x = 0; x < a.width(g); ++x)
        for (int k = 0; k < a.samples(g); ++k) ++samples, other += a.at(g, x, y, k) != b.at(g, x, y, k);
  return other / samples;
}

}  // namespace

// A black square of 4x4 in each 8x8 of white: a quarter. Of whole pixels every interpolation makes the mean.
GST_START_TEST(area_average) {
  const FormatInfo& f = all_formats()[__i__];
  TestFrame src(frame(f.format, 24, 24));
  for (int g = 0; g < f.groups; ++g)
    for (int y = 0; y < src.height(g); ++y)
      for (int x = 0; x < src.width(g); ++x)
        for (int k = 0; k < src.samples(g); ++k) {
          const bool black = x % 8 >= 2 && x % 8 < 6 && y % 8 >= 2 && y % 8 < 6 && k < 3;
          src.at(g, x, y, k) = black ? 0 : src.place(g, k).largest();
        }
  for (const Interpolation interpolation : kInterpolations)
    for (const bool antialias : {true, false}) {
      const TestFrame out =
          warped({.fit = Fit::stretch, .interpolation = interpolation, .antialias = antialias}, src,
                 frame(f.format, 3, 3));
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x)
          for (int k = 0; k < std::min(out.samples(0), 3); ++k) {
            const double want = antialias ? 0.75 * out.place(0, k).largest() : 0;
            if (antialias || interpolation == Interpolation::bilinear)
              ck_assert_msg(std::abs(out.at(0, x, y, k) - want) <= 1,
                            "%s, %s: (%d, %d) sample %d is %d, should be %g", f.name.data(),
                            name_of(interpolation), x, y, k, out.at(0, x, y, k), want);
          }
    }
}
GST_END_TEST;

// Every kernel's weights add up to 1, wherever the source point and whatever the footprint.
GST_START_TEST(constants_stay) {
  const FormatInfo& f = all_formats()[__i__];
  const FrameDesc d = frame(f.format, 33, 21);
  const WarpParams warps[] = {{.angle = 17},
                              {.angle = 17, .scale_x = 0.37, .scale_y = 0.37},
                              {.scale_x = 2.3, .scale_y = 2.3},
                              {.angle = 33, .scale_x = 1.7, .scale_y = -0.2},
                              {.scale_x = 0.125, .scale_y = 0.125},
                              {.shear_x = 0.4, .shear_y = -0.7},
                              {.scale_x = 1 / 50.3, .scale_y = 0.8},
                              // One pixel thin, and aslant: a grid of every third or more pixels may miss it.
                              {.matrix = Affine{0.007, -0.007, 16, 0.7, 0.7, -8}},
                              {.matrix = Affine{0.0007, -0.0007, 16, 0.7, 0.7, -8}}};
  for (const double alpha : {1.0, 0.6}) {
    TestFrame src(d);
    fill_color(src, some_color(f, alpha));
    for (WarpParams params : warps)
      for (const Interpolation interpolation : kInterpolations)
        for (const Border border : {Border::replicate, Border::mirror}) {
          params.interpolation = interpolation;
          params.border = border;
          assert_same(src, warped(params, src, d), f.name.data());
        }
  }
}
GST_END_TEST;

GST_START_TEST(turned_and_shrunk) {
  for (const Format format :
       {Format::GRAY8, Format::RGBA, Format::GRAY16_LE, Format::Y444_10LE, Format::GBRA}) {
    TestFrame src(frame(format, 96, 64));
    fill_noise(src, 3);
    for (const Interpolation interpolation :
         {Interpolation::nearest, Interpolation::bilinear, Interpolation::bicubic})
      for (const int n : {2, 4})
        assert_same(turned(resized(src, 96 / n, 64 / n, interpolation)),
                    resized(turned(src), 64 / n, 96 / n, interpolation), name_of(interpolation));
  }
  for (const Format format : {Format::GRAY8, Format::RGB, Format::I420, Format::VUYA}) {
    TestFrame src(frame(format, 96, 64));
    fill_smooth(src);
    for (const Interpolation interpolation : kInterpolations) {
      const TestFrame a = turned(resized(src, 38, 22, interpolation)),
                      b = resized(turned(src), 22, 38, interpolation);
      assert_same(a, b, name_of(interpolation), 1);
      ck_assert_msg(differing(a, b) <= 0.001, "%g %% of %s differ", 100 * differing(a, b),
                    name_of(interpolation));
    }
  }
}
GST_END_TEST;

GST_START_TEST(no_blur_without_shrinking) {
  int warps = 0;
  for (const Format format : {Format::GRAY8, Format::RGBA, Format::I420, Format::GRAY16_LE}) {
    TestFrame src(frame(format, 48, 40));
    fill_noise(src, 5);
    for (const double angle : {0.0, 0.5, 7.0, 33.0, 45.0, 90.0, -133.3})
      for (const double scale : {1.0, -1.0, 1.0001, 1.7, 3.0})
        for (const Interpolation interpolation : kInterpolations) {
          WarpParams params{.angle = angle, .scale_x = scale, .scale_y = std::abs(scale)};
          params.interpolation = interpolation;
          const TestFrame averaged = warped(params, src, src.desc());
          params.antialias = false;
          assert_same(warped(params, src, src.desc()), averaged, name_of(interpolation));
          ++warps;
        }
  }
  ck_assert_int_eq(warps, 4 * 7 * 5 * 4);
}
GST_END_TEST;

// A marker that a slow zoom moves: its centre never jerks, and least of all where the zoom passes through 1.
GST_START_TEST(zoom_is_smooth) {
  constexpr int kWidth = 192, kHeight = 144, kSteps = 300;
  TestFrame src(frame(Format::GRAY8, kWidth, kHeight));
  fill_color(src, {0, 0, 0, 0});
  for (int y = 110; y < 117; ++y)
    for (int x = 150; x < 157; ++x) src.at(0, x, y) = 255;
  for (const Interpolation interpolation :
       {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos})
    for (const double from : {1.0, 0.95}) {
      std::vector<Point> at;
      for (int n = 0; n <= kSteps; ++n) {
        const double scale = from + 0.1 * n / kSteps;
        const TestFrame out =
            warped({.scale_x = scale, .scale_y = scale, .interpolation = interpolation}, src, src.desc());
        double sum = 0;
        Point p;
        for (int y = 0; y < kHeight; ++y)
          for (int x = 0; x < kWidth; ++x) {
            const int v = out.at(0, x, y);
            sum += v, p.x += v * (x + 0.5), p.y += v * (y + 0.5);
          }
        at.push_back({p.x / sum, p.y / sum});
        ck_assert(std::abs(at[n].x - (96 + (153.5 - 96) * scale)) < 0.1);
        ck_assert(std::abs(at[n].y - (72 + (113.5 - 72) * scale)) < 0.1);
      }
      double worst = 0;
      for (int n = 1; n < kSteps; ++n) {
        worst = std::max(worst, std::abs(at[n - 1].x - 2 * at[n].x + at[n + 1].x));
        worst = std::max(worst, std::abs(at[n - 1].y - 2 * at[n].y + at[n + 1].y));
      }
      GST_INFO("%s from %g: second difference %g at most", name_of(interpolation), from, worst);
      ck_assert_msg(worst <= 0.05, "%s from %g: jerks by %g", name_of(interpolation), from, worst);
    }
}
GST_END_TEST;

// Stripes a pixel wide, shrunk by more than 2: they become gray, and do not come back as wider stripes.
GST_START_TEST(no_moire) {
  TestFrame src(frame(Format::GRAY8, 256, 256));
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x) src.at(0, x, y) = x % 2 * 255;
  for (const double angle : {0.0, 10.0, 45.0, 80.0})
    for (const Interpolation interpolation : kInterpolations) {
      const auto contrast = [&](bool antialias) {
        const TestFrame out = warped({.angle = angle,
                                      .scale_x = 0.3,
                                      .scale_y = 0.3,
                                      .interpolation = interpolation,
                                      .antialias = antialias},
                                     src, frame(Format::GRAY8, 256, 256));
        int low = 255, high = 0;
        for (int y = 110; y < 146; ++y)
          for (int x = 110; x < 146; ++x)
            low = std::min(low, out.at(0, x, y)), high = std::max(high, out.at(0, x, y));
        return high - low;
      };
      ck_assert_msg(contrast(true) <= 75, "%s at %g: a contrast of %d", name_of(interpolation), angle,
                    contrast(true));
      ck_assert_int_gt(contrast(false), 150);
    }
}
GST_END_TEST;

// Noise, the worst content for weights of few bits: averages over footprints that lie turned are the nearest
// code for 99 % of it, and never more than 1 off.
GST_START_TEST(turned_averages) {
  const auto interpolation = static_cast<Interpolation>(__i__);
  const WarpParams warps[] = {{.angle = 17, .scale_x = 0.5, .scale_y = 0.5},
                              {.angle = 17, .scale_x = 0.25, .scale_y = 0.25},
                              {.angle = 45, .scale_x = 0.5, .scale_y = 0.5},
                              {.angle = -133, .scale_x = 0.37, .scale_y = 0.37},
                              {.angle = 1, .scale_x = 0.9, .scale_y = 0.9},
                              {.angle = 0.01, .scale_x = 0.5, .scale_y = 0.5},
                              {.angle = 30, .scale_x = 0.98, .scale_y = 0.98},
                              {.angle = 80, .scale_x = 0.6, .scale_y = -0.3},
                              {.angle = 45, .scale_x = 1.2, .scale_y = 0.4},
                              {.scale_x = 0.7, .scale_y = 0.7, .shear_x = 0.4, .shear_y = -0.3},
                              {.shear_x = 0.8},
                              // Of every third or more pixels, or in float for other reasons.
                              {.angle = 20, .scale_x = 0.02, .scale_y = 0.1}};
  uint64_t in_integers = 0;
  for (const Format format : {Format::GRAY8, Format::RGBA, Format::NV12, Format::Y444})
    for (WarpParams params : warps) {
      params.interpolation = interpolation;
      const FrameDesc d = frame(format, 97, 61);
      TestFrame src(d);
      fill_noise(src, 7);
      for (int y = 0; format == Format::RGBA && y < d.height; ++y)
        for (int x = 0; x < d.width; ++x)
          if (y % 16 < 13) src.at(0, x, y, 3) = 255;
      const WarpPlan plan = plan_or_fail(params, d, d);
      for (int k = 0; k < plan.passes; ++k) in_integers += plan.pass[k].integers;
      const TestFrame out = warped(params, src, d);
      const std::vector<oracle::Samples> groups = oracle::warp(params, d, d, src.contents());
      double samples = 0, nearest = 0;
      for (size_t g = 0; g < groups.size(); ++g)
        for (int y = 0; y < groups[g].height; ++y)
          for (int x = 0; x < groups[g].width; ++x) {
            const size_t pixel = static_cast<size_t>(y) * groups[g].width + x;
            if (groups[g].ambiguous[pixel]) continue;
            for (int k = 0; k < groups[g].samples; ++k) {
              const double want = groups[g].value[pixel * groups[g].samples + k];
              const int got = out.at(static_cast<int>(g), x, y, k);
              if (k < 3 && groups[g].opacity[pixel] < 0.01) continue;
              ck_assert_msg(std::abs(got - std::round(want)) <= 1,
                            "%s: scale %g angle %g: (%d, %d) sample %d is %d, should be %g",
                            name_of(interpolation), params.scale_x, params.angle, x, y, k, got, want);
              if (want < 0.4 || want > 254.6 || want == std::floor(want)) continue;  // too easy
              ++samples, nearest += std::abs(got - want) <= 0.5 + 1e-6;
            }
          }
      GST_INFO("%s %s, scale %g angle %g: %.3f %% nearest", name_of(interpolation), info(format).name.data(),
               params.scale_x, params.angle, 100 * nearest / samples);
      ck_assert_msg(nearest >= 0.99 * samples, "%s %s, scale %g angle %g: only %.3f %% are the nearest code",
                    name_of(interpolation), info(format).name.data(), params.scale_x, params.angle,
                    100 * nearest / samples);
    }
  ck_assert_uint_ge(in_integers, 30);
}
GST_END_TEST;

static Suite* cpu_quality_suite() {
  Suite* s = suite_create("cpu_quality");
  TCase* tc = tcase_create("quality");
  const int formats = static_cast<int>(all_formats().size());
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_loop_test(tc, area_average, 0, formats);
  tcase_add_loop_test(tc, constants_stay, 0, formats);
  tcase_add_test(tc, turned_and_shrunk);
  tcase_add_test(tc, no_blur_without_shrinking);
  tcase_add_test(tc, zoom_is_smooth);
  tcase_add_test(tc, no_moire);
  tcase_add_loop_test(tc, turned_averages, static_cast<int>(Interpolation::bilinear),
                      static_cast<int>(Interpolation::lanczos) + 1);
  return s;
}

GST_CHECK_MAIN(cpu_quality);

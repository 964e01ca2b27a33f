// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a plan refuses, what it recognises as a copy, and where its pixels read.
#include <cmath>
#include <cstring>
#include <limits>

#include "cuda/geometry.h"
#include "frames.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

constexpr int64_t kPixel = int64_t{1} << 32;

FrameDesc frame(Format format, int width, int height) {
  return {.format = format, .width = width, .height = height};
}

// The plan is refused, in words that hold `words`.
void assert_refused(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst, const char* words) {
  const auto plan = make_plan(params, src, dst);
  const Error* error = error_of(plan);
  ck_assert_msg(error != nullptr, "not refused (%s)", words);
  ck_assert_msg(std::strstr(error->words.c_str(), words) != nullptr, "'%s' does not say '%s'",
                error->words.c_str(), words);
  ck_assert(error->words.back() != '.');
}

// No pixel of the pass reads from beyond +-2^30, where the engines' arithmetic would overflow.
void assert_in_range(const PassPlan& p) {
  const auto near = [](__int128 v) {
    const __int128 limit = static_cast<__int128>(1) << 62;
    return v >= -limit && v <= limit;
  };
  for (const int i : {0, p.dst_w - 1})
    for (const int j : {0, p.dst_h - 1}) {
      ck_assert(near(static_cast<__int128>(p.x_per_i) * i + static_cast<__int128>(p.x_per_j) * j + p.x0));
      ck_assert(near(static_cast<__int128>(p.y_per_i) * i + static_cast<__int128>(p.y_per_j) * j + p.y0));
    }
}

const FrameDesc kGray = frame(Format::GRAY8, 64, 48);

}  // namespace

GST_START_TEST(refuses_what_is_not_finite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    const WarpParams list[] = {{.angle = bad},   {.scale_x = bad},  {.scale_y = bad},  {.shear_x = bad},
                               {.shear_y = bad}, {.offset_x = bad}, {.offset_y = bad}, {.pivot_x = bad},
                               {.pivot_y = bad}, {.align_x = bad},  {.align_y = bad}};
    for (WarpParams params : list)
      for (const Framing framing : {Framing::none, Framing::expand, Framing::crop, Framing::zoom}) {
        params.framing = framing;
        const Status status = check(params);
        ck_assert(status && !status->words.empty());
        assert_refused(params, kGray, {.width = 10, .height = 90}, "not finite");
        natural_size(params, kGray, 1);  // some size, and no undefined conversion
      }
    for (double Affine::*member :
         {&Affine::a, &Affine::b, &Affine::tx, &Affine::c, &Affine::d, &Affine::ty}) {
      WarpParams params;
      params.matrix = Affine{};
      (*params.matrix).*member = bad;
      ck_assert(check(params)->words.find("matrix") != std::string::npos);
      assert_refused(params, kGray, kGray, "not finite");
    }
  }
}
GST_END_TEST;

GST_START_TEST(refuses_singular_maps) {
  const WarpParams list[] = {{.scale_x = 0},
                             {.scale_y = 0},
                             {.shear_x = 2, .shear_y = 0.5},
                             {.matrix = Affine{1, 2, 0, 2, 4, 0}},
                             {.matrix = Affine{0, 0, 0, 0, 0, 0}}};
  for (WarpParams params : list)
    for (const Framing framing : {Framing::none, Framing::expand, Framing::crop, Framing::zoom}) {
      params.framing = framing;
      ck_assert(check(params) && !check(params)->words.empty());
      assert_refused(params, kGray, kGray, "singular");
    }
  // Whatever other factors round this to.
  for (const double angle : {0.0, 30.0, 45.0})
    for (const double scale : {1.0, 3.0, -0.7})
      ck_assert(check({.angle = angle, .scale_y = scale, .shear_x = 0.1, .shear_y = 10}));
  ck_assert(!check({.shear_x = 0.1, .shear_y = 10.001}));
  ck_assert(!check({}));
  ck_assert(!check({.angle = 1e9, .scale_x = -1e-6, .scale_y = 1e6, .shear_x = 3, .pivot_x = -8}));
}
GST_END_TEST;

GST_START_TEST(refuses_sizes) {
  for (const int bad :
       {0, -1, 32769, 40000, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()})
    for (const FrameDesc& f : {frame(Format::GRAY8, bad, 10), frame(Format::GRAY8, 10, bad)}) {
      assert_refused({}, f, kGray, std::to_string(bad).c_str());
      assert_refused({}, f, kGray, "input");
      assert_refused({}, kGray, f, std::to_string(bad).c_str());
      assert_refused({}, kGray, f, "output");
    }
  plan_or_fail({}, frame(Format::I420, 32768, 1), frame(Format::I420, 1, 32768));
  plan_or_fail({}, frame(Format::RGBA, 32768, 32768), frame(Format::RGBA, 32768, 32768));
}
GST_END_TEST;

GST_START_TEST(refuses_formats) {
  for (const FormatInfo& a : all_formats())
    for (const FormatInfo& b : all_formats()) {
      const FrameDesc src = frame(a.format, 8, 8), dst = frame(b.format, 8, 8);
      if (convertible(a.format, b.format)) {
        plan_or_fail({}, src, dst);
        continue;
      }
      assert_refused({}, src, dst, a.name.data());
      assert_refused({}, src, dst, b.name.data());
    }
}
GST_END_TEST;

GST_START_TEST(refuses_fields_on_one_side) {
  const FrameDesc progressive = frame(Format::I420, 8, 8);
  FrameDesc interlaced = progressive;
  interlaced.interlaced = true;
  plan_or_fail({}, interlaced, interlaced);
  assert_refused({}, interlaced, progressive, "interlaced");
  assert_refused({}, progressive, interlaced, "interlaced");
}
GST_END_TEST;

GST_START_TEST(transparent_needs_alpha) {
  const WarpParams params{.angle = 30, .border = Border::transparent};
  for (const FormatInfo& f : all_formats()) {
    const FrameDesc d = frame(f.format, 8, 8);
    if (f.has_alpha())
      plan_or_fail(params, d, d);
    else
      assert_refused(params, d, d, "alpha");
  }
  assert_refused(params, frame(Format::RGBA, 8, 8), frame(Format::RGBx, 8, 8), "RGBx");
  plan_or_fail(params, frame(Format::RGBx, 8, 8), frame(Format::RGBA, 8, 8));
}
GST_END_TEST;

GST_START_TEST(identity) {
  for (const FormatInfo& f : all_formats()) {
    const FrameDesc d = frame(f.format, 33, 21);
    for (const WarpParams& same : {WarpParams{},
                                   {.angle = 360, .interpolation = Interpolation::bicubic},
                                   {.angle = 180, .scale_x = -1, .scale_y = -1},
                                   {.framing = Framing::expand},
                                   {.framing = Framing::zoom},
                                   {.fit = Fit::stretch, .border = Border::wrap},
                                   {.matrix = Affine{}, .edge_antialias = false}})
      ck_assert(plan_or_fail(same, d, d).identity);
    for (const WarpParams& other : {WarpParams{.angle = 90},
                                    {.angle = 180},
                                    {.scale_x = -1},
                                    {.offset_x = 1},
                                    {.offset_y = 1e-3},
                                    {.scale_x = 1.0001}})
      ck_assert(!plan_or_fail(other, d, d).identity);
    ck_assert(!plan_or_fail({}, d, frame(f.format, 34, 21)).identity);
  }
  ck_assert(!plan_or_fail({}, frame(Format::RGBA, 8, 8), frame(Format::BGRA, 8, 8)).identity);
  FrameDesc other_site = frame(Format::NV12, 8, 8);
  other_site.cosited_x = true;
  ck_assert(!plan_or_fail({}, frame(Format::NV12, 8, 8), other_site).identity);
}
GST_END_TEST;

GST_START_TEST(copies_take_no_interpolation) {
  const FrameDesc d = frame(Format::I420, 64, 48);
  for (const WarpParams& copy :
       {WarpParams{.angle = 180}, {.scale_x = -1}, {.offset_x = 4, .offset_y = -6}, {.angle = 90}})
    ck_assert(plan_or_fail(copy, d, d).interpolation == Interpolation::nearest);
  // Chroma half a pixel away.
  for (const WarpParams& moved : {WarpParams{.offset_x = 3}, {.angle = 17}, {.scale_x = 2}})
    ck_assert(plan_or_fail(moved, d, d).interpolation == Interpolation::bilinear);
}
GST_END_TEST;

GST_START_TEST(centred_chroma) {
  const FrameDesc d = frame(Format::NV12, 64, 48);
  // x -> x + 3 in luma is x + 1.5 in chroma; the centre of sample 0 reads at 0.5 - 1.5.
  assert_reads(plan_or_fail({.offset_x = 3, .offset_y = -1}, d, d).pass[1], 0, 0, -1, 1);
  // Twice the size: the sample's centre, luma (1, 1), reads luma (0.5, 0.5), chroma (0.25, 0.25).
  const PassPlan twice = plan_or_fail({.fit = Fit::stretch}, d, frame(Format::NV12, 128, 96)).pass[1];
  assert_reads(twice, 0, 0, 0.25, 0.25);
  assert_reads(twice, 5, 2, 2.75, 1.25);
  // Flipped, an odd width: luma x -> 33 - x; chroma x -> 16.5 - x.
  const FrameDesc odd = frame(Format::NV12, 33, 21);
  assert_reads(plan_or_fail({.scale_x = -1}, odd, odd).pass[1], 0, 0, 16, 0.5);
}
GST_END_TEST;

GST_START_TEST(cosited_chroma) {
  FrameDesc d = frame(Format::NV12, 64, 48);
  d.cosited_x = true;  // MPEG-2
  assert_reads(plan_or_fail({.offset_x = 3, .offset_y = -1}, d, d).pass[1], 0, 0, -1, 1);
  // Twice the size: sample 0 sits at luma x 0.5 and reads luma 0.25, chroma (0.25 - 0.5) / 2 + 0.5.
  FrameDesc large = d;
  large.width = 128, large.height = 96;
  assert_reads(plan_or_fail({.fit = Fit::stretch}, d, large).pass[1], 0, 0, 0.375, 0.25);
  // Flipped: sample 0, at luma 0.5, reads luma 63.5; the last sample, number 31, sits at 62.5.
  assert_reads(plan_or_fail({.scale_x = -1}, d, d).pass[1], 0, 0, 32, 0.5);
  // Turned by 90 degrees, source x = y', y = 48 - x': sample (0, 0), at luma (0.5, 1), reads luma (1, 47.5),
  // which is chroma ((1 - 0.5) / 2 + 0.5, 47.5 / 2).
  FrameDesc turned = d;
  turned.width = 48, turned.height = 64;
  assert_reads(plan_or_fail({.angle = 90, .framing = Framing::expand}, d, turned).pass[1], 0, 0, 0.75, 23.75);
  // From one site to another, nothing else: a quarter of a chroma pixel.
  FrameDesc centred = d;
  centred.cosited_x = false;
  assert_reads(plan_or_fail({}, d, centred).pass[1], 0, 0, 0.75, 0.5);
  assert_reads(plan_or_fail({}, centred, d).pass[1], 0, 0, 0.25, 0.5);
}
GST_END_TEST;

GST_START_TEST(extremes_do_not_overflow) {
  const double large[] = {1e3, 1e6, 1e9, 1e15, 1e100};
  int plans = 0;
  std::vector<WarpParams> list;
  for (const double v : large) {
    list.push_back({.offset_x = v, .offset_y = -v});
    list.push_back({.pivot_x = -v, .pivot_y = v});
    list.push_back({.scale_x = 1 / v, .scale_y = 1 / v});
    list.push_back({.angle = 30, .scale_x = v, .scale_y = 1 / v});
    list.push_back({.angle = 30, .scale_x = v, .scale_y = v, .offset_x = v});
    list.push_back({.shear_x = v});
    list.push_back({.matrix = Affine{1 / v, 0, v, 0, -1 / v, v}});
  }
  for (const Border border : {Border::constant, Border::mirror, Border::wrap, Border::mirror_101})
    for (WarpParams params : list)
      for (const Size size : {Size{1, 1}, Size{7, 5}, Size{32768, 32768}}) {
        params.border = border;
        const FrameDesc d = frame(Format::I420, size.width, size.height);
        const auto plan = make_plan(params, d, d);
        if (error_of(plan)) continue;  // further out than doubles go
        ++plans;
        for (int p = 0; p < std::get<WarpPlan>(plan).passes; ++p)
          assert_in_range(std::get<WarpPlan>(plan).pass[p]);
        if (size.width > 100) continue;
        TestFrame src(d, 0, true);
        fill_noise(src, 1);
        warped(params, src, d);  // memory checkers look on
      }
  ck_assert_int_gt(plans, 300);
}
GST_END_TEST;

// To 1/1024 pixel on large frames; the fixed point does much better.
GST_START_TEST(coordinates_are_good_to_the_far_corner) {
  constexpr int kSide = 16384;
  for (const double angle : {17.0, 45.0, -133.3}) {
    const FrameDesc d = frame(Format::GRAY8, kSide, kSide);
    const PassPlan p = plan_or_fail({.angle = angle}, d, d).pass[0];
    const double c = std::cos(angle * M_PI / 180), s = std::sin(angle * M_PI / 180), centre = kSide / 2.0;
    for (const int i : {0, kSide - 1})
      for (const int j : {0, kSide - 1}) {
        const double x = i + 0.5 - centre, y = j + 0.5 - centre;
        const double got_x = static_cast<double>(p.x0 + p.x_per_i * i + p.x_per_j * j) / kPixel;
        const double got_y = static_cast<double>(p.y0 + p.y_per_i * i + p.y_per_j * j) / kPixel;
        ck_assert(std::abs(got_x - (centre + c * x + s * y)) < 1 / 1024.0);
        ck_assert(std::abs(got_y - (centre - s * x + c * y)) < 1 / 1024.0);
      }
  }
}
GST_END_TEST;

// A picture that is moved or shrunk out of sight leaves the border.
GST_START_TEST(out_of_sight) {
  TestFrame src(kGray), want(kGray);
  fill_color(src, {200, 0, 0, 0});
  fill_color(want, {114, 0, 0, 0});
  for (const double far : {64.0, 65.5, 1e4, 1e9, 1e15})
    for (const bool antialias : {true, false})
      for (const double angle : {0.0, 90.0, 180.0})
        for (const Point way :
             {Point{far, 0}, Point{-far, 0}, Point{0, far}, Point{0, -far}, Point{-far, far}}) {
          const WarpParams params{.angle = angle,
                                  .offset_x = way.x,
                                  .offset_y = way.y,
                                  .border_color = 0xff727272,
                                  .edge_antialias = antialias};
          const TestFrame out = warped(params, src, kGray);
          for (int y = 0; y < 48; ++y)
            ck_assert_msg(std::memcmp(out.row(0, y), want.row(0, y), 64) == 0,
                          "the picture shows at offset (%g, %g), angle %g", way.x, way.y, angle);
        }
}
GST_END_TEST;

static Suite* core_plan_suite() {
  Suite* s = suite_create("core_plan");
  TCase* tc = tcase_create("plan");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, refuses_what_is_not_finite);
  tcase_add_test(tc, refuses_singular_maps);
  tcase_add_test(tc, refuses_sizes);
  tcase_add_test(tc, refuses_formats);
  tcase_add_test(tc, refuses_fields_on_one_side);
  tcase_add_test(tc, transparent_needs_alpha);
  tcase_add_test(tc, identity);
  tcase_add_test(tc, copies_take_no_interpolation);
  tcase_add_test(tc, centred_chroma);
  tcase_add_test(tc, cosited_chroma);
  tcase_add_test(tc, extremes_do_not_overflow);
  tcase_add_test(tc, coordinates_are_good_to_the_far_corner);
  tcase_add_test(tc, out_of_sight);
  return s;
}

GST_CHECK_MAIN(core_plan);

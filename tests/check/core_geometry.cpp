// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Canvas, output size and fit against closed forms and brute force.
#include <algorithm>
#include <cmath>

#include "cuda/geometry.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

FrameDesc frame(int width, int height, double pixel_aspect = 1) {
  return {.width = width, .height = height, .pixel_aspect = pixel_aspect};
}

void assert_size(const WarpParams& params, const FrameDesc& src, double dst_aspect, int width, int height) {
  const Size s = natural_size(params, src, dst_aspect);
  ck_assert_msg(s.width == width && s.height == height, "%dx%d, should be %dx%d", s.width, s.height, width,
                height);
}

Affine map_of(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst) {
  const auto m = dst_from_src(params, src, dst);
  ck_assert(m.has_value());
  return *m;
}

void assert_point(Point got, double x, double y) {
  ck_assert_msg(std::abs(got.x - x) < 1e-7 && std::abs(got.y - y) < 1e-7,
                "(%.9f, %.9f), should be (%.9f, %.9f)", got.x, got.y, x, y);
}

// Where the whole source lands: the corners of its rectangle.
void assert_lands(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst, double left,
                  double top, double right, double bottom) {
  const Affine m = map_of(params, src, dst);
  assert_point(m({0, 0}), left, top);
  assert_point(m({double(src.width), double(src.height)}), right, bottom);
}

// Turns that the brute-force tests try.
const WarpParams kTurns[] = {{.angle = 0},
                             {.angle = 30},
                             {.angle = 45},
                             {.angle = -61, .pivot_x = 0.1, .pivot_y = 1.2},
                             {.angle = 90},
                             {.angle = 203, .scale_x = 0.4, .scale_y = -1.7},
                             {.angle = 12, .shear_x = 0.8, .shear_y = -0.2},
                             {.shear_y = 0.5}};

bool inside(const Rect& r, const Affine& src_from_display, const FrameDesc& src, double slack) {
  for (const Point corner : {Point{r.x, r.y}, Point{r.x + r.width, r.y}, Point{r.x, r.y + r.height},
                             Point{r.x + r.width, r.y + r.height}}) {
    const Point p = src_from_display(corner);
    if (p.x < -slack || p.x > src.width + slack || p.y < -slack || p.y > src.height + slack) return false;
  }
  return true;
}

// The turned picture's map, from the same map with no framing and an output of the source's size.
Affine display_from_src(WarpParams params, const FrameDesc& src) {
  params.framing = Framing::none;
  const Affine m = map_of(params, src, src);
  return Affine::scaling(src.pixel_aspect, 1) * m;
}

}  // namespace

GST_START_TEST(size_of_expand) {
  assert_size({.angle = 30, .framing = Framing::expand}, frame(1920, 1080), 1, 2203, 1896);
  assert_size({.angle = -30, .framing = Framing::expand}, frame(1920, 1080), 1, 2203, 1896);
  assert_size({.angle = 45, .framing = Framing::expand}, frame(100, 100), 1, 142, 142);
  assert_size({.scale_x = 2.5, .scale_y = -3, .framing = Framing::expand}, frame(101, 10), 1, 253, 30);
  assert_size({.shear_x = 0.5, .framing = Framing::expand}, frame(100, 50), 1, 125, 50);
  // The pivot and the offset move the picture, they do not change its size.
  assert_size({.angle = 30, .offset_x = 99, .pivot_x = 7, .pivot_y = -3, .framing = Framing::expand},
              frame(1920, 1080), 1, 2203, 1896);
  assert_size({.scale_x = 1e-9, .scale_y = 1e-9, .framing = Framing::expand}, frame(64, 64), 1, 1, 1);
}
GST_END_TEST;

GST_START_TEST(size_of_quarter_turns) {
  for (const Framing framing : {Framing::expand, Framing::crop})
    for (int q = -9; q <= 9; ++q) {
      const WarpParams params{.angle = 90.0 * q, .pivot_x = 0.3, .framing = framing};
      const bool odd = q % 2 != 0;
      ck_assert(swaps_sides(params) == odd);
      for (const Size s : {Size{640, 480}, Size{1, 1}, Size{333, 1}, Size{16384, 8191}})
        assert_size(params, frame(s.width, s.height), 1, odd ? s.height : s.width, odd ? s.width : s.height);
    }
  ck_assert(!swaps_sides({.angle = 89.999}));
  ck_assert(!swaps_sides({.angle = 90, .matrix = Affine{}}));
}
GST_END_TEST;

// The corners of a frame of 640x480 in their places: where its upper left, upper right and lower left go.
GST_START_TEST(orientations) {
  const struct {
    Orientation orientation;
    Point upper_left, upper_right, lower_left;
  } kOrientations[] = {
      {Orientation::identity, {0, 0}, {640, 0}, {0, 480}},
      {Orientation::turn_90, {480, 0}, {480, 640}, {0, 0}},
      {Orientation::turn_180, {640, 480}, {0, 480}, {640, 0}},
      {Orientation::turn_270, {0, 640}, {0, 0}, {480, 640}},
      {Orientation::horizontal, {640, 0}, {0, 0}, {640, 480}},
      {Orientation::vertical, {0, 480}, {640, 480}, {0, 0}},
      {Orientation::ul_lr, {0, 0}, {0, 640}, {480, 0}},
      {Orientation::ur_ll, {480, 640}, {480, 0}, {0, 640}},
  };
  const FrameDesc src = frame(640, 480, 16 / 15.0);
  for (const auto& o : kOrientations) {
    const WarpParams params{.orientation = o.orientation};
    const bool odd = o.upper_right.x == o.upper_left.x;
    ck_assert(swaps_sides(params) == odd);
    const double aspect = odd ? 15 / 16.0 : 16 / 15.0;
    const FrameDesc dst = odd ? frame(480, 640, aspect) : frame(640, 480, aspect);
    assert_size(params, src, aspect, dst.width, dst.height);
    ck_assert(oriented(params, src).width == dst.width && oriented(params, src).height == dst.height);
    const Affine m = map_of(params, src, dst);
    assert_point(m({0, 0}), o.upper_left.x, o.upper_left.y);
    assert_point(m({640, 0}), o.upper_right.x, o.upper_right.y);
    assert_point(m({0, 480}), o.lower_left.x, o.lower_left.y);
  }
  // An angle that the output follows swaps back.
  ck_assert(!swaps_sides({.orientation = Orientation::ul_lr, .angle = 90, .framing = Framing::expand}));
  ck_assert(swaps_sides({.orientation = Orientation::ul_lr, .angle = 90}));
}
GST_END_TEST;

// The picture within its frame comes first, then the orientation, then the rest.
GST_START_TEST(order_of_picture_and_orientation) {
  const Affine right{1, 0, 0.25, 0, 1, 0};  // by a quarter of the frame
  assert_point(
      map_of({.picture = right, .orientation = Orientation::turn_90}, frame(64, 48), frame(48, 64))({0, 0}),
      48, 16);
  const WarpParams more{
      .picture = right, .orientation = Orientation::turn_90, .matrix = Affine{2, 0, 1, 0, 3, 0}};
  assert_point(map_of(more, frame(64, 48), frame(99, 99))({0, 0}), 97, 48);
  // The canvas is the frame's, wherever the picture is in it; the pivot is the oriented frame's.
  assert_size({.picture = {0.1, 0, 0, 0, 0.1, 0}, .framing = Framing::expand}, frame(64, 48), 1, 64, 48);
  const WarpParams about_corner{
      .orientation = Orientation::turn_90, .scale_x = 2, .scale_y = 2, .pivot_x = 0, .pivot_y = 0};
  assert_point(map_of(about_corner, frame(64, 48), frame(48, 64))({0, 48}), 0, 0);
}
GST_END_TEST;

GST_START_TEST(size_without_canvas) {
  for (const Framing framing : {Framing::none, Framing::zoom})
    assert_size({.angle = 30, .scale_x = 3, .framing = framing}, frame(1920, 1080), 1, 1920, 1080);
  assert_size({.angle = 30, .matrix = Affine::scaling(2, 2), .framing = Framing::expand}, frame(1920, 1080),
              1, 1920, 1080);
}
GST_END_TEST;

// A square turned by 45 degrees holds one of half its area; a thin strip one over half its sides.
GST_START_TEST(size_of_crop) {
  assert_size({.angle = 45, .framing = Framing::crop}, frame(100, 100), 1, 70, 70);
  const double strip_w = 10 / (2 * std::sin(M_PI / 6)), strip_h = 10 / (2 * std::cos(M_PI / 6));
  assert_size({.angle = 30, .framing = Framing::crop}, frame(1000, 10), 1, std::floor(strip_w),
              std::floor(strip_h));
  assert_size({.angle = 45, .framing = Framing::crop}, frame(1, 1), 1, 1, 1);
}
GST_END_TEST;

GST_START_TEST(expand_is_the_bounding_box) {
  const FrameDesc src = frame(160, 90, 1.25);
  for (WarpParams params : kTurns) {
    const Affine m = display_from_src(params, src);
    params.framing = Framing::expand;
    const Rect r = *canvas(params, src, 1);
    double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
    for (const Point corner : {Point{0, 0}, Point{160, 0}, Point{0, 90}, Point{160, 90}}) {
      const Point p = m(corner);
      left = std::min(left, p.x), right = std::max(right, p.x);
      top = std::min(top, p.y), bottom = std::max(bottom, p.y);
    }
    assert_point({r.x, r.y}, left, top);
    assert_point({r.x + r.width, r.y + r.height}, right, bottom);
  }
}
GST_END_TEST;

// No rectangle with the picture's centre, and a width out of 20,000, that lies inside the picture is larger.
GST_START_TEST(crop_is_the_largest_inside) {
  const FrameDesc src = frame(160, 90, 1.25);
  for (WarpParams params : kTurns) {
    const Affine m = display_from_src(params, src), back = *m.inverse();
    params.framing = Framing::crop;
    const Rect r = *canvas(params, src, 1);
    ck_assert(inside(r, back, src, 1e-6));
    const Point centre = m({80, 45});
    double best = 0;
    for (int k = 1; k <= 20000; ++k) {
      const double x = k * 0.02;
      double low = 0, high = 1000;
      for (int step = 0; step < 30; ++step) {
        const double y = (low + high) / 2;
        (inside({centre.x - x, centre.y - y, 2 * x, 2 * y}, back, src, 0) ? low : high) = y;
      }
      best = std::max(best, 4 * x * low);
    }
    ck_assert_msg(r.width * r.height >= best * (1 - 1e-6), "%g x %g, but an area of %g fits", r.width,
                  r.height, best);
    ck_assert_msg(r.width * r.height <= best * (1 + 1e-3), "%g x %g, but no more than %g fits", r.width,
                  r.height, best);
  }
}
GST_END_TEST;

GST_START_TEST(zoom_never_shows_border) {
  const FrameDesc src = frame(160, 90, 1.25);
  for (WarpParams params : kTurns)
    for (const FrameDesc& dst : {frame(160, 90, 1.25), frame(64, 64), frame(31, 200, 0.5), frame(1, 1)})
      for (const Fit fit : {Fit::letterbox, Fit::stretch, Fit::crop}) {
        params.framing = Framing::zoom;
        params.fit = fit;
        const Affine back = *map_of(params, src, dst).inverse();
        ck_assert(inside({0, 0, double(dst.width), double(dst.height)}, back, src, 1e-6));
        // And no larger rectangle would do.
        const double x = dst.width * 1e-4, y = dst.height * 1e-4;
        ck_assert(!inside({-x, -y, dst.width + 2 * x, dst.height + 2 * y}, back, src, 0));
      }
}
GST_END_TEST;

GST_START_TEST(letterbox) {
  assert_lands({}, frame(3775, 1571), frame(1280, 1280), 0, 373, 1280, 906);
  assert_lands({.align_y = 0}, frame(3775, 1571), frame(1280, 1280), 0, 0, 1280, 533);
  assert_lands({.align_y = 1}, frame(3775, 1571), frame(1280, 1280), 0, 747, 1280, 1280);
  assert_lands({}, frame(1920, 1080), frame(640, 640), 0, 140, 640, 500);
  assert_lands({}, frame(720, 576), frame(1280, 720), 190, 0, 1090, 720);
  assert_lands({}, frame(720, 576, 16 / 15.0), frame(1024, 768), 0, 0, 1024, 768);
  assert_lands({}, frame(720, 576, 16 / 15.0), frame(1920, 1080), 240, 0, 1680, 1080);
  assert_lands({}, frame(100, 100), frame(100, 100, 2), 25, 0, 75, 100);
  // Never less than a pixel.
  assert_lands({}, frame(10000, 1), frame(100, 100), 0, 49, 100, 50);
}
GST_END_TEST;

GST_START_TEST(stretch) {
  assert_lands({.fit = Fit::stretch}, frame(720, 576, 16 / 15.0), frame(33, 500), 0, 0, 33, 500);
}
GST_END_TEST;

GST_START_TEST(crop) {
  const double over = (640 - 1920 * 640 / 1080.0) / 2;
  assert_lands({.fit = Fit::crop}, frame(1920, 1080), frame(640, 640), over, 0, 640 - over, 640);
  assert_lands({.fit = Fit::crop, .align_x = 0}, frame(1920, 1080), frame(640, 640), 0, 0, 640 - 2 * over,
               640);
  assert_lands({.fit = Fit::crop, .align_x = 1}, frame(1920, 1080), frame(640, 640), 2 * over, 0, 640, 640);
  assert_lands({.fit = Fit::crop}, frame(100, 100), frame(50, 50, 2), 0, -25, 50, 75);
}
GST_END_TEST;

GST_START_TEST(none) {
  assert_lands({.fit = Fit::none}, frame(5, 5), frame(8, 9), 1, 2, 6, 7);
  assert_lands({.fit = Fit::none}, frame(9, 8), frame(8, 8), -1, 0, 8, 8);
  assert_lands({.fit = Fit::none, .align_x = 1, .align_y = 0}, frame(5, 5), frame(8, 9), 3, 0, 8, 5);
}
GST_END_TEST;

// 1.1 * 100 is a hair more than 110 in doubles, and 0.29 * 100 a hair less than 29; no pixel may hang on
// that.
GST_START_TEST(whole_positions_survive_rounding_errors) {
  assert_lands({.scale_x = 1.1, .scale_y = 1.1, .fit = Fit::none, .framing = Framing::expand},
               frame(100, 100), frame(200, 200), 45, 45, 155, 155);
  assert_lands({.fit = Fit::none, .align_x = 0.29, .align_y = 0.29}, frame(100, 100), frame(200, 200), 29, 29,
               129, 129);
  assert_lands({.align_x = 0.29}, frame(100, 100), frame(200, 100), 29, 0, 129, 100);
}
GST_END_TEST;

// An expanded canvas is not scaled by the rounding of its size.
GST_START_TEST(rounded_canvas_is_not_scaled) {
  for (const Framing framing : {Framing::expand, Framing::crop}) {
    const WarpParams params{.angle = 30, .fit = Fit::stretch, .framing = framing};
    const FrameDesc src = frame(1920, 1080);
    const Size size = natural_size(params, src, 1);
    const FrameDesc dst = frame(size.width, size.height);
    const Affine m = map_of(params, src, dst);
    ck_assert(std::abs(m.determinant() - 1) < 1e-12);
    assert_point(m({960, 540}), size.width / 2.0, size.height / 2.0);
  }
}
GST_END_TEST;

GST_START_TEST(order_of_operations) {
  const WarpParams params{
      .angle = 90, .scale_x = 2, .offset_x = 5, .offset_y = 7, .pivot_x = 0, .pivot_y = 0};
  const Affine m = map_of(params, frame(64, 64), frame(64, 64));
  ck_assert((m == Affine{0, -1, 5, 2, 0, 7}));
  assert_point(m({10, 0}), 5, 27);
  // Scale, then shear, then rotate.
  const Affine sheared = map_of({.angle = 90, .scale_y = 3, .shear_x = 0.5, .pivot_x = 0, .pivot_y = 0},
                                frame(64, 64), frame(64, 64));
  assert_point(sheared({0, 2}), -6, 3);
  // The offset counts output pixels, whatever the fit.
  const Affine fitted =
      map_of({.offset_x = 5, .offset_y = 7, .fit = Fit::stretch}, frame(64, 64), frame(6, 10));
  assert_point(fitted({0, 0}), 5, 7);
}
GST_END_TEST;

GST_START_TEST(matrix_replaces_everything) {
  const Affine matrix{0.8, -0.3, 4.2, 0.25, 1.1, -2.6};
  WarpParams params{.angle = 45, .scale_x = 7, .shear_x = 0.2, .offset_x = 3, .pivot_x = 0};
  params.fit = Fit::crop;
  params.framing = Framing::expand;
  params.matrix = matrix;
  ck_assert(map_of(params, frame(640, 480, 2), frame(33, 44)) == matrix);
}
GST_END_TEST;

GST_START_TEST(pixel_aspect) {
  const WarpParams turn{.angle = 90, .framing = Framing::expand};
  const FrameDesc src = frame(720, 576, 16 / 15.0);
  assert_size(turn, src, 15 / 16.0, 576, 720);
  assert_lands(turn, src, frame(576, 720, 15 / 16.0), 576, 0, 0, 720);
  // Into square pixels the display's shape stays: 768x576 seen, 576x768 turned.
  assert_size(turn, src, 1, 576, 768);
  assert_size({.framing = Framing::expand}, src, 16 / 15.0, 720, 576);
  assert_size({.framing = Framing::expand}, src, 1, 768, 576);
  // A rotation is one on the display: the centre keeps its place, a horizontal step of the display turns
  // upright.
  const Affine m = map_of({.angle = 90}, src, src);
  assert_point(m({360, 288}), 360, 288);
  assert_point(m({360 + 15, 288}), 360, 288 + 16);
}
GST_END_TEST;

// The middle of sample 0 of a chroma group lies in the middle of its luma pixels or on the first of them.
GST_START_TEST(chroma_sites) {
  FrameDesc f{.format = Format::NV12, .width = 64, .height = 48};
  assert_point(luma_from_group(f, 0)({0.5, 0.5}), 0.5, 0.5);
  assert_point(luma_from_group(f, 1)({0.5, 0.5}), 1, 1);
  f.cosited_x = true;
  assert_point(luma_from_group(f, 1)({0.5, 0.5}), 0.5, 1);
  assert_point(luma_from_group(f, 1)({3.5, 2.5}), 6.5, 5);
  f.cosited_y = true;
  assert_point(luma_from_group(f, 1)({0.5, 0.5}), 0.5, 0.5);
  assert_point(luma_from_group(f, 1, false)({0.5, 0.5}), 1, 1);  // the block, wherever its sample is
  f.format = Format::I422_10LE;                                  // sub-sampled across alone
  assert_point(luma_from_group(f, 1)({3.5, 2.5}), 6.5, 2.5);
}
GST_END_TEST;

// In a frame cut out of a larger one, the first block begins outside; whole blocks left out change nothing.
GST_START_TEST(chroma_of_cut_out_frames) {
  FrameDesc f{.format = Format::I420, .width = 64, .height = 48, .skip_x = 1, .skip_y = 1};
  assert_point(luma_from_group(f, 0)({0.5, 0.5}), 0.5, 0.5);
  assert_point(luma_from_group(f, 1)({0.5, 0.5}), 0, 0);
  assert_point(luma_from_group(f, 1, false)({0, 0}), -1, -1);
  f.cosited_x = true;
  assert_point(luma_from_group(f, 1)({0.5, 0.5}), -0.5, 0);
  f.interlaced = true;
  f.skip_y = 3;
  assert_point(luma_from_group(f, 1)({0.5, 0.5}), -0.5, 0);
  f.skip_y = 2;
  assert_point(luma_from_group(f, 1)({0.5, 0.5}), -0.5, 1);
}
GST_END_TEST;

static Suite* core_geometry_suite() {
  Suite* s = suite_create("core_geometry");
  TCase* tc = tcase_create("geometry");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, size_of_expand);
  tcase_add_test(tc, size_of_quarter_turns);
  tcase_add_test(tc, orientations);
  tcase_add_test(tc, order_of_picture_and_orientation);
  tcase_add_test(tc, size_without_canvas);
  tcase_add_test(tc, size_of_crop);
  tcase_add_test(tc, expand_is_the_bounding_box);
  tcase_add_test(tc, crop_is_the_largest_inside);
  tcase_add_test(tc, zoom_never_shows_border);
  tcase_add_test(tc, letterbox);
  tcase_add_test(tc, stretch);
  tcase_add_test(tc, crop);
  tcase_add_test(tc, none);
  tcase_add_test(tc, whole_positions_survive_rounding_errors);
  tcase_add_test(tc, rounded_canvas_is_not_scaled);
  tcase_add_test(tc, order_of_operations);
  tcase_add_test(tc, matrix_replaces_everything);
  tcase_add_test(tc, pixel_aspect);
  tcase_add_test(tc, chroma_sites);
  tcase_add_test(tc, chroma_of_cut_out_frames);
  return s;
}

GST_CHECK_MAIN(core_geometry);

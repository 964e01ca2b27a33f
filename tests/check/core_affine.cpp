// SPDX-License-Identifier: LGPL-2.1-or-later
#include <limits>

#include "cuda/affine.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Affine kMaps[] = {
    {},
    Affine::translation(3, -7),
    Affine::scaling(-2, 0.5),
    Affine::shearing(0.4, -0.3),
    Affine::rotation(33),
    {0.8, -0.3, 4.2, 0.25, 1.1, -2.6},
    {1e-3, 0, 1e5, 0, 2e3, -1e-5},
};

void assert_point(Point got, double x, double y) {
  ck_assert_msg(std::abs(got.x - x) < 1e-9 && std::abs(got.y - y) < 1e-9,
                "(%.12g, %.12g), should be (%.12g, %.12g)", got.x, got.y, x, y);
}

}  // namespace

GST_START_TEST(compose) {
  const Point p{2.5, -1.25};
  for (const Affine& l : kMaps)
    for (const Affine& r : kMaps) {
      const Point want = l(r(p));
      const Point got = (l * r)(p);
      ck_assert(std::abs(got.x - want.x) <= 1e-12 * (1 + std::abs(want.x)));
      ck_assert(std::abs(got.y - want.y) <= 1e-12 * (1 + std::abs(want.y)));
    }
  // Read from the right: scale first, then move.
  ck_assert((Affine::translation(5, 7) * Affine::scaling(2, 3) == Affine{2, 0, 5, 0, 3, 7}));
}
GST_END_TEST;

GST_START_TEST(inverse) {
  for (const Affine& m : kMaps) {
    const auto back = m.inverse();
    ck_assert(back.has_value());
    assert_point((*back)(m({12.5, -3})), 12.5, -3);
    assert_point(m((*back)({0.25, 640})), 0.25, 640);
  }
  ck_assert((Affine::scaling(4, -0.5).inverse() == Affine{0.25, 0, 0, 0, -2, 0}));
}
GST_END_TEST;

GST_START_TEST(positive_angles_are_clockwise) {
  // y points down: what was on the right goes down.
  assert_point(Affine::rotation(90)({1, 0}), 0, 1);
  assert_point(Affine::rotation(90)({0, 1}), -1, 0);
  assert_point(Affine::rotation(30)({1, 0}), std::sqrt(0.75), 0.5);
  assert_point(Affine::rotation(-30)({1, 0}), std::sqrt(0.75), -0.5);
  assert_point(Affine::rotation(45)({1, -1}), std::sqrt(2), 0);
}
GST_END_TEST;

GST_START_TEST(quarter_turns_are_exact) {
  const Affine turns[4] = {
      {1, 0, 0, 0, 1, 0}, {0, -1, 0, 1, 0, 0}, {-1, 0, 0, 0, -1, 0}, {0, 1, 0, -1, 0, 0}};
  for (int q = -4001; q <= 4001; ++q) ck_assert(Affine::rotation(90.0 * q) == turns[((q % 4) + 4) % 4]);
  ck_assert(Affine::rotation(90 * 4e12) == turns[0]);
  ck_assert(!(Affine::rotation(90.0000001) == turns[1]));
}
GST_END_TEST;

GST_START_TEST(whole_turns_change_nothing) {
  for (const double angle : {17.0, -140.5, 0.001})
    for (const int turns : {-3, 1, 100}) {
      const Point p = Affine::rotation(angle)({3, 4});
      assert_point(Affine::rotation(angle + 360 * turns)({3, 4}), p.x, p.y);
    }
}
GST_END_TEST;

GST_START_TEST(shear) {
  assert_point(Affine::shearing(0.5, 0)({1, 2}), 2, 2);
  assert_point(Affine::shearing(0, 0.5)({1, 2}), 1, 2.5);
  assert_point(Affine::shearing(0.5, 0.25)({1, 2}), 2, 2.25);
}
GST_END_TEST;

GST_START_TEST(singular_maps_have_no_inverse) {
  const Affine singular[] = {Affine::scaling(0, 1),  Affine::scaling(1, 0),      Affine::shearing(2, 0.5),
                             {1, 2, 3, 2, 4, 5},     {0, 0, 0, 0, 0, 0},         {kNaN, 0, 0, 0, 1, 0},
                             {1, 0, kNaN, 0, 1, 0},  {1, 0, 0, 0, kInfinity, 0}, {1, 0, -kInfinity, 0, 1, 0},
                             {1e-320, 0, 0, 0, 1, 0}};
  for (const Affine& m : singular) ck_assert(!m.inverse());
}
GST_END_TEST;

GST_START_TEST(finite) {
  ck_assert(Affine{}.is_finite());
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    ck_assert(!(Affine{bad, 0, 0, 0, 1, 0}.is_finite()));
    ck_assert(!(Affine{1, bad, 0, 0, 1, 0}.is_finite()));
    ck_assert(!(Affine{1, 0, bad, 0, 1, 0}.is_finite()));
    ck_assert(!(Affine{1, 0, 0, bad, 1, 0}.is_finite()));
    ck_assert(!(Affine{1, 0, 0, 0, bad, 0}.is_finite()));
    ck_assert(!(Affine{1, 0, 0, 0, 1, bad}.is_finite()));
  }
}
GST_END_TEST;

static Suite* core_affine_suite() {
  Suite* s = suite_create("core_affine");
  TCase* tc = tcase_create("affine");
  suite_add_tcase(s, tc);
  tcase_add_test(tc, compose);
  tcase_add_test(tc, inverse);
  tcase_add_test(tc, positive_angles_are_clockwise);
  tcase_add_test(tc, quarter_turns_are_exact);
  tcase_add_test(tc, whole_turns_change_nothing);
  tcase_add_test(tc, shear);
  tcase_add_test(tc, singular_maps_have_no_inverse);
  tcase_add_test(tc, finite);
  return s;
}

GST_CHECK_MAIN(core_affine);

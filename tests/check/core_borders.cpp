// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where taps fall, and how much each weighs.
#include <cmath>
#include <string_view>

#include "cuda/sampler.h"
#include "oracle_filter.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

constexpr int kFar = 1 << 30;

// The picture is "abcd"; `around` shows indices -6..9, '.' is the border colour.
void assert_around(Outside outside, std::string_view around) {
  for (int i = -6; i < 10; ++i) {
    const int index = border_index(i, 4, outside);
    ck_assert_int_eq(index < 0 ? '.' : 'a' + index, around[i + 6]);
  }
}

// Modes that repeat: far from the picture the index is that of the same place in the first period.
void assert_periodic(Outside outside, int n, int period) {
  for (int k = 0; k < period; k += 1 + period / 1000) {
    const int want = border_index(k, n, outside);
    ck_assert(want >= 0 && want < n);
    for (const int turns : {1, 2, 1000, (kFar - period) / period}) {
      ck_assert_int_eq(border_index(k + turns * period, n, outside), want);
      ck_assert_int_eq(border_index(k - turns * period, n, outside), want);
    }
  }
}

// A footprint one pixel wide weighs as the kernel does; weights at whole distances add up to the width; two
// pixels wide, about the edge between them, it is the mean of two.
template <Interpolation I>
void check_footprint(double radius) {
  for (int n = -4000; n <= 4000; ++n) {
    const double t = n / 1000.0;
    double all = 0;
    for (int j = -8; j <= 8; ++j) all += oracle::kernel(I, t - j);
    const double want = oracle::kernel(I, t) / all;
    ck_assert(std::abs(footprint_weight<I>(static_cast<float>(t), 0.5f) - want) < 1e-6);
  }
  for (const float width : {1.0f, 1.3f, 2.0f, 3.7f, 8.0f})
    for (int n = 0; n < 100; ++n) {
      const float t = n / 100.0f, half = width / 2;
      double sum = 0;
      for (int j = -12; j <= 12; ++j) sum += footprint_weight<I>(t + j, half);
      // Lanczos keeps to this for whole widths alone; its mean is divided by the sum of the weights.
      const bool exact = I != Interpolation::lanczos || width == std::floor(width);
      ck_assert(std::abs(sum - width) < (exact ? 1e-5 : 0.05));
      const auto reach = static_cast<float>(half + radius - 0.5);
      ck_assert(std::abs(footprint_weight<I>(reach + t, half)) < 1e-6f);
      ck_assert(footprint_weight<I>(t, half) == footprint_weight<I>(-t, half));
    }
  for (const float t : {-0.5f, 0.5f}) ck_assert(std::abs(footprint_weight<I>(t, 1) - 1) < 1e-6f);
  for (const float t : {-1.5f, 1.5f, 2.5f}) ck_assert(std::abs(footprint_weight<I>(t, 1)) < 1e-6f);
}

}  // namespace

GST_START_TEST(four_pixels) {
  assert_around(Outside::border_taps, "......abcd......");
  assert_around(Outside::replicate, "aaaaaaabcddddddd");
  assert_around(Outside::blend, "aaaaaaabcddddddd");
  assert_around(Outside::mirror, "cddcbaabcddcbaab");
  assert_around(Outside::mirror_101, "abcdcbabcdcbabcd");
  assert_around(Outside::wrap, "cdabcdabcdabcdab");
}
GST_END_TEST;

GST_START_TEST(inside_is_itself) {
  for (const Outside o : {Outside::blend, Outside::border_taps, Outside::replicate, Outside::mirror,
                          Outside::mirror_101, Outside::wrap})
    for (const int n : {1, 2, 5, 32768})
      for (const int i : {0, n / 2, n - 1}) ck_assert_int_eq(border_index(i, n, o), i);
}
GST_END_TEST;

GST_START_TEST(one_pixel) {
  for (const int i : {-kFar, -2, -1, 1, 2, kFar}) {
    ck_assert_int_eq(border_index(i, 1, Outside::border_taps), -1);
    for (const Outside o :
         {Outside::blend, Outside::replicate, Outside::mirror, Outside::mirror_101, Outside::wrap})
      ck_assert_int_eq(border_index(i, 1, o), 0);
  }
}
GST_END_TEST;

GST_START_TEST(far_outside) {
  for (const int n : {1, 2, 3, 7, 1000, 32768}) {
    assert_periodic(Outside::mirror, n, 2 * n);
    if (n > 1) assert_periodic(Outside::mirror_101, n, 2 * n - 2);
    assert_periodic(Outside::wrap, n, n);
    for (const Outside o : {Outside::replicate, Outside::blend}) {
      ck_assert_int_eq(border_index(-kFar, n, o), 0);
      ck_assert_int_eq(border_index(kFar, n, o), n - 1);
    }
    ck_assert_int_eq(border_index(-kFar, n, Outside::border_taps), -1);
    ck_assert_int_eq(border_index(kFar, n, Outside::border_taps), -1);
  }
}
GST_END_TEST;

GST_START_TEST(cells) {
  constexpr int64_t kPixel = int64_t{1} << 32;
  const auto assert_cell = [](int64_t at, int index, float fraction) {
    ck_assert_int_eq(cell_of(at).index, index);
    ck_assert(cell_of(at).fraction == fraction);
  };
  assert_cell(0, 0, 0);
  assert_cell(kPixel / 2, 0, 0.5f);
  assert_cell(5 * kPixel + kPixel / 4, 5, 0.25f);
  assert_cell(-1, -1, 16777215 / 16777216.0f);
  assert_cell(-kPixel, -1, 0);
  assert_cell(-kPixel / 4, -1, 0.75f);
}
GST_END_TEST;

GST_START_TEST(bicubic_is_catmull_rom) {
  float w[4];
  kernel_weights(0, w);
  ck_assert(w[0] == 0 && w[1] == 1 && w[2] == 0 && w[3] == 0);
  kernel_weights(0.5f, w);
  ck_assert(w[0] == -0.0625f && w[1] == 0.5625f && w[2] == 0.5625f && w[3] == -0.0625f);
  // Straight lines and parabolas stay what they are.
  for (int k = 0; k <= 64; ++k) {
    const float t = k / 64.0f;
    kernel_weights(t, w);
    ck_assert(std::abs(w[0] + w[1] + w[2] + w[3] - 1) < 1e-6f);
    ck_assert(std::abs(-w[0] + w[2] + 2 * w[3] - t) < 1e-6f);
    ck_assert(std::abs(w[0] + w[2] + 4 * w[3] - t * t) < 1e-6f);
  }
}
GST_END_TEST;

GST_START_TEST(lanczos_has_three_lobes) {
  float w[6];
  kernel_weights(0.0f, w);
  for (int k = 0; k < 6; ++k) ck_assert(std::abs(w[k] - (k == 2)) < 1e-6f);
  // sinc(1/2) sinc(1/6), sinc(3/2) sinc(1/2), sinc(5/2) sinc(5/6), and their sum.
  const double half[3] = {6 / (M_PI * M_PI), -4 / (3 * M_PI * M_PI), 6 / (25 * M_PI * M_PI)};
  kernel_weights(0.5f, w);
  for (int k = 0; k < 3; ++k) {
    const double want = half[k] / (2 * (half[0] + half[1] + half[2]));
    ck_assert(std::abs(w[2 - k] - want) < 1e-6 && std::abs(w[3 + k] - want) < 1e-6);
  }
  for (int n = 0; n <= 1000; ++n) {
    const float t = n / 1000.0f;
    kernel_weights(t, w);
    double all = 0, sum = 0;
    for (int k = 0; k < 6; ++k) all += oracle::kernel(Interpolation::lanczos, t + 2 - k);
    for (int k = 0; k < 6; ++k) {
      sum += w[k];
      ck_assert(std::abs(w[k] - oracle::kernel(Interpolation::lanczos, t + 2 - k) / all) < 5e-7);
    }
    ck_assert(std::abs(sum - 1) < 1e-6);
  }
}
GST_END_TEST;

GST_START_TEST(footprints) {
  check_footprint<Interpolation::bilinear>(1);
  check_footprint<Interpolation::bicubic>(2);
  check_footprint<Interpolation::lanczos>(3);
}
GST_END_TEST;

GST_START_TEST(taps_within_a_span) {
  constexpr int64_t kPixel = int64_t{1} << 32;
  // Centres 0.5, 1.5, ... within 1.25 of 3.0: 2.5 and 3.5; within 1.5, which reaches centres: 1.5 to 4.5.
  ck_assert_int_eq(first_within(3 * kPixel, kPixel * 5 / 4), 2);
  ck_assert_int_eq(last_within(3 * kPixel, kPixel * 5 / 4), 3);
  ck_assert_int_eq(first_within(3 * kPixel, kPixel * 3 / 2), 1);
  ck_assert_int_eq(last_within(3 * kPixel, kPixel * 3 / 2), 4);
  ck_assert_int_eq(first_within(0, kPixel), -1);
  ck_assert_int_eq(last_within(0, kPixel), 0);
  ck_assert(distance(4, 3 * kPixel) == 1.5f);
  ck_assert(distance(-1, 0) == -0.5f);
}
GST_END_TEST;

static Suite* core_borders_suite() {
  Suite* s = suite_create("core_borders");
  TCase* tc = tcase_create("borders");
  suite_add_tcase(s, tc);
  tcase_add_test(tc, four_pixels);
  tcase_add_test(tc, inside_is_itself);
  tcase_add_test(tc, one_pixel);
  tcase_add_test(tc, far_outside);
  tcase_add_test(tc, cells);
  tcase_add_test(tc, bicubic_is_catmull_rom);
  tcase_add_test(tc, lanczos_has_three_lobes);
  tcase_add_test(tc, footprints);
  tcase_add_test(tc, taps_within_a_span);
  return s;
}

GST_CHECK_MAIN(core_borders);

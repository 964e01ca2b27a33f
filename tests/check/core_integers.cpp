// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The weights of passes in integers: true to their kernels, adding up to 1, and never too much for 32 bits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "cuda/integers.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

constexpr int64_t kPixel = int64_t{1} << 32;

// Checks the weights of one axis, of a footprint so wide; 1 is the plain kernel. What they weigh without
// their signs is kept in `largest`.
template <Interpolation I, int Taps>
void check_axis(const Axis<Taps>& axis, double at, double width, int& largest) {
  int sum = 0, size = 0;
  double want[Taps], all = 0;
  for (int k = 0; k < Taps; ++k) {
    const double t = axis.first + k + 0.5 - at;
    want[k] = footprint_weight<I>(static_cast<float>(t), static_cast<float>(width / 2));
    all += want[k];
  }
  for (int k = 0; k < Taps; ++k) {
    sum += axis.weight[k], size += std::abs(axis.weight[k]);
    // Each is rounded; one takes what the others leave.
    ck_assert_msg(std::abs(axis.weight[k] - want[k] / all * kKernelOne) <= (Taps + 1) / 2.0,
                  "%d taps at %g, footprint %g: weight %d is %d, not %g", Taps, at, width, k, axis.weight[k],
                  want[k] / all * kKernelOne);
  }
  ck_assert_int_eq(sum, kKernelOne);
  largest = std::max(largest, size);
}

// The worst that a filter can sum up: every byte at the end of its range that adds to it.
void assert_fits(Interpolation interpolation, int largest) {
  const int64_t line = (int64_t{kMiddle} * largest >> line_shift(interpolation)) + 1;
  const int64_t sum = line * largest + (int64_t{1} << sum_shift(interpolation)) + kLost;
  ck_assert_msg(sum <= std::numeric_limits<int>::max(),
                "weights of %d in all may sum up to %" G_GINT64_FORMAT, largest, sum);
}

template <Interpolation I>
void check_kernel() {
  int largest = 0;
  for (int n = 0; n < 4096; ++n) {
    const double at = 5 + n / 4096.0;
    check_axis<I>(kernel_axis<taps_of(I)>(std::llround(at * kPixel)), at, 1, largest);
  }
  assert_fits(I, largest);
}

template <Interpolation I, int Taps>
void check_footprints(double reach) {
  int largest = 0;
  for (double width = 1.01; width <= Taps - 2 * reach; width += 0.17)
    for (int n = 0; n < 256; ++n) {
      const double at = 9 + n / 256.0;
      const auto span = static_cast<int64_t>(std::floor((width / 2 + reach) * kPixel));
      const auto half = static_cast<float>(width / 2);
      check_axis<I>(footprint_axis<I, Taps>(std::llround(at * kPixel), span, half), at, width, largest);
    }
  ck_assert_int_ge(largest, kKernelOne);
  assert_fits(I, largest);
}

// The pieces of an averaged kernel against itself, and their products as integers of 16 bits, of which those
// of all taps of a pixel must fit.
template <Interpolation I>
void check_lines(double reach) {
  double largest = 0;
  for (const int lines : {kLines, kMostLines})
    for (double half = lines == kLines && I == Interpolation::lanczos ? 0.75 : 0.5; half < 6; half += 0.23) {
      const double step = (half + reach) / lines;
      for (int n = 0; n <= 1500; ++n) {
        const float q = static_cast<float>(n) / 1500, t = static_cast<float>(q * (half + reach));
        const float grid = line_grid(lines);
        const auto piece = static_cast<int>(bits_of(q + grid) - bits_of(grid));
        ck_assert(piece >= 0 && piece <= lines);
        const double got = line_weight(kernel_line<I>(piece, lines, static_cast<float>(half)), q),
                     want = footprint_weight<I>(t, static_cast<float>(half));
        largest = std::max(largest, std::abs(got));
        ck_assert_msg(std::abs(got - want) < 0.4 * step * step + 1e-5,
                      "half %g, %d lines: at %g it is %g, not %g", half, lines, t, got, want);
      }
      ck_assert(line_weight(kernel_line<I>(lines, lines, static_cast<float>(half)), 1.0f) == 0.0f);
    }
  ck_assert(largest * largest * kKernelOne < 32767);
  ck_assert(largest * largest * kKernelOne * 255 * kMostTurnedTaps * kMostTurnedRows <
            std::numeric_limits<int>::max());
}

}  // namespace

GST_START_TEST(bilinear_weights) {
  for (uint64_t ty = 0; ty < 65536; ty += 257)
    for (uint64_t tx = 0; tx < 65536; tx += 255) {
      const Weights bytes = integer_weights<true>(tx << 16, ty << 16),
                    words = integer_weights<false>(tx << 16, ty << 16);
      ck_assert_uint_eq(uint64_t{bytes.w00} + bytes.w10 + bytes.w01 + bytes.w11, 65535);
      ck_assert_uint_eq(uint64_t{words.w00} + words.w10 + words.w01 + words.w11, 65536);
      ck_assert(bytes.w00 <= 65535 && bytes.w10 <= 65535 && bytes.w01 <= 65535 && bytes.w11 <= 65535);
      ck_assert(std::abs(words.w11 - tx * ty / 65536.0) < 1);
    }
}
GST_END_TEST;

// Pixels that lie on the grid are copied, halves go up, and stray bits below and above a word's value do no
// harm.
GST_START_TEST(bilinear_rounding) {
  PassPlan p{};
  for (uint32_t v = 0; v < 256; ++v)
    for (uint32_t other : {0u, 255u}) {
      const Weights there = integer_weights<true>(0, 0), half = integer_weights<true>(kHalfPixel, 0),
                    middle = integer_weights<true>(kHalfPixel, kHalfPixel);
      ck_assert_uint_eq(rounded<true>(p, weighed(there, v, other, other, other)), v);
      ck_assert_uint_eq(rounded<true>(p, weighed(half, v, other, 99, 99)), (v + other + 1) / 2);
      ck_assert_uint_eq(rounded<true>(p, weighed(middle, v, other, v, other)), (v + other + 1) / 2);
    }
  for (const int zeros : {0, 6}) {
    p.low_zeros = static_cast<uint8_t>(zeros), p.largest_code = 1023;
    for (uint32_t code = 0; code < 1024; ++code) {
      const uint32_t word = code << zeros;
      ck_assert_uint_eq(rounded<false>(p, weighed(integer_weights<false>(0, 0), word, 0, 0, 0)), word);
      ck_assert_uint_eq(
          rounded<false>(p, weighed(integer_weights<false>(kHalfPixel, 0), word, 1023u << zeros, 0, 0)),
          ((code + 1023 + 1) / 2) << zeros);
    }
    ck_assert_uint_le(
        rounded<false>(p, weighed(integer_weights<false>(123456789, 987654321), 65535, 65535, 65535, 65535)),
        1023u << zeros);
  }
}
GST_END_TEST;

GST_START_TEST(kernels) {
  check_kernel<Interpolation::bicubic>();
  check_kernel<Interpolation::lanczos>();
}
GST_END_TEST;

GST_START_TEST(footprints) {
  check_footprints<Interpolation::bilinear, 4>(0.5);
  check_footprints<Interpolation::bilinear, 6>(0.5);
  check_footprints<Interpolation::bicubic, 6>(1.5);
  check_footprints<Interpolation::bicubic, 8>(1.5);
  check_footprints<Interpolation::lanczos, 8>(2.5);
}
GST_END_TEST;

GST_START_TEST(lines) {
  check_lines<Interpolation::bicubic>(1.5);
  check_lines<Interpolation::lanczos>(2.5);
  // A product of weights in the lowest bits of a sum.
  for (const float product : {0.0f, 1.0f, -0.25f, 1.9f, 0.5f})
    ck_assert_int_eq(static_cast<int16_t>(bits_of(product + kWeightGrid) & 0xffff),
                     static_cast<int>(product * kKernelOne + 32768.5f) - 32768);
  ck_assert_uint_eq(bits_of(kWeightGrid), kWeightGridBits);
}
GST_END_TEST;

static Suite* core_integers_suite() {
  Suite* s = suite_create("core_integers");
  TCase* tc = tcase_create("integers");
  suite_add_tcase(s, tc);
  tcase_add_test(tc, bilinear_weights);
  tcase_add_test(tc, bilinear_rounding);
  tcase_add_test(tc, kernels);
  tcase_add_test(tc, footprints);
  tcase_add_test(tc, lines);
  return s;
}

GST_CHECK_MAIN(core_integers);

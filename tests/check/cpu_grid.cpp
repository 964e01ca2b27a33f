// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU engine against the definition, over the whole grid.
#include <algorithm>
#include <cmath>
#include <set>

#include "grid.h"
#include "oracle.h"

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

using namespace cudawarp;

namespace {

struct Tally {
  uint64_t samples = 0, nearest = 0;
};

void compare_pixel(const GridCase& c, const TestFrame& out, const oracle::Plane& plane, int p, int x, int y,
                   Tally& tally) {
  // A value this close to the middle between two codes has two nearest ones.
  constexpr double kTie = 1e-6;
  const size_t pixel = static_cast<size_t>(y) * plane.width + x;
  if (plane.ambiguous[pixel]) return;
  for (int k = 0; k < plane.samples; ++k) {
    const bool alpha = info(c.dst.format).plane[p].components[k] == Component::A;
    if (!alpha && plane.opacity[pixel] <= 0.5) continue;
    const double want = plane.value[pixel * plane.samples + k];
    const int got = out.at(p, x, y, k);
    ++tally.samples;
    tally.nearest += std::abs(got - want) <= 0.5 + kTie;
    if (std::abs(got - std::round(want)) > 1)
      ck_abort_msg("%s: plane %d (%d, %d) sample %d is %d, should be %.3f (opacity %.3f)", c.name.c_str(), p,
                   x, y, k, got, want, plane.opacity[pixel]);
  }
}

void compare(const GridCase& c, const TestFrame& src, Tally& tally) {
  const TestFrame out = warped(c.params, src, c.dst, c.dst_slack);
  const std::vector<oracle::Plane> planes = oracle::warp(c.params, c.src, c.dst, src.contents());
  for (size_t p = 0; p < planes.size(); ++p)
    for (int y = 0; y < planes[p].height; ++y)
      for (int x = 0; x < planes[p].width; ++x)
        compare_pixel(c, out, planes[p], static_cast<int>(p), x, y, tally);
}

// What a byte of the output holds where its pixel falls on pixel (i, j) of the source: the source's own byte,
// or outside the picture the border colour; nothing where that is another test's matter.
std::optional<int> copied(const GridCase& c, const TestFrame& src, int p, int i, int j, Component component) {
  const bool inside = i >= 0 && j >= 0 && i < src.width(p) && j < src.height(p);
  if (inside) {
    const auto& from = info(c.src.format).plane[p].components;
    const auto held = std::find(from.begin(), from.begin() + src.bytes(p), component);
    return held == from.begin() + src.bytes(p) ? 255 : src.at(p, i, j, static_cast<int>(held - from.begin()));
  }
  if (c.params.border != Border::constant && c.params.border != Border::transparent) return std::nullopt;
  const oracle::Color border = oracle::border_color(c.params, c.dst);
  if (component == Component::padding) return 255;
  if (component != Component::A && border[3] == 0) return std::nullopt;
  return static_cast<int>(border[static_cast<int>(component)]);
}

void check_copy_plane(const GridCase& c, const TestFrame& src, const TestFrame& out, int p,
                      const oracle::Map& back) {
  for (int y = 0; y < out.height(p); ++y)
    for (int x = 0; x < out.width(p); ++x) {
      const oracle::Vec at = oracle::source_point(back, c.src, c.dst, p, x, y);
      const int i = static_cast<int>(std::floor(at.x)), j = static_cast<int>(std::floor(at.y));
      for (int k = 0; k < out.bytes(p); ++k) {
        const auto want = copied(c, src, p, i, j, info(c.dst.format).plane[p].components[k]);
        if (want && out.at(p, x, y, k) != *want)
          ck_abort_msg("%s: plane %d (%d, %d) sample %d is %d, should be a copy of %d", c.name.c_str(), p, x,
                       y, k, out.at(p, x, y, k), *want);
      }
    }
}

// Whether the centres of the plane's pixels fall on centres.
bool is_copy(const GridCase& c, int p, const oracle::Map& back) {
  const auto centred = [&](int i, int j) {
    const oracle::Vec at = oracle::source_point(back, c.src, c.dst, p, i, j);
    return std::abs(at.x - std::floor(at.x) - 0.5) < 1e-9 && std::abs(at.y - std::floor(at.y) - 0.5) < 1e-9;
  };
  return centred(0, 0) && centred(1, 0) && centred(0, 1);
}

void check_copy(const GridCase& c, int& chroma_copies) {
  const TestFrame src = c.source();
  const TestFrame out = warped(c.params, src, c.dst, c.dst_slack);
  const oracle::Map back = oracle::inverse(oracle::dst_from_src(c.params, c.src, c.dst));
  ck_assert_msg(is_copy(c, 0, back), "%s is no copy", c.name.c_str());
  for (int p = 0; p < info(c.src.format).planes; ++p) {
    const bool whole_blocks = (c.src.width | c.src.height | c.dst.width | c.dst.height) % 2 == 0;
    // With blocks cut in two the edge of the picture runs through chroma pixels, which then are mixtures.
    if (p > 0 && !(is_copy(c, p, back) && (whole_blocks || c.params.border == Border::replicate))) continue;
    check_copy_plane(c, src, out, p, back);
    chroma_copies += p > 0;
  }
}

}  // namespace

GST_START_TEST(matches_definition) {
  const FormatPair formats = grid_formats()[__i__];
  for (const Interpolation interpolation : kInterpolations) {
    Tally tally;
    for_each_case(formats, interpolation, [&](const GridCase& c) { compare(c, c.source(), tally); });
    const double share = static_cast<double>(tally.nearest) / static_cast<double>(tally.samples);
    GST_INFO("%s -> %s %s: %.5f %% of %" G_GUINT64_FORMAT " samples nearest", info(formats.src).name.data(),
             info(formats.dst).name.data(), name_of(interpolation), 100 * share, tally.samples);
    ck_assert_msg(tally.samples > 50000, "only %" G_GUINT64_FORMAT " samples compared", tally.samples);
    ck_assert_msg(share >= 0.99, "%s -> %s %s: only %.3f %% are the nearest code value",
                  info(formats.src).name.data(), info(formats.dst).name.data(), name_of(interpolation),
                  100 * share);
  }
}
GST_END_TEST;

GST_START_TEST(copies_are_exact) {
  const FormatPair formats = grid_formats()[__i__];
  int chroma_copies = 0;
  for_each_copy(formats, [&](const GridCase& c) { check_copy(c, chroma_copies); });
  ck_assert_msg(info(formats.src).planes == 1 || chroma_copies > 100, "only %d chroma planes", chroma_copies);
}
GST_END_TEST;

// A hole in the grid would be silent otherwise.
GST_START_TEST(every_pipe_runs) {
  std::set<PipeId> seen;
  for (const FormatPair formats : grid_formats())
    for_each_copy(formats, [&](const GridCase& c) {
      const WarpPlan plan = plan_or_fail(c.params, c.src, c.dst);
      for (int p = 0; p < plan.planes; ++p) seen.insert(plan.plane[p].pipe);
    });
#define CHECK_SEEN(name, load, channels, alpha, store) \
  ck_assert_msg(seen.count(PipeId::name) == 1, "the grid never uses the pipe " #name);
  CUDAWARP_PIPES(CHECK_SEEN)
#undef CHECK_SEEN
}
GST_END_TEST;

static Suite* cpu_grid_suite() {
  Suite* s = suite_create("cpu_grid");
  TCase* tc = tcase_create("grid");
  const int formats = static_cast<int>(grid_formats().size());
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_loop_test(tc, matches_definition, 0, formats);
  tcase_add_loop_test(tc, copies_are_exact, 0, formats);
  tcase_add_test(tc, every_pipe_runs);
  return s;
}

GST_CHECK_MAIN(cpu_grid);

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
  double worst = 0;
};

bool is_alpha(const TestFrame& frame, int group, int k) {
  return k < frame.format().group[group].channels && frame.format().group[group].component[k] == Component::A;
}

void compare_pixel(const GridCase& c, const TestFrame& out, const oracle::Samples& want, int g, int x, int y,
                   Tally& tally) {
  // A value this close to the middle between two codes has two nearest ones.
  constexpr double kTie = 1e-6;
  const size_t pixel = static_cast<size_t>(y) * want.width + x;
  if (want.ambiguous[pixel]) return;
  // The colours behind what rounds to no alpha at all mean nothing.
  const double seen = 0.5 / ((1 << (out.format().has_alpha() ? out.format().alpha_depth : 8)) - 1);
  for (int k = 0; k < want.samples; ++k) {
    if (!is_alpha(out, g, k) && want.opacity[pixel] <= seen) continue;
    const double value = want.value[pixel * want.samples + k];
    const int got = out.at(g, x, y, k);
    ++tally.samples;
    tally.nearest += std::abs(got - value) <= 0.5 + kTie;
    tally.worst = std::max(tally.worst, std::abs(got - value));
    // Floats carry colours multiplied by alpha. Where negative lobes have left little of it, what counts at
    // 16 bits is what can be seen of a colour.
    const bool lobes =
        c.params.interpolation == Interpolation::bicubic || c.params.interpolation == Interpolation::lanczos;
    const bool by_opacity = lobes && out.format().depth == 16 && !is_alpha(out, g, k);
    if (std::abs(got - std::round(value)) * (by_opacity ? std::min(want.opacity[pixel], 1.0) : 1) > 1)
      ck_abort_msg("%s: group %d (%d, %d) sample %d is %d, should be %.3f (opacity %.5f)", c.name.c_str(), g,
                   x, y, k, got, value, want.opacity[pixel]);
  }
}

void compare(const GridCase& c, const TestFrame& src, Tally& tally) {
  const TestFrame out = warped(c.params, src, c.dst, c.dst_slack);
  const std::vector<oracle::Samples> groups = oracle::warp(c.params, c.src, c.dst, src.contents());
  for (size_t g = 0; g < groups.size(); ++g)
    for (int y = 0; y < groups[g].height; ++y)
      for (int x = 0; x < groups[g].width; ++x)
        compare_pixel(c, out, groups[g], static_cast<int>(g), x, y, tally);
}

// What sample k of a pixel of the output holds where the pixel falls on pixel (i, j) of the source: the
// source's own sample; outside the picture the border colour; nothing where that is another test's matter.
// Not a whole number where the depth changes.
std::optional<double> copied(const GridCase& c, const TestFrame& src, const TestFrame& out, int g, int i,
                             int j, int k) {
  const int largest = out.place(g, k).largest();
  if (i >= 0 && j >= 0 && i < src.width(g) && j < src.height(g)) {
    if (out.place(g, k).padding) return src.format().padding ? src.at(g, i, j, 3) : 255;
    if (k >= src.format().group[g].channels) return largest;
    const double value = src.at(g, i, j, k);
    if (is_alpha(out, g, k)) return value * largest / src.place(g, k).largest();
    const bool other_depth =
        src.format().depth != out.format().depth ||
        (out.format().has_alpha() && src.format().alpha_depth != out.format().alpha_depth);
    if (other_depth && src.format().has_alpha() && src.at(g, i, j, 3) == 0) return std::nullopt;
    return std::min<double>(value * oracle::color_scale(c.src, c.dst), largest);
  }
  if (c.params.border != Border::constant && c.params.border != Border::transparent) return std::nullopt;
  const oracle::Color border = oracle::border_color(c.params, c.dst);
  if (out.place(g, k).padding) return 255;
  if (!is_alpha(out, g, k) && border[3] == 0) return std::nullopt;
  return border[static_cast<int>(out.format().group[g].component[k])];
}

void check_copy_group(const GridCase& c, const TestFrame& src, const TestFrame& out, int g,
                      const oracle::Map& back) {
  for (int y = 0; y < out.height(g); ++y)
    for (int x = 0; x < out.width(g); ++x) {
      const oracle::Vec at = oracle::source_point(back, c.src, c.dst, g, x, y);
      const oracle::Field field = oracle::field_read(c.src, c.dst, g, y);
      const int i = static_cast<int>(std::floor(at.x)), row = static_cast<int>(std::floor(at.y));
      const int j = row < 0 || row >= field.rows ? -1 : field.first + field.step * row;
      for (int k = 0; k < out.samples(g); ++k) {
        const auto want = copied(c, src, out, g, i, j, k);
        // The nearest code value, where that is clear in the float that another depth needs.
        if (want && std::abs(out.at(g, x, y, k) - *want) > (*want == std::floor(*want) ? 0 : 0.51))
          ck_abort_msg("%s: group %d (%d, %d) sample %d is %d, should be a copy of %.3f", c.name.c_str(), g,
                       x, y, k, out.at(g, x, y, k), *want);
      }
    }
}

// Whether the centres of the group's pixels fall on centres, in both fields if there are two.
bool is_copy(const GridCase& c, const TestFrame& out, int g, const oracle::Map& back) {
  const auto centred = [&](int i, int j) {
    if (c.dst.interlaced && j >= out.height(g)) return true;  // may be of a field that is not there
    const oracle::Vec at = oracle::source_point(back, c.src, c.dst, g, i, j);
    return std::abs(at.x - std::floor(at.x) - 0.5) < 1e-9 && std::abs(at.y - std::floor(at.y) - 0.5) < 1e-9;
  };
  return centred(0, 0) && centred(1, 0) && centred(0, 1) && centred(0, 2) && centred(0, 3);
}

void check_copy(const GridCase& c, int& chroma_copies) {
  const TestFrame src = c.source();
  const TestFrame out = warped(c.params, src, c.dst, c.dst_slack);
  const oracle::Map back = oracle::inverse(oracle::dst_from_src(c.params, c.src, c.dst));
  ck_assert_msg(is_copy(c, out, 0, back), "%s is no copy", c.name.c_str());
  for (int g = 0; g < src.format().groups; ++g) {
    const bool whole_blocks = (c.src.width | c.src.height | c.dst.width | c.dst.height) % 2 == 0 &&
                              c.src.skip_x % 2 == 0 && c.src.skip_y % 2 == 0;
    // With blocks cut in two the edge of the picture runs through chroma pixels, which then are mixtures.
    if (g > 0 && !(is_copy(c, out, g, back) && (whole_blocks || c.params.border == Border::replicate)))
      continue;
    check_copy_group(c, src, out, g, back);
    chroma_copies += g > 0;
  }
}

// What the grid has met of one format, or of all.
struct Seen {
  std::set<FetchId> fetches;
  std::set<Packing> stores;
  std::set<std::pair<Border, bool>> borders;
  std::set<std::pair<int, int>> sizes;
  std::set<int> skips_x, skips_y;
  std::set<Interpolation> averaged, aliased, in_fields, cut;

  void add(const GridCase& c) {
    const WarpPlan plan = plan_or_fail(c.params, c.src, c.dst);
    WarpParams asked = c.params;
    asked.antialias = true;
    const WarpPlan shrunk = plan_or_fail(asked, c.src, c.dst);
    for (int k = 0; k < plan.passes; ++k) {
      fetches.insert(plan.pass[k].fetch);
      stores.insert(plan.pass[k].store);
      if (plan.pass[k].shrinks) averaged.insert(c.params.interpolation);
      if (shrunk.pass[k].shrinks && !plan.pass[k].shrinks) aliased.insert(c.params.interpolation);
    }
    borders.insert({c.params.border, c.params.edge_antialias});
    sizes.insert({c.src.width, c.src.height});
    if (c.src.interlaced && plan.passes >= 2) in_fields.insert(c.params.interpolation);
    if (c.src.skip_x + c.src.skip_y > 0) cut.insert(c.params.interpolation);
    skips_x.insert(c.src.skip_x), skips_y.insert(c.src.skip_y);
  }
};

}  // namespace

GST_START_TEST(matches_definition) {
  const FormatPair formats = grid_formats()[__i__];
  for (const Interpolation interpolation : kInterpolations) {
    Tally tally;
    for_each_case(formats, interpolation, [&](const GridCase& c) { compare(c, c.source(), tally); });
    const double share = static_cast<double>(tally.nearest) / static_cast<double>(tally.samples);
    GST_INFO("%s -> %s %s: %.5f %% of %" G_GUINT64_FORMAT " samples nearest, %.4f off at most",
             info(formats.src).name.data(), info(formats.dst).name.data(), name_of(interpolation),
             100 * share, tally.samples, tally.worst);
    ck_assert_msg(tally.samples > 30000, "only %" G_GUINT64_FORMAT " samples compared", tally.samples);
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
  ck_assert_msg(info(formats.src).groups == 1 || chroma_copies > 100, "only %d groups of chroma",
                chroma_copies);
}
GST_END_TEST;

// A hole in the grid would be silent otherwise.
GST_START_TEST(every_way_runs) {
  Seen seen;
  for (const FormatPair formats : grid_formats())
    for (const Interpolation interpolation : kInterpolations)
      for_each_case(formats, interpolation, [&](const GridCase& c) { seen.add(c); });
#define CHECK_SEEN(name, packing, channels, alpha) \
  ck_assert_msg(seen.fetches.count(FetchId::name) == 1, "the grid never reads by " #name);
  CUDAWARP_FETCHES(CHECK_SEEN)
#undef CHECK_SEEN
  for (const FormatInfo& f : all_formats())
    for (int g = 0; g < f.groups; ++g)
      ck_assert_msg(seen.stores.count(f.group[g].packing) == 1, "the grid never writes as %s", f.name.data());
}
GST_END_TEST;

GST_START_TEST(every_format_meets_everything) {
  const FormatInfo& f = all_formats()[__i__];
  Seen seen;
  for (const Interpolation interpolation : kInterpolations)
    for_each_case({f.format, f.format}, interpolation, [&](const GridCase& c) { seen.add(c); });
  const size_t all = std::size(kInterpolations);
  ck_assert_uint_eq(seen.borders.size(), f.has_alpha() ? 8 : 6);
  for (const auto& size : {std::pair{1, 1}, {1, 2}, {7, 1}, {5, 3}, {33, 21}})
    ck_assert_msg(seen.sizes.count(size) == 1, "%s is never %dx%d", f.name.data(), size.first, size.second);
  ck_assert_msg(seen.averaged.size() == all, "%s is not averaged", f.name.data());
  ck_assert_msg(seen.aliased.size() == all, "%s is always averaged", f.name.data());
  ck_assert_msg(seen.in_fields.size() == all, "%s never has fields", f.name.data());
  ck_assert_msg(seen.cut.size() == all, "%s is never cut out of a larger frame", f.name.data());
  ck_assert_uint_eq(seen.skips_x.size(), f.block_width());
  ck_assert_uint_eq(seen.skips_y.size(), 2 * f.block_height());
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
  tcase_add_test(tc, every_way_runs);
  tcase_add_loop_test(tc, every_format_meets_everything, 0, static_cast<int>(all_formats().size()));
  return s;
}

GST_CHECK_MAIN(cpu_grid);

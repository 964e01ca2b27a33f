// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Chroma stays on its luma, border colours at every depth and range, motion without steps.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

struct Site {
  const char* name;
  bool cosited_x, cosited_y;
};
const Site kSites[] = {
    {"jpeg", false, false}, {"mpeg2", true, false}, {"cosited", true, true}, {"dv", true, true}};

struct Point {
  double x, y;
};

// Where sample (x, y) of a component lies in the luma grid.
Point place_of(const Samples& samples, const Site& site, int c, int x, int y) {
  const auto along = [](int whole, int n, bool cosited, int k) {
    if (n == whole) return k + 0.5;
    return 2 * k + (cosited ? 0.5 : 1.0);
  };
  return {along(samples.width(0), samples.width(c), site.cosited_x, x),
          along(samples.height(0), samples.height(c), site.cosited_y, y)};
}

constexpr int kWidth = 96, kHeight = 80;
constexpr double kRise = 8;  // per pixel, in code values of 8 bits: rounding is a small part of a pixel

// Edges through the middle, as wide as they are soft: of luma and U to the right, of V downwards.
double distance(int c, Point p) {
  return c == 2 ? p.y - kHeight / 2.0 : p.x - kWidth / 2.0;
}
double edge(int c, Point p) {
  return std::clamp(128 + kRise * distance(c, p), 40.0, 216.0);
}

Pixels edges(const std::string& caps, const Site& site) {
  const Samples samples(caps);
  Pixels pixels = black(caps);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < samples.height(c); ++y)
      for (int x = 0; x < samples.width(c); ++x)
        samples.set(
            pixels, c, x, y,
            static_cast<int>(std::lround(edge(c, place_of(samples, site, c, x, y)) * samples.scaled(c, 1))));
  return pixels;
}

// How far a component's edge is from where it should be, pixels of the source, over all samples that come
// from the rise.
double displacement(const Pixels& pixels, const Samples& samples, const Site& site, int c, double degrees,
                    double scale) {
  const double cos = std::cos(degrees * std::numbers::pi / 180) / scale,
               sin = std::sin(degrees * std::numbers::pi / 180) / scale;
  double sum = 0;
  int count = 0;
  for (int y = 0; y < samples.height(c); ++y)
    for (int x = 0; x < samples.width(c); ++x) {
      const Point p = place_of(samples, site, c, x, y);
      const double dx = p.x - samples.width(0) / 2.0, dy = p.y - samples.height(0) / 2.0;
      const Point from{kWidth / 2.0 + cos * dx + sin * dy, kHeight / 2.0 - sin * dx + cos * dy};
      if (from.x < 6 || from.x > kWidth - 6 || from.y < 6 || from.y > kHeight - 6) continue;
      if (std::abs(distance(c, from)) > 5) continue;
      sum += static_cast<double>(samples.get(pixels, c, x, y)) / samples.scaled(c, 1) - edge(c, from);
      ++count;
    }
  ck_assert_int_ge(count, 30);
  return sum / count / kRise;
}

// Where a blob's weight is; `ground` is what surrounds it.
Point centroid(const Pixels::Plane& plane, int ground) {
  double sum = 0, x_sum = 0, y_sum = 0;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) {
      const double v = plane.at(x, y) - ground;
      sum += v, x_sum += v * (x + 0.5), y_sum += v * (y + 0.5);
    }
  return {x_sum / sum, y_sum / sum};
}

// Pixel (0, 0) of an output whose left half is border.
std::vector<int> border_of(const std::string& format, const std::string& more, const std::string& color) {
  const std::string in = raw(format, 64, 8, more);
  const Samples samples(in);
  Warp warp("offset-x=32 border-color=" + color);
  warp.set_caps(in);
  const Pixels out = warp(black(in));
  std::vector<int> values;
  for (int c = 0; c < samples.count(); ++c) values.push_back(samples.get(out, c, 0, 0));
  // Nothing but these samples is in their words.
  Pixels clean = black(in);
  for (int c = 0; c < samples.count(); ++c) samples.set(clean, c, 0, 0, values[c]);
  for (size_t p = 0; p < clean.plane.size(); ++p)
    for (int k = 0; k < clean.plane[p].bytes && format != "YUY2" && format != "UYVY"; ++k)
      ck_assert_int_eq(out.plane[p].at(0, 0, k), clean.plane[p].at(0, 0, k));
  return values;
}

}  // namespace

// Every chroma site that caps can name, on both sides, also different ones.
GST_START_TEST(chroma_site) {
  for (const char* format : {"NV12", "I420", "Y42B", "NV16", "YUY2", "P010_10LE"})
    for (const Site& in_site : kSites)
      for (const Site& out_site : kSites) {
        const std::string in = raw(format, kWidth, kHeight, std::string(",chroma-site=") + in_site.name);
        const Pixels src = edges(in, in_site);
        const struct {
          double degrees, scale;
          int width, height;
        } warps[] = {{0, 1, kWidth, kHeight},
                     {17, 1, kWidth, kHeight},
                     {90, 1, kWidth, kHeight},
                     {180, 1, kWidth, kHeight},
                     {0, 1.5, 3 * kWidth / 2, 3 * kHeight / 2},
                     {0, 0.5, kWidth / 2, kHeight / 2}};
        for (const auto& w : warps) {
          const std::string out =
              raw(format, w.width, w.height, std::string(",chroma-site=") + out_site.name);
          Warp warp("angle=" + std::to_string(w.degrees));
          warp.set_caps(in, out);
          const Pixels got = warp(src);
          const Samples samples(out);
          for (int c = 0; c < 3; ++c) {
            const double off = displacement(got, samples, out_site, c, w.degrees, w.scale);
            if (std::abs(off) > 0.1)
              ck_abort_msg("%s, %s to %s, %g degrees, scale %g: component %d is %g pixels off", format,
                           in_site.name, out_site.name, w.degrees, w.scale, c, off);
          }
        }
      }
}
GST_END_TEST;

// Downstream's site where it names one, else the input's, be it by name or by size.
GST_START_TEST(chroma_site_in_caps) {
  const auto site_of = [](const Warp& warp) {
    const CapsPtr caps = warp.output_caps();
    const char* site = gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "chroma-site");
    return std::string(site ? site : "none");
  };
  for (const Site& site : kSites) {
    const std::string in = raw("I420", 64, 48, std::string(",chroma-site=") + site.name);
    Warp kept("angle=5"), same, other("angle=5"), choice("angle=5");
    kept.set_caps(in), same.set_caps(in);
    ck_assert(site_of(kept) == site.name);
    ck_assert(passes_through(same, noise(in)));
    other.set_caps(in, "video/x-raw,chroma-site=cosited");
    ck_assert(site_of(other) == "cosited");
    choice.set_caps(in, "video/x-raw,chroma-site={jpeg,mpeg2,dv,cosited}");
    ck_assert(site_of(choice) == site.name);
  }
  // Where nothing but the site changes, chroma is sampled and luma copied.
  const std::string in = raw("I420", 64, 48, ",chroma-site=mpeg2");
  Warp resited;
  resited.set_caps(in, "video/x-raw,chroma-site=jpeg");
  const Pixels src = noise(in);
  ck_assert(!passes_through(resited, src));
  const Pixels out = resited(src);
  ck_assert(out.plane[0] == src.plane[0]);
  ck_assert(out.plane[1] != src.plane[1]);
}
GST_END_TEST;

// White and red in every depth and range. Red in BT.709: Y = 0.2126, Cb = -0.2126 / (2 (1 - 0.0722)), Cr =
// 1/2.
GST_START_TEST(border_colors) {
  const char *limited = ",colorimetry=bt709", *full = ",colorimetry=1:3:5:1", *white = "0xffffffff",
             *red = "0xffff0000";
  const struct {
    const char *format, *more, *color;
    std::vector<int> values;
  } cases[] = {
      {"P010_10LE", limited, white, {940, 512, 512}},
      {"P010_10LE", full, white, {1023, 512, 512}},
      {"P010_10LE", limited, red, {250, 409, 960}},
      {"P010_10LE", full, red, {217, 395, 1023}},
      {"I420_10LE", limited, "0xff000000", {64, 512, 512}},
      {"P012_LE", limited, white, {3760, 2048, 2048}},
      {"I420_12LE", full, white, {4095, 2048, 2048}},
      {"I422_12LE", limited, red, {1001, 1637, 3840}},
      {"P016_LE", limited, white, {60160, 32768, 32768}},
      {"P016_LE", full, white, {65535, 32768, 32768}},
      {"Y444_16LE", limited, red, {16015, 26198, 61440}},
      {"YUY2", limited, red, {63, 102, 240}},
      {"UYVY", full, white, {255, 128, 128}},
      {"AYUV", limited, "0x40ff0000", {63, 102, 240, 0x40}},
      {"VUYA", limited, "0x40ff0000", {63, 102, 240, 0x40}},
      {"GRAY16_LE", "", white, {65535}},
      {"GRAY16_LE", "", "0xff727272", {29298}},
      {"GBR_12LE", "", white, {4095, 4095, 4095}},
      {"GBR_10LE", ",colorimetry=(string)2:1:7:1", "0xffff0080", {940, 64, 504}},
      {"RGB", ",colorimetry=(string)2:1:7:1", "0xffff0080", {235, 16, 126}},
      {"RGBA64_LE", "", "0x80ff8010", {65535, 32896, 4112, 32896}},
      {"RGB10A2_LE", "", "0x80ff8010", {1023, 514, 64, 2}},
      {"BGR10A2_LE", "", "0x80ff8010", {1023, 514, 64, 2}},
      {"GBRA", "", "0x80ff8010", {255, 128, 16, 128}},
      {"BGRP", "", "0x80ff8010", {255, 128, 16}},
  };
  for (const auto& c : cases) {
    const std::vector<int> got = border_of(c.format, c.more, c.color);
    ck_assert_uint_eq(got.size(), c.values.size());
    for (size_t k = 0; k < got.size(); ++k)
      if (got[k] != c.values[k])
        ck_abort_msg("%s%s %s: sample %zu is %d, not %d", c.format, c.more, c.color, k, got[k], c.values[k]);
  }
}
GST_END_TEST;

// Limited range is limited at every depth: white stays white.
GST_START_TEST(range_across_depths) {
  const struct {
    const char *in, *out;
    int white, black;
  } cases[] = {{"RGB", "GBR_10LE", 940, 64}, {"RGB", "RGBA64_LE", 60160, 4096}, {"GBR_12LE", "RGB", 235, 16}};
  for (const auto& c : cases) {
    const std::string range = ",colorimetry=(string)2:1:7:1", in = raw(c.in, 16, 8, range);
    const Samples source(in), target(raw(c.out, 16, 8, range));
    Pixels src = black(in);
    for (int k = 0; k < 3; ++k)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x) source.set(src, k, x, y, source.scaled(k, x < 8 ? 16 : 235));
    Warp warp;
    warp.set_caps(in, std::string("video/x-raw,format=") + c.out);
    const Pixels out = warp(src);
    for (int k = 0; k < 3; ++k) {
      ck_assert_int_eq(target.get(out, k, 2, 2), c.black);
      ck_assert_int_eq(target.get(out, k, 12, 2), c.white);
    }
  }
}
GST_END_TEST;

// A zoom of 10 % in 300 frames: no frame is a step.
GST_START_TEST(slow_motion) {
  for (const char* format : {"GRAY8", "NV12"}) {
    const std::string in = raw(format, 320, 240);
    const int ground = *format == 'G' ? 0 : 16;
    Pixels src = *format == 'G' ? solid(in, {{0}}) : solid(in, {{16}, {128, 128}});
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x) {
        const double r2 = (x + 0.5 - 250) * (x + 0.5 - 250) + (y + 0.5 - 170) * (y + 0.5 - 170);
        src.plane[0].at(x, y) = static_cast<uint8_t>(std::lround(ground + 200 * std::exp(-r2 / 50)));
      }
    Warp warp;
    warp.set_caps(in);
    std::vector<Point> path;
    for (int n = 0; n <= 300; ++n) {
      const double zoom = 1 + 0.1 * n / 300;
      g_object_set(warp.element(), "scale", zoom, nullptr);
      const Pixels out = warp(src, n);
      path.push_back(centroid(out.plane[0], ground));
      ck_assert(std::hypot(path[n].x - (160 + 90 * zoom), path[n].y - (120 + 50 * zoom)) < 0.1);
    }
    for (size_t n = 1; n + 1 < path.size(); ++n) {
      const double x = path[n + 1].x - 2 * path[n].x + path[n - 1].x,
                   y = path[n + 1].y - 2 * path[n].y + path[n - 1].y;
      ck_assert_msg(std::abs(x) <= 0.05 && std::abs(y) <= 0.05, "%s, frame %zu: (%g, %g)", format, n, x, y);
    }
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_color");
  TCase* tc = tcase_create("color");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, chroma_site);
  tcase_add_test(tc, chroma_site_in_caps);
  tcase_add_test(tc, border_colors);
  tcase_add_test(tc, range_across_depths);
  tcase_add_test(tc, slow_motion);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

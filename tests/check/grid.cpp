// SPDX-License-Identifier: LGPL-2.1-or-later
#include "grid.h"

#include <algorithm>

#include "cuda/geometry.h"

namespace cudawarp {
namespace {

struct BorderChoice {
  const char* name;
  Border border;
  bool edge_antialias;
};
constexpr BorderChoice kBorders[] = {
    {"constant", Border::constant, true},       {"constant, hard", Border::constant, false},
    {"replicate", Border::replicate, true},     {"mirror", Border::mirror, true},
    {"mirror-101", Border::mirror_101, true},   {"wrap", Border::wrap, true},
    {"transparent", Border::transparent, true}, {"transparent, hard", Border::transparent, false},
};

constexpr Size kSameSize{0, 0}, kNaturalSize{-1, -1};

struct Geometry {
  const char* name;
  WarpParams params;
  Size size = kSameSize;  // of the output
  double src_aspect = 1, dst_aspect = 1;
  bool interlaced = false;
  int skip_x = 0, skip_y = 0;  // as far as the format's blocks go
};

Geometry fields(Geometry g) {
  g.interlaced = true;
  return g;
}
Geometry cut_out(int skip_x, int skip_y, Geometry g) {
  g.skip_x = skip_x, g.skip_y = skip_y;
  return g;
}

const std::vector<Geometry>& copies() {
  static const std::vector<Geometry> list = {
      {"identity", {}},
      {"offset (3, -2)", {.offset_x = 3, .offset_y = -2}},
      {"offset (-4, 6)", {.offset_x = -4, .offset_y = 6}},
      {"beyond the left", {.offset_x = -70}},
      {"far below", {.offset_y = 5000}},
      {"flip x", {.scale_x = -1}},
      {"flip y", {.scale_y = -1}},
      {"90", {.angle = 90, .framing = Framing::expand}, kNaturalSize},
      {"-90, mirrored", {.angle = -90, .scale_x = -1, .framing = Framing::expand}, kNaturalSize},
      {"180", {.angle = 180}},
      {"630", {.angle = 630, .framing = Framing::crop}, kNaturalSize},
      {"90, pixel aspect 16/15",
       {.angle = 90, .framing = Framing::expand},
       kNaturalSize,
       16 / 15.0,
       15 / 16.0},
      {"matrix", {.matrix = Affine{0, 1, 2, 1, 0, 0}}},
      {"orientation 90", {.orientation = Orientation::turn_90}, kNaturalSize},
      {"orientation 180", {.orientation = Orientation::turn_180}},
      {"orientation 270", {.orientation = Orientation::turn_270}, kNaturalSize},
      {"orientation horizontal", {.orientation = Orientation::horizontal}},
      {"orientation vertical", {.orientation = Orientation::vertical}},
      {"orientation ul-lr", {.orientation = Orientation::ul_lr}, kNaturalSize},
      {"orientation ur-ll", {.orientation = Orientation::ur_ll}, kNaturalSize},
      {"orientation 90, pixel aspect 16/15",
       {.orientation = Orientation::turn_90},
       kNaturalSize,
       16 / 15.0,
       15 / 16.0},
      {"orientation ul-lr, 90 expand, pixel aspect 16/15",
       {.orientation = Orientation::ul_lr, .angle = 90, .framing = Framing::expand},
       kNaturalSize,
       16 / 15.0,
       16 / 15.0},
      {"picture mirrored", {.picture = {-1, 0, 1, 0, 1, 0}}},
      fields({"fields, orientation horizontal", {.orientation = Orientation::horizontal}}),
      cut_out(1, 1, {"cut out (1, 1), orientation 90", {.orientation = Orientation::turn_90}, kNaturalSize}),
      fields({"fields", {}}),
      fields({"fields, offset (3, -2)", {.offset_x = 3, .offset_y = -2}}),
      fields({"fields, offset y 4", {.offset_y = 4}}),
      fields({"fields, flip x", {.scale_x = -1}}),
      cut_out(1, 1, {"cut out (1, 1)", {}}),
      cut_out(1, 0, {"cut out (1, 0), offset (4, -6)", {.offset_x = 4, .offset_y = -6}}),
      cut_out(1, 1, {"cut out (1, 1), 180", {.angle = 180}}),
      fields(cut_out(1, 2, {"fields, cut out (1, 2)", {}})),
  };
  return list;
}

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> list = [] {
    std::vector<Geometry> all = copies();
    const Geometry more[] = {
        {"offset (0.3, -1.7)", {.offset_x = 0.3, .offset_y = -1.7}},
        {"offset (0.5, 0.5)", {.offset_x = 0.5, .offset_y = 0.5}},
        {"90 in place", {.angle = 90}},
        {"17", {.angle = 17}},
        {"17 expand", {.angle = 17, .framing = Framing::expand}, kNaturalSize},
        {"-140 crop", {.angle = -140, .framing = Framing::crop}, kNaturalSize},
        {"17 beyond the right", {.angle = 17, .offset_x = 99.5}},
        {"17 zoom", {.angle = 17, .framing = Framing::zoom}},
        {"17 zoom to 40x30", {.angle = 17, .framing = Framing::zoom}, {40, 30}},
        {"scale 0.37", {.scale_x = 0.37, .scale_y = 0.37}},
        {"scale 2.3", {.scale_x = 2.3, .scale_y = 2.3}},
        {"shear x", {.shear_x = 0.4}},
        {"shear y", {.shear_y = -0.7}},
        {"shear", {.shear_x = 0.4, .shear_y = -0.25}},
        {"shear expand", {.angle = 10, .shear_x = -0.6, .framing = Framing::expand}, kNaturalSize},
        {"anisotropic", {.angle = -33, .scale_x = 1.7, .scale_y = -0.6, .pivot_x = 0.2, .pivot_y = 0.9}},
        {"free matrix", {.matrix = Affine{0.8, -0.3, 4.2, 0.25, 1.1, -2.6}}},
        {"letterbox to 41x30", {.fit = Fit::letterbox}, {41, 30}},
        {"letterbox to 11x50", {.fit = Fit::letterbox, .align_x = 0, .align_y = 0.8}, {11, 50}},
        {"stretch to 23x37", {.fit = Fit::stretch}, {23, 37}},
        {"crop to 40x30", {.fit = Fit::crop, .align_x = 0.2, .align_y = 0.7}, {40, 30}},
        {"none to 50x19", {.fit = Fit::none, .align_x = 0.25, .align_y = 0.9}, {50, 19}},
        {"25 expand to 31x31", {.angle = 25, .framing = Framing::expand}, {31, 31}},
        {"40, pixel aspect 16/15",
         {.angle = 40, .framing = Framing::expand},
         kNaturalSize,
         16 / 15.0,
         16 / 15.0},
        {"pixel aspect 2 to 1", {.angle = 8}, {40, 30}, 2, 1},
        {"half", {.fit = Fit::stretch}, {32, 24}},
        {"eighth", {.fit = Fit::stretch}, {8, 6}},
        {"30, scale 1/8",
         {.angle = 30, .scale_x = 0.125, .scale_y = 0.125, .framing = Framing::expand},
         kNaturalSize},
        {"scale 0.3 x 0.8, 21", {.angle = 21, .scale_x = 0.3, .scale_y = 0.8}},
        {"scale 1.9 x 0.2, -50", {.angle = -50, .scale_x = 1.9, .scale_y = 0.2}},
        {"sheared, scale 0.45",
         {.angle = 5, .scale_x = 0.45, .scale_y = 0.4, .shear_x = 0.9, .framing = Framing::expand},
         kNaturalSize},
        // More source pixels than kMaxTaps across.
        {"matrix, 1/37 x 1/41", {.matrix = Affine{1 / 37.3, 0.004, 1.1, -0.003, 1 / 41.7, 0.7}}, {4, 3}},
        {"orientation 270, 17 expand",
         {.orientation = Orientation::turn_270, .angle = 17, .framing = Framing::expand},
         kNaturalSize},
        {"orientation ur-ll, letterbox to 40x30, pivot",
         {.orientation = Orientation::ur_ll, .angle = 8, .pivot_x = 0.2, .pivot_y = 0.9},
         {40, 30}},
        {"orientation 90, matrix",
         {.orientation = Orientation::turn_90, .matrix = Affine{0.8, -0.3, 4.2, 0.25, 1.1, -2.6}}},
        {"picture at 17, orientation 180",
         {.picture = {0.9, -0.3, 0.2, 0.3, 0.9, -0.1}, .orientation = Orientation::turn_180}},
        fields({"fields, orientation 90", {.orientation = Orientation::turn_90}, kNaturalSize}),
        fields({"fields, 17", {.angle = 17}}),
        fields({"fields, -140 expand", {.angle = -140, .framing = Framing::expand}, kNaturalSize}),
        fields({"fields, flip y", {.scale_y = -1}}),
        fields({"fields, offset y 1", {.offset_y = 1}}),
        fields({"fields, offset (2.5, -0.5)", {.offset_x = 2.5, .offset_y = -0.5}}),
        fields({"fields, 90 expand", {.angle = 90, .framing = Framing::expand}, kNaturalSize}),
        fields({"fields, scale 0.5", {.scale_x = 0.5, .scale_y = 0.5}}),
        fields({"fields, letterbox to 41x33", {.angle = -3}, {41, 33}}),
        fields({"fields, sheared", {.shear_x = -0.3, .shear_y = 0.2}}),
        fields({"fields, to one row", {}, {9, 1}}),
        fields(cut_out(1, 1, {"fields, cut out (1, 1), 8", {.angle = 8}})),
        fields(cut_out(0, 2, {"fields, cut out (0, 2), -20", {.angle = -20, .scale_x = 1.2}})),
        fields(cut_out(1, 3, {"fields, cut out (1, 3), offset 0.5", {.offset_x = 0.5, .offset_y = 0.5}})),
        cut_out(1, 1, {"cut out (1, 1), 17", {.angle = 17}}),
        cut_out(1, 0, {"cut out (1, 0), scale 2.3", {.scale_x = 2.3, .scale_y = 2.3}}),
        cut_out(0, 1, {"cut out (0, 1), scale 0.4", {.scale_x = 0.4, .scale_y = 0.4}}),
    };
    all.insert(all.end(), std::begin(more), std::end(more));
    return all;
  }();
  return list;
}

constexpr Size kSizes[] = {{1, 1}, {1, 2}, {7, 1}, {5, 3}, {16, 16}, {33, 21}, {64, 48}};

// Of the cases in a row, a pair of formats runs one in so many.
int share_of(FormatPair formats) {
  return is_basic(formats) ? 2 : 11;
}

bool is_cut_out(const FrameDesc& frame) {
  return frame.skip_x > 0 || frame.skip_y > 0;
}

constexpr uint32_t kBorderColors[] = {0xff000000, 0xff727272, 0x80ff4020, 0xc00080ff, 0x00ffffff};

// Colorimetry and chroma sites, so that all of them meet everything else somewhere in the grid.
void describe(FrameDesc& frame, int variant) {
  constexpr double kLuma[][2] = {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};
  frame.kr = kLuma[variant % 3][0], frame.kb = kLuma[variant % 3][1];
  frame.full_range = variant % 2 == 0;
  if (info(frame.format).family != Family::yuv) return;
  frame.cosited_x = variant % 4 >= 1;
  frame.cosited_y = variant % 4 == 2;
}

GridCase make_case(FormatPair formats, Interpolation interpolation, const BorderChoice& border,
                   const Geometry& geometry, Size size, int variant) {
  GridCase c{};
  c.params = geometry.params;
  c.params.border = border.border;
  c.params.edge_antialias = border.edge_antialias;
  c.params.interpolation = interpolation;
  c.params.antialias = variant / 4 % 3 != 2;
  c.params.border_color = kBorderColors[variant % std::size(kBorderColors)];
  c.src = {
      .format = formats.src, .width = size.width, .height = size.height, .pixel_aspect = geometry.src_aspect};
  describe(c.src, variant);
  c.src.interlaced = geometry.interlaced;
  c.src.skip_x = geometry.skip_x % info(formats.src).block_width();
  c.src.skip_y = geometry.skip_y % (info(formats.src).block_height() * (geometry.interlaced ? 2 : 1));
  c.dst = c.src;
  c.dst.skip_x = c.dst.skip_y = 0;
  c.dst.format = formats.dst;
  c.dst.pixel_aspect = geometry.dst_aspect;
  if (variant % 5 == 4) c.dst.cosited_x = false;  // a stream may change its chroma site on the way
  const Size out = geometry.size == kSameSize      ? size
                   : geometry.size == kNaturalSize ? natural_size(c.params, c.src, geometry.dst_aspect)
                                                   : geometry.size;
  c.dst.width = out.width, c.dst.height = out.height;
  c.src_slack = variant % 3 * 5;
  c.dst_slack = variant % 4 * 3;
  c.seed = static_cast<uint32_t>(variant) + 1;
  c.smooth = variant % 3 == 1;
  c.name = std::string(info(formats.src).name) + " -> " + std::string(info(formats.dst).name) + ", " +
           name_of(interpolation) + (c.params.antialias ? ", " : " aliased, ") + border.name + ", " +
           geometry.name + ", " + std::to_string(size.width) + "x" + std::to_string(size.height);
  return c;
}

// Calls `run` with the cases in their order, but for those that `skip` does not want by their number.
void for_each(FormatPair formats, const std::vector<Geometry>& geometries,
              const std::function<Interpolation(int)>& interpolation, const std::function<bool(int)>& skip,
              const std::function<void(const GridCase&)>& run) {
  int variant = static_cast<int>(formats.src) + 3 * static_cast<int>(formats.dst), number = 0;
  for (const BorderChoice& border : kBorders) {
    if (border.border == Border::transparent && !info(formats.dst).has_alpha()) continue;
    for (const Geometry& geometry : geometries)
      for (const Size size : kSizes) {
        ++variant;
        if (skip(number++)) continue;
        // The largest frames cost most of the time: geometry is shown on them by the formats as they are.
        if (formats.src != formats.dst && size == kSizes[std::size(kSizes) - 1]) continue;
        const GridCase c = make_case(formats, interpolation(variant), border, geometry, size, variant);
        // A format without blocks has no corner inside one.
        if (geometry.skip_x + geometry.skip_y == 0 || is_cut_out(c.src)) run(c);
      }
  }
}

}  // namespace

const std::vector<FormatPair>& grid_formats() {
  static const std::vector<FormatPair> list = [] {
    std::vector<FormatPair> pairs;
    std::vector<Format> family;
    for (const FormatInfo& f : all_formats()) {
      pairs.push_back({f.format, f.format});
      if (f.family == Family::rgb) family.push_back(f.format);
    }
    for (size_t k = 0; k < family.size(); ++k) pairs.push_back({family[k], family[(k + 1) % family.size()]});
    const FormatPair more[] = {
        {Format::RGB, Format::RGBA},
        {Format::RGBA, Format::RGBx},
        {Format::RGB, Format::BGRx},
        {Format::RGBx, Format::BGR},
        {Format::ABGR, Format::RGB},
        {Format::BGRx, Format::ARGB},
        {Format::BGRA, Format::xRGB},
        {Format::RGBA, Format::RGB10A2_LE},
        {Format::RGB10A2_LE, Format::GBR_16LE},
        {Format::GBR_10LE, Format::RGBA64_LE},
        {Format::RGBA64_LE, Format::RGBA},
        {Format::BGR10A2_LE, Format::RGBA64_LE},
        {Format::RGBA64_LE, Format::BGR},
        {Format::GBRA, Format::RGBA64_LE},
        {Format::RGBP, Format::BGRA},
        {Format::xRGB, Format::RGB10A2_LE},
        {Format::GBR_12LE, Format::RGBx},
        {Format::GBRA, Format::RGBP},
        {Format::RGB, Format::GBR_12LE},
    };
    pairs.insert(pairs.end(), std::begin(more), std::end(more));
    return pairs;
  }();
  return list;
}

bool is_basic(FormatPair formats) {
  constexpr Format kBasic[] = {Format::GRAY8, Format::RGB,  Format::RGBA,
                               Format::NV12,  Format::I420, Format::YUY2};
  return formats.src == formats.dst &&
         std::find(std::begin(kBasic), std::end(kBasic), formats.src) != std::end(kBasic);
}

const char* name_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::nearest:
      return "nearest";
    case Interpolation::bilinear:
      return "bilinear";
    case Interpolation::bicubic:
      return "bicubic";
    case Interpolation::lanczos:
      break;
  }
  return "lanczos";
}

TestFrame GridCase::source() const {
  TestFrame frame(src, src_slack, true);
  if (smooth)
    fill_smooth(frame);
  else
    fill_noise(frame, seed);
  return frame;
}

void for_each_case(FormatPair formats, Interpolation interpolation,
                   const std::function<void(const GridCase&)>& run) {
  const int share = share_of(formats);
  const int first = 2 * static_cast<int>(formats.src) + 5 * static_cast<int>(formats.dst) +
                    3 * static_cast<int>(interpolation);
  for_each(
      formats, geometries(), [&](int) { return interpolation; },
      [&](int number) { return (number + first) % share != 0; }, run);
}

void for_each_copy(FormatPair formats, const std::function<void(const GridCase&)>& run) {
  for_each(
      formats, copies(), [](int variant) { return kInterpolations[variant % std::size(kInterpolations)]; },
      [](int) { return false; }, run);
}

}  // namespace cudawarp

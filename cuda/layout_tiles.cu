// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "layout.h"

namespace cudawarp {
namespace {

int64_t lower(int64_t step, int count) {
  return std::min<int64_t>(0, step * (count - 1));
}

// Of shared memory.
int upright_bytes(const KernelPass& k, int bytes) {
  const int across = kUprightUnits * 4 / bytes, taps = k.plan.taps;
  return k.table_at + across * (4 + 2 * taps) + k.rows * ((4 * taps + 4 + 15) / 16 * 16);
}

// What a block needs to fill its box.
void set_box_source(KernelPass& k) {
  const PassPlan& p = k.plan;
  set_region(k);
  set_border_texel(k);
  set_permutation(k);
  k.wide = true;
  for (int c = 0; c < (is_packed(p.store) ? 1 : p.src_channels); ++c)
    k.wide = k.wide &&
             (reinterpret_cast<uintptr_t>(k.src.data[c]) | static_cast<uintptr_t>(k.src.pitch[c])) % 16 == 0;
}

// The box of the source that a block of so many pixels reads, `taps` to each of them. False where it is huge.
bool set_box(KernelPass& k, int bytes, int width, int height) {
  const PassPlan& p = k.plan;
  constexpr int64_t kMost = 1 << 16;
  const auto extent = [&](int64_t per_i, int64_t per_j, int64_t& low, int64_t& high) {
    low = lower(per_i, width) + lower(per_j, height), high = -lower(-per_i, width) - lower(-per_j, height);
    return static_cast<int32_t>(std::min<int64_t>((high - low) >> 32, kMost)) + 1 + p.taps;
  };
  k.box_w = extent(p.x_per_i, p.x_per_j, k.low_x, k.high_x);
  k.box_h = extent(p.y_per_i, p.y_per_j, k.low_y, k.high_y);
  // 16 bytes more on the left where rows begin at multiples of it, and words that are read beyond the taps.
  k.box_pitch = (k.box_w * bytes + 15 + 12 + 15) / 16 * 16;
  return int64_t{k.box_pitch} * k.box_h <= kMost;
}

void set_first_tap(KernelPass& k) {
  const PassPlan& p = k.plan;
  k.tap_x = k.tap_y = -kHalfPixel - (p.taps / 2 - 1) * (2 * kHalfPixel);
  if (p.shrinks) k.tap_x = kHalfPixel - 1 - p.footprint.span_x, k.tap_y = kHalfPixel - 1 - p.footprint.span_y;
}

// Bytes of two neighbours of 4-byte texels, channels in canonical order, and from there to an output pixel.
void set_cell_order(KernelPass& k) {
  const PassPlan& p = k.plan;
  const auto both = [](uint32_t byte) { return byte | (byte + 4) << 4; };
  const auto at = [&](int channel) { return (p.load_select >> (4 * channel)) & 3; };
  k.low_cell = both(at(0)) | both(at(1)) << 8, k.high_cell = both(at(2)) | both(at(3)) << 8;
  k.cell_order = p.store_select;
}

// Whether a pass is a filter of bytes in integers, by `taps` along each axis.
bool is_filter(const KernelPass& k, int taps) {
  const PassPlan& p = k.plan;
  const bool words = p.store == Packing::samples16 || p.store == Packing::words2;
  return same_texels(k) > 0 && !words && p.integers && p.taps >= 4 && p.taps == taps;
}

// ---- maps that keep columns and rows apart

// Chooses the rows of a block: as many as there is room for. False where there is none.
bool set_upright(KernelPass& k, int bytes) {
  const int across = kUprightUnits * 4 / bytes;
  set_first_tap(k);
  for (k.row_shift = 5; k.row_shift >= 2; --k.row_shift) {
    k.rows = 1 << k.row_shift;
    if (!set_box(k, bytes, k.swapped ? k.rows : across, k.swapped ? across : k.rows)) continue;
    k.lines_at = k.box_pitch * k.box_h + 16;
    k.table_at = k.lines_at + kLinePitch * k.box_h;
    const int most = k.row_shift > 2 ? kUprightBytes : kMostUprightBytes;
    if (upright_bytes(k, bytes) <= most) return true;
  }
  return false;
}

bool set_upright(KernelArgs& args) {
  for (int n = 0; n < args.passes; ++n) {
    KernelPass& k = args.pass[n];
    const PassPlan& p = k.plan;
    k.swapped = p.x_per_i == 0 && p.y_per_j == 0;
    const bool apart = k.swapped || (p.x_per_j == 0 && p.y_per_i == 0);
    if (!apart || !is_filter(k, args.pass[0].plan.taps) || !has_border_texel(k.plan)) return false;
    if (!set_upright(k, stored_bytes(p.store))) return false;
  }
  return true;
}

void lay_out_upright(KernelPass& k, Interpolation interpolation, int& blocks) {
  const int across = kUprightUnits * 4 / stored_bytes(k.plan.store);
  k.interpolation = interpolation;
  set_cell_order(k);
  set_box_source(k);
  set_blocks(k, k.swapped ? k.rows : across, k.swapped ? across : k.rows, blocks);
}

// ---- maps that turn

// The cells of a block and its box. False where there is no room for them.
bool set_turned(KernelPass& k, int texel) {
  const int chunk = texel == 4 ? 2 : 4 / texel;
  set_first_tap(k);
  if (!set_box(k, texel, turned_width(texel), kTurnedHeight)) return false;
  k.chunks = (k.box_w + 2 * chunk - 2) / chunk;
  k.per_chunks = static_cast<uint32_t>((uint64_t{1} << 32) / k.chunks + 1);
  k.cell_pitch = (k.chunks * 16 + 95) / 128 * 128 + 32;  // other banks for other rows
  k.cells_at = k.box_pitch * k.box_h;
  return k.cells_at + int64_t{k.cell_pitch} * k.box_h <= kTurnedBytes;
}

bool set_turned(KernelArgs& args) {
  for (int n = 0; n < args.passes; ++n) {
    KernelPass& k = args.pass[n];
    if (!is_filter(k, args.pass[0].plan.taps) || k.plan.shrinks || !has_border_texel(k.plan)) return false;
    if (!set_turned(k, stored_bytes(k.plan.store))) return false;
  }
  return true;
}

void lay_out_turned(KernelPass& k, int& blocks) {
  const PassPlan& p = k.plan;
  const int texel = stored_bytes(p.store);
  for (int n = 0; n < turned_width(texel) / 8; ++n) {
    const int column = texel == 2 ? n % 2 + n / 2 * 16 : 8 * n;
    k.pixel_x[n] = column * p.x_per_i, k.pixel_y[n] = column * p.y_per_i;
  }
  k.round_x = 4 * kTurnedWarps * p.x_per_j, k.round_y = 4 * kTurnedWarps * p.y_per_j;
  set_cell_order(k);
  set_box_source(k);
  set_blocks(k, turned_width(texel), kTurnedHeight, blocks);
}

// How many lanes of a warp of 8x4 pixels read one bank of shared memory at once, where rows of the tile lie
// so many bytes apart.
int lanes_of_bank(const PassPlan& p, int bytes, int pitch) {
  int32_t words[32], lanes[32] = {};
  for (int n = 0; n < 32; ++n) {
    const int64_t x = n % 8 * p.x_per_i + n / 8 * p.x_per_j, y = n % 8 * p.y_per_i + n / 8 * p.y_per_j;
    words[n] = (static_cast<int32_t>(x >> 32) * bytes + static_cast<int32_t>(y >> 32) * pitch) >> 2;
  }
  std::sort(words, words + 32);
  for (int n = 0; n < 32; ++n)
    if (n == 0 || words[n] != words[n - 1]) ++lanes[words[n] & 31];
  return *std::max_element(lanes, lanes + 32);
}

// The best of the pitches from `least` on for which there is room.
int best_pitch(const PassPlan& p, int bytes, int least, int64_t most) {
  int best = least, lanes = 32;
  for (int pitch = least; pitch <= most && pitch < least + 128; pitch += 16)
    if (const int n = lanes_of_bank(p, bytes, pitch); n < lanes) best = pitch, lanes = n;
  return best;
}

// Averages over turned footprints: a tile and the box of the source that its footprints lie in, behind the
// pieces of the kernels. False where there is no room for one.
bool set_average(KernelPass& k, int bytes, Interpolation interpolation) {
  const PassPlan& p = k.plan;
  const Footprint& f = p.footprint;
  const int planes = is_packed(p.store) ? 1 : p.src_channels;
  constexpr int64_t kPixel = 2 * kHalfPixel;
  // From the source point's pixel to where a row of taps may begin, and to the first row.
  const int64_t before_x = std::max(f.span_x, p.taps * kPixel - f.span_x) + kPixel, before_y = f.span_y;
  k.tap_x = kHalfPixel - 1 - before_x, k.tap_y = kHalfPixel - 1 - before_y;
  const auto across = [](int64_t q32) { return static_cast<int32_t>((q32 + kPixel - 1) >> 32); };
  const int columns = across(before_x + f.span_x) + 1, rows = p.turned.rows + 1;
  const bool tents = interpolation == Interpolation::bilinear, same = f.half1 == f.half2;
  const int most_copies = tents ? 1 : 16 * kLines / p.turned.lines / (same ? 1 : 2);
  constexpr struct {
    int warps_x, warps_y, pixels;
  } kTiles[] = {{1, 8, 8}, {1, 8, 4}, {2, 4, 2}, {2, 4, 1}, {2, 2, 1}};
  constexpr int64_t kManyBlocks = 1500;  // fewer leave a large GPU idle
  for (const auto& tile : kTiles) {
    k.warps_x = tile.warps_x, k.warps_y = tile.warps_y, k.pixels = tile.pixels;
    const int width = 8 * tile.warps_x * tile.pixels, height = 4 * tile.warps_y;
    if (tile.pixels > 1 && int64_t{p.dst_w} * p.dst_h < kManyBlocks * width * height) continue;
    const auto extent = [&](int64_t per_i, int64_t per_j, int64_t& low, int64_t& high) {
      low = lower(per_i, width) + lower(per_j, height);
      high = -lower(-per_i, width) - lower(-per_j, height);
      return static_cast<int32_t>(std::min<int64_t>((high - low) >> 32, kAverageBytes)) + 1;
    };
    k.box_w = extent(p.x_per_i, p.x_per_j, k.low_x, k.high_x) + columns;
    k.box_h = extent(p.y_per_i, p.y_per_j, k.low_y, k.high_y) + rows;
    k.box_pitch = (k.box_w * bytes + 15 + 4 + 15) / 16 * 16;
    k.step_x = 8 * p.x_per_i, k.step_y = 8 * p.y_per_i;
    for (const int copies : {most_copies, most_copies / 2}) {
      if (copies == 0) continue;
      const int lines = tents ? 0 : (p.turned.lines + 1) * copies * 8;
      k.line_copies = copies, k.second_lines = same ? 0 : lines;
      k.tile_at = ((same ? lines : 2 * lines) + 15) / 16 * 16;
      const int64_t most = (kAverageBytes - 16 - k.tile_at) / (int64_t{k.box_h} * planes);
      if (k.box_pitch > most) continue;
      k.box_pitch = best_pitch(p, bytes, k.box_pitch, most);
      return true;
    }
  }
  return false;
}

// Whether all passes can be done so, which are set then.
bool set_averages(KernelArgs& args, Interpolation interpolation) {
  for (int n = 0; n < args.passes; ++n) {
    KernelPass& k = args.pass[n];
    const PassPlan& p = k.plan;
    const int bytes = same_texels(k);
    if (bytes == 0 || !p.integers || !p.shrinks || p.footprint.upright || p.taps != args.pass[0].plan.taps)
      return false;
    if (!has_border_texel(k.plan) || !set_average(k, bytes, interpolation)) return false;
  }
  return true;
}

void lay_out_average(KernelPass& k, Interpolation interpolation, int& blocks) {
  k.interpolation = interpolation;
  set_box_source(k);
  set_blocks(k, 8 * k.warps_x * k.pixels, 4 * k.warps_y, blocks);
}

}  // namespace

Launch lay_out_tiles(KernelArgs& args, Interpolation interpolation) {
  Launch launch{};
  if (set_upright(args)) {
    launch.kernel = upright_kernel_of(args, args.pass[0].plan.taps), launch.threads = kUprightThreads;
    for (int n = 0; n < args.passes; ++n) {
      KernelPass& k = args.pass[n];
      lay_out_upright(k, interpolation, launch.blocks);
      launch.shared_bytes = std::max(launch.shared_bytes, upright_bytes(k, stored_bytes(k.plan.store)));
    }
  } else if (set_turned(args)) {
    launch.kernel = turned_kernel_of(args, args.pass[0].plan.taps), launch.threads = kTurnedThreads;
    for (int n = 0; n < args.passes; ++n) {
      KernelPass& k = args.pass[n];
      lay_out_turned(k, launch.blocks);
      launch.shared_bytes = std::max(launch.shared_bytes, k.cells_at + k.cell_pitch * k.box_h);
    }
  } else if (set_averages(args, interpolation)) {
    for (int n = 0; n < args.passes; ++n) {
      KernelPass& k = args.pass[n];
      lay_out_average(k, interpolation, launch.blocks);
      const int planes = is_packed(k.plan.store) ? 1 : k.plan.src_channels;
      launch.shared_bytes = std::max(launch.shared_bytes, k.tile_at + k.box_pitch * k.box_h * planes + 16);
    }
    launch.kernel = average_kernel_of(args), launch.threads = kTileThreads;
  }
  return launch;
}

}  // namespace cudawarp

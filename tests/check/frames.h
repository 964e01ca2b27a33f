// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in host memory for tests: canaries around every row, and content to fill them with.
#pragma once

#include <vector>

#include "cuda/warp.h"

namespace cudawarp {

// Where sample k of the pixels of a group lies, and how wide it is. Sample 3 of RGBx and its like is the byte
// that means nothing.
struct SamplePlace {
  int plane, at, step, bytes, shift, bits;
  bool padding;
  int largest() const { return (1 << bits) - 1; }
};
SamplePlace sample_place(const FormatInfo& format, int group, int k);

class TestFrame {
 public:
  // Rows are `slack` bytes further apart than they need be, and then up to a multiple of `pitch_multiple`.
  // The last row ends where its memory ends if `last_byte` is set, so that a memory checker sees a read
  // beyond it.
  explicit TestFrame(const FrameDesc& desc, int slack = 0, bool last_byte = false, int pitch_multiple = 1);

  const FrameDesc& desc() const { return desc_; }
  const FormatInfo& format() const { return info(desc_.format); }

  // By planes, as stored: with the pixels that a cut-out frame skips.
  int rows(int plane) const { return format().rows(plane, desc_.skip_y + desc_.height); }
  int row_bytes(int plane) const { return format().row_bytes(plane, desc_.skip_x + desc_.width); }
  uint8_t* row(int plane, int y) { return memory_[plane].data() + kGuard + y * pitch_[plane]; }
  const uint8_t* row(int plane, int y) const { return memory_[plane].data() + kGuard + y * pitch_[plane]; }

  // By groups, in pixels of the frame.
  int width(int group) const;
  int height(int group) const;
  int samples(int group) const { return static_cast<int>(place_[group].size()); }
  const SamplePlace& place(int group, int k) const { return place_[group][k]; }

  // Sample k of a pixel as a code value, to read and to write.
  class Sample;
  Sample at(int group, int x, int y, int k = 0);
  // -1 where bits below the sample are set.
  int at(int group, int x, int y, int k = 0) const;

  Image view();
  ConstImage contents() const;

  // Whether no byte outside the rows was written.
  bool intact() const;

  // All the memory of a plane; its first row is kGuard bytes in. For tests that hold a frame elsewhere.
  static constexpr size_t kGuard = 64;
  std::vector<uint8_t>& memory(int plane) { return memory_[plane]; }
  const std::vector<uint8_t>& memory(int plane) const { return memory_[plane]; }

 private:
  size_t index(int group, const SamplePlace& s, int x, int y) const;

  FrameDesc desc_;
  std::vector<SamplePlace> place_[kMaxGroups];
  std::vector<uint8_t> memory_[kMaxPlanes];
  ptrdiff_t pitch_[kMaxPlanes] = {};
};

class TestFrame::Sample {
 public:
  Sample(TestFrame& frame, int group, int x, int y, int k) : f_(frame), g_(group), x_(x), y_(y), k_(k) {}
  operator int() const { return static_cast<const TestFrame&>(f_).at(g_, x_, y_, k_); }
  Sample& operator=(int value);
  Sample& operator=(const Sample& from) { return *this = static_cast<int>(from); }

 private:
  TestFrame& f_;
  int g_, x_, y_, k_;
};

inline TestFrame::Sample TestFrame::at(int group, int x, int y, int k) {
  return {*this, group, x, y, k};
}

// Random samples; alpha is often nothing or opaque.
void fill_noise(TestFrame& frame, uint32_t seed);
// Waves, different in every component.
void fill_smooth(TestFrame& frame);
// Every pixel of every plane, in the order of components that BorderColor and oracle::Color have; a byte that
// means nothing is 255.
void fill_color(TestFrame& frame, const std::array<int, kMaxChannels>& color);

// Runs jobs one after another, last one first: their order must not matter.
void backwards(int count, const std::function<void(int)>& job);

// The plan, or a failed check with its words.
WarpPlan plan_or_fail(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst);

// Fails where pixel (i, j) of the pass does not read the source at (x, y), in pixels of the pass's grid.
void assert_reads(const PassPlan& pass, int i, int j, double x, double y);

// The CPU engine's output for a whole warp.
TestFrame warped(const WarpParams& params, const TestFrame& src, const FrameDesc& dst, int slack = 0);

// Fails where a sample of the frames, which are of one format and size, differs by more than `tolerance`.
void assert_same(const TestFrame& want, const TestFrame& got, const char* words, int tolerance = 0);

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in host memory for tests: canaries around every row, and content to fill them with.
#pragma once

#include <vector>

#include "cuda/warp.h"

namespace cudawarp {

class TestFrame {
 public:
  // Rows are `slack` bytes further apart than they need be, and then up to a multiple of `pitch_multiple`.
  // The last row ends where its memory ends if `last_byte` is set, so that a memory checker sees a read
  // beyond it.
  explicit TestFrame(const FrameDesc& desc, int slack = 0, bool last_byte = false, int pitch_multiple = 1);

  const FrameDesc& desc() const { return desc_; }
  int width(int plane) const { return info(desc_.format).plane_width(plane, desc_.width); }
  int height(int plane) const { return info(desc_.format).plane_height(plane, desc_.height); }
  int bytes(int plane) const { return info(desc_.format).plane[plane].bytes; }  // of a pixel
  int row_bytes(int plane) const { return width(plane) * bytes(plane); }

  // Byte k of a pixel.
  uint8_t& at(int plane, int x, int y, int k = 0) { return memory_[plane][index(plane, x, y, k)]; }
  uint8_t at(int plane, int x, int y, int k = 0) const { return memory_[plane][index(plane, x, y, k)]; }

  Image view();
  ConstImage contents() const;

  // Whether no byte outside the rows was written.
  bool intact() const;

  // All the memory of a plane; its first row is kGuard bytes in. For tests that hold a frame elsewhere.
  static constexpr size_t kGuard = 64;
  std::vector<uint8_t>& memory(int plane) { return memory_[plane]; }
  const std::vector<uint8_t>& memory(int plane) const { return memory_[plane]; }

 private:
  size_t index(int plane, int x, int y, int k) const {
    return kGuard + y * pitch_[plane] + static_cast<size_t>(x) * bytes(plane) + k;
  }

  FrameDesc desc_;
  std::vector<uint8_t> memory_[kMaxPlanes];
  ptrdiff_t pitch_[kMaxPlanes] = {};
};

// Random bytes; alpha is often 0 or 255.
void fill_noise(TestFrame& frame, uint32_t seed);
// Waves, different in every component.
void fill_smooth(TestFrame& frame);
// Every pixel of every plane, in the order of components that BorderColor and oracle::Color have.
void fill_color(TestFrame& frame, std::array<uint8_t, 4> color);

// Runs jobs one after another, last one first: their order must not matter.
void backwards(int count, const std::function<void(int)>& job);

// The plan, or a failed check with its words.
WarpPlan plan_or_fail(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst);

// The CPU engine's output for a whole warp.
TestFrame warped(const WarpParams& params, const TestFrame& src, const FrameDesc& dst, int slack = 0);

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frames.h"

#include <algorithm>
#include <cmath>

#include <gst/check/gstcheck.h>  // last: its macro `fail` breaks standard headers

namespace cudawarp {
namespace {

constexpr uint8_t kCanary = 0xc5;

// xorshift32 of Marsaglia.
uint32_t next(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

template <class Fill>
void fill(TestFrame& frame, Fill value) {
  const FormatInfo& format = info(frame.desc().format);
  for (int p = 0; p < format.planes; ++p)
    for (int y = 0; y < frame.height(p); ++y)
      for (int x = 0; x < frame.width(p); ++x)
        for (int k = 0; k < frame.bytes(p); ++k)
          frame.at(p, x, y, k) = value(format.plane[p].components[k], p, x, y);
}

}  // namespace

TestFrame::TestFrame(const FrameDesc& desc, int slack, bool last_byte, int pitch_multiple) : desc_(desc) {
  for (int p = 0; p < info(desc.format).planes; ++p) {
    pitch_[p] = (row_bytes(p) + slack + pitch_multiple - 1) / pitch_multiple * pitch_multiple;
    const size_t end = kGuard + (height(p) - 1) * pitch_[p] + row_bytes(p);
    memory_[p].assign(last_byte ? end : end + kGuard, kCanary);
    memory_[p].shrink_to_fit();
  }
}

Image TestFrame::view() {
  Image image;
  for (int p = 0; p < info(desc_.format).planes; ++p)
    image.plane[p] = {memory_[p].data() + kGuard, pitch_[p]};
  return image;
}

ConstImage TestFrame::contents() const {
  ConstImage image;
  for (int p = 0; p < info(desc_.format).planes; ++p)
    image.plane[p] = {memory_[p].data() + kGuard, pitch_[p]};
  return image;
}

bool TestFrame::intact() const {
  for (int p = 0; p < info(desc_.format).planes; ++p) {
    const uint8_t *at = memory_[p].data(), *end = at + memory_[p].size();
    const auto untouched = [](uint8_t b) { return b == kCanary; };
    if (!std::all_of(at, at + kGuard, untouched)) return false;
    at += kGuard;
    for (int y = 0; y < height(p); ++y, at += pitch_[p]) {
      const uint8_t* next_row = y + 1 < height(p) ? at + pitch_[p] : end;
      if (!std::all_of(at + row_bytes(p), next_row, untouched)) return false;
    }
  }
  return true;
}

void fill_noise(TestFrame& frame, uint32_t seed) {
  uint32_t state = seed * 2654435761u + 1;
  fill(frame, [&](Component c, int, int, int) -> uint8_t {
    const uint32_t bits = next(state) >> 8;
    if (c == Component::A && bits % 4 == 0) return bits % 8 ? 0 : 255;
    return static_cast<uint8_t>(bits >> 8);
  });
}

void fill_smooth(TestFrame& frame) {
  fill(frame, [](Component c, int p, int x, int y) {
    const double wave = std::sin(0.21 * x + 0.9 * static_cast<int>(c) + p) * std::cos(0.13 * y - 0.4 * p);
    return static_cast<uint8_t>(std::lround(128 + 120 * wave));
  });
}

void fill_color(TestFrame& frame, std::array<uint8_t, 4> color) {
  fill(frame, [&](Component c, int, int, int) -> uint8_t {
    return c == Component::padding ? 255 : color[static_cast<int>(c)];
  });
}

void backwards(int count, const std::function<void(int)>& job) {
  for (int k = count; k-- > 0;) job(k);
}

WarpPlan plan_or_fail(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst) {
  const Expected<WarpPlan> plan = make_plan(params, src, dst);
  if (const Error* error = error_of(plan)) ck_abort_msg("no plan: %s", error->words.c_str());
  return std::get<WarpPlan>(plan);
}

TestFrame warped(const WarpParams& params, const TestFrame& src, const FrameDesc& dst, int slack) {
  TestFrame out(dst, slack);
  warp_on_cpu(plan_or_fail(params, src.desc(), dst), src.contents(), out.view(), backwards);
  ck_assert_msg(out.intact(), "wrote outside the rows of the output");
  return out;
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frames.h"

#include <algorithm>
#include <cmath>
#include <cstring>

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

// The index of a sample's component in a colour; -1 where it means nothing.
int component_of(const TestFrame& frame, int group, int k) {
  return frame.place(group, k).padding ? -1 : static_cast<int>(frame.format().group[group].component[k]);
}

template <class Fill>
void fill(TestFrame& frame, Fill value) {
  for (int g = 0; g < frame.format().groups; ++g)
    for (int y = 0; y < frame.height(g); ++y)
      for (int x = 0; x < frame.width(g); ++x)
        for (int k = 0; k < frame.samples(g); ++k)
          frame.at(g, x, y, k) = value(component_of(frame, g, k), frame.place(g, k).largest(), x, y);
}

// Little-endian, as this machine is.
uint32_t load(const uint8_t* at, int bytes) {
  uint32_t word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}

}  // namespace

SamplePlace sample_place(const FormatInfo& f, int group, int k) {
  const Group& g = f.group[group];
  if (g.packing == Packing::bits10)
    return {g.plane[k], 0, g.step, 4, g.at[k], k == 3 ? f.alpha_depth : f.depth, false};
  const bool padding = k >= g.channels;
  const bool alpha = !padding && g.component[k] == Component::A;
  const int bits = padding ? 8 : alpha ? f.alpha_depth : f.depth;
  return {padding ? g.plane[0] : g.plane[k], g.at[k], g.step, bits > 8 ? 2 : 1, f.low_zeros, bits, padding};
}

TestFrame::TestFrame(const FrameDesc& desc, int slack, bool last_byte, int pitch_multiple) : desc_(desc) {
  for (int g = 0; g < format().groups; ++g)
    for (int k = 0; k < format().group[g].channels + format().padding; ++k)
      place_[g].push_back(sample_place(format(), g, k));
  for (int p = 0; p < format().planes; ++p) {
    pitch_[p] = (row_bytes(p) + slack + pitch_multiple - 1) / pitch_multiple * pitch_multiple;
    const size_t end = kGuard + (rows(p) - 1) * pitch_[p] + row_bytes(p);
    memory_[p].assign(last_byte ? end : end + kGuard, kCanary);
    memory_[p].shrink_to_fit();
  }
}

int TestFrame::width(int group) const {
  const int block = 1 << format().group[group].shift_x;
  return (desc_.skip_x % block + desc_.width + block - 1) / block;
}

int TestFrame::height(int group) const {
  const int block = 1 << format().group[group].shift_y;
  return (desc_.skip_y % block + desc_.height + block - 1) / block;
}

size_t TestFrame::index(int group, const SamplePlace& s, int x, int y) const {
  const Group& g = format().group[group];
  return kGuard + ((desc_.skip_y >> g.shift_y) + y) * pitch_[s.plane] +
         static_cast<size_t>((desc_.skip_x >> g.shift_x) + x) * s.step + s.at;
}

int TestFrame::at(int group, int x, int y, int k) const {
  const SamplePlace& s = place_[group][k];
  const uint32_t word = load(&memory_[s.plane][index(group, s, x, y)], s.bytes);
  if (s.bytes == 4) return static_cast<int>(word >> s.shift) & s.largest();
  return word & ((1u << s.shift) - 1) ? -1 : static_cast<int>(word >> s.shift);
}

TestFrame::Sample& TestFrame::Sample::operator=(int value) {
  const SamplePlace& s = f_.place_[g_][k_];
  uint8_t* to = &f_.memory_[s.plane][f_.index(g_, s, x_, y_)];
  uint32_t word = s.bytes == 4 ? load(to, 4) & ~(static_cast<uint32_t>(s.largest()) << s.shift) : 0;
  word |= static_cast<uint32_t>(value) << s.shift;
  std::memcpy(to, &word, s.bytes);
  return *this;
}

Image TestFrame::view() {
  Image image;
  for (int p = 0; p < format().planes; ++p) image.plane[p] = {row(p, 0), pitch_[p]};
  return image;
}

ConstImage TestFrame::contents() const {
  ConstImage image;
  for (int p = 0; p < format().planes; ++p) image.plane[p] = {row(p, 0), pitch_[p]};
  return image;
}

bool TestFrame::intact() const {
  for (int p = 0; p < format().planes; ++p) {
    const uint8_t *at = memory_[p].data(), *end = at + memory_[p].size();
    const auto untouched = [](uint8_t b) { return b == kCanary; };
    if (!std::all_of(at, at + kGuard, untouched)) return false;
    at += kGuard;
    for (int y = 0; y < rows(p); ++y, at += pitch_[p]) {
      const uint8_t* next_row = y + 1 < rows(p) ? at + pitch_[p] : end;
      if (!std::all_of(at + row_bytes(p), next_row, untouched)) return false;
    }
  }
  return true;
}

void fill_noise(TestFrame& frame, uint32_t seed) {
  uint32_t state = seed * 2654435761u + 1;
  fill(frame, [&](int component, int largest, int, int) {
    const uint32_t bits = next(state) >> 8;
    if (component == static_cast<int>(Component::A) && bits % 4 == 0) return bits % 8 ? 0 : largest;
    return static_cast<int>(bits >> 8) & largest;
  });
}

void fill_smooth(TestFrame& frame) {
  fill(frame, [](int component, int largest, int x, int y) {
    const double wave = std::sin(0.21 * x + 0.9 * component) * std::cos(0.13 * y - 0.4 * component);
    return static_cast<int>(std::lround(largest * (0.502 + 0.47 * wave)));
  });
}

void fill_color(TestFrame& frame, const std::array<int, kMaxChannels>& color) {
  fill(frame,
       [&](int component, int largest, int, int) { return component < 0 ? largest : color[component]; });
}

void backwards(int count, const std::function<void(int)>& job) {
  for (int k = count; k-- > 0;) job(k);
}

WarpPlan plan_or_fail(const WarpParams& params, const FrameDesc& src, const FrameDesc& dst) {
  const Expected<WarpPlan> plan = make_plan(params, src, dst);
  if (const Error* error = error_of(plan)) ck_abort_msg("no plan: %s", error->words.c_str());
  return std::get<WarpPlan>(plan);
}

void assert_reads(const PassPlan& p, int i, int j, double x, double y) {
  constexpr double kPixel = 2.0 * kHalfPixel;
  const double got_x = static_cast<double>(p.x0 + p.x_per_i * i + p.x_per_j * j) / kPixel;
  const double got_y = static_cast<double>(p.y0 + p.y_per_i * i + p.y_per_j * j) / kPixel;
  ck_assert_msg(std::abs(got_x - x) < 1e-7 && std::abs(got_y - y) < 1e-7,
                "(%d, %d) reads (%.9f, %.9f), should read (%.9f, %.9f)", i, j, got_x, got_y, x, y);
}

TestFrame warped(const WarpParams& params, const TestFrame& src, const FrameDesc& dst, int slack) {
  TestFrame out(dst, slack);
  warp_on_cpu(plan_or_fail(params, src.desc(), dst), src.contents(), out.view(), backwards);
  ck_assert_msg(out.intact(), "wrote outside the rows of the output");
  return out;
}

void assert_same(const TestFrame& want, const TestFrame& got, const char* words, int tolerance) {
  for (int g = 0; g < want.format().groups; ++g) {
    ck_assert_int_eq(want.width(g), got.width(g));
    ck_assert_int_eq(want.height(g), got.height(g));
    for (int y = 0; y < want.height(g); ++y)
      for (int x = 0; x < want.width(g); ++x)
        for (int k = 0; k < want.samples(g); ++k)
          if (std::abs(want.at(g, x, y, k) - got.at(g, x, y, k)) > tolerance)
            ck_abort_msg("%s: group %d (%d, %d) sample %d is %d, should be %d", words, g, x, y, k,
                         got.at(g, x, y, k), want.at(g, x, y, k));
  }
}

}  // namespace cudawarp

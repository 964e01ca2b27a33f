// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_util.h"

namespace cudawarp::element {

Samples::Samples(const std::string& caps) : info_(info_of(caps_of(caps).get())) {}

Samples::Place Samples::place(const Pixels& pixels, int c, int x, int y) const {
  const Pixels::Plane& plane = pixels.plane[GST_VIDEO_INFO_COMP_PLANE(&info_, c)];
  int shift = static_cast<int>(info_.finfo->shift[c]);
  // GStreamer describes 10 + 10 + 10 + 2 bits in a word without saying where each is.
  if (GST_VIDEO_INFO_FORMAT(&info_) == GST_VIDEO_FORMAT_RGB10A2_LE) shift = 10 * c;
  if (GST_VIDEO_INFO_FORMAT(&info_) == GST_VIDEO_FORMAT_BGR10A2_LE) shift = c == 3 ? 30 : 20 - 10 * c;
  // And the V of P010_10LE and its like as one byte after U (1.22), where it is a word.
  int offset = GST_VIDEO_INFO_COMP_POFFSET(&info_, c);
  if (GST_VIDEO_INFO_COMP_DEPTH(&info_, c) > 8 && offset % 2) offset *= 2;
  const size_t begin = static_cast<size_t>(y) * plane.width * plane.bytes +
                       static_cast<size_t>(x) * GST_VIDEO_INFO_COMP_PSTRIDE(&info_, c) + offset;
  return {begin, shift, (shift + static_cast<int>(GST_VIDEO_INFO_COMP_DEPTH(&info_, c)) + 7) / 8};
}

int Samples::get(const Pixels& pixels, int c, int x, int y) const {
  const Place at = place(pixels, c, x, y);
  const uint8_t* byte = pixels.plane[GST_VIDEO_INFO_COMP_PLANE(&info_, c)].data.data() + at.begin;
  uint32_t word = 0;
  for (int k = 0; k < at.bytes; ++k) word |= static_cast<uint32_t>(byte[k]) << (8 * k);
  return static_cast<int>(word >> at.shift & static_cast<uint32_t>(largest(c)));
}

void Samples::set(Pixels& pixels, int c, int x, int y, int value) const {
  const Place at = place(pixels, c, x, y);
  uint8_t* byte = pixels.plane[GST_VIDEO_INFO_COMP_PLANE(&info_, c)].data.data() + at.begin;
  const uint32_t mask = static_cast<uint32_t>(largest(c)) << at.shift,
                 word = static_cast<uint32_t>(value) << at.shift & mask;
  for (int k = 0; k < at.bytes; ++k)
    byte[k] = static_cast<uint8_t>((byte[k] & ~(mask >> (8 * k))) | word >> (8 * k));
}

void Samples::fill(Pixels& pixels, int c, int value) const {
  for (int y = 0; y < height(c); ++y)
    for (int x = 0; x < width(c); ++x) set(pixels, c, x, y, value);
}

}  // namespace cudawarp::element

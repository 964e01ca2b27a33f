// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Maps, as tests of metas compute them and as buffers carry them. Include this last, as element_util.h.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "element_util.h"

namespace cudawarp::element {

// a, b, tx, c, d, ty: x' = a x + b y + tx, y' = c x + d y + ty.
using Map = std::array<double, 6>;
constexpr Map kSame = {1, 0, 0, 0, 1, 0};

inline Map operator*(const Map& l, const Map& r) {
  return {l[0] * r[0] + l[1] * r[3], l[0] * r[1] + l[1] * r[4], l[0] * r[2] + l[1] * r[5] + l[2],
          l[3] * r[0] + l[4] * r[3], l[3] * r[1] + l[4] * r[4], l[3] * r[2] + l[4] * r[5] + l[5]};
}
inline Map move(double x, double y) {
  return {1, 0, x, 0, 1, y};
}
inline Map zoom(double x, double y) {
  return {x, 0, 0, 0, y, 0};
}
inline Map turn(double degrees) {  // clockwise, y down
  const double t = degrees / 180 * std::numbers::pi;
  return {std::cos(t), -std::sin(t), 0, std::sin(t), std::cos(t), 0};
}
inline Map about(double x, double y, const Map& m) {
  return move(x, y) * m * move(-x, -y);
}

inline void assert_near(const Map& got, const Map& want, const std::string& what, double tolerance = 1e-8) {
  for (int k = 0; k < 6; ++k)
    ck_assert_msg(std::abs(got[k] - want[k]) <= tolerance, "%s: number %d is %.12g, not %.12g", what.c_str(),
                  k, got[k], want[k]);
}

inline void add_crop(const BufferPtr& buffer, guint x, guint y, guint width, guint height) {
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = x, crop->y = y, crop->width = width, crop->height = height;
}

inline const char* const kMatrix = "GstCudaWarpMatrix";  // as applications know it

// That of a buffer, which has one, from a frame of this size.
inline Map matrix_of(GstBuffer* buffer, int width, int height) {
  ck_assert_uint_eq(gst_buffer_get_n_meta(buffer, gst_meta_get_info(kMatrix)->api), 1);
  const GstStructure* s = gst_custom_meta_get_structure(gst_buffer_get_custom_meta(buffer, kMatrix));
  ck_assert_int_eq(gst_structure_n_fields(s), 8);
  Map m{};
  double* number = m.data();
  for (const char* name : {"a", "b", "tx", "c", "d", "ty"})
    ck_assert(gst_structure_get_double(s, name, number++));
  int w = 0, h = 0;
  ck_assert(gst_structure_get_int(s, "width", &w) && gst_structure_get_int(s, "height", &h));
  ck_assert_int_eq(w, width);
  ck_assert_int_eq(h, height);
  return m;
}

}  // namespace cudawarp::element

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What buffers carry besides their pixels: what moves with the picture moves with it.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "affine.h"
#include "status.h"

namespace cudawarp {

// A rectangle in whole pixels.
struct Box {
  int x, y, width, height;
  bool operator==(const Box&) const = default;
};

// The upright bounding box of the rectangle's image, in whole pixels, clipped to a frame of this size.
// Nothing where it lies wholly outside. What has no width or height has none after either.
std::optional<Box> mapped_box(const Affine& dst_from_src, double x, double y, double width, double height,
                              int frame_width, int frame_height);

// GstCustomMeta on each output buffer, by this name: how its picture has come about. Its structure has the
// doubles a, b, tx, c, d, ty, x' = a x + b y + tx, y' = c x + d y + ty, from pixels of the frame that came to
// the first cudawarp, as it is stored, to pixels of this buffer, and the ints width and height of that frame.
// Elements that scale video take it along, with the numbers of the larger or smaller frame.
inline constexpr const char* kMatrixMeta = "GstCudaWarpMatrix";
// Once, when the plugin is loaded.
void register_matrix_meta();

// Whether the base class is to copy a meta to the output.
bool is_copied(const GstMeta* meta, bool by_base_class);

// Puts on the output what the input carries and the warp moves: regions of interest, analytics, the matrix.
// The map is from pixels of the input buffer's frame.
void carry_metas(GstObject* element, const Affine& dst_from_src, const GstVideoInfo& in_caps,
                 const GstVideoInfo& out_caps, GstBuffer* in, GstBuffer* out);

// The matrix of a buffer that passes through, where it has none. The buffer is writable.
void mark_unchanged(const GstVideoInfo& caps, GstBuffer* buffer);

// The map of the picture within its frame, 0..1 on both axes, that a GstVideoAffineTransformationMeta asks
// for: identity without one. Fails, with words, where it is singular, or no affine map.
Expected<Affine> picture_map(GstBuffer* in);

// Detections of GstAnalyticsRelationMeta (GStreamer 1.24 and later): analytics.cpp, or analytics_none.cpp.
GType analytics_api();  // G_TYPE_INVALID where there are none
void carry_analytics(GstObject* element, const Affine& dst_from_src, int frame_width, int frame_height,
                     GstBuffer* in, GstBuffer* out);

}  // namespace cudawarp

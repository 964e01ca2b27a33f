// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

namespace cudawarp {

// The caps that an ALLOCATION query is about (owned by the query); null where they are no video.
GstCaps* allocation_caps(GstQuery* query, GstVideoInfo& info);

// Makes this pool the query's first, in place of the one that it has, if any. Takes the pool.
void put_pool(GstQuery* query, GstBufferPool* pool, guint size, guint min, guint max);

// Says which metas of a frame's layout are read: GstVideoMeta and GstVideoCropMeta.
void offer_layout_metas(GstQuery* query);

// Decides on a pool of video buffers in system memory for an ALLOCATION query: downstream's, else one's own,
// with GstVideoMeta where downstream reads it. False where the query has no video caps.
bool decide_system_allocation(GstQuery* query);

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

namespace cudawarp {

// The caps that an ALLOCATION query is about (owned by the query); null where they are no video.
GstCaps* allocation_caps(GstQuery* query, GstVideoInfo& info);

// Makes this pool the query's first, in place of the one that it has, if any. Takes the pool.
void put_pool(GstQuery* query, GstBufferPool* pool, guint size, guint min, guint max);

// Offers a pool of video buffers in system memory of this allocator, with at least `buffers`, and the
// allocator itself, for upstreams that make their own. False where the query has no video caps.
bool propose_system_allocation(GstQuery* query, GstAllocator* allocator, guint buffers);

// Asks upstream for at least so many buffers, in whatever memory it has.
void ask_for_buffers(GstQuery* query, guint buffers);

// Whether downstream has put a pool of its own into the query.
bool has_pool(GstQuery* query);

// Whether the pool that has been decided on may run out of buffers.
bool has_end(GstQuery* decided);

// Makes this allocator the query's first, unless downstream names one; its alignment and the like stay.
void prefer_allocator(GstQuery* query, GstAllocator* allocator);

// Says which metas of a frame's layout and place are read: GstVideoMeta, GstVideoCropMeta,
// GstVideoAffineTransformationMeta.
void offer_metas(GstQuery* query);

// Decides on a pool of video buffers in system memory for an ALLOCATION query: downstream's, else one's own,
// with GstVideoMeta where downstream reads it, and `more` buffers than downstream needs, as far as its pool
// has them. False where the query has no video caps.
bool decide_system_allocation(GstQuery* query, guint more);

}  // namespace cudawarp

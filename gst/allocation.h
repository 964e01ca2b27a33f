// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudawarp {

// Decides on a pool of video buffers in system memory for an ALLOCATION query: downstream's, else one's own,
// with GstVideoMeta where downstream reads it. False where the query has no video caps.
bool decide_system_allocation(GstQuery* query);

}  // namespace cudawarp

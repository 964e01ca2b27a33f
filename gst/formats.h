// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Formats in caps: the table's, as far as this GStreamer and its CUDA memory know them.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "format.h"

namespace cudawarp {

// The formats of the table that this GStreamer knows by name, in the table's order.
const std::vector<Format>& known_formats();

// Those of them that a structure allows: all, where it has no format field.
std::vector<Format> formats_in(const GstStructure* s);

// Sets the format field; in CUDA memory only to what that has a layout for. False where nothing is left.
bool set_formats(GstStructure* s, const std::vector<Format>& formats, bool cuda);

// The given formats first, as they are preferred, then what they convert to, the nearest first.
std::vector<Format> with_conversions(const std::vector<Format>& formats);

// The one of `offered` (not empty) in which the least of `src` is lost; with alpha, if `alpha` and any has.
Format nearest_format(const std::vector<Format>& offered, Format src, bool alpha);

}  // namespace cudawarp

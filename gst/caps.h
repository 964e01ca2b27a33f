// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What can be negotiated: formats, memories, sizes.
#pragma once

#include <gst/video/video.h>

#include "plan.h"

namespace cudawarp {

// Caps of both pad templates: all formats that GStreamer knows, in CUDA memory too where `cuda`; frames whose
// lines are all in one buffer. Transfer full.
GstCaps* template_caps(bool cuda);

// What the other pad could have where one has `caps`: any size, convertible formats, either memory (CUDA
// memory only where `cuda`). Transfer full.
GstCaps* transform_caps(GstCaps* caps, bool cuda);

// Fixes the output caps `out` (transfer full, from transform_caps()) for fixed input caps: the input's
// format or the nearest one, its pixel aspect ratio (inverted where the output follows an odd quarter turn)
// and the natural size, as far as downstream names none of them. Transfer full.
GstCaps* fixate_output(GstCaps* in, GstCaps* out, const WarpParams& params);

// Whether caps of an output, not fixed yet, take frames of any size.
bool takes_any_size(const GstCaps* out);

// Whether a stream from `in` to `out`, fixed caps, needs no warp.
bool same_video(const GstCaps* in, const GstCaps* out, const WarpParams& params);

bool is_cuda_caps(const GstCaps* caps);

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What can be negotiated: formats, memories, sizes.
#pragma once

#include <gst/video/video.h>

#include "plan.h"
#include "status.h"

namespace cudawarp {

// Caps of both pad templates: all formats, in CUDA memory too where `cuda`. Transfer full.
GstCaps* template_caps(bool cuda);

// What the other pad could have where one has `caps`: any size, convertible formats, either memory (CUDA
// memory only where `cuda`). Transfer full.
GstCaps* transform_caps(GstCaps* caps, bool cuda);

// Fixes the output caps `out` (transfer full, from transform_caps()) for fixed input caps: the input's
// format, its pixel aspect ratio (inverted where the output follows an odd quarter turn) and the natural
// size, as far as downstream names none of them. Transfer full.
GstCaps* fixate_output(GstCaps* in, GstCaps* out, const WarpParams& params);

// Both sides of the element once their caps are fixed, in GStreamer's words and in the engines'.
struct Stream {
  GstVideoInfo in, out;
  FrameDesc src, dst;
};

// Fails, with words, for what cannot be warped: frames too large for memory, interlaced ones, another
// colorimetry.
Expected<Stream> make_stream(const GstCaps* in, const GstCaps* out);

// Whether nothing would change in such a stream.
bool is_identity(const WarpParams& params, const Stream& stream);

// Whether caps negotiated for `before` may come out otherwise for `after`.
bool change_caps(const Stream& stream, const WarpParams& before, const WarpParams& after);

// A size that would follow from `after` must be one that can be; fails, with words, where it is not.
Status check_natural_size(const Stream& stream, const WarpParams& before, const WarpParams& after);

bool is_cuda_caps(const GstCaps* caps);

}  // namespace cudawarp

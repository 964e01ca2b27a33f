// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Both sides of the element once their caps are fixed.
#pragma once

#include <gst/video/video.h>

#include "plan.h"
#include "status.h"

namespace cudawarp {

// In GStreamer's words and in the engines'; the descriptions are those of progressive frames.
struct Stream {
  GstVideoInfo in, out;
  FrameDesc src, dst;
  bool in_on_device, out_on_device;  // in CUDA memory
};

// Values of interlace-mode that the element takes: those in which a buffer holds all lines of a frame.
inline constexpr const char* kInterlaceModes[] = {"progressive", "interleaved", "mixed"};

// What of caps the element does not know, in words: a format, an interlace-mode, a colorimetry. Empty where
// there is nothing of the kind.
Status unsupported(const GstCaps* caps);

// gst_video_info_from_caps() that heeds `chroma-site` where the caps name no colorimetry: GStreamer (1.22
// to 1.26) then replaces both by what is usual for the size.
bool video_info(GstVideoInfo& info, const GstCaps* caps);

// A progressive frame of such a stream.
FrameDesc frame_desc(const GstVideoInfo& info);

// Whether such a stream may bring frames of this kind; mixed ones bring both.
bool brings(const GstVideoInfo& info, bool interlaced);

// Fails, with words, for what cannot be warped: frames too large for memory, what unsupported() names,
// another interlace-mode or colorimetry at the output.
Expected<Stream> make_stream(const GstCaps* in, const GstCaps* out);

// Whether nothing would change in such a stream.
bool is_identity(const WarpParams& params, const Stream& stream);

// Whether caps negotiated for `before` may come out otherwise for `after`.
bool change_caps(const Stream& stream, const WarpParams& before, const WarpParams& after);

// Fails, with words, where `after` gives this stream a size that cannot be, or no map. With `open_size`
// downstream takes any size, and so gets the natural one.
Status check_change(const Stream& stream, bool open_size, const WarpParams& after);

}  // namespace cudawarp

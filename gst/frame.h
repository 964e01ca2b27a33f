// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in buffers: where the picture lies in what is stored, and its mapping for an engine.
#pragma once

#include <gst/video/video.h>

#include "image.h"
#include "plan.h"
#include "status.h"

namespace cudawarp {

// A picture in a buffer, which is the caller's.
struct Picture {
  const char* which;  // "input" or "output", for words
  GstBuffer* buffer;
  const GstVideoInfo* caps;
  FrameDesc desc;
  int x = 0, y = 0;  // of the stored frame: where the block begins that holds the picture's corner
};

// What a buffer of a stream brings. GstVideoCropMeta cuts the picture out of the stored frame; without one it
// is a frame of the caps' size at the top left. `of_caps` is a progressive frame of the stream. Fails, with
// words, where the picture is not within what is stored.
Expected<Picture> input_picture(const FrameDesc& of_caps, const GstVideoInfo& caps, GstBuffer* buffer);

// Pixels of that picture from those of the stored frame, whose corner a map of the buffer shows.
inline Affine picture_from_stored(const Picture& picture) {
  return Affine::translation(-(picture.x + picture.desc.skip_x), -(picture.y + picture.desc.skip_y));
}

// The whole of an output buffer, for a picture of this kind.
Picture output_picture(const FrameDesc& of_caps, const GstVideoInfo& caps, GstBuffer* buffer,
                       bool interlaced);

// From a plane's first byte to the block at (x, y), which are multiples of the block's sides.
inline ptrdiff_t block_offset(const FormatInfo& format, int plane, ptrdiff_t stride, int x, int y) {
  return format.rows(plane, y) * stride + format.row_bytes(plane, x);
}

// A picture mapped for an engine, for as long as this lives; GstVideoMeta, where the buffer has it, tells its
// strides and offsets. With GST_MAP_CUDA in `flags` the pointers are device pointers. Every byte of the
// picture lies within what is mapped, or error() says, in words, what does not.
class MappedFrame {
 public:
  MappedFrame(const Picture& picture, int flags);
  MappedFrame(const MappedFrame&) = delete;
  ~MappedFrame() {
    if (mapped_) gst_video_frame_unmap(&frame_);
  }

  const Status& error() const { return error_; }

  // Image or ConstImage.
  template <class View>
  View view(Memory memory) const {
    const FormatInfo& format = info(picture_.desc.format);
    View v;
    v.memory = memory;
    for (int p = 0; p < format.planes; ++p) {
      const ptrdiff_t stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, p);
      v.plane[p] = {static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, p)) +
                        block_offset(format, p, stride, picture_.x, picture_.y),
                    stride};
    }
    return v;
  }

 private:
  Status check_planes() const;

  Picture picture_;
  GstVideoFrame frame_;
  bool mapped_ = false;
  Status error_;
};

}  // namespace cudawarp

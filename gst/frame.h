// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <type_traits>

#include "image.h"

namespace cudawarp {

// A buffer mapped for an engine, for as long as this lives; GstVideoMeta, where the buffer has it, tells its
// strides and offsets. With GST_MAP_CUDA in `flags` the pointers are device pointers.
class MappedFrame {
 public:
  MappedFrame(const GstVideoInfo& info, GstBuffer* buffer, int flags)
      : ok_(gst_video_frame_map(&frame_, &info, buffer,
                                static_cast<GstMapFlags>(flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))) {}
  MappedFrame(const MappedFrame&) = delete;
  ~MappedFrame() {
    if (ok_) gst_video_frame_unmap(&frame_);
  }

  explicit operator bool() const { return ok_; }

  // Image or ConstImage.
  template <class View>
  View view(Memory memory) const {
    View v;
    v.memory = memory;
    for (guint k = 0; k < GST_VIDEO_FRAME_N_PLANES(&frame_); ++k)
      v.plane[k] = {static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, k)),
                    GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, k)};
    return v;
  }

 private:
  GstVideoFrame frame_;
  bool ok_;
};

}  // namespace cudawarp

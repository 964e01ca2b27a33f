// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <deque>
#include <memory>

#include "status.h"
#include "work.h"

namespace cudawarp {

struct UnrefBuffer {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using BufferPtr = std::unique_ptr<GstBuffer, UnrefBuffer>;

// Frames whose warp has begun and which have not been pushed, oldest first. Of the streaming thread.
class InFlight {
 public:
  void add(BufferPtr in, BufferPtr out, std::unique_ptr<Work> work) {
    if (!work || work->input_is_free()) in.reset();
    frames_.push_back({std::move(in), std::move(out), std::move(work)});
  }
  size_t size() const { return frames_.size(); }
  // The output of the oldest, which may not be ready.
  GstBuffer* oldest() const { return frames_.front().out.get(); }

  // Waits for the oldest and takes it out.
  Expected<BufferPtr> finish_oldest() {
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    if (frame.work)
      if (auto failed = frame.work->wait()) return *failed;
    frame.work.reset();
    return std::move(frame.out);
  }

  // Drops all, once nothing works on them any more.
  void discard() {
    for (const Frame& frame : frames_)
      if (frame.work) frame.work->abandon();
    frames_.clear();
  }

 private:
  // Work goes first, then the buffers that it has mapped.
  struct Frame {
    BufferPtr in, out;
    std::unique_ptr<Work> work;
  };
  std::deque<Frame> frames_;
};

}  // namespace cudawarp

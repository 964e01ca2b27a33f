// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "status.h"

namespace cudawarp {

// The warp of a frame that has begun, on the GPU or in another thread. It ends before this does, and its
// buffers must stay until then. Work is waited for in the order in which it began, by the streaming thread.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  virtual ~Work() = default;

  // Returns when the output is ready, or says why it never will be.
  virtual Status wait() = 0;

  // Nobody wants the output any more: what has not begun need not.
  virtual void abandon() {}

  // Whether the input buffer may be given back at once, though the work is not done.
  virtual bool input_is_free() const { return false; }
};

}  // namespace cudawarp

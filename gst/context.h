// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CUDA contexts that somebody else may destroy under the element, an application that shares its own, say.
// What is left then: the handle, while it is kept; calls in it, which fail. Not to be touched any more are
// its streams, in which the driver crashes.
#pragma once

#include "compat.h"
#include "status.h"

namespace cudawarp {

// Lets the context's handle outlive the context, for as long as the GstCudaContext is there. A handle whose
// memory the driver has freed cannot be pushed, nor asked whether it is still good. Any thread.
void keep_handle(GstCudaContext* context);

// Makes a context current for as long as this lives, unless it has been destroyed. Its handle has to be kept.
class Live {
 public:
  explicit Live(GstCudaContext* context);
  const Status& error() const { return error_; }
  explicit operator bool() const { return !error_; }

 private:
  Current current_;
  Status error_;
};

}  // namespace cudawarp

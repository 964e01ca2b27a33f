// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "compat.h"

namespace cudawarp {

// A pool of CUDA memory, GStreamer's, which others may keep when its context has been destroyed: then it
// stays for ever with what it holds, because to stop or to free it would wait for its stream and destroy it,
// in which the driver crashes. The context's handle has to be kept.
GstBufferPool* device_pool_new(GstCudaContext* context);

}  // namespace cudawarp

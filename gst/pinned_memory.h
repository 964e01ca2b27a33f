// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "compat.h"

namespace cudawarp {

inline constexpr const char kPinnedMemoryType[] = "CudaWarpPinnedMemory";

// An allocator of page-locked host memory, which the GPU's copy engines read and write by themselves while
// the host goes on. Its memory is system memory to everybody else, good for any context of the device, and
// may outlive the element: it keeps the allocator, and that the context. Where no more can be locked it is
// ordinary memory, and so it is from when somebody destroys the CUDA context.
GstAllocator* pinned_allocator_new(GstCudaContext* context);

// Pieces of memory locked so far.
guint64 pinned_allocations(GstAllocator* allocator);

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernels to measure beside, and with.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace cudawarp::bench {

// A copy by a kernel of one launch: `words_per_thread` (1 or 4) loads of 16 bytes a thread, then as many
// stores. `bytes` is a multiple of 16, both sides are aligned to 16.
cudaError_t copy(void* to, const void* from, size_t bytes, int words_per_thread, cudaStream_t stream);

// Keeps the stream busy for that long, so that what is queued behind it runs without waiting for the host.
cudaError_t hold(uint64_t nanoseconds, cudaStream_t stream);

}  // namespace cudawarp::bench

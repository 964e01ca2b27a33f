// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#ifdef CUDAWARP_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace cudawarp {

// A named stretch of this thread's time in the profilers that read NVTX, from here to the end of the scope.
// Nothing at all in a build without -Dnvtx.
class Range {
 public:
  Range(const Range&) = delete;
#ifdef CUDAWARP_NVTX
  explicit Range(const char* name) {
    nvtxRangePushA(name);
  }
  ~Range() {
    nvtxRangePop();
  }
#else
  explicit Range(const char*) {}
  ~Range() {}
#endif
};

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "format.h"

namespace cudawarp {

enum class Memory : uint8_t { host, device };

// A frame somebody else owns. `data` of each plane points at its first row; rows are `pitch` bytes apart,
// which is at least one row of pixels and may be anything above. Device pointers are of the context current
// when an engine is called.
template <class Byte>
struct BasicImage {
  struct Plane {
    Byte* data = nullptr;
    ptrdiff_t pitch = 0;
  };

  Memory memory = Memory::host;
  std::array<Plane, kMaxPlanes> plane{};
};

using Image = BasicImage<uint8_t>;
using ConstImage = BasicImage<const uint8_t>;

}  // namespace cudawarp

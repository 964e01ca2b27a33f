// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Writing pixels: from the words of a pixel, in canonical order, to the output's packing. Host and device.
#pragma once

#include "sampler.h"

namespace cudawarp {

// One group of the output, as it is written: by channel where each has its place, else the first only.
struct Target {
  uint8_t* data[kMaxChannels];
  int32_t pitch[kMaxChannels];

  CUDAWARP_BOTH uint8_t* row(int channel, int y) const { return data[channel] + int64_t{y} * pitch[channel]; }
};

// A pixel of up to 8 bytes, from byte 0. For all packings but samples8 and samples16.
template <int N>
CUDAWARP_BOTH uint64_t packed(const PassPlan& p, const Words<N>& w) {
  uint32_t bytes = 0;
  each<N>([&](int k) { bytes |= w.c[k] << (8 * k); });
  if constexpr (N <= 2) {
    if (p.store == Packing::words2) return w.c[0] | w.c[N - 1] << 16;
    return permute(bytes, p.store_select);
  } else {
    if (p.store == Packing::bytes3 || p.store == Packing::bytes4)
      return permute(bytes | p.store_or, p.store_select);
    uint64_t pixel = 0;
    const bool bits = p.store == Packing::bits10;
    each<N>([&](int k) { pixel |= uint64_t{w.c[k]} << (bits ? p.dst_at[k] : 16 * k); });
    return pixel;
  }
}

// Bytes of a pixel where packed() makes it; of a sample else.
CUDAWARP_BOTH int stored_bytes(Packing packing) {
  switch (packing) {
    case Packing::samples8:
      return 1;
    case Packing::bytes2:
    case Packing::samples16:
      return 2;
    case Packing::bytes3:
      return 3;
    case Packing::words4:
      return 8;
    case Packing::bytes4:
    case Packing::words2:
    case Packing::bits10:
      break;
  }
  return 4;
}

CUDAWARP_BOTH bool is_packed(Packing packing) {
  return packing != Packing::samples8 && packing != Packing::samples16;
}

}  // namespace cudawarp

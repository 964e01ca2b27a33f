// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu.h"

#include "warp.h"

namespace cudawarp {

Status warp_on_cores(const WarpPlan& plan, const Picture& in, const Picture& out, const TaskPool& cores) {
  const MappedFrame src(in, GST_MAP_READ), dst(out, GST_MAP_WRITE);
  if (src.error()) return src.error();
  if (dst.error()) return dst.error();
  warp_on_cpu(plan, src.view<ConstImage>(Memory::host), dst.view<Image>(Memory::host),
              [&cores](int count, const std::function<void(int)>& job) { cores.run(count, job); });
  return std::nullopt;
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "warp_kernel.cuh"

namespace cudawarp {

template Kernel kernel_of<Interpolation::nearest>(const KernelArgs&, bool);

}  // namespace cudawarp

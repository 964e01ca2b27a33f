// SPDX-License-Identifier: LGPL-2.1-or-later
#include "warp_kernel.cuh"

namespace cudawarp {

template Kernel kernel_of<Interpolation::bilinear>(const KernelArgs&, bool);

}  // namespace cudawarp

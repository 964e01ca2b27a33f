// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_WARP (gst_cuda_warp_get_type())
G_DECLARE_FINAL_TYPE(GstCudaWarp, gst_cuda_warp, GST, CUDA_WARP, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(cudawarp)

G_END_DECLS

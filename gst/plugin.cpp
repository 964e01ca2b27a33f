// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu.h"
#include "gstcudawarp.h"
#include "metas.h"

GST_DEBUG_CATEGORY(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

static gboolean plugin_init(GstPlugin* plugin) {
  GST_DEBUG_CATEGORY_INIT(cudawarp_debug, "cudawarp", 0, "affine warp of video");
  if (!cudawarp::Gpu::driver_available()) GST_INFO("no CUDA driver: the CPU engine only");
  cudawarp::register_matrix_meta();
  return GST_ELEMENT_REGISTER(cudawarp, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudawarp,
                  "Affine warp of video on CUDA GPUs and CPUs", plugin_init, PACKAGE_VERSION, "LGPL", PACKAGE,
                  "Unknown package origin")

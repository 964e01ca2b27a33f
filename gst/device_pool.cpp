// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device_pool.h"

#include "context.h"

struct GstCudaWarpDevicePool {
  GstCudaBufferPool parent;
};

struct GstCudaWarpDevicePoolClass {
  GstCudaBufferPoolClass parent_class;
};

static GType gst_cuda_warp_device_pool_get_type();
G_DEFINE_TYPE(GstCudaWarpDevicePool, gst_cuda_warp_device_pool, GST_TYPE_CUDA_BUFFER_POOL)

static bool is_alive(gpointer pool) {
  return static_cast<bool>(cudawarp::Live(GST_CUDA_BUFFER_POOL(pool)->context));
}

static gboolean gst_cuda_warp_device_pool_stop(GstBufferPool* pool) {
  return !is_alive(pool) || GST_BUFFER_POOL_CLASS(gst_cuda_warp_device_pool_parent_class)->stop(pool);
}

static void gst_cuda_warp_device_pool_dispose(GObject* object) {
  if (GST_CUDA_BUFFER_POOL(object)->context && !is_alive(object))
    g_object_ref(object);  // which keeps it, for ever
  else
    G_OBJECT_CLASS(gst_cuda_warp_device_pool_parent_class)->dispose(object);
}

static void gst_cuda_warp_device_pool_init(GstCudaWarpDevicePool*) {}

static void gst_cuda_warp_device_pool_class_init(GstCudaWarpDevicePoolClass* klass) {
  G_OBJECT_CLASS(klass)->dispose = gst_cuda_warp_device_pool_dispose;
  GST_BUFFER_POOL_CLASS(klass)->stop = gst_cuda_warp_device_pool_stop;
}

namespace cudawarp {

GstBufferPool* device_pool_new(GstCudaContext* context) {
  auto* pool = GST_BUFFER_POOL(g_object_new(gst_cuda_warp_device_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  GST_CUDA_BUFFER_POOL(pool)->context = GST_CUDA_CONTEXT(gst_object_ref(context));
  return pool;
}

}  // namespace cudawarp

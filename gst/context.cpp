// SPDX-License-Identifier: LGPL-2.1-or-later
#include "context.h"

#include <future>
#include <mutex>

#include "warp.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

// A thread that sleeps with a context current to it: the driver frees no handle that is current somewhere.
class Keeper {
 public:
  explicit Keeper(CUcontext handle) : handle_(handle) {
    // Of 15 bytes at most: older GLib leaves longer names out.
    thread_ = g_thread_try_new("cudawarp-keeper", run, this, nullptr);
    if (thread_)
      is_current_.get_future().wait();
    else
      GST_WARNING("no thread can be had to keep a CUDA context");
  }
  Keeper(const Keeper&) = delete;
  ~Keeper() {
    end_.set_value();
    if (thread_) g_thread_join(thread_);
  }

 private:
  static gpointer run(gpointer data) {
    auto* self = static_cast<Keeper*>(data);
    const bool pushed = CuCtxPushCurrent(self->handle_) == CUDA_SUCCESS;
    self->is_current_.set_value();
    self->end_.get_future().wait();
    CUcontext popped = nullptr;
    if (pushed) CuCtxPopCurrent(&popped);
    return nullptr;
  }

  CUcontext handle_;
  std::promise<void> is_current_, end_;
  GThread* thread_;
};

}  // namespace

void keep_handle(GstCudaContext* context) {
  static std::mutex mutex;
  static const GQuark key = g_quark_from_static_string("cudawarp-context-keeper");
  std::lock_guard lock(mutex);
  if (g_object_get_qdata(G_OBJECT(context), key)) return;
  // It goes after the context, which GstCudaContext destroys where it is its own.
  g_object_set_qdata_full(G_OBJECT(context), key,
                          new Keeper(static_cast<CUcontext>(gst_cuda_context_get_handle(context))),
                          [](gpointer keeper) { delete static_cast<Keeper*>(keeper); });
}

Live::Live(GstCudaContext* context) : current_(context) {
  error_ = current_ ? check_context() : Error{"gst_cuda_context_push: cannot make the CUDA context current"};
}

}  // namespace cudawarp

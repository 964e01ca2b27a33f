// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the element has of a GPU: GStreamer's CUDA context, a stream, and the engine. gpu_cuda.cpp implements
// it; gpu_none.cpp stands in where the plugin is built without CUDA, and has no device.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <memory>
#include <string>

#include "counters.h"
#include "frame.h"
#include "plan.h"
#include "status.h"
#include "work.h"

namespace cudawarp {

class Gpu {
 public:
  static std::unique_ptr<Gpu> create();
  virtual ~Gpu() = default;

  // Whether a CUDA driver is here, so that caps may speak of CUDA memory. Asked first by plugin_init.
  static bool driver_available();

  // GStreamer's context business, from any thread; `device_id` is the property.
  virtual void set_context(GstElement* element, GstContext* context, int device_id) = 0;
  virtual bool context_query(GstElement* element, GstQuery* query) = 0;

  // Finds a context for the device, its own or a neighbour's, and makes the engine. The rest is for the
  // streaming thread.
  virtual Status open(GstElement* element, int device_id) = 0;
  virtual void close() = 0;
  virtual bool is_open() const = 0;
  virtual std::string device_name() const = 0;

  // Says that the context has been destroyed by somebody else. To be asked before each frame, and before its
  // output buffer is acquired: its pools and streams are not to be touched then.
  virtual Status check() const = 0;

  // Whether a buffer is of another context, on a device that `device_id` allows, and moving to that context.
  // When it has moved, allocation must be negotiated anew; no work may be under way. Without success buffers
  // of that context are read through the host.
  virtual bool is_elsewhere(GstBuffer* buffer, int device_id) const = 0;
  virtual bool adopt(GstBuffer* buffer) = 0;

  // For open devices: offers a pool for the query's caps, of CUDA memory or of page-locked host memory, with
  // at least `buffers`; decides on one. A pool of host memory is decided on only where downstream has none.
  virtual bool propose_allocation(GstQuery* query, guint buffers) = 0;
  virtual Status decide_allocation(GstQuery* query) = 0;
  virtual bool propose_host_allocation(GstQuery* query, guint buffers) = 0;
  virtual void decide_host_allocation(GstQuery* query) = 0;

  // Begins to warp buffer to buffer, each in memory of any kind. Frames with a side in host memory overlap
  // with those that have not been waited for. Null where nothing is left to wait for: the input may be given
  // back, and the output is ready for whoever follows its memory's stream.
  virtual Expected<std::unique_ptr<Work>> begin(const WarpPlan& plan, const Picture& in,
                                                const Picture& out) = 0;

  // Whether frames that begin from now on are timed.
  virtual void measure_time(bool on) = 0;

  // Since open(); also after close(), until the next one. Any thread.
  struct Numbers {
    std::string device;  // its name
    Counters engine;
    uint64_t pinned_allocations = 0;
  };
  virtual Numbers numbers() const = 0;
};

}  // namespace cudawarp

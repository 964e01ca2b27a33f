// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the element has of a GPU: GStreamer's CUDA context, a stream, and the engine. gpu_cuda.cpp implements
// it; gpu_none.cpp stands in where the plugin is built without CUDA, and has no device.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <memory>
#include <string>

#include "frame.h"
#include "plan.h"
#include "status.h"

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

  // Moves to the context of a buffer of another context, where `device_id` allows its device. True where that
  // happened: then allocation must be negotiated anew. Without success buffers of that context are read
  // through the host.
  virtual bool adopt(GstBuffer* buffer, int device_id) = 0;

  // Offers a pool of CUDA memory for the query's caps, and decides on one; for open devices.
  virtual bool propose_allocation(GstQuery* query) = 0;
  virtual bool decide_allocation(GstQuery* query) = 0;

  // Warps buffer to buffer, each in memory of any kind. When it returns, the input may be given back; the
  // output is ready for whoever follows its memory's stream.
  virtual Status warp(const WarpPlan& plan, const Picture& in, const Picture& out) = 0;
};

}  // namespace cudawarp

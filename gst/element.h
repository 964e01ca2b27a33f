// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element's insides, for the two files of its vfuncs: gstcudawarp.cpp (properties, state, negotiation)
// and streaming.cpp (frames, events, latency).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cpu.h"
#include "gpu.h"
#include "gstcudawarp.h"
#include "in_flight.h"
#include "plan_cache.h"
#include "settings.h"
#include "stats.h"
#include "stream.h"

namespace cudawarp {

struct Private {
  std::mutex lock;  // guards the next four
  Settings settings;
  std::optional<WarpParams>
      held;                      // the values in force until the caps that newer ones ask for are negotiated
  WarpParams negotiated;         // the values that the current caps were made for
  std::optional<Stream> stream;  // written by the streaming thread only, which reads it without the lock

  // By property: a bad value that no bus was there to hear of, until a good one comes; guarded by lock.
  std::map<std::string, std::string> refused;
  std::map<std::string, std::string> refused_animation;  // what has been said of values of controllers
  std::string complaint;                                 // the last error of negotiation, until one succeeds
  std::string no_memory;       // the last error of deciding on CUDA memory, until one succeeds
  GThread* syncing = nullptr;  // the thread in which controllers are setting properties
  std::unique_ptr<Gpu> gpu;    // lives as long as the element
  std::optional<Cpu> cpu;      // while started
  int device_id = -1;          // while started
  PlanCache plans;
  Stats stats;

  // Of the streaming thread.
  InFlight frames;
  guint depth = 0;                  // frames to keep in flight
  bool small_pool = false;          // the output's pool has an end
  bool base_marks_discont = false;  // the base class marks the next buffer that it pushes
  bool gap = false;                 // a frame was dropped after the last that has begun
  GstFlowReturn drained_flow =
      GST_FLOW_OK;  // of frames pushed outside of their turn, until upstream hears it

  std::atomic<GstClockTime> latency{0};  // as reported
};

GstBaseTransformClass* base_class();

// ---- streaming.cpp

// Frames that a stream keeps in flight now; any thread.
guint depth_of(GstCudaWarp* self);
// Pushes all that is in flight; what comes of it is in drained_flow.
void drain(GstCudaWarp* self);
// Posts a message where the latency is another than before; any thread.
void update_latency(GstCudaWarp* self);
void add_latency(GstCudaWarp* self, GstQuery* query);

gboolean handle_sink_event(GstBaseTransform* trans, GstEvent* event);
void before_transform(GstBaseTransform* trans, GstBuffer* buffer);
GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean discont, GstBuffer* buffer);
GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out);
GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** buffer);
GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out);

// ---- gstcudawarp.cpp

// The plan for a frame; null where there is none, and said so.
std::shared_ptr<const WarpPlan> plan_for(GstCudaWarp* self, const WarpParams& params, const FrameDesc& src);

}  // namespace cudawarp

struct _GstCudaWarp {
  GstBaseTransform parent;
  cudawarp::Private* priv;
};

namespace cudawarp {

inline Private* priv_of(gpointer self) {
  return GST_CUDA_WARP(self)->priv;
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element's insides, for the files of its vfuncs: gstcudawarp.cpp (state, negotiation), properties.cpp,
// events.cpp and streaming.cpp (frames, latency).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cpu.h"
#include "gpu.h"
#include "gstcudawarp.h"
#include "in_flight.h"
#include "orientation.h"
#include "plan_cache.h"
#include "settings.h"
#include "stats.h"
#include "stream.h"

namespace cudawarp {

struct Private {
  std::mutex lock;  // guards the next six
  Settings settings;
  std::optional<WarpParams>
      held;                       // the values in force until the caps that newer ones ask for are negotiated
  WarpParams negotiated;          // the values that the current caps were made for
  bool open_size = false;         // whether downstream left the size of the output to them
  std::optional<Stream> stream;   // written by the streaming thread only, which reads it without the lock
  std::optional<Affine> forward;  // of the last frame, or of the caps before the first; guarded by lock

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
  OrientationTags tags;
  bool told_upright = false;     // downstream's tags say that frames are upright
  bool moves = false;            // frames have come with GstVideoAffineTransformationMeta
  std::string bad_picture;       // what has been said of such a meta, until there is a good one
  GstClockTime stream_time = 0;  // of the last frame that had one
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

void before_transform(GstBaseTransform* trans, GstBuffer* buffer);
GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean discont, GstBuffer* buffer);
GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out);
GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** buffer);
gboolean transform_meta(GstBaseTransform* trans, GstBuffer* out, GstMeta* meta, GstBuffer* in);
GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out);

// ---- events.cpp

gboolean handle_sink_event(GstBaseTransform* trans, GstEvent* event);
gboolean handle_src_event(GstBaseTransform* trans, GstEvent* event);
// Before a frame, and before tags: says to downstream that what follows is upright, or as tags have said,
// where it has been told otherwise.
void tell_orientation(GstCudaWarp* self, bool upright);

// ---- properties.cpp

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec);
void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec);
// The class's signals.
void install_signals(GObjectClass* klass);
// A refused value: one message on the bus, now or, where no bus is there yet, when the element starts.
void refuse(GstCudaWarp* self, const std::string& property, const std::string& words);
// Puts new settings in force: now, or with the caps that they ask for. Fails, with words, where the stream
// that plays cannot have them. With the lock held.
Status change_settings(GstCudaWarp* self, const Settings& next);
// The map in force is this one: a signal says so where it was another. Any thread, without the lock.
void set_forward(GstCudaWarp* self, const Affine& forward);

// ---- gstcudawarp.cpp

// The plan for a frame, or why there is none.
Expected<std::shared_ptr<const WarpPlan>> find_plan(GstCudaWarp* self, const WarpParams& params,
                                                    const FrameDesc& src);
// The same; null where there is none, and said so.
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

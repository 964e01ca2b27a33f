// SPDX-License-Identifier: LGPL-2.1-or-later
//
// An element between two pads, driven without a pipeline; and memory to drive it with. What cannot be had is
// a std::runtime_error of a few words.
#pragma once

#include "gst/compat.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cudawarp::bench {

struct Unref {
  void operator()(void* object) const { gst_object_unref(object); }
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstQuery* query) const { gst_query_unref(query); }
};
template <class T>
using Ref = std::unique_ptr<T, Unref>;
using Buffers = std::vector<Ref<GstBuffer>>;

// The process's CUDA context. Made, and current in this thread, from the first call on.
GstCudaContext* context();

// Caps of frames, in CUDA memory or in the system's.
Ref<GstCaps> caps_of(const char* format, int width, int height, bool cuda);

class Line {
 public:
  // Of `description`, as in gst-launch-1.0; PLAYING, and `caps` on both sides. If `downstream` is given, it
  // is what the element is offered for its output.
  Line(const std::string& description, GstCaps* caps, GstBufferPool* downstream = nullptr);
  Line(const Line&) = delete;
  ~Line();

  GstElement* element() const { return element_; }
  bool has_property(const char* name) const;
  // The pool that it proposes to its upstream, active; or null.
  Ref<GstBufferPool> proposed_pool() const;
  // Keeps what it pushes: the same buffer can be pushed again.
  void push(const Ref<GstBuffer>& buffer);

  // Called in the pushing thread with every buffer that comes out.
  std::function<void(GstBuffer*)> on_output;

 private:
  static GstFlowReturn take(GstPad* pad, GstObject*, GstBuffer* buffer);
  static gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query);

  GstElement* element_;
  GstCaps* caps_;
  GstBufferPool* downstream_;
  GstPad *src_ = nullptr, *sink_ = nullptr;
};

// An active pool: of CUDA memory, or of pageable memory.
Ref<GstBufferPool> make_pool(GstCaps* caps, bool cuda);

// `count` buffers of a pool, held at the same time; those in system memory are touched.
Buffers take_buffers(GstBufferPool* pool, int count);

// Buffers in pinned memory of our own, touched.
Buffers pinned_buffers(GstCaps* caps, int count);

// Whether the first memory of a buffer is pinned host memory.
bool is_pinned(GstBuffer* buffer);

}  // namespace cudawarp::bench

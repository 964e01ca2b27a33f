// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the tests with CUDA memory share. Include this last.
#pragma once

#include "gst/compat.h"

#include "element_util.h"

namespace cudawarp::element {

// A context of the application, and the message that hands it to elements; for all tests of a process.
struct Device {
  GstCudaContext* context;
  GstContext* shared;
};
const Device& device();

// The same caps in CUDA memory.
std::string on_gpu(std::string caps);

bool is_on_gpu(const BufferPtr& buffer);
GstCudaContext* context_of(const BufferPtr& buffer);

// Buffers of CUDA memory.
class Pool {
 public:
  Pool(GstCudaContext* context, const std::string& caps);
  // The one that an element proposes to its upstream.
  Pool(const Warp& warp, const std::string& caps);
  Pool(const Pool&) = delete;
  ~Pool();

  BufferPtr operator()(const Pixels& pixels, int number = 0) const;
  BufferPtr acquire(int number) const;  // with what was in it

 private:
  GstBufferPool* pool_ = nullptr;
  CapsPtr caps_;
};

// What the CPU engine makes of a frame in system memory.
Pixels on_cpu(const std::string& properties, const std::string& in, const Pixels& src);

}  // namespace cudawarp::element

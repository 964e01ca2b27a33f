// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the tests of the element share: frames as bytes that are seen, one cudawarp in a GstHarness, its
// messages. Include this last: gstcheck.h has a macro `fail`, which breaks standard headers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <gst/video/video.h>

#include "cuda/format.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

namespace cudawarp::element {

struct Unref {
  void operator()(GstBuffer* p) const { gst_buffer_unref(p); }
  void operator()(GstCaps* p) const { gst_caps_unref(p); }
  void operator()(GstQuery* p) const { gst_query_unref(p); }
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using BufferPtr = std::unique_ptr<GstBuffer, Unref>;
using CapsPtr = std::unique_ptr<GstCaps, Unref>;
using QueryPtr = std::unique_ptr<GstQuery, Unref>;
using BusPtr = std::unique_ptr<GstBus, Unref>;
using ElementPtr = std::unique_ptr<GstElement, Unref>;

// The formats of the table that this GStreamer knows.
std::vector<FormatInfo> known_formats();
std::string name_of(const FormatInfo& format);

// Caps of raw video in system memory, 25 frames a second; `more` begins with a comma.
std::string raw(const std::string& format, int width, int height, const std::string& more = "");
CapsPtr caps_of(const std::string& caps);
GstVideoInfo info_of(const GstCaps* caps);

// The pixels of a frame, without strides, padding between rows, or anything else that is not seen.
struct Pixels {
  // In pixels of the plane; bytes of one. Where luma and chroma share a plane, two luma pixels and their
  // chroma count as one.
  struct Plane {
    int width = 0, height = 0, bytes = 0;
    std::vector<uint8_t> data;

    uint8_t& at(int x, int y, int k = 0) { return data[(static_cast<size_t>(y) * width + x) * bytes + k]; }
    uint8_t at(int x, int y, int k = 0) const {
      return data[(static_cast<size_t>(y) * width + x) * bytes + k];
    }
    bool operator==(const Plane&) const = default;
  };
  std::vector<Plane> plane;
  bool operator==(const Pixels&) const = default;
};

Pixels black(const std::string& caps);  // all bytes 0
Pixels noise(const std::string& caps, uint32_t seed = 1);
Pixels solid(const std::string& caps, std::initializer_list<std::vector<uint8_t>> color_by_plane);
Pixels turned(const Pixels& src, int clockwise_quarters);
// The same by the samples of a format, for frames of these caps; half turns only where luma and chroma share
// a plane.
Pixels turned(const std::string& caps, const Pixels& src, int clockwise_quarters);

// The samples of a format, as code values, on their own grids: Y, U, V or R, G, B, and A.
class Samples {
 public:
  explicit Samples(const std::string& caps);
  explicit Samples(const GstVideoInfo& info) : info_(info) {}

  int count() const { return GST_VIDEO_INFO_N_COMPONENTS(&info_); }
  int width(int c) const { return GST_VIDEO_INFO_COMP_WIDTH(&info_, c); }
  int height(int c) const { return GST_VIDEO_INFO_COMP_HEIGHT(&info_, c); }
  int largest(int c) const { return (1 << GST_VIDEO_INFO_COMP_DEPTH(&info_, c)) - 1; }
  // The code value that 8 bits make of `value`, at this depth.
  int scaled(int c, int value) const { return value << (GST_VIDEO_INFO_COMP_DEPTH(&info_, c) - 8); }

  int get(const Pixels& pixels, int c, int x, int y) const;
  void set(Pixels& pixels, int c, int x, int y, int value) const;
  // All samples of a component.
  void fill(Pixels& pixels, int c, int value) const;

 private:
  struct Place {
    size_t begin;  // in the plane
    int shift, bytes;
  };
  Place place(const Pixels& pixels, int c, int x, int y) const;

  GstVideoInfo info_;
};

Pixels pixels_of(GstBuffer* buffer, const GstCaps* caps);
// A buffer without GstVideoMeta, in the default layout; its timestamp is that of frame `number`.
BufferPtr buffer_of(const Pixels& pixels, const GstCaps* caps, int number = 0);
BufferPtr buffer_of(const Pixels& pixels, const std::string& caps, int number = 0);

void assert_same(const Pixels& got, const Pixels& want, const std::string& what);
// Writes a frame into a buffer of these caps, in memory of any kind.
void write_pixels(const Pixels& pixels, GstBuffer* buffer, const GstCaps* caps);
// Whether pixel (x, y) of a plane has these bytes.
bool pixel_is(const Pixels& p, int plane, int x, int y, std::initializer_list<int> bytes);

// The engine that the environment names for these tests (CUDAWARP_TEST_ENGINE), else "cpu".
std::string test_engine();
// "engine=... precision=exact": what every cudawarp of a test is told, whichever engine runs.
std::string engine_properties();

struct Message {
  GstMessageType type;
  GQuark domain;
  int code;
  std::string text;
};
// The errors and warnings that wait on a bus, which is then empty.
std::vector<Message> messages_on(GstBus* bus);
// Fails unless there is exactly one, of this kind, that contains all of `words`.
void assert_one_message(GstBus* bus, GstMessageType type, GQuark domain, int code,
                        std::initializer_list<const char*> words);
void assert_quiet(GstBus* bus);

// cudawarp alone, playing, between a source and a sink pad. Fails at its end where a message waits unread.
class Warp {
 public:
  // `context`, if given, is what an application would set on the element. Without one, elements on CUDA share
  // one.
  explicit Warp(const std::string& properties = "", GstContext* context = nullptr);
  Warp(const Warp&) = delete;
  ~Warp();

  GstHarness* harness() const { return harness_; }
  GstElement* element() const { return harness_->element; }
  GstBus* bus() const { return bus_.get(); }

  // What comes in, and what downstream takes (anything, if empty).
  void set_caps(const std::string& in, const std::string& downstream = "");
  void set_downstream(const std::string& caps);
  CapsPtr output_caps() const;
  GstVideoInfo output_info() const { return info_of(output_caps().get()); }
  void assert_size(int width, int height) const;

  GstFlowReturn push(BufferPtr buffer) { return gst_harness_push(harness_, buffer.release()); }
  // One buffer in, one out.
  BufferPtr pass(BufferPtr buffer);
  Pixels operator()(const Pixels& in, int number = 0);

 private:
  GstHarness* harness_;
  BusPtr bus_;
  std::string in_;
};

// A number of the property `stats`.
guint64 stat(GstElement* warp, const char* name);

// Makes the harness's end answer allocation queries with this pool, of at most `max` buffers (0: any number).
void offer_pool(const Warp& warp, GstBufferPool* pool, guint size, bool video_meta, guint max = 0);

// Whether the same memory comes out that went in.
bool passes_through(Warp& warp, const Pixels& in);

// A pipeline, playing until its end or its first error, and then NULL. The messages are what it posted.
std::vector<Message> play(GstElement* pipeline);
std::vector<Message> play(const std::string& description);

// Runs a suite; exit status 77 where the tests are to run on CUDA and no device works (1 if
// CUDAWARP_REQUIRE_CUDA is set). On CUDA, which does not survive a fork, all tests run in this process.
int run_tests(int argc, char** argv, Suite* (*suite)());
// Whether engine=cuda starts here.
bool cuda_works();

}  // namespace cudawarp::element

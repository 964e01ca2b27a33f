// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The eight orientations by their definition, and what comes out of an element that follows them. Include
// this last, as element_util.h.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "element_util.h"

namespace cudawarp::element {

using Words = std::vector<std::string>;

enum Method { identity, right, half, left, horiz, vert, ul_lr, ur_ll };  // by the interface's numbers
constexpr int kEight = 8;

// Pixel (x, y) of the result is (x, y) of the source, or (y, x), counted from the right, from the bottom.
constexpr struct {
  const char* nick;
  bool swap, from_right, from_bottom;
} kMethods[kEight] = {{"identity", false, false, false}, {"90r", true, false, true},
                      {"180", false, true, true},        {"90l", true, true, false},
                      {"horiz", false, true, false},     {"vert", false, false, true},
                      {"ul-lr", true, false, false},     {"ur-ll", true, true, true}};

inline Pixels oriented(const Pixels& src, int method) {
  const auto& m = kMethods[method];
  Pixels out = src;
  for (size_t p = 0; p < src.plane.size(); ++p) {
    const Pixels::Plane& from = src.plane[p];
    Pixels::Plane& to = out.plane[p];
    if (m.swap) std::swap(to.width, to.height);
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        const int u = m.swap ? y : x, v = m.swap ? x : y;
        for (int k = 0; k < from.bytes; ++k)
          to.at(x, y, k) =
              from.at(m.from_right ? from.width - 1 - u : u, m.from_bottom ? from.height - 1 - v : v, k);
      }
  }
  return out;
}

// Chroma in the middle of its luma pixels, so that it is copied too.
inline std::string exact(const std::string& format, int width, int height, const std::string& more = "") {
  const bool sited = format == "I420" || format == "NV12";
  return raw(format, width, height, (sited ? ",chroma-site=jpeg" : "") + more);
}

// What most tests put in, and what they get.
inline const std::string kIn = exact("RGB", 64, 48);
inline Pixels frame(int method = identity) {
  return oriented(noise(kIn), method);
}

inline std::string direction(int method) {
  return std::string("video-direction=") + kMethods[method].nick + " ";
}

inline void set_direction(const Warp& warp, const char* nick) {
  gst_util_set_object_arg(G_OBJECT(warp.element()), "video-direction", nick);
}

inline void assert_custom_refused(const Warp& warp) {
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"video-direction", "custom"});
}

inline Pixels warped(const std::string& properties, const std::string& in, const Pixels& src,
                     const std::string& downstream = "") {
  Warp warp(properties);
  warp.set_caps(in, downstream);
  return warp(src);
}

inline bool has_videoflip() {
  if (gst_registry_check_feature_version(gst_registry_get(), "videoflip", 1, 0, 0)) return true;
  g_print("no videoflip to compare with\n");
  return false;
}

inline Pixels by_videoflip(int method, const std::string& in, const Pixels& src) {
  GstHarness* flip = gst_harness_new_parse(("videoflip " + direction(method)).c_str());
  gst_harness_set_src_caps_str(flip, in.c_str());
  gst_harness_push(flip, buffer_of(src, in).release());
  const BufferPtr out(gst_harness_pull(flip));
  const CapsPtr caps(gst_pad_get_current_caps(flip->sinkpad));
  Pixels pixels = pixels_of(out.get(), caps.get());
  gst_harness_teardown(flip);
  return pixels;
}

inline GstTagList* tags_of(GstEvent* event) {
  GstTagList* tags = nullptr;
  gst_event_parse_tag(event, &tags);
  return tags;
}

inline std::string words_of(GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    const GstVideoInfo info = info_of(caps);
    return "caps " + std::to_string(info.width) + "x" + std::to_string(info.height);
  }
  if (GST_EVENT_TYPE(event) != GST_EVENT_TAG) return GST_EVENT_TYPE_NAME(event);
  g_autofree gchar* orientation = nullptr;
  gst_tag_list_get_string(tags_of(event), GST_TAG_IMAGE_ORIENTATION, &orientation);
  const bool global = gst_tag_list_get_scope(tags_of(event)) == GST_TAG_SCOPE_GLOBAL;
  return std::string(global ? "global " : "stream ") + (orientation ? orientation : "none");
}

// What comes out, in its order: "caps 48x64", "stream rotate-0", "global none", "frame".
class Log {
 public:
  explicit Log(const Warp& warp) {
    const auto kinds =
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER);
    const auto note = +[](GstPad*, GstPadProbeInfo* info, gpointer seen) {
      const bool is_frame = GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER;
      static_cast<Words*>(seen)->push_back(is_frame ? "frame" : words_of(GST_PAD_PROBE_INFO_EVENT(info)));
      return GST_PAD_PROBE_OK;
    };
    gst_pad_add_probe(warp.harness()->sinkpad, kinds, note, &seen_, nullptr);
  }
  // Since the last time.
  Words take() { return std::exchange(seen_, {}); }
  void assert_seen(const Words& want) {
    std::string all;
    for (const std::string& words : seen_) all += "\n  " + words;
    ck_assert_msg(take() == want, "seen:%s", all.c_str());
  }
  // These in whatever order, and then a frame.
  void assert_seen_before_frame(Words want) {
    std::sort(seen_.begin(), seen_.begin() + std::min(want.size(), seen_.size()));
    want.push_back("frame");
    assert_seen(want);
  }

 private:
  Words seen_;
};

// Two threads that set video-direction, each to its value, while 1000 frames pass.
inline void stress(Warp& warp, std::array<int, 2> methods, const Pixels& src,
                   const std::function<void(const Pixels&)>& look) {
  GstHarnessThread* threads[2];
  for (int k = 0; k < 2; ++k) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_VIDEO_ORIENTATION_METHOD);
    g_value_set_enum(&value, methods[k]);
    threads[k] =
        gst_harness_stress_property_start_full(warp.harness(), "video-direction", &value, 160 + 50 * k);
  }
  for (int n = 0; n < 1000; ++n) {
    look(warp(src, n));
    g_usleep(100);
  }
  for (GstHarnessThread* thread : threads) gst_harness_stress_thread_stop(thread);
}

}  // namespace cudawarp::element

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where a user points at, brought back through the map.
#include <cmath>
#include <cstring>
#include <numbers>

#include <gst/video/navigation.h>

#include "element_upstream.h"

using namespace cudawarp::element;

namespace {

constexpr auto kNoKeys = GST_NAVIGATION_MODIFIER_NONE;
const std::string kIn = raw("GRAY8", 64, 48);

struct At {
  double x, y;
};
At pointer_of(GstEvent* event) {
  At at{NAN, NAN};
  const GstStructure* s = gst_event_get_structure(event);
  gst_structure_get(s, "pointer_x", G_TYPE_DOUBLE, &at.x, "pointer_y", G_TYPE_DOUBLE, &at.y, nullptr);
  return at;
}

void assert_at(At got, At want, const std::string& what, double near = 1e-6) {
  if (!(std::abs(got.x - want.x) <= near && std::abs(got.y - want.y) <= near))
    ck_abort_msg("%s: (%g, %g), not (%g, %g)", what.c_str(), got.x, got.y, want.x, want.y);
}

At pointed(const Warp& warp, At at) {
  return pointer_of(sent_up(warp, gst_navigation_event_new_mouse_move(at.x, at.y, kNoKeys)).get());
}

StructurePtr without_pointer(GstEvent* event) {
  StructurePtr s(gst_structure_copy(gst_event_get_structure(event)));
  gst_structure_remove_fields(s.get(), "pointer_x", "pointer_y", nullptr);
  return s;
}

GstEvent* navigation_of(const char* structure) {
  return gst_event_new_navigation(gst_structure_from_string(structure, nullptr));
}

}  // namespace

GST_START_TEST(navigation) {
  const std::string in = raw("GRAY8", 1920, 1080);
  Warp warp;
  warp.set_caps(in, "video/x-raw,width=640,height=640");
  for (const bool frame_seen : {false, true}) {
    assert_at(pointed(warp, {320, 320}), {960, 540}, "middle", 1);
    assert_at(pointed(warp, {0, 140}), {0, 0}, "corner");
    assert_at(pointed(warp, {640, 500}), {1920, 1080}, "the other one");
    assert_at(pointed(warp, {320, 0}), {960, -420}, "in the border");
    if (!frame_seen) warp(black(in));
  }
}
GST_END_TEST;

GST_START_TEST(navigation_of_every_kind) {
  Warp warp("angle=180");
  warp.set_caps(kIn);
  GstEvent* const events[] = {gst_navigation_event_new_mouse_move(10, 20, GST_NAVIGATION_MODIFIER_SHIFT_MASK),
                              gst_navigation_event_new_mouse_button_press(3, 10, 20, kNoKeys),
                              gst_navigation_event_new_mouse_button_release(2, 10, 20, kNoKeys),
                              gst_navigation_event_new_touch_down(7, 10, 20, 0.25, kNoKeys),
                              gst_navigation_event_new_touch_motion(8, 10, 20, 0.5, kNoKeys),
                              gst_navigation_event_new_touch_up(9, 10, 20, kNoKeys),
                              gst_navigation_event_new_mouse_scroll(10, 20, 5, -6, kNoKeys)};
  for (GstEvent* event : events) {
    const StructurePtr others = without_pointer(event);
    const std::string kind = gst_structure_get_string(others.get(), "event");
    const guint32 number = gst_event_get_seqnum(event);
    const EventPtr up = sent_up(warp, event);
    assert_at(pointer_of(up.get()), {54, 28}, kind);
    ck_assert_msg(gst_structure_is_equal(others.get(), without_pointer(up.get()).get()), "%s", kind.c_str());
    ck_assert_uint_eq(gst_event_get_seqnum(up.get()), number);
  }
}
GST_END_TEST;

GST_START_TEST(navigation_without_a_point) {
  Warp warp("angle=180");
  warp.set_caps(kIn);
  int complaints = 0;
  const guint handler = g_log_set_handler(
      "GStreamer-Video", static_cast<GLogLevelFlags>(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING),
      [](const gchar*, GLogLevelFlags, const gchar*, gpointer count) { ++*static_cast<int*>(count); },
      &complaints);
  for (GstEvent* event :
       {gst_navigation_event_new_key_press("a", kNoKeys), gst_navigation_event_new_key_release("a", kNoKeys),
        gst_navigation_event_new_command(GST_NAVIGATION_COMMAND_LEFT),
        gst_navigation_event_new_touch_frame(kNoKeys), gst_navigation_event_new_touch_cancel(kNoKeys),
        navigation_of("application/x-gst-navigation,event=mouse-move"),
        navigation_of("application/x-gst-navigation,event=mouse-move,pointer_x=10.0"),
        navigation_of("application/x-gst-navigation,event=mouse-move,pointer_x=(int)10,pointer_y=(int)20"),
        navigation_of("application/x-gst-navigation,event=mouse-move,pointer_x=left,pointer_y=top"),
        navigation_of("application/x-gst-navigation,event=(int)5"), navigation_of("it")})
    assert_unchanged(warp, event);
  g_log_remove_handler("GStreamer-Video", handler);
  ck_assert_int_eq(complaints, 0);
}
GST_END_TEST;

GST_START_TEST(navigation_of_turned_pictures) {
  const double c = std::cos(std::numbers::pi / 6), s = std::sin(std::numbers::pi / 6);
  const struct {
    const char* properties;
    At want;  // of (10, 20)
  } cases[] = {{"video-direction=identity", {10, 20}},
               {"video-direction=90r", {20, 38}},
               {"video-direction=180", {54, 28}},
               {"video-direction=90l", {44, 10}},
               {"video-direction=horiz", {54, 20}},
               {"video-direction=vert", {10, 28}},
               {"video-direction=ul-lr", {20, 10}},
               {"video-direction=ur-ll", {44, 38}},
               {"angle=90 framing=expand", {20, 38}},
               {"angle=90", {28, 46}},
               {"angle=30", {32 - 22 * c - 4 * s, 24 + 22 * s - 4 * c}},
               {"scale=2 offset-x=4", {19, 22}},
               {"matrix=\"<2.0,0.0,4.0,0.0,1.0,5.0>\"", {3, 15}},
               {"video-direction=90r matrix=\"<2.0,0.0,4.0,0.0,1.0,5.0>\"", {15, 45}}};
  for (const auto& k : cases) {
    Warp warp(k.properties);
    warp.set_caps(kIn);
    assert_at(pointed(warp, {10, 20}), k.want, k.properties);
  }
}
GST_END_TEST;

// The map of the last frame: of its crop, and of the values that it was made with.
GST_START_TEST(navigation_by_the_last_frame) {
  Warp warp("angle=180");
  assert_at(pointed(warp, {10, 20}), {10, 20}, "before caps");
  warp.set_caps(kIn);
  warp(black(kIn));
  assert_at(pointed(warp, {10, 20}), {54, 28}, "a whole frame");
  BufferPtr cropped = buffer_of(black(kIn), kIn, 1);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(cropped.get());
  crop->x = 8, crop->y = 4, crop->width = 32, crop->height = 24;
  warp.pass(std::move(cropped));
  assert_at(pointed(warp, {10, 20}), {8 + 27, 4 + 14}, "half of one, twice as large");
  warp(black(kIn), 2);
  g_object_set(warp.element(), "scale", 0.5, nullptr);
  assert_at(pointed(warp, {10, 20}), {54, 28}, "before the next frame");
  warp(black(kIn), 3);
  assert_at(pointed(warp, {10, 20}), {32 + 44, 24 + 8}, "after it");
}
GST_END_TEST;

GST_START_TEST(navigation_of_what_passes_through) {
  Warp warp;
  warp.set_caps(kIn);
  ck_assert(passes_through(warp, black(kIn)));
  assert_unchanged(warp, gst_navigation_event_new_mouse_move(10, 20, kNoKeys));
  for (const double angle : {180.0, 0.0, 180.0, 0.0}) {
    g_object_set(warp.element(), "angle", angle, nullptr);
    warp(black(kIn));
    const At want = angle == 0 ? At{10, 20} : At{54, 28};
    assert_at(pointed(warp, {10, 20}), want, "at " + std::to_string(angle) + " degrees");
  }
  ck_assert(passes_through(warp, black(kIn)));
}
GST_END_TEST;

// Others may have the same event.
GST_START_TEST(navigation_of_a_shared_event) {
  Warp warp("angle=180");
  warp.set_caps(kIn);
  const EventPtr mine(gst_navigation_event_new_mouse_move(10, 20, kNoKeys));
  const EventPtr up = sent_up(warp, gst_event_ref(mine.get()));
  assert_at(pointer_of(up.get()), {54, 28}, "upstream");
  assert_at(pointer_of(mine.get()), {10, 20}, "mine");
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_navigation");
  TCase* tc = tcase_create("navigation");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, navigation);
  tcase_add_test(tc, navigation_of_every_kind);
  tcase_add_test(tc, navigation_without_a_point);
  tcase_add_test(tc, navigation_of_turned_pictures);
  tcase_add_test(tc, navigation_by_the_last_frame);
  tcase_add_test(tc, navigation_of_what_passes_through);
  tcase_add_test(tc, navigation_of_a_shared_event);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

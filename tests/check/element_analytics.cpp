// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detections move with the picture, and what is known of them stays with them (GStreamer 1.24 and later).
#include <gst/analytics/analytics.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "element_util.h"

using namespace cudawarp::element;

namespace {

using Box = std::array<int, 4>;  // x, y, width, height

BufferPtr blank(const std::string& caps, int number = 0) {
  return buffer_of(black(caps), caps, number);
}

guint add_detection(GstAnalyticsRelationMeta* meta, const char* type, const Box& b,
                    float confidence = 0.75f) {
  GstAnalyticsODMtd made;
  ck_assert(gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_string(type), b[0], b[1], b[2], b[3],
                                                   confidence, &made));
  return made.id;
}

guint add_class(GstAnalyticsRelationMeta* meta, const char* name, float confidence) {
  GstAnalyticsClsMtd made;
  ck_assert(gst_analytics_relation_meta_add_one_cls_mtd(meta, confidence, g_quark_from_string(name), &made));
  return made.id;
}

guint add_track(GstAnalyticsRelationMeta* meta, guint64 number) {
  GstAnalyticsTrackingMtd made;
  ck_assert(gst_analytics_relation_meta_add_tracking_mtd(meta, number, GST_SECOND, &made));
  ck_assert(gst_analytics_tracking_mtd_update_last_seen(&made, 3 * GST_SECOND));
  return made.id;
}

// That of a buffer, which has one.
GstAnalyticsRelationMeta* relations_of(GstBuffer* buffer) {
  ck_assert_uint_eq(gst_buffer_get_n_meta(buffer, GST_ANALYTICS_RELATION_META_API_TYPE), 1);
  return gst_buffer_get_analytics_relation_meta(buffer);
}

// A name for an entry: what has been detected, the class, the number of the track.
std::string name_of(GstAnalyticsRelationMeta* meta, guint id) {
  GstAnalyticsODMtd detection;
  if (gst_analytics_relation_meta_get_od_mtd(meta, id, &detection))
    return g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&detection));
  GstAnalyticsClsMtd cls;
  if (gst_analytics_relation_meta_get_cls_mtd(meta, id, &cls)) {
    ck_assert_uint_eq(gst_analytics_cls_mtd_get_length(&cls), 1);
    return std::string("class ") + g_quark_to_string(gst_analytics_cls_mtd_get_quark(&cls, 0)) + " " +
           std::to_string(gst_analytics_cls_mtd_get_level(&cls, 0));
  }
  GstAnalyticsTrackingMtd track;
  ck_assert(gst_analytics_relation_meta_get_tracking_mtd(meta, id, &track));
  guint64 number = 0;
  GstClockTime first = 0, last = 0;
  gboolean lost = FALSE;
  ck_assert(gst_analytics_tracking_mtd_get_info(&track, &number, &first, &last, &lost));
  ck_assert(first == GST_SECOND && last == 3 * GST_SECOND);
  return "track " + std::to_string(number) + (lost ? " lost" : "");
}

std::vector<std::string> names_of(GstAnalyticsRelationMeta* meta) {
  std::vector<std::string> names;
  for (guint id = 0; id < gst_analytics_relation_get_length(meta); ++id) names.push_back(name_of(meta, id));
  return names;
}

// "one -type-> other", for all that are related.
std::vector<std::string> ties_of(GstAnalyticsRelationMeta* meta) {
  std::vector<std::string> ties;
  for (guint a = 0; a < gst_analytics_relation_get_length(meta); ++a)
    for (guint b = 0; b < gst_analytics_relation_get_length(meta); ++b)
      if (const auto type = gst_analytics_relation_meta_get_relation(meta, a, b))
        ties.push_back(name_of(meta, a) + " -" + std::to_string(type) + "-> " + name_of(meta, b));
  return ties;
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += "\n  " + one;
  return text;
}

void assert_equal(const std::vector<std::string>& got, const std::vector<std::string>& want) {
  ck_assert_msg(got == want, "got%s\nnot%s", lines(got).c_str(), lines(want).c_str());
}

void assert_box(GstAnalyticsRelationMeta* meta, guint id, const Box& want, const char* what,
                float confidence = 0.75f) {
  GstAnalyticsODMtd detection;
  ck_assert_msg(gst_analytics_relation_meta_get_od_mtd(meta, id, &detection), "%s: no detection", what);
  Box got{};
  gfloat level = 0;
  ck_assert(gst_analytics_od_mtd_get_location(&detection, &got[0], &got[1], &got[2], &got[3], &level));
  ck_assert_msg(got == want, "%s: %dx%d at (%d, %d), not %dx%d at (%d, %d)", what, got[2], got[3], got[0],
                got[1], want[2], want[3], want[0], want[1]);
  ck_assert(level == confidence);
}

}  // namespace

// As regions do.
GST_START_TEST(detection) {
  const struct {
    const char* properties;
    Box box;
    bool seen;
    Box want;
  } cases[] = {
      {"fit=letterbox", {960, 540, 192, 108}, true, {320, 320, 64, 36}},
      {"fit=crop", {960, 540, 192, 108}, true, {320, 320, 114, 64}},
      {"fit=crop", {0, 0, 960, 108}, true, {0, 0, 320, 64}},
      {"fit=crop", {0, 0, 100, 100}, false, {}},
      {"fit=none", {600, 200, 80, 50}, true, {0, 0, 40, 30}},
      {"fit=none", {-50, 0, 80, 50}, false, {}},
      {"offset-y=-140", {-30, -60, 90, 90}, true, {0, 0, 20, 10}},
      {"", {300, 300, 0, 90}, true, {100, 240, 0, 30}},
      {"", {G_MAXINT, 0, G_MAXINT, 90}, false, {}},
      {"", {G_MININT, 0, G_MAXINT, 90}, false, {}},
      // The middle stays, the corners (+-96, +-54) / 3 turn: 32 cos 60 + 18 sin 60 = 31.59, 27.71 + 9
      // = 36.71.
      {"angle=60", {864, 486, 192, 108}, true, {288, 283, 64, 74}},
  };
  const std::string in = raw("GRAY8", 1920, 1080);
  for (const auto& c : cases) {
    Warp warp(c.properties);
    warp.set_caps(in, raw("GRAY8", 640, 640));
    BufferPtr buffer = blank(in);
    add_detection(gst_buffer_add_analytics_relation_meta(buffer.get()), "cat", c.box);
    const BufferPtr out = warp.pass(BufferPtr(gst_buffer_ref(buffer.get())));
    GstAnalyticsRelationMeta* meta = relations_of(out.get());
    ck_assert_uint_eq(gst_analytics_relation_get_length(meta), c.seen);
    if (c.seen) {
      assert_box(meta, 0, c.want, c.properties);
      ck_assert_str_eq(name_of(meta, 0).c_str(), "cat");
    }
    assert_box(relations_of(buffer.get()), 0, c.box, "the input's");
  }
}
GST_END_TEST;

// What is related to a detection stays with it; what is related to nothing but one that is outside goes too.
GST_START_TEST(relations) {
  const std::string in = raw("GRAY8", 640, 480);
  Warp warp("offset-x=-200");
  warp.set_caps(in);
  BufferPtr buffer = blank(in);
  GstAnalyticsRelationMeta* meta = gst_buffer_add_analytics_relation_meta(buffer.get());
  const guint gone = add_detection(meta, "gone", {0, 0, 100, 100}), only_gone = add_class(meta, "gone", 0.5f),
              cat = add_detection(meta, "cat", {300, 100, 50, 60}), tabby = add_class(meta, "tabby", 0.25f),
              gone_track = add_track(meta, 1), track = add_track(meta, 2),
              both = add_class(meta, "both", 0.125f),
              head = add_detection(meta, "head", {300, 100, 20, 20}, 0.5f);
  add_class(meta, "alone", 0.75f);
  GstAnalyticsTrackingMtd lost;
  ck_assert(gst_analytics_relation_meta_get_tracking_mtd(meta, track, &lost));
  ck_assert(gst_analytics_tracking_mtd_set_lost(&lost));
  const struct {
    GstAnalyticsRelTypes type;
    guint from, to;
  } ties[] = {
      {GST_ANALYTICS_REL_TYPE_RELATE_TO, gone, only_gone},
      {GST_ANALYTICS_REL_TYPE_RELATE_TO, gone_track, gone},
      {GST_ANALYTICS_REL_TYPE_RELATE_TO, cat, tabby},
      {GST_ANALYTICS_REL_TYPE_IS_PART_OF, tabby, cat},
      {GST_ANALYTICS_REL_TYPE_RELATE_TO, track, cat},
      {GST_ANALYTICS_REL_TYPE_CONTAIN, cat, head},
      {GST_ANALYTICS_REL_TYPE_RELATE_TO, gone, both},
      {GST_ANALYTICS_REL_TYPE_RELATE_TO, both, cat},
      {GST_ANALYTICS_REL_TYPE_N_TO_N, head, gone},
  };
  for (const auto& t : ties) ck_assert(gst_analytics_relation_meta_set_relation(meta, t.type, t.from, t.to));
  const BufferPtr out = warp.pass(std::move(buffer));
  GstAnalyticsRelationMeta* moved = relations_of(out.get());
  assert_equal(names_of(moved), {"cat", "class tabby 0.250000", "track 2 lost", "class both 0.125000", "head",
                                 "class alone 0.750000"});
  assert_box(moved, 0, {100, 100, 50, 60}, "cat");
  assert_box(moved, 4, {100, 100, 20, 20}, "head", 0.5f);
  assert_equal(ties_of(moved),
               {"cat -8-> class tabby 0.250000", "cat -4-> head", "class tabby 0.250000 -2-> cat",
                "track 2 lost -8-> cat", "class both 0.125000 -8-> cat"});
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 26, 0)
// Masks are pictures, which are not warped: kept where nothing moves, and held for as long as a buffer has
// them.
GST_START_TEST(segmentation) {
  const std::string in = raw("RGB", 64, 48);
  for (const bool moves : {false, true}) {
    Warp warp(moves ? "angle=17" : "");
    warp.set_caps(in, raw("BGR", 64, 48));
    const BufferPtr mask(gst_buffer_new_allocate(nullptr, 64, nullptr));
    gst_buffer_add_video_meta(mask.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
    BufferPtr buffer = blank(in);
    GstAnalyticsRelationMeta* meta = gst_buffer_add_analytics_relation_meta(buffer.get());
    GstAnalyticsSegmentationMtd one;
    guint region = 0;
    ck_assert(gst_analytics_relation_meta_add_segmentation_mtd(
        meta, gst_buffer_ref(mask.get()), GST_SEGMENTATION_TYPE_SEMANTIC, 1, &region, 3, 4, 20, 10, &one));
    const guint cls = add_class(meta, "of the mask", 0.5f);
    ck_assert(gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, cls, one.id));
    add_detection(meta, "cat", {20, 20, 10, 10});
    BufferPtr out = warp.pass(std::move(buffer));
    meta = relations_of(out.get());
    ck_assert_uint_eq(gst_analytics_relation_get_length(meta), moves ? 1 : 3);
    if (moves) {
      ck_assert(name_of(meta, 0) == "cat");
    } else {
      ck_assert(gst_analytics_relation_meta_get_segmentation_mtd(meta, 0, &one));
      int x = 0, y = 0;
      guint w = 0, h = 0;
      const BufferPtr same(gst_analytics_segmentation_mtd_get_mask(&one, &x, &y, &w, &h));
      ck_assert(same == mask && x == 3 && y == 4 && w == 20 && h == 10);
    }
    ck_assert_int_eq(GST_MINI_OBJECT_REFCOUNT_VALUE(mask.get()), moves ? 1 : 2);
    out.reset();
    ASSERT_MINI_OBJECT_REFCOUNT(mask.get(), "mask", 1);
  }
}
GST_END_TEST;
#endif

// Each buffer's own, in flight too; and where buffers only pass.
GST_START_TEST(frames) {
  const std::string in = raw("GRAY8", 64, 48);
  for (const int offset : {0, 3}) {
    Warp warp("async-depth=2 offset-x=" + std::to_string(offset));
    warp.set_caps(in);
    for (int n = 0; n < 5; ++n) {
      BufferPtr buffer = blank(in, n);
      if (n != 2)
        add_detection(gst_buffer_add_analytics_relation_meta(buffer.get()), "cat", {5 * n, 7, 8, 9});
      ck_assert_int_eq(warp.push(std::move(buffer)), GST_FLOW_OK);
    }
    gst_harness_push_event(warp.harness(), gst_event_new_eos());
    for (int n = 0; n < 5; ++n) {
      const BufferPtr out(gst_harness_pull(warp.harness()));
      if (n == 2)
        ck_assert(!gst_buffer_get_analytics_relation_meta(out.get()));
      else
        assert_box(relations_of(out.get()), 0, {5 * n + offset, 7, 8, 9}, "in flight");
    }
  }
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 26, 0)
GST_START_TEST(oriented) {
  const std::string in = raw("GRAY8", 640, 480);
  const double degree = std::numbers::pi / 180;
  for (const double turn : {10.0, 75.0, -120.0}) {
    Warp warp("scale=0.5 angle=30");
    warp.set_caps(in);
    BufferPtr buffer = blank(in);
    GstAnalyticsODMtd one;
    // Its middle at (130, 100), (-190, -140) from the frame's.
    ck_assert(gst_analytics_relation_meta_add_oriented_od_mtd(
        gst_buffer_add_analytics_relation_meta(buffer.get()), g_quark_from_string("ship"), 100, 80, 60, 40,
        static_cast<gfloat>(turn * degree), 0.75f, &one));
    const BufferPtr out = warp.pass(std::move(buffer));
    GstAnalyticsRelationMeta* meta = relations_of(out.get());
    ck_assert_uint_eq(gst_analytics_relation_get_length(meta), 1);
    ck_assert(gst_analytics_relation_meta_get_od_mtd(meta, 0, &one));
    int x = 0, y = 0, w = 0, h = 0;
    gfloat r = 0, confidence = 0;
    ck_assert(gst_analytics_od_mtd_get_oriented_location(&one, &x, &y, &w, &h, &r, &confidence));
    ck_assert_int_eq(w, 30);
    ck_assert_int_eq(h, 20);
    const double c = std::cos(30 * degree), s = std::sin(30 * degree);
    ck_assert(std::abs(x + 15 - (320 - 95 * c + 70 * s)) <= 0.5);
    ck_assert(std::abs(y + 10 - (240 - 95 * s - 70 * c)) <= 0.5);
    ck_assert(std::abs(r - (turn + 30) * degree) < 1e-5);
    ck_assert(confidence == 0.75f && name_of(meta, 0) == "ship");
  }
}
GST_END_TEST;

// Outside by its own corners, although what it would be upright reaches into the frame.
GST_START_TEST(oriented_outside) {
  const std::string in = raw("GRAY8", 640, 480);
  const struct {
    Box box;
    double turn;
    bool seen;
  } cases[] = {{{-90, 200, 100, 10}, 90, false},  // stands at x = -45 to -35
               {{-90, 200, 100, 10}, 180, true},
               {{-60, 200, 20, 100}, 90, true}};  // lies at x = -100 to 0
  for (const auto& c : cases) {
    Warp warp("offset-x=1");
    warp.set_caps(in);
    BufferPtr buffer = blank(in);
    GstAnalyticsODMtd one;
    ck_assert(gst_analytics_relation_meta_add_oriented_od_mtd(
        gst_buffer_add_analytics_relation_meta(buffer.get()), g_quark_from_string("ship"), c.box[0], c.box[1],
        c.box[2], c.box[3], static_cast<gfloat>(c.turn / 180 * std::numbers::pi), 1, &one));
    const BufferPtr out = warp.pass(std::move(buffer));
    ck_assert_uint_eq(gst_analytics_relation_get_length(relations_of(out.get())), c.seen);
  }
}
GST_END_TEST;
#endif

static Suite* suite() {
  Suite* s = suite_create("element_analytics");
  TCase* tc = tcase_create("analytics");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, detection);
  tcase_add_test(tc, relations);
  tcase_add_test(tc, frames);
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_test(tc, segmentation);
  tcase_add_test(tc, oriented);
  tcase_add_test(tc, oriented_outside);
#endif
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

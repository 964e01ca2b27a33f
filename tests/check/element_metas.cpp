// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What buffers carry beside their pixels: regions move, other metas stay or go.
#include <gst/video/gstvideoaffinetransformationmeta.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "element_maps.h"

using namespace cudawarp::element;

namespace {

using Region = std::array<gint64, 4>;  // x, y, width, height

BufferPtr with_regions(const std::string& caps, const std::vector<Region>& regions, int number = 0) {
  BufferPtr buffer = buffer_of(black(caps), caps, number);
  for (const Region& r : regions)
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", r[0], r[1], r[2], r[3]);
  return buffer;
}

std::string words(const std::vector<Region>& regions) {
  std::string all;
  for (const Region& r : regions)
    for (const gint64 n : r) all += std::to_string(n) + (&n == &r.back() ? "; " : " ");
  return all;
}

void assert_regions(const BufferPtr& buffer, const std::vector<Region>& want, const std::string& what) {
  std::vector<Region> got;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer.get(), &state,
                                                          GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* r = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    got.push_back({r->x, r->y, r->w, r->h});
  }
  ck_assert_msg(got == want, "%s: %snot %s", what.c_str(), words(got).c_str(), words(want).c_str());
}

// The upright box about the image, in whole pixels, cut off at the frame. For corners off the sides of
// pixels.
Region image_of(const Region& r, const Map& m, int width, int height) {
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const gint64 x : {r[0], r[0] + r[2]})
    for (const gint64 y : {r[1], r[1] + r[3]}) {
      const double u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
      left = std::min(left, u), right = std::max(right, u);
      top = std::min(top, v), bottom = std::max(bottom, v);
    }
  const auto within = [](double v, int side) { return std::clamp<gint64>(std::llround(v), 0, side); };
  const gint64 x = within(std::floor(left), width), y = within(std::floor(top), height);
  return {x, y, within(std::ceil(right), width) - x, within(std::ceil(bottom), height) - y};
}

}  // namespace

GST_START_TEST(regions) {
  const Region roi{960, 540, 192, 108}, left{0, 0, 960, 108}, largest{0, 0, G_MAXUINT, G_MAXUINT};
  const struct {
    const char* properties;
    std::vector<Region> regions, want;
  } cases[] = {
      {"fit=letterbox", {roi}, {{320, 320, 64, 36}}},
      {"fit=crop", {roi}, {{320, 320, 114, 64}}},
      {"fit=stretch", {roi, left}, {{320, 320, 64, 64}, {0, 0, 320, 64}}},
      // Cut off, and out of the frame.
      {"fit=crop", {left, {0, 0, 100, 100}, roi}, {{0, 0, 320, 64}, {320, 320, 114, 64}}},
      {"", {{1900, 1000, 40, 40}}, {{633, 473, 7, 14}}},
      // One that meets the frame in its side alone is out.
      {"fit=none", {{640, 220, 9, 9}, {1271, 851, 9, 9}}, {{0, 0, 9, 9}, {631, 631, 9, 9}}},
      {"fit=none", {{631, 220, 9, 9}, {1280, 220, 9, 9}, {640, 211, 9, 9}, {640, 860, 9, 9}}, {}},
      // A place without a size, and lines.
      {"", {{960, 540, 0, 0}, {300, 300, 0, 90}}, {{320, 320, 0, 0}, {100, 240, 0, 30}}},
      {"fit=crop", {{10, 20, 0, 0}}, {}},
      {"", {largest, {1800, 900, G_MAXUINT, 3}}, {{0, 140, 640, 500}, {600, 440, 40, 1}}},
      {"", {{G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT}, {G_MAXUINT, 0, 1, 1}, {0, 1 << 30, 1, 1}}, {}},
      {"", {}, {}},
  };
  const std::string in = raw("I420", 1920, 1080);
  for (const auto& c : cases) {
    Warp warp(c.properties);
    warp.set_caps(in, raw("I420", 640, 640));
    assert_regions(warp.pass(with_regions(in, c.regions)), c.want, c.properties);
  }
}
GST_END_TEST;

GST_START_TEST(region_keeps_what_it_says) {
  const std::string in = raw("RGB", 64, 48);
  for (const char* properties : {"angle=180", "scale=0.5", ""}) {
    Warp warp(properties);
    warp.set_caps(in);
    BufferPtr buffer = with_regions(in, {{1, 2, 30, 40}});
    auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "wheel", 8, 8, 16, 16);
    roi->id = 5, roi->parent_id = 3;
    const char* const params[] = {"detection, confidence=(double)0.75;", "roi/x264, delta-qp=(double)-6.5;"};
    for (const char* p : params)
      gst_video_region_of_interest_meta_add_param(roi, gst_structure_from_string(p, nullptr));
    const BufferPtr out = warp.pass(std::move(buffer));
    ck_assert_uint_eq(gst_buffer_get_n_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 2);
    const auto* kept = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 5);
    ck_assert(kept && kept->roi_type == g_quark_from_string("wheel") && kept->parent_id == 3);
    ck_assert_uint_eq(g_list_length(kept->params), 2);
    for (int k = 0; k < 2; ++k) {
      GstStructure* want = gst_structure_from_string(params[k], nullptr);
      ck_assert(gst_structure_is_equal(static_cast<GstStructure*>(g_list_nth_data(kept->params, k)), want));
      gst_structure_free(want);
    }
  }
}
GST_END_TEST;

GST_START_TEST(regions_turn) {
  const std::string in = raw("GRAY8", 640, 480);
  const std::vector<Region> some = {
      {300, 200, 40, 80}, {301, 77, 1, 1}, {250, 300, 120, 3}, {0, 0, 640, 480}};
  for (const double angle : {30.0, -17.5, 200.0}) {
    const Map map = move(3.25, -1.5) * about(320, 240, turn(angle) * zoom(0.8, 1.1));
    std::vector<Region> want;
    for (const Region& r : some) want.push_back(image_of(r, map, 640, 480));
    Warp warp("scale-x=0.8 scale-y=1.1 offset-x=3.25 offset-y=-1.5 angle=" + std::to_string(angle));
    warp.set_caps(in);
    assert_regions(warp.pass(with_regions(in, some)), want, std::to_string(angle));
  }
}
GST_END_TEST;

GST_START_TEST(regions_in_directions) {
  const std::string in = raw("GRAY8", 640, 480);
  const Region roi{100, 200, 30, 40};
  const struct {
    const char* properties;
    Region want;
  } cases[] = {
      {"", roi},
      {"video-direction=90r", {240, 100, 40, 30}},
      {"video-direction=180", {510, 240, 30, 40}},
      {"video-direction=90l", {200, 510, 40, 30}},
      {"video-direction=horiz", {510, 200, 30, 40}},
      {"video-direction=vert", {100, 240, 30, 40}},
      {"video-direction=ul-lr", {200, 100, 40, 30}},
      {"video-direction=ur-ll", {240, 510, 40, 30}},
      {"video-direction=horiz angle=90 framing=expand", {240, 510, 40, 30}},
  };
  for (const auto& c : cases) {
    Warp warp(c.properties);
    warp.set_caps(in);
    assert_regions(warp.pass(with_regions(in, {roi})), {c.want}, c.properties);
  }
}
GST_END_TEST;

// Each frame in flight keeps its own.
GST_START_TEST(frames_in_flight) {
  const std::string in = raw("GRAY8", 64, 48);
  Warp warp("async-depth=2 offset-x=1");
  warp.set_caps(in);
  for (int n = 0; n < 6; ++n) {
    g_object_set(warp.element(), "offset-x", n + 1.0, nullptr);
    ck_assert_int_eq(warp.push(with_regions(in, {{3 * n, 7, 5, 6}}, n)), GST_FLOW_OK);
  }
  ck_assert_uint_eq(gst_harness_buffers_in_queue(warp.harness()), 4);
  gst_harness_push_event(warp.harness(), gst_event_new_eos());
  for (int n = 0; n < 6; ++n) {
    const BufferPtr out(gst_harness_pull(warp.harness()));
    assert_regions(out, {{4 * n + 1, 7, 5, 6}}, std::to_string(n));
    assert_near(matrix_of(out.get(), 64, 48), move(n + 1, 0), std::to_string(n));
  }
}
GST_END_TEST;

// Of a cut, places are those of the stored frame.
GST_START_TEST(cuts) {
  const std::string in = raw("I420", 64, 48), small = raw("I420", 32, 24);
  for (const auto& [x, y] : {std::array{0, 0}, std::array{16, 8}, std::array{5, 3}}) {
    Warp warp("angle=17"), flip("video-direction=horiz");
    warp.set_caps(in, small), flip.set_caps(in, small);
    BufferPtr buffer = with_regions(in, {{x + 4, y + 2, 8, 6}});
    add_crop(buffer, x, y, 32, 24);
    const BufferPtr out = warp.pass(BufferPtr(gst_buffer_ref(buffer.get())));
    const Map got = matrix_of(out.get(), 64, 48);
    assert_near(got, about(16, 12, turn(17)) * move(-x, -y), "a cut");
    assert_regions(flip.pass(std::move(buffer)), {{20, 2, 8, 6}}, "a cut");
  }
  // Caps of the cut alone: the frame that is mapped from is the stored one.
  Warp warp;
  warp.set_caps(small);
  const CapsPtr stored = caps_of(in);
  BufferPtr buffer = buffer_of(noise(in), in);
  GstVideoInfo layout = info_of(stored.get());
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 64, 48, 3,
                                 layout.offset, layout.stride);
  add_crop(buffer, 16, 8, 32, 24);
  g_object_set(warp.element(), "angle", 180.0, nullptr);
  assert_near(matrix_of(warp.pass(std::move(buffer)).get(), 64, 48), {-1, 0, 48, 0, -1, 32},
              "caps of the cut");
}
GST_END_TEST;

GST_START_TEST(other_metas) {
  const std::string in = raw("I420", 64, 48);
  const gchar *no_tags[] = {nullptr}, *of_a_size[] = {GST_META_TAG_VIDEO_SIZE_STR, nullptr};
  gst_meta_register_custom("CudaWarpTestNoTags", no_tags, nullptr, nullptr, nullptr);
  gst_meta_register_custom("CudaWarpTestSize", of_a_size, nullptr, nullptr, nullptr);
  Warp warp("angle=17");
  warp.set_caps(in);
  BufferPtr buffer = buffer_of(black(in), in);
  add_crop(buffer, 0, 0, 64, 48);
  gst_buffer_add_video_time_code_meta_full(buffer.get(), 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2,
                                           3, 4, 0);
  const guint8 caption[] = {0x80, 1, 2};
  gst_buffer_add_video_caption_meta(buffer.get(), GST_VIDEO_CAPTION_TYPE_CEA608_S334_1A, caption, 3);
  for (const char* name : {"CudaWarpTestNoTags", "CudaWarpTestSize"})
    ck_assert(gst_buffer_add_custom_meta(buffer.get(), name) != nullptr);
  const BufferPtr out = warp.pass(std::move(buffer));
  const std::pair<GType, guint> want[] = {{GST_VIDEO_CROP_META_API_TYPE, 0},
                                          {GST_VIDEO_TIME_CODE_META_API_TYPE, 1},
                                          {GST_VIDEO_CAPTION_META_API_TYPE, 1},
                                          {gst_meta_get_info("CudaWarpTestNoTags")->api, 1},
                                          {gst_meta_get_info("CudaWarpTestSize")->api, 0}};
  for (const auto& [api, count] : want)
    ck_assert_msg(gst_buffer_get_n_meta(out.get(), api) == count, "%s", g_type_name(api));
  const GstVideoTimeCode& time = gst_buffer_get_video_time_code_meta(out.get())->tc;
  ck_assert(time.hours == 1 && time.minutes == 2 && time.seconds == 3 && time.frames == 4);
  const auto* text = gst_buffer_get_video_caption_meta(out.get());
  ck_assert(text->size == 3 && text->data[0] == 0x80 && text->data[2] == 2);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 28, 0)
namespace {

const char* const kPlace = "CudaWarpTestPlace";

void add_place(GstBuffer* buffer, int x, int y) {
  gst_structure_set(gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, kPlace)), "x",
                    G_TYPE_INT, x, "y", G_TYPE_INT, y, nullptr);
}

std::array<int, 2> place_of(GstCustomMeta* meta) {
  int x = 0, y = 0;
  gst_structure_get(gst_custom_meta_get_structure(meta), "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, nullptr);
  return {x, y};
}

gboolean move_place(GstBuffer* to, GstCustomMeta* meta, GstBuffer*, GQuark type, gpointer data, gpointer) {
  if (!GST_VIDEO_META_TRANSFORM_IS_MATRIX(type)) return FALSE;
  auto [x, y] = place_of(meta);
  gst_video_meta_transform_matrix_point(static_cast<GstVideoMetaTransformMatrix*>(data), &x, &y);
  add_place(to, x, y);
  return TRUE;
}

}  // namespace

// What knows how to move by a matrix.
GST_START_TEST(metas_that_move) {
  const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, nullptr};
  gst_meta_register_custom(kPlace, tags, move_place, nullptr, nullptr);
  const std::string in = raw("RGB", 64, 48);
  Warp warp("video-direction=90r");
  warp.set_caps(in);
  BufferPtr buffer = buffer_of(black(in), in);
  add_place(buffer.get(), 10, 20);
  const BufferPtr out = warp.pass(std::move(buffer));
  ck_assert_uint_eq(gst_buffer_get_n_meta(out.get(), gst_meta_get_info(kPlace)->api), 1);
  ck_assert(place_of(gst_buffer_get_custom_meta(out.get(), kPlace)) == (std::array{28, 10}));
}
GST_END_TEST;
#endif

GST_START_TEST(metas_are_offered) {
  const std::string in = raw("I420", 64, 48);
  Warp warp("angle=17");
  warp.set_caps(in);
  const QueryPtr query(gst_query_new_allocation(caps_of(in).get(), TRUE));
  ck_assert(gst_pad_peer_query(warp.harness()->srcpad, query.get()));
  for (const GType api : {GST_VIDEO_META_API_TYPE, GST_VIDEO_CROP_META_API_TYPE,
                          GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE}) {
    int times = 0;
    for (guint k = 0; k < gst_query_get_n_allocation_metas(query.get()); ++k)
      times += gst_query_parse_nth_allocation_meta(query.get(), k, nullptr) == api;
    ck_assert_int_eq(times, 1);
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_metas");
  TCase* tc = tcase_create("metas");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, regions);
  tcase_add_test(tc, region_keeps_what_it_says);
  tcase_add_test(tc, regions_turn);
  tcase_add_test(tc, regions_in_directions);
  tcase_add_test(tc, frames_in_flight);
  tcase_add_test(tc, cuts);
  tcase_add_test(tc, other_metas);
#if GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test(tc, metas_that_move);
#endif
  tcase_add_test(tc, metas_are_offered);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

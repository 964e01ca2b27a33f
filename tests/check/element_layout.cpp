// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pictures that are a part of what a buffer stores, and buffers that do not hold what they promise.
#include <vector>

#include "gst/frame.h"

#include "element_util.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

struct Cut {
  int x, y, width, height;
};

// A buffer of these caps that says where its planes lie, as decoders' do.
BufferPtr with_meta(const Pixels& stored, const std::string& caps, int number = 0) {
  BufferPtr buffer = buffer_of(stored, caps, number);
  GstVideoInfo info = info_of(caps_of(caps).get());
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info),
                                 GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
  return buffer;
}

void add_crop(const BufferPtr& buffer, guint x, guint y, guint width, guint height) {
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = x, crop->y = y, crop->width = width, crop->height = height;
}

BufferPtr with_crop(const Pixels& stored, const std::string& caps, const Cut& cut, int number = 0) {
  BufferPtr buffer = with_meta(stored, caps, number);
  add_crop(buffer, cut.x, cut.y, cut.width, cut.height);
  return buffer;
}

// Log2 of how many luma pixels a sample stands for, in x or y.
int shift_of(int whole, int samples) {
  return samples == whole ? 0 : 1;
}

// What a copying crop makes of a frame; chroma from the block that holds the corner on.
Pixels copied(const Pixels& stored, const std::string& from, const Cut& cut, const std::string& to) {
  const Samples source(from), target(to);
  Pixels out = black(to);
  for (int c = 0; c < target.count(); ++c) {
    const int x0 = cut.x >> shift_of(source.width(0), source.width(c)),
              y0 = cut.y >> shift_of(source.height(0), source.height(c));
    for (int y = 0; y < target.height(c); ++y)
      for (int x = 0; x < target.width(c); ++x)
        target.set(out, c, x, y, source.get(stored, c, x0 + x, y0 + y));
  }
  return out;
}

const char* const kCropFormats[] = {"I420", "NV12", "YUY2", "P010_10LE", "RGB", "Y42B", "GBR_10LE", "AYUV"};

// A buffer that cannot be used, and then one that can.
void assert_unusable(const std::string& in, BufferPtr bad, std::initializer_list<const char*> words) {
  Warp warp("angle=180");
  warp.set_caps(in);
  ck_assert_int_eq(warp.push(std::move(bad)), GST_FLOW_ERROR);
  assert_one_message(warp.bus(), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, words);
  Warp plain("angle=180");
  plain.set_caps(in);
  assert_same(warp(noise(in), 1), plain(noise(in)), "after the error");
}

// The meta of a buffer of such caps once `change` has been at it.
template <class Change>
BufferPtr with_bad_meta(const std::string& in, Change change) {
  BufferPtr buffer = with_meta(noise(in), in);
  change(*gst_buffer_get_video_meta(buffer.get()));
  return buffer;
}

}  // namespace

GST_START_TEST(offsets_of_blocks) {
  const struct {
    Format format;
    int plane, stride, x, y;
    ptrdiff_t offset;
  } cases[] = {
      {Format::GRAY8, 0, 100, 7, 3, 307},     {Format::RGB, 0, 100, 7, 3, 321},
      {Format::RGBA64_LE, 0, 200, 7, 3, 656}, {Format::GBR_16LE, 2, 200, 7, 3, 614},
      {Format::I420, 0, 100, 16, 48, 4816},   {Format::I420, 2, 50, 16, 48, 1208},
      {Format::NV12, 1, 100, 16, 48, 2416},   {Format::P010_10LE, 0, 200, 16, 48, 9632},
      {Format::P010_10LE, 1, 200, 6, 4, 412}, {Format::Y42B, 1, 50, 16, 48, 2408},
      {Format::NV16, 1, 100, 16, 5, 516},     {Format::NV24, 1, 200, 7, 5, 1014},
      {Format::YUY2, 0, 200, 6, 5, 1012},     {Format::I420, 1, 50, 0, 0, 0},
  };
  for (const auto& c : cases)
    ck_assert_msg(block_offset(info(c.format), c.plane, c.stride, c.x, c.y) == c.offset, "%s, plane %d",
                  name_of(info(c.format)).c_str(), c.plane);
}
GST_END_TEST;

// Both ways that upstream may write caps: of all that is stored, and of the cut alone.
GST_START_TEST(crop_meta) {
  const Cut cut{16, 48, 688, 480};
  for (const char* format : kCropFormats) {
    const std::string stored = raw(format, 720, 576), small = raw(format, 688, 480);
    const Pixels src = noise(stored), want = copied(src, stored, cut, small);
    for (const std::string& in : {stored, small})
      for (const char* properties : {"offset-x=2", "angle=17 border-color=0xff4080c0"}) {
        Warp warp(properties), plain(properties);
        warp.set_caps(in, small), plain.set_caps(small, small);
        const BufferPtr out = warp.pass(with_crop(src, stored, cut));
        const Pixels got = pixels_of(out.get(), warp.output_caps().get());
        assert_same(got, plain(want), in + " " + properties);
        ck_assert(!gst_buffer_get_video_crop_meta(out.get()));
      }
  }
}
GST_END_TEST;

// The plain copy, byte for byte.
GST_START_TEST(crop_meta_copies) {
  for (const char* format : kCropFormats)
    for (const Cut& cut : {Cut{16, 8, 40, 20}, Cut{2, 4, 40, 20}, Cut{24, 28, 40, 20}, Cut{0, 0, 40, 20}}) {
      const std::string stored = raw(format, 64, 48), small = raw(format, 40, 20);
      const Pixels src = noise(stored);
      Warp warp;
      warp.set_caps(stored, small);
      const BufferPtr out = warp.pass(with_crop(src, stored, cut));
      assert_same(pixels_of(out.get(), warp.output_caps().get()), copied(src, stored, cut, small),
                  stored + " from " + std::to_string(cut.x));
    }
}
GST_END_TEST;

// A cut through blocks of chroma: luma is copied, and nothing that the cut does not touch shows.
GST_START_TEST(crop_at_odd_places) {
  for (const char* format : {"I420", "NV12", "YUY2", "UYVY", "P010_10LE", "Y42B", "RGB"})
    for (const Cut& cut : {Cut{5, 3, 31, 21}, Cut{1, 2, 30, 20}, Cut{4, 7, 33, 20}, Cut{63, 47, 1, 1}}) {
      const std::string stored = raw(format, 64, 48), small = raw(format, cut.width, cut.height);
      const std::string what = small + " at " + std::to_string(cut.x) + ", " + std::to_string(cut.y);
      const Samples source(stored), target(small);
      const Pixels src = noise(stored);
      Warp copy;
      copy.set_caps(stored, small);
      const BufferPtr out = copy.pass(with_crop(src, stored, cut));
      const Pixels got = pixels_of(out.get(), copy.output_caps().get());
      for (int y = 0; y < cut.height; ++y)
        for (int x = 0; x < cut.width; ++x)
          if (target.get(got, 0, x, y) != source.get(src, 0, cut.x + x, cut.y + y))
            ck_abort_msg("%s: luma at (%d, %d)", what.c_str(), x, y);

      Pixels poisoned = black(stored);
      for (int c = 0; c < source.count(); ++c) {
        const int sx = shift_of(64, source.width(c)), sy = shift_of(48, source.height(c));
        source.fill(poisoned, c, source.largest(c));
        for (int y = cut.y >> sy; y <= (cut.y + cut.height - 1) >> sy; ++y)
          for (int x = cut.x >> sx; x <= (cut.x + cut.width - 1) >> sx; ++x)
            source.set(poisoned, c, x, y, 60 + 20 * c);
      }
      for (const char* properties : {"", "angle=17 interpolation=lanczos", "scale=0.3", "angle=180"}) {
        Warp warp(std::string("border-mode=replicate ") + properties);
        warp.set_caps(stored, small);
        const BufferPtr frame = warp.pass(with_crop(poisoned, stored, cut));
        const Pixels seen = pixels_of(frame.get(), warp.output_caps().get());
        for (int c = 0; c < target.count(); ++c)
          for (int y = 0; y < target.height(c); ++y)
            for (int x = 0; x < target.width(c); ++x)
              if (target.get(seen, c, x, y) != 60 + 20 * c)
                ck_abort_msg("%s %s: sample %d at (%d, %d) is %d", what.c_str(), properties, c, x, y,
                             target.get(seen, c, x, y));
      }
    }
}
GST_END_TEST;

// Chroma of a cut at an odd place keeps its place in the picture: a ramp remains that ramp.
GST_START_TEST(chroma_of_an_odd_crop) {
  for (const char* format : {"I420", "P010_10LE", "YUY2"}) {
    const std::string stored = raw(format, 64, 48), small = raw(format, 32, 24);
    const Samples source(stored), target(small);
    Pixels src = black(stored);
    const int unit = source.scaled(1, 2);
    for (int y = 0; y < source.height(1); ++y)
      for (int x = 0; x < source.width(1); ++x) source.set(src, 1, x, y, 40 * (unit / 2) + unit * x);
    Warp warp;
    warp.set_caps(stored, small);
    const BufferPtr out = warp.pass(with_crop(src, stored, {9, 5, 32, 24}));
    const Pixels got = pixels_of(out.get(), warp.output_caps().get());
    // Sample k of the cut lies at 2 k + 1 + 9 of the frame, half way between samples k + 4 and k + 5.
    for (int x = 1; x < target.width(1) - 1; ++x)
      ck_assert_int_eq(target.get(got, 1, x, 5), 40 * (unit / 2) + unit * (x + 4) + unit / 2);
  }
}
GST_END_TEST;

// Cuts that come and go, each with its own place.
GST_START_TEST(crop_that_moves) {
  const std::string in = raw("NV12", 64, 48), small = raw("NV12", 32, 24);
  const Pixels src = noise(in);
  Warp warp;
  warp.set_caps(in, small);
  const Pixels whole = warp(src);
  for (int n = 0; n < 8; ++n) {
    const Cut cut{2 * n, 3 * n / 2 * 2, 32, 24};
    const BufferPtr out = warp.pass(with_crop(src, in, cut, 2 * n + 1));
    assert_same(pixels_of(out.get(), warp.output_caps().get()), copied(src, in, cut, small), "a cut");
    assert_same(warp(src, 2 * n + 2), whole, "all of it");
  }
}
GST_END_TEST;

// What is stored may be larger than the caps say, without any cut: the caps' frame is at its top left.
GST_START_TEST(stored_larger_than_caps) {
  for (const char* format : kCropFormats) {
    const std::string stored = raw(format, 64, 48), in = raw(format, 37, 21);
    const Pixels src = noise(stored);
    Warp warp("angle=17"), plain("angle=17");
    warp.set_caps(in), plain.set_caps(in);
    const BufferPtr out = warp.pass(with_meta(src, stored));
    assert_same(pixels_of(out.get(), warp.output_caps().get()),
                plain(copied(src, stored, {0, 0, 37, 21}, in)), in);
  }
}
GST_END_TEST;

GST_START_TEST(crop_is_offered) {
  const std::string in = raw("I420", 64, 48);
  const auto offers = [&](Warp& warp, GType api) {
    const QueryPtr query(gst_query_new_allocation(caps_of(in).get(), TRUE));
    ck_assert(gst_pad_peer_query(warp.harness()->srcpad, query.get()));
    int times = 0;
    for (guint k = 0; k < gst_query_get_n_allocation_metas(query.get()); ++k)
      times += gst_query_parse_nth_allocation_meta(query.get(), k, nullptr) == api;
    ck_assert_int_le(times, 1);
    return times == 1;
  };
  Warp warp("angle=17"), same;
  warp.set_caps(in), same.set_caps(in);
  ck_assert(offers(warp, GST_VIDEO_CROP_META_API_TYPE) && offers(warp, GST_VIDEO_META_API_TYPE));
  // Buffers that only pass are downstream's to judge.
  ck_assert(!offers(same, GST_VIDEO_CROP_META_API_TYPE));
  gst_harness_add_propose_allocation_meta(same.harness(), GST_VIDEO_CROP_META_API_TYPE, nullptr);
  ck_assert(offers(same, GST_VIDEO_CROP_META_API_TYPE));
  // Where that changes, upstream is to ask again.
  const auto asked = [](Warp& w) {
    bool seen = false;
    while (GstEvent* event = gst_harness_try_pull_upstream_event(w.harness())) {
      seen |= GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE;
      gst_event_unref(event);
    }
    return seen;
  };
  same(black(in));
  asked(same);
  for (const double angle : {10.0, 0.0, 20.0}) {
    g_object_set(same.element(), "angle", angle, nullptr);
    same(black(in));
    ck_assert(asked(same));
    same(black(in));
    ck_assert(!asked(same));
  }
}
GST_END_TEST;

GST_START_TEST(crop_outside) {
  const std::string in = raw("I420", 64, 48);
  const struct {
    guint x, y, width, height;
    const char* words;
  } cases[] = {{40, 0, 25, 10, "25x10 at (40, 0)"},
               {0, 40, 10, 9, "10x9 at (0, 40)"},
               {64, 0, 1, 1, "1x1 at (64, 0)"},
               {0, 0, 0, 10, "0x10"},
               {0, 0, 10, 0, "10x0"},
               {4294967290u, 0, 10, 10, "at (4294967290, 0)"},
               {8, 8, 4294967295u, 8, "4294967295x8 at ("}};
  for (const auto& c : cases) {
    BufferPtr buffer = with_meta(noise(in), in);
    add_crop(buffer, c.x, c.y, c.width, c.height);
    assert_unusable(in, std::move(buffer), {"input", "GstVideoCropMeta", c.words, "64x48"});
    buffer = buffer_of(noise(in), in);  // the same without GstVideoMeta
    add_crop(buffer, c.x, c.y, c.width, c.height);
    assert_unusable(in, std::move(buffer), {"input", "GstVideoCropMeta", c.words, "64x48"});
  }
}
GST_END_TEST;

GST_START_TEST(metas_that_contradict_caps) {
  const std::string in = raw("I420", 64, 48);
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.format = GST_VIDEO_FORMAT_YV12; }),
                  {"input", "YV12", "I420"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.format = GST_VIDEO_FORMAT_UNKNOWN; }),
                  {"input", "another format", "I420"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.width = 62; }), {"input", "62x48", "64x48"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.height = 47; }), {"input", "64x47"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.n_planes = 2; }), {"input", "2 planes"});
}
GST_END_TEST;

GST_START_TEST(strides_too_short) {
  const std::string in = raw("I420", 64, 48), packed = raw("YUY2", 33, 8);
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.stride[0] = 63; }),
                  {"input", "plane 0", "stride of 63", "64"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.stride[2] = 0; }),
                  {"plane 2", "stride of 0", "32"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.stride[0] = G_MAXINT; }),
                  {"plane 0", "stride of 2147483647", "more than"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.stride[1] = -32; }),
                  {"plane 1", "stride of -32", "32"});
  // 33 pixels are 17 pairs.
  assert_unusable(packed, with_bad_meta(packed, [](GstVideoMeta& m) { m.stride[0] = 66; }),
                  {"stride of 66", "68"});
}
GST_END_TEST;

GST_START_TEST(planes_beyond_the_memory) {
  const std::string in = raw("I420", 64, 48);
  // 64 x 48 + 2 x 32 x 24 = 4608 bytes.
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.offset[2] += 1; }),
                  {"input", "plane 2", "1 bytes beyond"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.stride[0] = 100; }),
                  {"plane 0", "156 bytes beyond"});
  assert_unusable(in, with_bad_meta(in, [](GstVideoMeta& m) { m.offset[1] = 4608; }), {"plane 1", "begins"});
  // Larger by its meta than its memory is: fine as long as nobody looks there.
  const auto taller = [&] { return with_bad_meta(in, [](GstVideoMeta& m) { m.height = 60; }); };
  Warp warp("angle=180");
  warp.set_caps(in);
  warp.pass(taller());
  BufferPtr below = taller();
  add_crop(below, 0, 26, 64, 34);
  assert_unusable(in, std::move(below), {"plane 2", "beyond"});
}
GST_END_TEST;

GST_START_TEST(short_buffer) {
  const std::string in = raw("I420", 64, 48);
  BufferPtr buffer = buffer_of(black(in), in);
  gst_buffer_set_size(buffer.get(), 1000);
  assert_unusable(in, std::move(buffer), {"input", "1000 bytes", "4608"});
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_layout");
  TCase* tc = tcase_create("layout");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, offsets_of_blocks);
  tcase_add_test(tc, crop_meta);
  tcase_add_test(tc, crop_meta_copies);
  tcase_add_test(tc, crop_at_odd_places);
  tcase_add_test(tc, chroma_of_an_odd_crop);
  tcase_add_test(tc, crop_that_moves);
  tcase_add_test(tc, stored_larger_than_caps);
  tcase_add_test(tc, crop_is_offered);
  tcase_add_test(tc, crop_outside);
  tcase_add_test(tc, metas_that_contradict_caps);
  tcase_add_test(tc, strides_too_short);
  tcase_add_test(tc, planes_beyond_the_memory);
  tcase_add_test(tc, short_buffer);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

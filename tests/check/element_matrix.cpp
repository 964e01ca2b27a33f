// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a picture has come about: the matrix on buffers and in properties, its signal, and the map that a
// buffer brings itself.
#include <gst/video/gstvideoaffinetransformationmeta.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "element_maps.h"

using namespace cudawarp::element;

namespace {

std::vector<double> property_of(GstElement* element, const char* property) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_ARRAY);
  g_object_get_property(G_OBJECT(element), property, &value);
  std::vector<double> numbers;
  for (guint k = 0; k < gst_value_array_get_size(&value); ++k)
    numbers.push_back(g_value_get_double(gst_value_array_get_value(&value, k)));
  g_value_unset(&value);
  return numbers;
}

Map forward_of(GstElement* element) {
  Map forward{}, inverse{};
  for (auto [map, name] : {std::pair{&forward, "forward-matrix"}, std::pair{&inverse, "inverse-matrix"}}) {
    const auto numbers = property_of(element, name);
    ck_assert_uint_eq(numbers.size(), 6);
    std::ranges::copy(numbers, map->begin());
  }
  assert_near(inverse * forward, kSame, "inverse");
  return forward;
}

// A buffer through a line of elements.
BufferPtr through(std::string line, const std::string& in, BufferPtr buffer) {
  const std::string name = "cudawarp", engine = name + " " + engine_properties();
  for (size_t at = 0; (at = line.find(name, at)) != std::string::npos; at += engine.size())
    line.replace(at, name.size(), engine);
  GstHarness* harness = gst_harness_new_parse(line.c_str());
  gst_harness_set_src_caps_str(harness, in.c_str());
  ck_assert_int_eq(gst_harness_push(harness, buffer.release()), GST_FLOW_OK);
  BufferPtr out(gst_harness_pull(harness));
  gst_harness_teardown(harness);
  return out;
}

using Matrix4 = std::array<gfloat, 16>;  // by columns

// Of points 0..1, y up.
Matrix4 gl(const Map& m) {
  std::array<gfloat, 6> f;
  std::ranges::transform(m, f.begin(), [](double v) { return static_cast<gfloat>(v); });
  return {f[0], f[3], 0, 0, f[1], f[4], 0, 0, 0, 0, 1, 0, f[2], f[5], 0, 1};
}

const Matrix4 kFlipX = gl({-1, 0, 1, 0, 1, 0}), kFlipY = gl({1, 0, 0, 0, -1, 1});

BufferPtr moved(const Pixels& pixels, const std::string& caps, const Matrix4& matrix, int number = 0) {
  BufferPtr buffer = buffer_of(pixels, caps, number);
  std::ranges::copy(matrix, gst_buffer_add_video_affine_transformation_meta(buffer.get())->matrix);
  return buffer;
}

Pixels warped(Warp& warp, BufferPtr buffer) {
  const BufferPtr out = warp.pass(std::move(buffer));
  ck_assert(!gst_buffer_get_meta(out.get(), GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE));
  return pixels_of(out.get(), warp.output_caps().get());
}

}  // namespace

GST_START_TEST(matrix) {
  const double crop = 640 / 1080.0;
  const std::string vga = raw("GRAY8", 640, 480), pal = raw("GRAY8", 720, 576, ",pixel-aspect-ratio=16/15");
  const struct {
    const char* properties;
    std::string in, out;
    Map want;
  } cases[] = {
      {"", vga, "", kSame},
      {"angle=30", vga, "", about(320, 240, turn(30))},
      {"angle=-100 scale-x=2 shear-x=0.5 offset-x=7.5 pivot-x=0 pivot-y=0", vga, "",
       move(7.5, 0) * turn(-100) * Map{1, 0.5, 0, 0, 1, 0} * zoom(2, 1)},
      {"fit=stretch", vga, raw("GRAY8", 320, 120), zoom(0.5, 0.25)},
      {"fit=crop", raw("GRAY8", 1920, 1080), raw("GRAY8", 640, 640),
       move(320 - 960 * crop, 0) * zoom(crop, crop)},
      {"video-direction=90r", vga, "", {0, -1, 480, 1, 0, 0}},
      {"video-direction=horiz angle=90 framing=expand", vga, "", {0, -1, 480, -1, 0, 640}},
      {"matrix=<1.5,0.25,-3.0,0.125,2.0,7.0>", vga, "", {1.5, 0.25, -3, 0.125, 2, 7}},
      {"spin=90 angle=7", vga, "", about(320, 240, turn(25))},  // at 0.2 seconds
      {"angle=30", pal, "", zoom(15 / 16., 1) * about(384, 288, turn(30)) * zoom(16 / 15., 1)},
  };
  for (const auto& c : cases) {
    const GstVideoInfo info = info_of(caps_of(c.in).get());
    Warp warp(c.properties);
    for (const char* name : {"forward-matrix", "inverse-matrix"})
      ck_assert(property_of(warp.element(), name).empty());
    warp.set_caps(c.in, c.out);
    const BufferPtr out = warp.pass(buffer_of(black(c.in), c.in, 5));
    const Map got = matrix_of(out.get(), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info));
    assert_near(got, c.want, c.properties);
    ck_assert(forward_of(warp.element()) == got);
  }
}
GST_END_TEST;

GST_START_TEST(letterbox_rounding) {
  const std::string in = raw("RGB", 3775, 1571);
  Warp warp("border-color=0xff727272");
  warp.set_caps(in, raw("RGB", 1280, 1280));
  const BufferPtr out = warp.pass(buffer_of(solid(in, {{200, 100, 50}}), in));
  const Pixels got = pixels_of(out.get(), warp.output_caps().get());
  for (int y = 0; y < 1280; ++y)
    for (const int x : {0, 640, 1279})
      ck_assert_msg(y >= 373 && y <= 905 ? pixel_is(got, 0, x, y, {200, 100, 50})
                                         : pixel_is(got, 0, x, y, {114, 114, 114}),
                    "(%d, %d)", x, y);
  assert_near(matrix_of(out.get(), 3775, 1571), move(0, 373) * zoom(1280 / 3775., 533 / 1571.), "matrix");
}
GST_END_TEST;

// What others do to the frame.
GST_START_TEST(matrix_goes_on) {
  const auto size = [](const char* caps) { return std::string(" ! capsfilter caps=video/x-raw,") + caps; };
  const std::string in = raw("RGB", 64, 48), to = size("width=32,height=12"),
                    first = "cudawarp angle=20" + size("width=64,height=48"),
                    scale = " ! videoscale add-borders=false" + to;
  const Map turned = about(32, 24, turn(20)), scaled = zoom(0.5, 0.25) * turned;
  const struct {
    std::string line;
    Map want;
  } cases[] = {
    {first + " ! cudawarp offset-x=3 angle=90 ! cudawarp", move(3, 0) * about(32, 24, turn(90)) * turned},
    {first + " ! cudawarp fit=stretch" + to, scaled},
    {first + scale, scaled},
    {first + scale + " ! cudawarp offset-y=-2", move(0, -2) * scaled},
    {first + " ! videoconvert ! capsfilter caps=video/x-raw,format=I420 ! queue ! identity", turned},
    {"cudawarp ! queue ! cudawarp", kSame},
#if GST_CHECK_VERSION(1, 28, 0)  // before it nobody is told of borders
    {first + " ! videoscale" + size("width=32,height=32,pixel-aspect-ratio=1/1"),
     move(0, 4) * zoom(0.5, 0.5) * turned},
#endif
  };
  for (const auto& c : cases)
    assert_near(matrix_of(through(c.line, in, buffer_of(black(in), in)).get(), 64, 48), c.want, c.line);
}
GST_END_TEST;

// In copies, and in buffers that pass; those of others remain as they are.
GST_START_TEST(matrix_is_kept) {
  const std::string in = raw("RGB", 64, 48);
  Warp warp("angle=20"), same;
  warp.set_caps(in), same.set_caps(in);
  const BufferPtr out = warp.pass(buffer_of(black(in), in));
  for (GstBuffer* copy : {gst_buffer_copy(out.get()), gst_buffer_copy_deep(out.get())}) {
    ck_assert(matrix_of(copy, 64, 48) == matrix_of(out.get(), 64, 48));
    gst_buffer_unref(copy);
  }
  // A part of the bytes is another picture, or none.
  const BufferPtr part(gst_buffer_copy_region(out.get(), GST_BUFFER_COPY_ALL, 0, 1000));
  ck_assert(!gst_buffer_get_custom_meta(part.get(), kMatrix));

  const BufferPtr mine = buffer_of(black(in), in);
  const BufferPtr passed = same.pass(BufferPtr(gst_buffer_ref(mine.get())));
  ck_assert(gst_buffer_peek_memory(passed.get(), 0) == gst_buffer_peek_memory(mine.get(), 0));
  ck_assert(matrix_of(passed.get(), 64, 48) == kSame);
  ck_assert(!gst_buffer_get_custom_meta(mine.get(), kMatrix));
}
GST_END_TEST;

// Maps that another property makes too, byte for byte.
// What somebody has made another thing of counts as none, and never are there two.
GST_START_TEST(matrix_that_is_damaged) {
  const std::string in = raw("GRAY8", 64, 48);
  const char* const damages[] = {"x", "x, a=2.0",
                                 "x, a=text, b=0.0, tx=0.0, c=0.0, d=1.0, ty=0.0, width=64, height=48",
                                 "x, a=2.0, b=0.0, tx=0.0, c=0.0, d=1.0, ty=0.0, width=0, height=48",
                                 "x, a=2.0, b=0.0, tx=0.0, c=0.0, d=1.0, ty=0.0, width=64.0, height=48.0"};
  for (const char* properties : {"angle=180", ""})
    for (const char* damage : damages) {
      Warp warp(properties);
      warp.set_caps(in);
      BufferPtr buffer = buffer_of(noise(in), in);
      for (int n = 0; n < 2; ++n) {
        GstStructure* to = gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer.get(), kMatrix));
        GstStructure* from = gst_structure_from_string(damage, nullptr);
        ck_assert(from);
        gst_structure_foreach(
            from,
            [](GQuark field, const GValue* value, gpointer s) -> gboolean {
              gst_structure_set_value(static_cast<GstStructure*>(s), g_quark_to_string(field), value);
              return TRUE;
            },
            to);
        gst_structure_free(from);
      }
      assert_near(matrix_of(warp.pass(std::move(buffer)).get(), 64, 48),
                  *properties ? Map{-1, 0, 64, 0, -1, 48} : kSame, damage);
    }
}
GST_END_TEST;

GST_START_TEST(picture_moves) {
  const Matrix4 flip_in_depth = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 1, 0, 1, 1},
                slant_in_depth = {1, 0, 0, 0, 0, 1, 0, 0, 0.5, 0.25, 1, 0, -0.25, -0.125, 0, 1};
  for (const char* format : {"RGB", "I420", "YUY2", "P010_10LE"})
    for (const auto& [w, h] : {std::array{64, 48}, std::array{49, 37}, std::array{98, 103}}) {
      const struct {
        Matrix4 matrix;
        const char *properties, *alike;
        bool moves = false;
      } cases[] = {
          {gl(kSame), "", ""},
          {gl(kSame), "angle=17", "angle=17"},
          {slant_in_depth, "", ""},
          {kFlipX, "", "video-direction=horiz"},
          {flip_in_depth, "", "video-direction=horiz"},
          {kFlipY, "", "video-direction=vert"},
          {gl({-1, 0, 1, 0, -1, 1}), "video-direction=180", ""},
          {kFlipX, "video-direction=90r", "video-direction=ur-ll"},
          {kFlipX, "video-direction=90l", "video-direction=ul-lr"},
          {gl(move(4. / w, 6. / h)), "", "offset-x=4 offset-y=-6", true},
          {gl(move(-2. / w, -8. / h)), "scale-x=-1", "scale-x=-1 offset-x=2 offset-y=8", true},
      };
      const std::string in = raw(format, w, h);
      for (const auto& c : cases) {
        // The sides of odd frames fall into blocks of chroma: half border, and a float may round half either
        // way.
        if (c.moves && w * h % 4 != 0 && std::string(format) != "RGB") continue;
        Warp warp(c.properties), alike(c.alike);
        warp.set_caps(in), alike.set_caps(in);
        assert_same(warped(warp, moved(noise(in), in, c.matrix)), alike(noise(in)), in + " " + c.alike);
      }
    }
}
GST_END_TEST;

// The picture moves within its frame, or what is cut out of one, before all else.
GST_START_TEST(picture_moves_first) {
  const std::string in = raw("GRAY8", 640, 480);
  // Clockwise by 30 degrees, y up: about the middle of a frame that is 1 x 1.
  const Matrix4 by_30 = gl(about(0.5, 0.5, zoom(1 / 640., 1 / 480.) * turn(-30) * zoom(640, 480)));
  const struct {
    Matrix4 matrix;
    const char* properties;
    bool cut;
    Map want;
  } cases[] = {
      {by_30, "", false, about(320, 240, turn(30))},
      {by_30, "angle=20", false, about(320, 240, turn(50))},
      {by_30, "angle=-30", false, kSame},
      {gl(move(0.5, 0)), "angle=90", false, about(320, 240, turn(90)) * move(320, 0)},
      {gl(move(0, 0.25)), "angle=90", false, about(320, 240, turn(90)) * move(0, -120)},
      {kFlipX, "", true, Map{-1, 0, 80, 0, 1, 0} * move(-90, -180)},
  };
  for (const auto& c : cases) {
    Warp warp(c.properties);
    warp.set_caps(in, c.cut ? raw("GRAY8", 80, 60) : "");
    BufferPtr buffer = moved(black(in), in, c.matrix);
    if (c.cut) add_crop(buffer, 90, 180, 80, 60);
    assert_near(matrix_of(warp.pass(std::move(buffer)).get(), 640, 480), c.want, c.properties, 1e-3);
  }
}
GST_END_TEST;

GST_START_TEST(picture_ends_passthrough) {
  const std::string in = raw("I420", 64, 48);
  const Pixels src = noise(in);
  Warp warp, flip("video-direction=horiz");
  warp.set_caps(in), flip.set_caps(in);
  ck_assert(passes_through(warp, src));
  for (int n = 0; n < 2; ++n) {
    assert_same(warped(warp, moved(src, in, kFlipX)), flip(src), "moved");
    assert_same(warp(src), src, "not moved");
  }
}
GST_END_TEST;

// Said once for a run of them; the frames come all the same.
GST_START_TEST(pictures_that_are_none) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Matrix4 perspective = gl(kSame), perspective_in_depth = gl(kSame);
  perspective[3] = 0.5f, perspective_in_depth[11] = 0.5f;
  const Matrix4 cases[] = {gl({0, 0, 0, 0, 0, 0}),   gl({1, 1, 0, 1, 1, 0}),   gl({nan, 0, 0, 0, 1, 0}),
                           gl({1, 0, nan, 0, 1, 0}), gl({1, inf, 0, 0, 1, 0}), perspective,
                           perspective_in_depth};
  const std::string in = raw("RGB", 64, 48);
  const Pixels src = noise(in);
  for (const char* properties : {"angle=17", ""}) {
    Warp plain(properties);
    plain.set_caps(in);
    const Pixels want = plain(src);
    for (const Matrix4& bad : cases) {
      Warp warp(properties);
      warp.set_caps(in);
      for (int run = 0; run < 2; ++run) {
        for (int n = 0; n < 3; ++n) assert_same(warped(warp, moved(src, in, bad)), want, "bad");
        assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                           {"GstVideoAffineTransformationMeta"});
        assert_same(warped(warp, moved(src, in, gl(kSame))), want, "good");
      }
    }
  }
}
GST_END_TEST;

// Good for itself, and too much together with what is asked for.
GST_START_TEST(picture_that_leaves_no_map) {
  const std::string in = raw("RGB", 64, 48);
  const Pixels src = noise(in);
  Warp plain("offset-x=1e300"), warp("offset-x=1e300");
  plain.set_caps(in), warp.set_caps(in);
  const Pixels want = plain(src);
  for (int n = 0; n < 3; ++n) assert_same(warped(warp, moved(src, in, gl(zoom(1e-30, 1e-30)))), want, "none");
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                     {"GstVideoAffineTransformationMeta", "no map"});
}
GST_END_TEST;

namespace {

// Whoever listens may ask, and set what he likes.
struct Heard {
  int times = 0;
  Map forward{};

  explicit Heard(const Warp& warp) {
    g_signal_connect(warp.element(), "matrix-changed", G_CALLBACK(hear), this);
  }
  static void hear(GstElement* warp, Heard* heard) {
    ++heard->times;
    heard->forward = forward_of(warp);
    g_object_set(warp, "border-color", heard->times, nullptr);
  }
};

}  // namespace

GST_START_TEST(matrix_changed) {
  const std::string in = raw("RGB", 64, 48);
  Warp warp("angle=10");
  const Heard heard(warp);
  const auto assert_heard = [&](int times, double angle) {
    ck_assert_int_eq(heard.times, times);
    assert_near(heard.forward, about(32, 24, turn(angle)), "heard");
    ck_assert(forward_of(warp.element()) == heard.forward);
  };
  ck_assert_int_eq(heard.times, 0);
  warp.set_caps(in);
  assert_heard(1, 10);
  const double angles[] = {10, 20, 20, 30};
  const int times[] = {1, 2, 2, 3};
  for (int k = 0; k < 4; ++k) {
    g_object_set(warp.element(), "angle", angles[k], nullptr);
    for (int n = 0; n < 3; ++n) warp(black(in), n);
    assert_heard(times[k], angles[k]);
  }
  g_object_set(warp.element(), "spin", 25.0, nullptr);  // a degree per frame
  for (int n = 1; n <= 3; ++n) {
    warp(black(in), n);
    assert_heard(3 + n, 30 + n);
  }
  warp.set_caps(raw("RGB", 32, 24));
  ck_assert_int_eq(heard.times, 7);
}
GST_END_TEST;

// Where nothing changes any more the matrix says so, although buffers only pass.
GST_START_TEST(matrix_changed_to_passthrough) {
  const std::string in = raw("RGB", 64, 48);
  Warp warp("angle=20");
  const Heard heard(warp);
  warp.set_caps(in);
  warp(black(in));
  for (int times = 2; times < 5; ++times) {
    g_object_set(warp.element(), "angle", times % 2 ? 20.0 : 0.0, nullptr);
    for (int n = 0; n < 2; ++n) {
      const BufferPtr out = warp.pass(buffer_of(black(in), in));
      ck_assert(matrix_of(out.get(), 64, 48) == forward_of(warp.element()));
      ck_assert_int_eq(heard.times, times);
    }
  }
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_matrix");
  TCase* tc = tcase_create("matrix");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, matrix);
  tcase_add_test(tc, letterbox_rounding);
  tcase_add_test(tc, matrix_goes_on);
  tcase_add_test(tc, matrix_is_kept);
  tcase_add_test(tc, matrix_that_is_damaged);
  tcase_add_test(tc, picture_moves);
  tcase_add_test(tc, picture_moves_first);
  tcase_add_test(tc, picture_ends_passthrough);
  tcase_add_test(tc, pictures_that_are_none);
  tcase_add_test(tc, picture_that_leaves_no_map);
  tcase_add_test(tc, matrix_changed);
  tcase_add_test(tc, matrix_changed_to_passthrough);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

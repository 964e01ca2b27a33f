// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The properties: what they are, what they refuse, and that each reaches the pixels.
#include <cmath>
#include <limits>
#include <string>

#include "cuda/affine.h"
#include "element_util.h"
#include "frames.h"

using namespace cudawarp;
using namespace cudawarp::element;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ElementPtr make(const std::string& properties = "") {
  GError* error = nullptr;
  GstElement* element = gst_parse_launch(("cudawarp " + properties).c_str(), &error);
  ck_assert_msg(element && !error, "%s", error ? error->message : "no element");
  return ElementPtr(GST_ELEMENT(gst_object_ref_sink(element)));
}

// The value as gst-inspect and gst-launch write it.
std::string get(GstElement* element, const char* name) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  ck_assert_msg(spec, "no property %s", name);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  g_object_get_property(G_OBJECT(element), name, &value);
  gchar* words = gst_value_serialize(&value);
  const std::string text = words;
  g_free(words);
  g_value_unset(&value);
  return text;
}

void assert_value(GstElement* element, const char* name, const std::string& want) {
  const std::string value = get(element, name);
  ck_assert_msg(value == want, "%s is %s, not %s", name, value.c_str(), want.c_str());
}

void set_matrix(GstElement* element, std::initializer_list<double> numbers) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(numbers.size()));
  for (const double n : numbers) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_DOUBLE);
    g_value_set_double(&value, n);
    gst_value_array_append_and_take_value(&array, &value);
  }
  g_object_set_property(G_OBJECT(element), "matrix", &array);
  g_value_unset(&array);
}

const struct {
  const char *name, *standard, *other;
  bool controllable;
} kProperties[] = {
    {"video-direction", "identity", "ur-ll", true},
    {"angle", "0", "-12.5", true},
    {"spin", "0", "-30", true},
    {"scale", "1", "0.25", true},
    {"scale-x", "1", "-3", true},
    {"scale-y", "1", "1.5", true},
    {"shear-x", "0", "0.5", true},
    {"shear-y", "0", "-0.25", true},
    {"offset-x", "0", "17.75", true},
    {"offset-y", "0", "-1e6", true},
    {"pivot-x", "0.5", "-2", true},
    {"pivot-y", "0.5", "1.25", true},
    {"align-x", "0.5", "0", true},
    {"align-y", "0.5", "1", true},
    {"matrix", "<  >", "< 1, 0, 5, 0, 1, 7 >", false},  // no control source makes arrays
    {"fit", "letterbox", "crop", true},
    {"framing", "none", "zoom", true},
    {"border-mode", "constant", "mirror-101", true},
    {"border-color", "4278190080", "2155905152", true},
    {"edge-antialias", "true", "false", true},
    {"interpolation", "bilinear", "lanczos", true},
    {"antialias", "true", "false", true},
    {"precision", "fast", "exact", true},
    {"engine", "auto", "cpu", false},
    {"cuda-device-id", "-1", "3", false},
    {"async-depth", "0", "16", false},
    {"measure-gpu-time", "false", "true", false},
};

// Compares two written values; numbers as numbers, so that 0 is also 0.0.
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  char *end_a = nullptr, *end_b = nullptr;
  const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
  return *end_a == 0 && *end_b == 0 && x == y;
}

// The old value stays, and there is one message, which names the property.
template <class Set>
void assert_refuses(const char* name, Set set) {
  Warp warp("angle=10 scale=2 scale-x=3 shear-x=2 offset-x=4");
  if (std::string(name) == "matrix") set_matrix(warp.element(), {2, 0, 0, 0, 2, 0});
  const std::string before = get(warp.element(), name);
  set(warp.element());
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, {name});
  assert_value(warp.element(), name, before);
}

}  // namespace

GST_START_TEST(defaults) {
  const ElementPtr warp = make();
  for (const auto& p : kProperties) {
    if (std::string(p.name) == "matrix") continue;
    const std::string value = get(warp.get(), p.name);
    ck_assert_msg(same_value(value, p.standard), "%s is %s, not %s", p.name, value.c_str(), p.standard);
    const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(warp.get()), p.name);
    GValue standard = G_VALUE_INIT;
    g_value_init(&standard, spec->value_type);
    g_object_get_property(G_OBJECT(warp.get()), p.name, &standard);
    ck_assert_msg(g_param_value_defaults(const_cast<GParamSpec*>(spec), &standard), "%s", p.name);
    g_value_unset(&standard);
  }
  GValue matrix = G_VALUE_INIT;
  g_value_init(&matrix, GST_TYPE_ARRAY);
  g_object_get_property(G_OBJECT(warp.get()), "matrix", &matrix);
  ck_assert_uint_eq(gst_value_array_get_size(&matrix), 0);
  g_value_unset(&matrix);
}
GST_END_TEST;

GST_START_TEST(round_trip) {
  for (const auto& p : kProperties) {
    const ElementPtr warp = make();
    gst_util_set_object_arg(G_OBJECT(warp.get()), p.name, p.other);
    std::string value = get(warp.get(), p.name);
    if (std::string(p.name) == "matrix")
      ck_assert_str_eq(value.c_str(), "< (double)1, (double)0, (double)5, (double)0, (double)1, (double)7 >");
    else
      ck_assert_msg(same_value(value, p.other), "%s is %s, not %s", p.name, value.c_str(), p.other);
    // No other property has moved.
    for (const auto& q : kProperties) {
      if (q.name == p.name || std::string(q.name) == "matrix") continue;
      value = get(warp.get(), q.name);
      ck_assert_msg(same_value(value, q.standard), "%s made %s %s", p.name, q.name, value.c_str());
    }
  }
  // And back: an empty matrix is none.
  const ElementPtr warp = make();
  set_matrix(warp.get(), {1, 0, 5, 0, 1, 7});
  set_matrix(warp.get(), {});
  assert_value(warp.get(), "matrix", get(make().get(), "matrix"));
}
GST_END_TEST;

GST_START_TEST(flags) {
  const ElementPtr warp = make();
  for (const auto& p : kProperties) {
    const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(warp.get()), p.name);
    ck_assert_msg(!(spec->flags & GST_PARAM_CONTROLLABLE) == !p.controllable, "%s", p.name);
    const bool before_start = spec->flags & GST_PARAM_MUTABLE_READY;
    ck_assert_msg(!(spec->flags & GST_PARAM_MUTABLE_PLAYING) == before_start, "%s", p.name);
    ck_assert_str_ne(g_param_spec_get_blurb(const_cast<GParamSpec*>(spec)), "");
  }
}
GST_END_TEST;

GST_START_TEST(enum_nicks_and_numbers) {
  const struct {
    const char* name;
    std::initializer_list<const char*> nicks;  // by number
  } enums[] = {{"fit", {"letterbox", "stretch", "crop", "none"}},
               {"framing", {"none", "expand", "crop", "zoom"}},
               {"border-mode", {"constant", "replicate", "mirror", "mirror-101", "wrap", "transparent"}},
               {"interpolation", {"nearest", "bilinear", "bicubic", "lanczos"}},
               {"precision", {"fast", "exact"}},
               {"engine", {"auto", "cuda", "cpu"}}};
  for (const auto& e : enums) {
    int value = 0;
    for (const char* nick : e.nicks) {
      const ElementPtr warp = make(std::string(e.name) + "=" + nick);
      int got = -1;
      g_object_get(warp.get(), e.name, &got, nullptr);
      ck_assert_msg(got == value, "%s=%s is %d", e.name, nick, got);
      const ElementPtr by_number = make();
      g_object_set(by_number.get(), e.name, value, nullptr);
      assert_value(by_number.get(), e.name, nick);
      ++value;
    }
    GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(make().get()), e.name);
    ck_assert_uint_eq(G_PARAM_SPEC_ENUM(spec)->enum_class->n_values, e.nicks.size());
  }
}
GST_END_TEST;

GST_START_TEST(launch_line) {
  const ElementPtr warp =
      make("matrix=\"<1.0,0.0,5.0,0.0,1.0,7.0>\" border-mode=mirror-101 border-color=0xff727272");
  assert_value(warp.get(), "matrix", "< (double)1, (double)0, (double)5, (double)0, (double)1, (double)7 >");
  assert_value(warp.get(), "border-mode", "mirror-101");
  assert_value(warp.get(), "border-color", "4285690482");
}
GST_END_TEST;

GST_START_TEST(refused_numbers) {
  for (const char* name : {"scale", "scale-x", "scale-y"}) {
    assert_refuses(name, [&](GstElement* e) { g_object_set(e, name, 0.0, nullptr); });
    // Not nothing, but the map back would be infinite.
    assert_refuses(name, [&](GstElement* e) { g_object_set(e, name, 5e-324, nullptr); });
  }
  for (const char* name : {"angle", "spin", "scale", "scale-x", "scale-y", "shear-x", "shear-y", "offset-x",
                           "offset-y", "pivot-x", "pivot-y"})
    for (const double value : {kNaN, kInf, -kInf})
      assert_refuses(name, [&](GstElement* e) { g_object_set(e, name, value, nullptr); });
  for (const char* name : {"align-x", "align-y"})
    assert_refuses(name, [&](GstElement* e) { g_object_set(e, name, kNaN, nullptr); });
}
GST_END_TEST;

GST_START_TEST(refused_matrices) {
  for (const std::initializer_list<double> matrix : {std::initializer_list<double>{1, 2, 3, 4, 5},
                                                     {1, 2, 3, 4, 5, 6, 7},
                                                     {1},
                                                     {0, 0, 0, 0, 0, 0},
                                                     {1, 2, 0, 2, 4, 0}})
    assert_refuses("matrix", [&](GstElement* e) { set_matrix(e, matrix); });
}
GST_END_TEST;

GST_START_TEST(refused_infinite_matrices) {
  for (const double value : {kNaN, kInf, -kInf}) {
    assert_refuses("matrix", [&](GstElement* e) { set_matrix(e, {value, 0, 0, 0, 1, 0}); });
    assert_refuses("matrix", [&](GstElement* e) { set_matrix(e, {1, 0, value, 0, 1, 0}); });
  }
}
GST_END_TEST;

GST_START_TEST(refused_shear) {
  Warp warp("shear-x=2");
  g_object_set(warp.element(), "shear-y", 0.5, nullptr);
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"shear-y"});
  assert_value(warp.element(), "shear-y", "0");
  g_object_set(warp.element(), "shear-y", 0.25, nullptr);
  assert_value(warp.element(), "shear-y", "0.25");
}
GST_END_TEST;

// What a matrix replaces must be sound all the same: it is what comes back when the matrix goes.
GST_START_TEST(refused_behind_a_matrix) {
  Warp warp("shear-x=2 matrix=\"<2.0, 0.0, 0.0, 0.0, 2.0, 0.0>\"");
  for (const char* name : {"scale", "scale-x", "scale-y"}) {
    g_object_set(warp.element(), name, 0.0, nullptr);
    assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                       {name});
    assert_value(warp.element(), name, "1");
  }
  g_object_set(warp.element(), "shear-y", 0.5, nullptr);
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"shear-y"});
  set_matrix(warp.element(), {});
}
GST_END_TEST;

// A frame after a refused value is as before it.
GST_START_TEST(refused_while_playing) {
  const std::string in = raw("GRAY8", 64, 48);
  const Pixels src = noise(in);
  Warp warp("angle=30 scale=0.5");
  warp.set_caps(in);
  const Pixels before = warp(src);
  g_object_set(warp.element(), "scale", 0.0, nullptr);
  assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     {"scale"});
  assert_same(warp(src, 1), before, "after a refused value");
}
GST_END_TEST;

// Values that are fine by themselves, and not for this stream.
GST_START_TEST(refused_for_the_stream) {
  const struct {
    const char *format, *properties, *property, *value;
  } cases[] = {{"RGBA", "framing=expand", "scale", "512"},  // 4 GiB
               {"GRAY8", "framing=crop angle=5", "scale", "1e-155"},
               {"GRAY8", "framing=zoom", "shear-x", "1e160"},
               {"I420", "angle=30", "border-mode", "transparent"}};
  for (const auto& c : cases) {
    const std::string in = raw(c.format, 64, 64);
    const Pixels src = noise(in);
    Warp warp(c.properties);
    warp.set_caps(in);
    const Pixels before = warp(src);
    const std::string value = get(warp.element(), c.property);
    gst_util_set_object_arg(G_OBJECT(warp.element()), c.property, c.value);
    assert_one_message(warp.bus(), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                       {c.property});
    assert_value(warp.element(), c.property, value);
    assert_same(warp(src, 1), before, c.property);
  }
}
GST_END_TEST;

// Nobody listens to an element that is in no pipeline yet: it speaks when it starts, once for each value.
GST_START_TEST(refused_before_a_pipeline) {
  const struct {
    const char* properties;
    std::initializer_list<const char*> names;
  } cases[] = {{"scale=0", {"scale"}},
               {"angle=nan", {"angle"}},
               {"matrix=\"<1.0, 0.0, 5.0, 0.0, 1.0>\"", {"matrix"}},
               {"angle=nan scale-x=0", {"angle", "scale-x"}}};
  for (const auto& c : cases) {
    const ElementPtr pipeline(gst_parse_launch(
        ("videotestsrc num-buffers=3 ! cudawarp " + engine_properties() + " " + c.properties + " ! fakesink")
            .c_str(),
        nullptr));
    ck_assert(pipeline != nullptr);
    for (int run = 0; run < 2; ++run) {
      const std::vector<Message> messages = play(pipeline.get());
      // Said in the first run, and not again in the next.
      ck_assert_msg(messages.size() == (run == 0 ? c.names.size() : 0), "%s, run %d: %zu messages",
                    c.properties, run, messages.size());
      auto name = c.names.begin();
      for (const Message& m : messages) {
        ck_assert_int_eq(m.type, GST_MESSAGE_WARNING);
        ck_assert_msg(m.text.find(*name++) != std::string::npos, "%s", m.text.c_str());
      }
    }
  }
}
GST_END_TEST;

// Every property's effect is that of the engine's parameter of its name.
GST_START_TEST(properties_reach_the_pixels) {
  const struct {
    const char* properties;
    WarpParams params;
  } cases[] = {
      {"angle=17", {.angle = 17}},
      {"angle=17 scale=0.5 scale-x=3 scale-y=-1.5", {.angle = 17, .scale_x = 1.5, .scale_y = -0.75}},
      {"shear-x=0.25 shear-y=-0.5", {.shear_x = 0.25, .shear_y = -0.5}},
      {"offset-x=3.5 offset-y=-7.25", {.offset_x = 3.5, .offset_y = -7.25}},
      {"angle=17 pivot-x=0.1 pivot-y=1.5", {.angle = 17, .pivot_x = 0.1, .pivot_y = 1.5}},
      {"matrix=\"<1.0, 0.25, 5.0, -0.5, 1.0, 7.0>\" angle=9",
       {.angle = 9, .matrix = Affine{1, .25, 5, -.5, 1, 7}}},
      {"fit=stretch", {.fit = Fit::stretch}},
      {"fit=crop align-x=0.25 align-y=0.9", {.fit = Fit::crop, .align_x = 0.25, .align_y = 0.9}},
      {"fit=none align-x=0", {.fit = Fit::none, .align_x = 0}},
      {"align-y=1", {.align_y = 1}},
      {"angle=30 framing=expand", {.angle = 30, .framing = Framing::expand}},
      {"angle=30 framing=crop", {.angle = 30, .framing = Framing::crop}},
      {"angle=30 framing=zoom", {.angle = 30, .framing = Framing::zoom}},
      {"angle=30 border-color=0x80ff8010", {.angle = 30, .border_color = 0x80ff8010}},
      {"angle=30 border-mode=replicate", {.angle = 30, .border = Border::replicate}},
      {"angle=30 border-mode=mirror", {.angle = 30, .border = Border::mirror}},
      {"angle=30 border-mode=mirror-101", {.angle = 30, .border = Border::mirror_101}},
      {"angle=30 border-mode=wrap", {.angle = 30, .border = Border::wrap}},
      {"angle=30 border-mode=transparent", {.angle = 30, .border = Border::transparent}},
      {"angle=30 edge-antialias=false", {.angle = 30, .edge_antialias = false}},
      {"angle=30 interpolation=nearest", {.angle = 30, .interpolation = Interpolation::nearest}},
      {"angle=30 interpolation=bicubic", {.angle = 30, .interpolation = Interpolation::bicubic}},
      {"angle=30 interpolation=lanczos", {.angle = 30, .interpolation = Interpolation::lanczos}},
      {"scale=0.3", {.scale_x = 0.3, .scale_y = 0.3}},
      {"scale=0.3 antialias=false", {.scale_x = 0.3, .scale_y = 0.3, .antialias = false}},
  };
  const std::string in = raw("RGBA", 64, 48, ",pixel-aspect-ratio=1/1");
  const Pixels src = noise(in);
  TestFrame frame({.format = Format::RGBA, .width = 64, .height = 48});
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int k = 0; k < 4; ++k) frame.at(0, x, y, k) = src.plane[0].at(x, y, k);
  for (const auto& c : cases) {
    Warp warp(c.properties);
    const std::string out = raw("RGBA", 80, 40, ",pixel-aspect-ratio=1/1");
    warp.set_caps(in, out);
    const TestFrame want = warped(c.params, frame, {.format = Format::RGBA, .width = 80, .height = 40});
    Pixels expected = black(out);
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 80; ++x)
        for (int k = 0; k < 4; ++k) expected.plane[0].at(x, y, k) = want.at(0, x, y, k);
    assert_same(warp(src), expected, c.properties);
  }
}
GST_END_TEST;

GST_START_TEST(no_reference_is_kept) {
  GstElement* warp = make("matrix=\"<1.0, 0.0, 5.0, 0.0, 1.0, 7.0>\"").release();
  gpointer alive = warp;
  g_object_add_weak_pointer(G_OBJECT(warp), &alive);
  for (const auto& p : kProperties) {
    gst_util_set_object_arg(G_OBJECT(warp), p.name, p.other);
    get(warp, p.name);
  }
  g_object_set(warp, "scale", 0.0, nullptr);
  gst_object_unref(warp);
  ck_assert(alive == nullptr);
}
GST_END_TEST;

static Suite* suite() {
  Suite* s = suite_create("element_properties");
  TCase* tc = tcase_create("properties");
  suite_add_tcase(s, tc);
  tcase_set_timeout(tc, 0);  // the runner of the programs has one
  tcase_add_test(tc, defaults);
  tcase_add_test(tc, round_trip);
  tcase_add_test(tc, flags);
  tcase_add_test(tc, enum_nicks_and_numbers);
  tcase_add_test(tc, launch_line);
  tcase_add_test(tc, refused_numbers);
  tcase_add_test(tc, refused_matrices);
  tcase_add_test(tc, refused_infinite_matrices);
  tcase_add_test(tc, refused_shear);
  tcase_add_test(tc, refused_behind_a_matrix);
  tcase_add_test(tc, refused_while_playing);
  tcase_add_test(tc, refused_for_the_stream);
  tcase_add_test(tc, refused_before_a_pipeline);
  tcase_add_test(tc, properties_reach_the_pixels);
  tcase_add_test(tc, no_reference_is_kept);
  return s;
}

int main(int argc, char** argv) {
  return run_tests(argc, argv, suite);
}

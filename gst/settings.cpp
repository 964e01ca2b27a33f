// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.h"

#include <cmath>
#include <string>

namespace cudawarp {
namespace {

enum Property : guint {
  PROP_0,
  PROP_VIDEO_DIRECTION,
  PROP_ANGLE,
  PROP_SPIN,
  PROP_SCALE,
  PROP_SCALE_X,
  PROP_SCALE_Y,
  PROP_SHEAR_X,
  PROP_SHEAR_Y,
  PROP_OFFSET_X,
  PROP_OFFSET_Y,
  PROP_PIVOT_X,
  PROP_PIVOT_Y,
  PROP_ALIGN_X,
  PROP_ALIGN_Y,
  PROP_MATRIX,
  PROP_FIT,
  PROP_FRAMING,
  PROP_BORDER_MODE,
  PROP_BORDER_COLOR,
  PROP_EDGE_ANTIALIAS,
  PROP_INTERPOLATION,
  PROP_ANTIALIAS,
  PROP_PRECISION,
  PROP_ENGINE,
  PROP_CUDA_DEVICE_ID,
  PROP_ASYNC_DEPTH,
  PROP_MEASURE_GPU_TIME,
  PROP_STATS,
  PROP_FORWARD_MATRIX,
  PROP_INVERSE_MATRIX,
};

constexpr auto kAnyTime = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING);
constexpr auto kAnyTimeByHand =  // no control source makes arrays
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_LAX_VALIDATION |
                             GST_PARAM_MUTABLE_PLAYING);
constexpr guint kMostInFlight = 16;
constexpr auto kAnyTimeUncontrolled =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr auto kBeforeStart =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);

struct Number {
  Property id;
  const char *name, *nick, *blurb;
  double min, max, standard;
  double& (*member)(Settings&);
};

constexpr double kAny = G_MAXDOUBLE;

// Lax validation lets NaN through, and infinities as +-G_MAXDOUBLE: set_number() and check() refuse them in
// words.
const Number kNumbers[] = {
    {PROP_ANGLE, "angle", "Angle", "Turn of the picture, degrees clockwise", -kAny, kAny, 0,
     [](Settings& s) -> double& { return s.warp.angle; }},
    {PROP_SPIN, "spin", "Spin",
     "Turns the picture on and on: degrees clockwise per second of stream time, added to angle", -kAny, kAny,
     0, [](Settings& s) -> double& { return s.warp.spin; }},
    {PROP_SCALE, "scale", "Scale", "Multiplies scale-x and scale-y; negative mirrors; not 0", -kAny, kAny, 1,
     [](Settings& s) -> double& { return s.scale; }},
    {PROP_SCALE_X, "scale-x", "Horizontal scale", "Horizontal scale; negative mirrors; not 0", -kAny, kAny, 1,
     [](Settings& s) -> double& { return s.scale_x; }},
    {PROP_SCALE_Y, "scale-y", "Vertical scale", "Vertical scale; negative mirrors; not 0", -kAny, kAny, 1,
     [](Settings& s) -> double& { return s.scale_y; }},
    {PROP_SHEAR_X, "shear-x", "Horizontal shear",
     "x += shear-x * y, before the turn; shear-x * shear-y is not 1", -kAny, kAny, 0,
     [](Settings& s) -> double& { return s.warp.shear_x; }},
    {PROP_SHEAR_Y, "shear-y", "Vertical shear",
     "y += shear-y * x, before the turn; shear-x * shear-y is not 1", -kAny, kAny, 0,
     [](Settings& s) -> double& { return s.warp.shear_y; }},
    {PROP_OFFSET_X, "offset-x", "Horizontal offset", "Moves the result right, output pixels", -kAny, kAny, 0,
     [](Settings& s) -> double& { return s.warp.offset_x; }},
    {PROP_OFFSET_Y, "offset-y", "Vertical offset", "Moves the result down, output pixels", -kAny, kAny, 0,
     [](Settings& s) -> double& { return s.warp.offset_y; }},
    {PROP_PIVOT_X, "pivot-x", "Pivot x",
     "The point that scale, shear and angle leave in place, 0 (left) to 1 (right) of the source frame; may "
     "lie outside",
     -kAny, kAny, 0.5, [](Settings& s) -> double& { return s.warp.pivot_x; }},
    {PROP_PIVOT_Y, "pivot-y", "Pivot y",
     "The point that scale, shear and angle leave in place, 0 (top) to 1 (bottom) of the source frame; may "
     "lie outside",
     -kAny, kAny, 0.5, [](Settings& s) -> double& { return s.warp.pivot_y; }},
    {PROP_ALIGN_X, "align-x", "Horizontal alignment", "Where the fitted picture sits, 0 (left) to 1 (right)",
     0, 1, 0.5, [](Settings& s) -> double& { return s.warp.align_x; }},
    {PROP_ALIGN_Y, "align-y", "Vertical alignment", "Where the fitted picture sits, 0 (top) to 1 (bottom)", 0,
     1, 0.5, [](Settings& s) -> double& { return s.warp.align_y; }},
};

const GEnumValue kFits[] = {
    {static_cast<int>(Fit::letterbox), "Keep the aspect ratio, show all, fill the rest with border",
     "letterbox"},
    {static_cast<int>(Fit::stretch), "Fill the output, aspect ratio not kept", "stretch"},
    {static_cast<int>(Fit::crop), "Keep the aspect ratio, fill the output, cut what does not fit", "crop"},
    {static_cast<int>(Fit::none), "One canvas pixel per output pixel", "none"},
    {0, nullptr, nullptr}};

const GEnumValue kFramings[] = {
    {static_cast<int>(Framing::none), "The source frame's rectangle", "none"},
    {static_cast<int>(Framing::expand), "The bounding box of the turned picture", "expand"},
    {static_cast<int>(Framing::crop), "The largest upright rectangle inside the turned picture", "crop"},
    {static_cast<int>(Framing::zoom), "The largest one of the output's aspect ratio: no border shows",
     "zoom"},
    {0, nullptr, nullptr}};

const GEnumValue kBorders[] = {
    {static_cast<int>(Border::constant), "border-color outside the picture", "constant"},
    {static_cast<int>(Border::replicate), "The nearest pixel of the edge (aaa|abcd|ddd)", "replicate"},
    {static_cast<int>(Border::mirror), "The picture mirrored at its edge (dcba|abcd|dcba)", "mirror"},
    {static_cast<int>(Border::mirror_101), "The picture mirrored at its edge pixel (dcb|abcd|cba)",
     "mirror-101"},
    {static_cast<int>(Border::wrap), "The picture again (abcd|abcd|abcd)", "wrap"},
    {static_cast<int>(Border::transparent), "Transparent; for formats with alpha", "transparent"},
    {0, nullptr, nullptr}};

const GEnumValue kInterpolations[] = {
    {static_cast<int>(Interpolation::nearest), "The pixel the point lies in", "nearest"},
    {static_cast<int>(Interpolation::bilinear), "Linear between 2x2 pixels", "bilinear"},
    {static_cast<int>(Interpolation::bicubic), "Catmull-Rom cubic through 4x4 pixels", "bicubic"},
    {static_cast<int>(Interpolation::lanczos), "Lanczos kernel with three lobes, 6x6 pixels", "lanczos"},
    {0, nullptr, nullptr}};

const GEnumValue kPrecisions[] = {
    {static_cast<int>(Precision::fast), "CUDA may be 1 code value off; in this version it is not", "fast"},
    {static_cast<int>(Precision::exact), "CUDA and CPU give the same bytes", "exact"},
    {0, nullptr, nullptr}};

const GEnumValue kEngines[] = {
    {static_cast<int>(EngineChoice::automatic), "CUDA where a device works, else the CPU", "auto"},
    {static_cast<int>(EngineChoice::cuda), "CUDA, or an error", "cuda"},
    {static_cast<int>(EngineChoice::cpu), "The CPU", "cpu"},
    {0, nullptr, nullptr}};

struct Choice {
  Property id;
  const char *type_name, *name, *nick, *blurb;
  const GEnumValue* values;
  GParamFlags flags;
  int (*get)(const Settings&);
  void (*set)(Settings&, int);
};

template <auto Member>
int get_choice(const Settings& s) {
  return static_cast<int>(s.warp.*Member);
}
template <auto Member>
void set_choice(Settings& s, int value) {
  using Enum = std::remove_reference_t<decltype(s.warp.*Member)>;
  s.warp.*Member = static_cast<Enum>(value);
}

const Choice kChoices[] = {
    {PROP_FIT, "GstCudaWarpFit", "fit", "Fit", "How the canvas fills an output of another size", kFits,
     kAnyTime, get_choice<&WarpParams::fit>, set_choice<&WarpParams::fit>},
    {PROP_FRAMING, "GstCudaWarpFraming", "framing", "Framing",
     "What part of the turned picture is shown (the canvas)", kFramings, kAnyTime,
     get_choice<&WarpParams::framing>, set_choice<&WarpParams::framing>},
    {PROP_BORDER_MODE, "GstCudaWarpBorderMode", "border-mode", "Border mode", "What lies outside the picture",
     kBorders, kAnyTime, get_choice<&WarpParams::border>, set_choice<&WarpParams::border>},
    {PROP_INTERPOLATION, "GstCudaWarpInterpolation", "interpolation", "Interpolation",
     "How pixels between source pixels are made", kInterpolations, kAnyTime,
     get_choice<&WarpParams::interpolation>, set_choice<&WarpParams::interpolation>},
    {PROP_PRECISION, "GstCudaWarpPrecision", "precision", "Precision", "How closely CUDA follows the CPU",
     kPrecisions, kAnyTime, get_choice<&WarpParams::precision>, set_choice<&WarpParams::precision>},
    {PROP_ENGINE, "GstCudaWarpEngine", "engine", "Engine", "What computes the pixels", kEngines, kBeforeStart,
     [](const Settings& s) { return static_cast<int>(s.engine); },
     [](Settings& s, int value) { s.engine = static_cast<EngineChoice>(value); }},
};

Status set_number(Settings& s, const Number& number, double value) {
  if (!(std::abs(value) < G_MAXDOUBLE)) return Error{"must be a finite number"};
  number.member(s) = value;
  return std::nullopt;
}

Status set_matrix(Settings& s, const GValue* value) {
  const guint n = gst_value_array_get_size(value);
  if (n == 0) {
    s.warp.matrix.reset();
    return std::nullopt;
  }
  if (n != 6) return Error{"must have six numbers, or none; " + std::to_string(n) + " given"};
  double m[6];
  for (guint k = 0; k < n; ++k) {
    GValue number = G_VALUE_INIT;
    g_value_init(&number, G_TYPE_DOUBLE);
    const bool is_number = g_value_transform(gst_value_array_get_value(value, k), &number);
    m[k] = g_value_get_double(&number);
    g_value_unset(&number);
    if (!is_number || !(std::abs(m[k]) < G_MAXDOUBLE)) return Error{"must have six finite numbers"};
  }
  s.warp.matrix = Affine{m[0], m[1], m[2], m[3], m[4], m[5]};
  return std::nullopt;
}

Status set_direction(Settings& s, const GValue* value) {
  const auto direction = static_cast<GstVideoOrientationMethod>(g_value_get_enum(value));
  if (direction == GST_VIDEO_ORIENTATION_CUSTOM)
    return Error{"custom is none of the eight orientations, nor auto"};
  s.direction = direction;
  return std::nullopt;
}

// The eight have the same order here and there.
void orient(Settings& s) {
  s.warp.by_tags = s.direction == GST_VIDEO_ORIENTATION_AUTO;
  s.warp.orientation = s.warp.by_tags ? s.tagged : static_cast<Orientation>(s.direction);
}
static_assert(static_cast<int>(Orientation::turn_90) == GST_VIDEO_ORIENTATION_90R &&
              static_cast<int>(Orientation::turn_270) == GST_VIDEO_ORIENTATION_90L &&
              static_cast<int>(Orientation::vertical) == GST_VIDEO_ORIENTATION_VERT &&
              static_cast<int>(Orientation::ur_ll) == GST_VIDEO_ORIENTATION_UR_LL);

GParamSpec* matrix_spec(const char* name, const char* nick, const char* blurb, GParamFlags flags) {
  return gst_param_spec_array(
      name, nick, blurb,
      g_param_spec_double("number", "Number", "One entry of the matrix", -kAny, kAny, 0,
                          static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)),
      flags);
}

Status change(Settings& s, guint id, const GValue* value) {
  for (const Number& n : kNumbers)
    if (n.id == id) return set_number(s, n, g_value_get_double(value));
  for (const Choice& c : kChoices) {
    if (c.id != id) continue;
    c.set(s, g_value_get_enum(value));
    return std::nullopt;
  }
  if (id == PROP_MATRIX) return set_matrix(s, value);
  if (id == PROP_VIDEO_DIRECTION) return set_direction(s, value);
  if (id == PROP_BORDER_COLOR) s.warp.border_color = g_value_get_uint(value);
  if (id == PROP_EDGE_ANTIALIAS) s.warp.edge_antialias = g_value_get_boolean(value);
  if (id == PROP_ANTIALIAS) s.warp.antialias = g_value_get_boolean(value);
  if (id == PROP_CUDA_DEVICE_ID) s.device_id = g_value_get_int(value);
  if (id == PROP_ASYNC_DEPTH) s.async_depth = g_value_get_uint(value);
  if (id == PROP_MEASURE_GPU_TIME) s.measure_gpu_time = g_value_get_boolean(value);
  return std::nullopt;
}

}  // namespace

void install_properties(GObjectClass* klass) {
  const auto controllable = static_cast<GParamFlags>(kAnyTime | G_PARAM_LAX_VALIDATION);
  for (const Number& n : kNumbers)
    g_object_class_install_property(
        klass, n.id, g_param_spec_double(n.name, n.nick, n.blurb, n.min, n.max, n.standard, controllable));
  const Settings standard;
  for (const Choice& c : kChoices) {
    const GType type = g_enum_register_static(c.type_name, c.values);
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
    g_object_class_install_property(
        klass, c.id, g_param_spec_enum(c.name, c.nick, c.blurb, type, c.get(standard), c.flags));
  }
  // As GstVideoDirection has it, but for what may be done to it.
  g_object_class_install_property(
      klass, PROP_VIDEO_DIRECTION,
      g_param_spec_enum("video-direction", "Video direction",
                        "Quarter turn or flip before all else, exact; auto takes it from image-orientation "
                        "tags; custom is refused",
                        GST_TYPE_VIDEO_ORIENTATION_METHOD, standard.direction, kAnyTime));
  g_object_class_install_property(
      klass, PROP_MATRIX,
      matrix_spec("matrix", "Matrix",
                  "a, b, tx, c, d, ty: source pixels (turned by video-direction) to output pixels, "
                  "x' = a x + b y + tx, y' = c x + d y + ty; replaces angle, spin, scale, shear, offset, "
                  "pivot, fit, align and framing",
                  kAnyTimeByHand));
  constexpr auto kReadable = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      klass, PROP_FORWARD_MATRIX,
      matrix_spec("forward-matrix", "Forward matrix",
                  "What was done to the last frame: a, b, tx, c, d, ty, from pixels of the input buffer to "
                  "pixels of the output; empty before there are caps; see the signal matrix-changed",
                  kReadable));
  g_object_class_install_property(
      klass, PROP_INVERSE_MATRIX,
      matrix_spec("inverse-matrix", "Inverse matrix",
                  "The inverse of forward-matrix: from pixels of the output to pixels of the input buffer",
                  kReadable));
  g_object_class_install_property(klass, PROP_BORDER_COLOR,
                                  g_param_spec_uint("border-color", "Border colour",
                                                    "ARGB in sRGB; converted to the stream's colorimetry", 0,
                                                    G_MAXUINT32, standard.warp.border_color, kAnyTime));
  g_object_class_install_property(
      klass, PROP_EDGE_ANTIALIAS,
      g_param_spec_boolean("edge-antialias", "Edge anti-aliasing",
                           "Fade the picture's edge into a constant border over one output pixel",
                           standard.warp.edge_antialias, kAnyTime));
  g_object_class_install_property(
      klass, PROP_ANTIALIAS,
      g_param_spec_boolean("antialias", "Anti-aliasing",
                           "Where the map shrinks, average over each output pixel's footprint",
                           standard.warp.antialias, kAnyTime));
  g_object_class_install_property(
      klass, PROP_CUDA_DEVICE_ID,
      g_param_spec_int("cuda-device-id", "CUDA device ID", "The GPU to use; -1 takes any", -1, G_MAXINT,
                       standard.device_id, kBeforeStart));
  g_object_class_install_property(
      klass, PROP_ASYNC_DEPTH,
      g_param_spec_uint("async-depth", "Asynchronous depth",
                        "Frames kept in flight where a side is in system memory; adds that many frames of "
                        "latency, and reports it",
                        0, kMostInFlight, standard.async_depth, kAnyTimeUncontrolled));
  g_object_class_install_property(klass, PROP_MEASURE_GPU_TIME,
                                  g_param_spec_boolean("measure-gpu-time", "Measure GPU time",
                                                       "Time each frame's warp on the GPU, for stats",
                                                       standard.measure_gpu_time, kAnyTimeUncontrolled));
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Since the element started, or of its last run: frames; engine, device; bytes-uploaded, "
          "bytes-downloaded; staging-allocations (blocks of device memory), staging-hits, staging-misses "
          "(frames); pinned-allocations (blocks of host memory); texture-hits, texture-misses (planes); "
          "device-waits; gpu-time-last, gpu-time-mean (nanoseconds of the warp, without copies), "
          "gpu-time-frames (frames measured)",
          GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

Settings with_tagged(Settings s, Orientation tagged) {
  s.tagged = tagged;
  orient(s);
  return s;
}

WarpParams at_time(WarpParams params, GstClockTime time) {
  const double turned = params.spin * (static_cast<double>(time) / GST_SECOND);
  if (std::isfinite(turned)) params.angle += std::fmod(turned, 360.0);
  params.spin = 0;
  return params;
}

Status set_property(Settings& settings, guint id, const GValue* value) {
  Settings s = settings;
  if (auto refused = change(s, id, value)) return refused;
  orient(s);
  s.warp.scale_x = s.scale * s.scale_x;
  s.warp.scale_y = s.scale * s.scale_y;
  if (auto refused = check(s.warp)) return refused;
  settings = s;
  return std::nullopt;
}

bool get_property(const Settings& settings, guint id, GValue* value) {
  Settings s = settings;
  for (const Number& n : kNumbers)
    if (n.id == id) g_value_set_double(value, n.member(s));
  for (const Choice& c : kChoices)
    if (c.id == id) g_value_set_enum(value, c.get(s));
  if (id == PROP_VIDEO_DIRECTION) g_value_set_enum(value, s.direction);
  if (id == PROP_MATRIX && s.warp.matrix) append_matrix(value, *s.warp.matrix);
  if (id == PROP_BORDER_COLOR) g_value_set_uint(value, s.warp.border_color);
  if (id == PROP_EDGE_ANTIALIAS) g_value_set_boolean(value, s.warp.edge_antialias);
  if (id == PROP_ANTIALIAS) g_value_set_boolean(value, s.warp.antialias);
  if (id == PROP_CUDA_DEVICE_ID) g_value_set_int(value, s.device_id);
  if (id == PROP_ASYNC_DEPTH) g_value_set_uint(value, s.async_depth);
  if (id == PROP_MEASURE_GPU_TIME) g_value_set_boolean(value, s.measure_gpu_time);
  return answer_of(id) == Answer::none;
}

Answer answer_of(guint id) {
  switch (id) {
    case PROP_STATS:
      return Answer::stats;
    case PROP_FORWARD_MATRIX:
      return Answer::forward_matrix;
    case PROP_INVERSE_MATRIX:
      return Answer::inverse_matrix;
    default:
      return Answer::none;
  }
}

void append_matrix(GValue* array, const Affine& a) {
  for (double v : {a.a, a.b, a.tx, a.c, a.d, a.ty}) {
    GValue number = G_VALUE_INIT;
    g_value_init(&number, G_TYPE_DOUBLE);
    g_value_set_double(&number, v);
    gst_value_array_append_and_take_value(array, &number);
  }
}

}  // namespace cudawarp

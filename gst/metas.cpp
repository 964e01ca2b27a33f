// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metas.h"

#include <gst/video/gstvideoaffinetransformationmeta.h>

#include <algorithm>
#include <cmath>
#include <string>

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

constexpr double kSlack = 1e-6;  // pixels; what is this close to a side of a pixel lies on it

// ---- the matrix

GType matrix_api = G_TYPE_INVALID;  // once the meta is registered

struct Matrix {
  Affine map;
  int width = 0, height = 0;  // of the frame that it is from
};

// Nothing where somebody else has made it something else.
std::optional<Matrix> read_matrix(GstCustomMeta* meta) {
  const GstStructure* s = gst_custom_meta_get_structure(meta);
  Matrix m;
  Affine& a = m.map;
  const bool whole =
      gst_structure_get(s, "a", G_TYPE_DOUBLE, &a.a, "b", G_TYPE_DOUBLE, &a.b, "tx", G_TYPE_DOUBLE, &a.tx,
                        "c", G_TYPE_DOUBLE, &a.c, "d", G_TYPE_DOUBLE, &a.d, "ty", G_TYPE_DOUBLE, &a.ty,
                        "width", G_TYPE_INT, &m.width, "height", G_TYPE_INT, &m.height, nullptr);
  if (!whole || !a.is_finite() || m.width <= 0 || m.height <= 0) return std::nullopt;
  return m;
}

std::optional<Matrix> matrix_on(GstBuffer* buffer) {
  GstMeta* meta = gst_buffer_get_meta(buffer, matrix_api);
  return meta ? read_matrix(reinterpret_cast<GstCustomMeta*>(meta)) : std::nullopt;
}

// Leaves one such meta on a buffer.
void write_matrix(GstBuffer* buffer, const Matrix& m) {
  while (GstMeta* before = gst_buffer_get_meta(buffer, matrix_api)) gst_buffer_remove_meta(buffer, before);
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, kMatrixMeta);
  if (!meta) return;
  const Affine& a = m.map;
  gst_structure_set(gst_custom_meta_get_structure(meta), "a", G_TYPE_DOUBLE, a.a, "b", G_TYPE_DOUBLE, a.b,
                    "tx", G_TYPE_DOUBLE, a.tx, "c", G_TYPE_DOUBLE, a.c, "d", G_TYPE_DOUBLE, a.d, "ty",
                    G_TYPE_DOUBLE, a.ty, "width", G_TYPE_INT, m.width, "height", G_TYPE_INT, m.height,
                    nullptr);
}

// What other elements do to the picture.
gboolean transform_matrix(GstBuffer* to, GstCustomMeta* meta, GstBuffer*, GQuark type, gpointer data,
                          gpointer) {
  const auto read = read_matrix(meta);
  if (!read) return FALSE;
  Matrix m = *read;
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    if (static_cast<GstMetaTransformCopy*>(data)->region) return FALSE;
  } else if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    const auto* scale = static_cast<GstVideoMetaTransform*>(data);
    m.map = Affine::scaling(static_cast<double>(GST_VIDEO_INFO_WIDTH(scale->out_info)) /
                                GST_VIDEO_INFO_WIDTH(scale->in_info),
                            static_cast<double>(GST_VIDEO_INFO_HEIGHT(scale->out_info)) /
                                GST_VIDEO_INFO_HEIGHT(scale->in_info)) *
            m.map;
#if GST_CHECK_VERSION(1, 28, 0)
  } else if (GST_VIDEO_META_TRANSFORM_IS_MATRIX(type)) {
    const auto* t = static_cast<GstVideoMetaTransformMatrix*>(data);
    const auto& row = t->matrix;
    if (row[2][0] != 0 || row[2][1] != 0 || row[2][2] != 1) return FALSE;
    m.map = Affine::translation(t->out_rectangle.x, t->out_rectangle.y) *
            Affine{row[0][0], row[0][1], row[0][2], row[1][0], row[1][1], row[1][2]} *
            Affine::translation(-t->in_rectangle.x, -t->in_rectangle.y) * m.map;
#endif
  } else {
    return FALSE;
  }
  write_matrix(to, m);
  return TRUE;
}

void carry_matrix(const Affine& dst_from_src, const GstVideoInfo& in_caps, GstBuffer* in, GstBuffer* out) {
  Matrix m{{}, GST_VIDEO_INFO_WIDTH(&in_caps), GST_VIDEO_INFO_HEIGHT(&in_caps)};
  if (const GstVideoMeta* stored = gst_buffer_get_video_meta(in)) {
    m.width = static_cast<int>(stored->width);
    m.height = static_cast<int>(stored->height);
  }
  if (const auto before = matrix_on(in)) m = *before;
  m.map = dst_from_src * m.map;
  write_matrix(out, m);
}

// ---- regions

void carry_regions(GstObject* element, const Affine& map, const GstVideoInfo& caps, GstBuffer* in,
                   GstBuffer* out) {
  gpointer state = nullptr;
  while (GstMeta* meta =
             gst_buffer_iterate_meta_filtered(in, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* from = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const auto box = mapped_box(map, from->x, from->y, from->w, from->h, GST_VIDEO_INFO_WIDTH(&caps),
                                GST_VIDEO_INFO_HEIGHT(&caps));
    if (!box) {
      GST_DEBUG_OBJECT(element, "region %d (%s), %ux%u at (%u, %u), is out of the picture: dropped", from->id,
                       g_quark_to_string(from->roi_type), from->w, from->h, from->x, from->y);
      continue;
    }
    auto* to = gst_buffer_add_video_region_of_interest_meta_id(out, from->roi_type, box->x, box->y,
                                                               box->width, box->height);
    to->id = from->id;
    to->parent_id = from->parent_id;
    for (const GList* param = from->params; param; param = param->next)
      gst_video_region_of_interest_meta_add_param(
          to, gst_structure_copy(static_cast<const GstStructure*>(param->data)));
  }
}

// ---- what others know how to move

bool is_moved_here(GType api) {
  return api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE || api == GST_VIDEO_CROP_META_API_TYPE ||
         api == GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE || api == analytics_api() || api == matrix_api;
}

#if GST_CHECK_VERSION(1, 28, 0)
// Metas of the picture's size or orientation that GStreamer can move by a matrix.
void carry_others(const Affine& map, const GstVideoInfo& in_caps, const GstVideoInfo& out_caps, GstBuffer* in,
                  GstBuffer* out) {
  const GstVideoRectangle all_in{0, 0, GST_VIDEO_INFO_WIDTH(&in_caps), GST_VIDEO_INFO_HEIGHT(&in_caps)},
      all_out{0, 0, GST_VIDEO_INFO_WIDTH(&out_caps), GST_VIDEO_INFO_HEIGHT(&out_caps)};
  GstVideoMetaTransformMatrix by;
  gst_video_meta_transform_matrix_init(&by, &in_caps, &all_in, &out_caps, &all_out);
  const double rows[2][3] = {{map.a, map.b, map.tx}, {map.c, map.d, map.ty}};
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 3; ++c) by.matrix[r][c] = static_cast<gfloat>(rows[r][c]);
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(in, &state)) {
    const GstMetaInfo* info = meta->info;
    const bool moves =
        gst_meta_api_type_has_tag(info->api, g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR)) ||
        gst_meta_api_type_has_tag(info->api, g_quark_from_static_string(GST_META_TAG_VIDEO_ORIENTATION_STR));
    if (!moves || is_moved_here(info->api) || gst_meta_api_type_has_tag(info->api, GST_META_TAG_MEMORY) ||
        !info->transform_func)
      continue;
    info->transform_func(out, meta, in, gst_video_meta_transform_matrix_get_quark(), &by);
  }
}
#else
void carry_others(const Affine&, const GstVideoInfo&, const GstVideoInfo&, GstBuffer*, GstBuffer*) {}
#endif

}  // namespace

std::optional<Box> mapped_box(const Affine& map, double x, double y, double width, double height,
                              int frame_width, int frame_height) {
  const Point corners[] = {map({x, y}), map({x + width, y}), map({x, y + height}),
                           map({x + width, y + height})};
  const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
  const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
  if (!(right >= 0 && left <= frame_width && bottom >= 0 && top <= frame_height)) return std::nullopt;
  // What has a size and meets the frame in its side alone is outside too.
  const bool touches =
      right < kSlack || left > frame_width - kSlack || bottom < kSlack || top > frame_height - kSlack;
  if (touches && (width > 0 || height > 0)) return std::nullopt;
  const auto begin = [](double v, int side) {
    return static_cast<int>(std::clamp(std::floor(v + kSlack), 0.0, double(side)));
  };
  const auto length = [&](double from, double to, int side) {
    if (to - from < kSlack) return 0;
    return static_cast<int>(std::clamp(std::ceil(to - kSlack), 0.0, double(side))) - begin(from, side);
  };
  return Box{begin(left, frame_width), begin(top, frame_height), length(left, right, frame_width),
             length(top, bottom, frame_height)};
}

void register_matrix_meta() {
  static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
  const GstMetaInfo* info = gst_meta_get_info(kMatrixMeta);
  if (!info) info = gst_meta_register_custom(kMatrixMeta, tags, transform_matrix, nullptr, nullptr);
  matrix_api = info->api;
}

bool is_copied(const GstMeta* meta, bool by_base_class) {
  if (is_moved_here(meta->info->api)) return false;
  if (by_base_class) return true;
  // Captions, time codes, light levels and the like: of video, and of no size or place in it. Colours stay.
  const gchar* const* tags = gst_meta_api_type_get_tags(meta->info->api);
  for (; tags && *tags; ++tags)
    if (!g_str_equal(*tags, GST_META_TAG_VIDEO_STR) && !g_str_equal(*tags, GST_META_TAG_VIDEO_COLORSPACE_STR))
      return false;
  return true;
}

void carry_metas(GstObject* element, const Affine& dst_from_src, const GstVideoInfo& in_caps,
                 const GstVideoInfo& out_caps, GstBuffer* in, GstBuffer* out) {
  carry_matrix(dst_from_src, in_caps, in, out);
  carry_regions(element, dst_from_src, out_caps, in, out);
  carry_analytics(element, dst_from_src, GST_VIDEO_INFO_WIDTH(&out_caps), GST_VIDEO_INFO_HEIGHT(&out_caps),
                  in, out);
  carry_others(dst_from_src, in_caps, out_caps, in, out);
}

void mark_unchanged(const GstVideoInfo& caps, GstBuffer* buffer) {
  carry_matrix({}, caps, buffer, buffer);
}

// A 4x4 matrix by columns, on points in 0..1 with y up and z in the middle: as OpenGL's, scaled.
Expected<Affine> picture_map(GstBuffer* in) {
  const auto* meta = reinterpret_cast<GstVideoAffineTransformationMeta*>(
      gst_buffer_get_meta(in, GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE));
  if (!meta) return Affine{};
  const gfloat* m = meta->matrix;
  const auto words = [](const char* what) {
    return Error{std::string("the input buffer's GstVideoAffineTransformationMeta is ") + what};
  };
  if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1) return words("no affine map");
  const double z = 0.5;
  const Affine up{m[0], m[4], m[8] * z + m[12], m[1], m[5], m[9] * z + m[13]};
  const Affine flip{1, 0, 0, 0, -1, 1};
  const Affine down = flip * up * flip;
  if (!down.inverse()) return words("singular or not finite");
  return down;
}

}  // namespace cudawarp

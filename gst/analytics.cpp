// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detections move with the picture, and what is known of them stays with them. The meta is made anew, since
// nothing can be taken out of one.
#include <gst/analytics/analytics.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "metas.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

struct Detection {
  GQuark type;
  Box box;
  gfloat turn = 0;  // radians about the middle of the box
  gfloat confidence = 0;
};

// Of the output; nothing where it is wholly outside.
std::optional<Detection> moved(const Affine& map, GstAnalyticsODMtd* from, int width, int height) {
  Detection d{.type = gst_analytics_od_mtd_get_obj_type(from), .box = {}};
  gint x = 0, y = 0, w = 0, h = 0;
#if GST_CHECK_VERSION(1, 26, 0)
  gfloat turn = 0;
  if (!gst_analytics_od_mtd_get_oriented_location(from, &x, &y, &w, &h, &turn, &d.confidence))
    return std::nullopt;
  if (turn != 0) {
    // The sides go where the map takes them, as far as the box stays one.
    const Point middle{x + w / 2.0, y + h / 2.0};
    const Affine own = Affine::translation(middle.x, middle.y) * Affine::rotation(turn * 180 / G_PI) *
                       Affine::translation(-w / 2.0, -h / 2.0);
    if (!mapped_box(map * own, 0, 0, w, h, width, height)) return std::nullopt;
    const Affine m = map * own;
    const Point at = map(middle);
    const double along = w * std::hypot(m.a, m.c), across = h * std::hypot(m.b, m.d);
    d.box = {static_cast<int>(std::lround(at.x - along / 2)),
             static_cast<int>(std::lround(at.y - across / 2)), static_cast<int>(std::lround(along)),
             static_cast<int>(std::lround(across))};
    d.turn = static_cast<gfloat>(std::atan2(m.c, m.a));
    return d;
  }
#else
  if (!gst_analytics_od_mtd_get_location(from, &x, &y, &w, &h, &d.confidence)) return std::nullopt;
#endif
  const auto box = mapped_box(map, x, y, w, h, width, height);
  if (!box) return std::nullopt;
  d.box = *box;
  return d;
}

bool add(GstAnalyticsRelationMeta* to, const Detection& d, GstAnalyticsMtd* made) {
#if GST_CHECK_VERSION(1, 26, 0)
  if (d.turn != 0)
    return gst_analytics_relation_meta_add_oriented_od_mtd(to, d.type, d.box.x, d.box.y, d.box.width,
                                                           d.box.height, d.turn, d.confidence, made);
#endif
  return gst_analytics_relation_meta_add_od_mtd(to, d.type, d.box.x, d.box.y, d.box.width, d.box.height,
                                                d.confidence, made);
}

// As GStreamer copies them: the bytes, and then the kind's own function, which takes references.
bool add_copy(GstAnalyticsRelationMeta* to, GstAnalyticsMtd* from, GstBuffer* in, GstBuffer* out,
              GstAnalyticsMtd* made) {
  const gpointer data = gst_analytics_relation_meta_get_mtd_data(from->meta, from->id);
  const gsize size = gst_analytics_mtd_get_size(from);
  // A type is the address of its functions.
  const auto* impl = reinterpret_cast<const GstAnalyticsMtdImpl*>(gst_analytics_mtd_get_mtd_type(from));
  gpointer copy = gst_analytics_relation_meta_add_mtd(to, impl, size, made);
  if (!copy || !data) return false;
  std::memcpy(copy, data, size);
  GstMetaTransformCopy whole{FALSE, 0, static_cast<gsize>(-1)};
  if (impl->mtd_meta_transform) impl->mtd_meta_transform(out, made, in, _gst_meta_transform_copy, &whole);
  return true;
}

// Masks are pictures of their own, which stay behind.
bool is_mask([[maybe_unused]] GstAnalyticsRelationMeta* meta, [[maybe_unused]] guint id) {
#if GST_CHECK_VERSION(1, 26, 0)
  GstAnalyticsMtd mask;
  return gst_analytics_relation_meta_get_mtd(meta, id, gst_analytics_segmentation_mtd_get_mtd_type(), &mask);
#else
  return false;
#endif
}

// Whether all that an entry is related to has been dropped.
bool is_orphan(const GstAnalyticsRelationMeta* meta, guint id, const std::vector<char>& dropped) {
  bool related = false;
  for (guint other = 0; other < dropped.size(); ++other) {
    if (other == id ||
        (gst_analytics_relation_meta_get_relation(meta, id, other) == GST_ANALYTICS_REL_TYPE_NONE &&
         gst_analytics_relation_meta_get_relation(meta, other, id) == GST_ANALYTICS_REL_TYPE_NONE))
      continue;
    if (!dropped[other]) return false;
    related = true;
  }
  return related;
}

}  // namespace

GType analytics_api() {
  return GST_ANALYTICS_RELATION_META_API_TYPE;
}

void carry_analytics(GstObject* element, const Affine& map, int width, int height, GstBuffer* in,
                     GstBuffer* out) {
  GstAnalyticsRelationMeta* from = gst_buffer_get_analytics_relation_meta(in);
  if (!from) return;
  const GstAnalyticsMtdType detection = gst_analytics_od_mtd_get_mtd_type();
  const auto count = static_cast<guint>(gst_analytics_relation_get_length(from));
  std::vector<std::optional<Detection>> detections(count);
  std::vector<char> dropped(count, false);
  for (guint id = 0; id < count; ++id) {
    if (map != Affine{} && is_mask(from, id)) {
      dropped[id] = true;
      GST_DEBUG_OBJECT(element, "segmentation %u: masks are not warped: dropped", id);
      continue;
    }
    GstAnalyticsODMtd one;
    if (!gst_analytics_relation_meta_get_mtd(from, id, detection, &one)) continue;
    detections[id] = moved(map, &one, width, height);
    dropped[id] = !detections[id];
    if (dropped[id])
      GST_DEBUG_OBJECT(element, "detection %u (%s) is out of the picture: dropped", id,
                       g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&one)));
  }
  for (bool more = true; more;) {
    more = false;
    for (guint id = 0; id < count; ++id) {
      if (dropped[id] || detections[id] || !is_orphan(from, id, dropped)) continue;
      more = dropped[id] = true;
    }
  }
  GstAnalyticsRelationMeta* to = gst_buffer_add_analytics_relation_meta(out);
  std::vector<guint> now(count, G_MAXUINT);
  for (guint id = 0; to && id < count; ++id) {
    GstAnalyticsMtd one, made;
    if (dropped[id] || !gst_analytics_relation_meta_get_mtd(from, id, GST_ANALYTICS_MTD_TYPE_ANY, &one))
      continue;
    if (detections[id] ? add(to, *detections[id], &made) : add_copy(to, &one, in, out, &made))
      now[id] = made.id;
  }
  for (guint a = 0; a < count; ++a)
    for (guint b = 0; b < count; ++b) {
      if (now[a] == G_MAXUINT || now[b] == G_MAXUINT) continue;
      const GstAnalyticsRelTypes relation = gst_analytics_relation_meta_get_relation(from, a, b);
      if (relation != GST_ANALYTICS_REL_TYPE_NONE)
        gst_analytics_relation_meta_set_relation(to, relation, now[a], now[b]);
    }
}

}  // namespace cudawarp

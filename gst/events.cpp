// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Events: frames before them go first; tags of orientation turn the picture; where a user points at goes back
// through the map.
#include "element.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

bool follows_tags(Private* priv) {
  std::lock_guard lock(priv->lock);
  return priv->settings.warp.by_tags;
}

void take_orientation(GstCudaWarp* self) {
  Private* priv = self->priv;
  Status refused;
  {
    std::lock_guard lock(priv->lock);
    refused = change_settings(self, with_tagged(priv->settings, priv->tags.orientation()));
  }
  if (refused) refuse(self, "video-direction", refused->words);
}

GstEvent* take_tags(GstCudaWarp* self, GstEvent* event) {
  Private* priv = self->priv;
  GstTagList* tags = nullptr;
  gst_event_parse_tag(event, &tags);
  tell_orientation(self, follows_tags(priv));  // of the tags before these
  if (!priv->tags.add(tags))
    GST_WARNING_OBJECT(self, "image-orientation is none of the eight, and passed on: %" GST_PTR_FORMAT, tags);
  take_orientation(self);
  return OrientationTags::told(event, priv->told_upright);
}

// Of any kind of navigation event that has a point. GStreamer's own functions know not all of them.
bool point_of(const GstStructure* s, Point& at) {
  return gst_structure_get_double(s, "pointer_x", &at.x) && gst_structure_get_double(s, "pointer_y", &at.y);
}

}  // namespace

void tell_orientation(GstCudaWarp* self, bool upright) {
  Private* priv = self->priv;
  if (std::exchange(priv->told_upright, upright) == upright) return;
  const auto events = priv->tags.told_again(upright);
  if (!events.empty()) drain(self);
  for (GstEvent* event : events) gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(self), event);
}

gboolean handle_sink_event(GstBaseTransform* trans, GstEvent* event) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  Private* priv = self->priv;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    priv->frames.discard();
    priv->gap = false;
    priv->drained_flow = GST_FLOW_OK;
  } else if (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) {
    drain(self);
    // Where downstream has had enough of a segment, it may still want the next.
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT && priv->drained_flow == GST_FLOW_EOS)
      priv->drained_flow = GST_FLOW_OK;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) {
    const gchar* id = nullptr;
    gst_event_parse_stream_start(event, &id);
    priv->tags.stream_start(id);
    take_orientation(self);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) {
    event = take_tags(self, event);
  }
  return base_class()->sink_event(trans, event);
}

gboolean handle_src_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_NAVIGATION) {
    Private* priv = priv_of(trans);
    std::optional<Affine> forward;
    {
      std::lock_guard lock(priv->lock);
      forward = priv->forward;
    }
    const auto back = forward ? forward->inverse() : std::nullopt;
    Point at;
    const GstStructure* s = gst_event_get_structure(event);
    if (back && s && point_of(s, at)) {
      const Point from = (*back)(at);
      GST_LOG_OBJECT(trans, "pointer at (%g, %g), in the input (%g, %g)", at.x, at.y, from.x, from.y);
      event = gst_event_make_writable(event);
      gst_structure_set(gst_event_writable_structure(event), "pointer_x", G_TYPE_DOUBLE, from.x, "pointer_y",
                        G_TYPE_DOUBLE, from.y, nullptr);
    }
  }
  return base_class()->src_event(trans, event);
}

}  // namespace cudawarp

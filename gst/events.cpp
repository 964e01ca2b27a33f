// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Events: frames before them go first; tags of orientation turn the picture; where a user points at goes back
// through the map.
#include <gst/video/navigation.h>

#include "element.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

bool follows_tags(Private* priv) {
  std::lock_guard lock(priv->lock);
  return priv->settings.direction == GST_VIDEO_ORIENTATION_AUTO;
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
  if (!priv->tags.add(tags))
    GST_WARNING_OBJECT(self, "image-orientation is none of the eight, and passed on: %" GST_PTR_FORMAT, tags);
  take_orientation(self);
  tell_orientation(self);  // of tags before this, if they have not been told so
  return OrientationTags::told(event, priv->told_upright);
}

}  // namespace

void tell_orientation(GstCudaWarp* self) {
  Private* priv = self->priv;
  const bool upright = follows_tags(priv);
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
    double x = 0, y = 0;
    if (back && gst_navigation_event_get_coordinates(event, &x, &y)) {
      const Point at = (*back)({x, y});
      GST_LOG_OBJECT(trans, "pointer at (%g, %g), in the input (%g, %g)", x, y, at.x, at.y);
      event = gst_event_make_writable(event);
      gst_navigation_event_set_coordinates(event, at.x, at.y);
    }
  }
  return base_class()->src_event(trans, event);
}

}  // namespace cudawarp

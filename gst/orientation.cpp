// SPDX-License-Identifier: LGPL-2.1-or-later
#include "orientation.h"

#include <gst/video/video.h>

#include <optional>

namespace cudawarp {
namespace {

std::optional<Orientation> orientation_of(GstTagList* tags) {
  GstVideoOrientationMethod method;
  if (!gst_video_orientation_from_tag(tags, &method)) return std::nullopt;
  return static_cast<Orientation>(method);  // in the same order
}

GstEvent* upright_event(GstTagList* tags) {
  GstTagList* copy = gst_tag_list_copy(tags);
  gst_tag_list_add(copy, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, "rotate-0", nullptr);
  return gst_event_new_tag(copy);
}

}  // namespace

void OrientationTags::clear() {
  stream_.clear();
  for (GstTagList*& list : lists_) gst_clear_tag_list(&list);
}

void OrientationTags::stream_start(const char* id) {
  if (stream_ == id) return;
  clear();
  stream_ = id;
}

bool OrientationTags::add(GstTagList* tags) {
  GstTagList*& list = lists_[gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_GLOBAL];
  gst_clear_tag_list(&list);
  if (orientation_of(tags)) list = gst_tag_list_ref(tags);
  return list || gst_tag_list_get_tag_size(tags, GST_TAG_IMAGE_ORIENTATION) == 0;
}

Orientation OrientationTags::orientation() const {
  for (GstTagList* list : lists_)
    if (list) return *orientation_of(list);
  return Orientation::identity;
}

GstEvent* OrientationTags::told(GstEvent* event, bool upright) {
  GstTagList* tags = nullptr;
  gst_event_parse_tag(event, &tags);
  if (!upright || !orientation_of(tags)) return event;
  GstEvent* other = upright_event(tags);
  gst_event_set_seqnum(other, gst_event_get_seqnum(event));
  gst_event_unref(event);
  return other;
}

std::vector<GstEvent*> OrientationTags::told_again(bool upright) const {
  std::vector<GstEvent*> events;
  for (GstTagList* list : lists_)
    if (list) events.push_back(upright ? upright_event(list) : gst_event_new_tag(gst_tag_list_ref(list)));
  return events;
}

}  // namespace cudawarp

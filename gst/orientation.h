// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a stream's image-orientation tags say. Of the streaming thread.
#pragma once

#include <gst/gst.h>

#include <array>
#include <string>
#include <vector>

#include "plan.h"

namespace cudawarp {

class OrientationTags {
 public:
  OrientationTags() = default;
  OrientationTags(const OrientationTags&) = delete;
  ~OrientationTags() { clear(); }

  void clear();
  // Another stream than before has no tags yet.
  void stream_start(const char* id);
  // A list takes the place of the one before it of its scope. False where its orientation is none, which
  // counts as no tag.
  bool add(GstTagList* tags);
  // The stream's own tag counts more than that of what it lies in.
  Orientation orientation() const;

  // For frames that are upright from here on (or are as they came): what is to be told downstream of this
  // event's tags, of all that have come. Takes the event; transfer full.
  static GstEvent* told(GstEvent* event, bool upright);
  std::vector<GstEvent*> told_again(bool upright) const;

 private:
  std::string stream_;
  std::array<GstTagList*, 2> lists_{};  // by GstTagScope: stream, global; those with an orientation
};

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Events that go upstream through an element. Include this last, as element_util.h.
#pragma once

#include <memory>
#include <utility>

#include "element_util.h"

namespace cudawarp::element {

struct UnrefEvent {
  void operator()(GstEvent* event) const { gst_event_unref(event); }
};
using EventPtr = std::unique_ptr<GstEvent, UnrefEvent>;
struct FreeStructure {
  void operator()(GstStructure* s) const { gst_structure_free(s); }
};
using StructurePtr = std::unique_ptr<GstStructure, FreeStructure>;

// What arrives upstream of an event from downstream.
inline EventPtr sent_up(const Warp& warp, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  while (const EventPtr old{gst_harness_try_pull_upstream_event(warp.harness())}) continue;
  ck_assert(gst_harness_push_upstream_event(warp.harness(), event));
  EventPtr found;
  while (EventPtr next{gst_harness_try_pull_upstream_event(warp.harness())})
    if (GST_EVENT_TYPE(next.get()) == type) found = std::move(next);
  ck_assert_msg(found != nullptr, "no %s event arrives", gst_event_type_get_name(type));
  return found;
}

inline void assert_unchanged(const Warp& warp, GstEvent* event) {
  const StructurePtr before(gst_structure_copy(gst_event_get_structure(event)));
  const EventPtr after = sent_up(warp, event);
  const GstStructure* got = gst_event_get_structure(after.get());
  if (gst_structure_is_equal(before.get(), got)) return;
  ck_abort_msg("%s became %s", gst_structure_to_string(before.get()), gst_structure_to_string(got));
}

}  // namespace cudawarp::element

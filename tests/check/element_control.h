// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Controllers of properties, for tests. Include this last, as element_util.h.
#pragma once

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include "element_util.h"

namespace cudawarp::element {

inline double seconds(GstClockTime time) {
  return static_cast<double>(time) / GST_SECOND;
}

// `property` is `first` at stream time 0 and `last` at `end`; between them on a line, or `first` until then.
inline void animate(GstElement* element, const char* property, double first, double last, GstClockTime end,
                    bool line) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  const bool by_share = G_IS_PARAM_SPEC_ENUM(spec);  // 0..1 of all values, also where it is called absolute
  if (by_share) {
    const double steps = G_PARAM_SPEC_ENUM(spec)->enum_class->n_values - 1;
    first = (first + 0.25) / steps, last = (last + 0.25) / steps;
  }
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", line ? GST_INTERPOLATION_MODE_LINEAR : GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, first);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), end, last);
  const auto bind = by_share ? gst_direct_control_binding_new : gst_direct_control_binding_new_absolute;
  ck_assert_msg(
      gst_object_add_control_binding(GST_OBJECT(element), bind(GST_OBJECT(element), property, source)),
      "no binding for %s", property);
  gst_object_unref(source);
}

}  // namespace cudawarp::element

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A GStreamer without analytics.
#include "metas.h"

namespace cudawarp {

GType analytics_api() {
  return G_TYPE_INVALID;
}

void carry_analytics(GstObject*, const Affine&, int, int, GstBuffer*, GstBuffer*) {}

}  // namespace cudawarp

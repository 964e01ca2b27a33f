// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element's properties: their declaration, and the values behind them.
#pragma once

#include <gst/video/video.h>

#include "plan.h"
#include "status.h"

namespace cudawarp {

enum class EngineChoice { automatic, cuda, cpu };

// The values of all properties. Plain data: copy it under the element's lock, then work on the copy.
struct Settings {
  double scale = 1;  // multiplies both of the next two
  double scale_x = 1, scale_y = 1;
  GstVideoOrientationMethod direction = GST_VIDEO_ORIENTATION_IDENTITY;
  Orientation tagged = Orientation::identity;  // what tags say, for `direction` auto
  WarpParams warp;  // its scale_x and scale_y are the products, its orientation what is in force
  EngineChoice engine = EngineChoice::automatic;
  int device_id = -1;     // any device
  guint async_depth = 0;  // frames
  bool measure_gpu_time = false;
};

// Installs every property on the class.
void install_properties(GObjectClass* klass);

// The same settings where tags say so.
Settings with_tagged(Settings settings, Orientation tagged);

// The values for a frame at this stream time, of a stream of these: `spin` is in the angle.
WarpParams at_time(WarpParams params, GstClockTime stream_time);

// Sets one property. Fails, with words and without any change, where the value or the map that it gives is
// singular or not finite.
Status set_property(Settings& settings, guint id, const GValue* value);
// Gets one; false where it is none of them, but what the element does (`stats`, the matrices in force).
bool get_property(const Settings& settings, guint id, GValue* value);

// The properties that the element answers itself.
enum class Answer { none, stats, forward_matrix, inverse_matrix };
Answer answer_of(guint id);
// Six numbers as the property `matrix` has them.
void append_matrix(GValue* array, const Affine& matrix);

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Properties as GObject sets and gets them, from any thread, and what a change means to a stream that plays.
#include <utility>

#include "element.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

guint matrix_changed = 0;  // the signal

}  // namespace

void install_signals(GObjectClass* klass) {
  /**
   * GstCudaWarp::matrix-changed:
   * @warp: the element
   *
   * The properties #GstCudaWarp:forward-matrix and #GstCudaWarp:inverse-matrix have other values than for the
   * frame before. Emitted in the streaming thread, before that frame is pushed: with every frame of an
   * animation.
   */
  matrix_changed = g_signal_new("matrix-changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, nullptr,
                                nullptr, nullptr, G_TYPE_NONE, 0);
}

void set_forward(GstCudaWarp* self, const Affine& forward) {
  {
    std::lock_guard lock(self->priv->lock);
    if (self->priv->forward == forward) return;
    self->priv->forward = forward;
  }
  g_signal_emit(self, matrix_changed, 0);
}

void refuse(GstCudaWarp* self, const std::string& property, const std::string& words) {
  GST_OBJECT_LOCK(self);
  const bool bus = GST_ELEMENT_CAST(self)->bus != nullptr;
  GST_OBJECT_UNLOCK(self);
  if (bus) {
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s: %s", property.c_str(), words.c_str()),
                        ("the value before it stays in force"));
    return;
  }
  GST_WARNING_OBJECT(self, "%s: %s; the value before it stays in force", property.c_str(), words.c_str());
  std::lock_guard lock(self->priv->lock);
  self->priv->refused[property] = words;
}

Status change_settings(GstCudaWarp* self, const Settings& next) {
  Private* priv = self->priv;
  GstBaseTransform* trans = GST_BASE_TRANSFORM(self);
  const WarpParams before = priv->settings.warp;
  const WarpParams& after = next.warp;
  // Controllers set properties in the streaming thread, before the negotiation of their buffer; a size that
  // they animate stays as it was negotiated.
  const bool by_hand = priv->syncing != g_thread_self();
  const bool playing = priv->stream && before != after;
  if (playing && by_hand)
    if (auto refused = check_change(*priv->stream, priv->open_size, after)) return refused;
  priv->settings = next;
  if (!playing) return std::nullopt;
  bool renegotiate = false;
  if (by_hand && change_caps(*priv->stream, before, after)) {
    if (!priv->held) priv->held = before;
    renegotiate = true;
  } else if (gst_base_transform_is_passthrough(trans)) {
    renegotiate = !is_identity(after, *priv->stream);
  } else {
    renegotiate = by_hand ? is_identity(after, *priv->stream)
                          : (before.border == Border::transparent) != (after.border == Border::transparent);
  }
  // Under the lock: whoever reads the new values finds the request for new caps too.
  if (renegotiate) gst_base_transform_reconfigure_src(trans);
  return std::nullopt;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  GstCudaWarp* self = GST_CUDA_WARP(object);
  Private* priv = self->priv;
  Status refused;
  bool other_latency = false;
  {
    std::lock_guard lock(priv->lock);
    Settings next = priv->settings;
    refused = set_property(next, id, value);
    other_latency = !refused && next.async_depth != priv->settings.async_depth;
    if (!refused) refused = change_settings(self, next);
    if (!refused) {
      priv->refused.erase(pspec->name);
      priv->refused_animation.erase(pspec->name);
    } else if (priv->syncing == g_thread_self() &&
               std::exchange(priv->refused_animation[pspec->name], refused->words) == refused->words) {
      refused.reset();  // a controller tries again with every buffer
    }
  }
  if (refused) refuse(self, pspec->name, refused->words);
  if (other_latency) update_latency(self);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
  Private* priv = priv_of(object);
  Settings settings;
  std::optional<Affine> forward;
  {
    std::lock_guard lock(priv->lock);
    settings = priv->settings;
    forward = priv->forward;
  }
  if (get_property(settings, id, value)) return;
  const Answer answer = answer_of(id);
  if (answer == Answer::stats) g_value_take_boxed(value, priv->stats.to_structure(priv->gpu->numbers()));
  if (answer == Answer::inverse_matrix && forward) forward = forward->inverse();
  if (answer != Answer::stats && forward) append_matrix(value, *forward);
}

}  // namespace cudawarp

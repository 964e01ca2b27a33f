// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames on their way through the element. With async-depth, and a side in system memory, a frame's warp
// begins when it comes and is waited for when it is the oldest of more than so many; whatever else comes in
// the stream's order lets all frames before it go first.
#include <gst/video/gstvideoaffinetransformationmeta.h>

#include <string>
#include <utility>

#include "element.h"
#include "metas.h"
#include "trace.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

namespace cudawarp {
namespace {

GstFlowReturn fail(GstCudaWarp* self, const Error& why) {
  GST_ELEMENT_ERROR(self, RESOURCE, FAILED, ("%s", why.words.c_str()), (nullptr));
  return GST_FLOW_ERROR;
}

// The same once the frames before this one have gone; where that fails too, once is enough.
GstFlowReturn fail_in_turn(GstCudaWarp* self, const Error& why) {
  drain(self);
  const GstFlowReturn flow = std::exchange(self->priv->drained_flow, GST_FLOW_OK);
  return flow == GST_FLOW_OK ? fail(self, why) : flow;
}

// Puts the place of an input's picture in its frame into the values for it. A map that is none, or of which
// these values leave none, is left out, and said so once.
void place_picture(GstCudaWarp* self, WarpParams& params, const FrameDesc& src, GstBuffer* in) {
  Private* priv = self->priv;
  auto map = picture_map(in);
  if (const Affine* picture = std::get_if<Affine>(&map)) {
    params.picture = *picture;
    if (*picture == Affine{} || !error_of(find_plan(self, params, src))) {
      priv->bad_picture.clear();
      return;
    }
    params.picture = {};
    map = Error{"the input buffer's GstVideoAffineTransformationMeta leaves no map with these properties"};
  }
  const std::string& words = error_of(map)->words;
  if (std::exchange(priv->bad_picture, words) != words)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", words.c_str()), ("frames are warped without it"));
}

// Begins to warp; `work` is what is to be waited for, if anything. Where nothing is kept in flight the CPU
// engine warps at once.
GstFlowReturn begin(GstCudaWarp* self, GstBuffer* in, GstBuffer* out, std::unique_ptr<Work>& work) {
  Private* priv = self->priv;
  if (!priv->stream) return GST_FLOW_NOT_NEGOTIATED;
  if (gst_buffer_get_size(in) == 0 && GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP)) {
    gst_buffer_remove_all_memory(out);  // no picture, and none is expected
    return GST_FLOW_OK;
  }
  const GstVideoInfo &in_caps = priv->stream->in, &out_caps = priv->stream->out;
  const auto brought = input_picture(priv->stream->src, in_caps, in);
  if (const Error* why = error_of(brought)) return fail_in_turn(self, *why);
  const auto& src = std::get<Picture>(brought);
  const Picture dst = output_picture(priv->stream->dst, out_caps, out, src.desc.interlaced);
  WarpParams params;
  bool timed = false;
  {
    std::lock_guard lock(priv->lock);
    // The newest values, unless they wait for caps: then this buffer still belongs to the old ones.
    params = at_time(priv->held.value_or(priv->settings.warp), priv->stream_time);
    timed = priv->settings.measure_gpu_time;
  }
  place_picture(self, params, src.desc, in);
  const auto plan = plan_for(self, params, src.desc);
  if (!plan) return GST_FLOW_NOT_NEGOTIATED;
  tell_orientation(self, params.by_tags);
  const Affine forward = plan->dst_from_src * picture_from_stored(src);
  set_forward(self, forward);
  carry_metas(GST_OBJECT(self), forward, in_caps, out_caps, in, out);

  Expected<std::unique_ptr<Work>> begun;
  if (priv->gpu->is_open()) {
    priv->gpu->measure_time(timed);
    begun = priv->gpu->begin(*plan, src, dst);
  } else if (priv->depth > 0) {
    begun = priv->cpu->begin(plan, src, dst);
  } else if (auto failed = priv->cpu->warp(*plan, src, dst)) {
    begun = *failed;
  }
  if (const Error* why = error_of(begun)) return fail_in_turn(self, *why);
  work = std::move(std::get<std::unique_ptr<Work>>(begun));
  return GST_FLOW_OK;
}

// Waits for the oldest frame in flight. Where that fails, none of the others comes out.
GstFlowReturn finish_oldest(GstCudaWarp* self, BufferPtr& buffer) {
  Private* priv = self->priv;
  auto finished = priv->frames.finish_oldest();
  if (const Error* why = error_of(finished)) {
    priv->frames.discard();
    return fail(self, *why);
  }
  buffer = std::move(std::get<BufferPtr>(finished));
  priv->stats.count_frame();
  return GST_FLOW_OK;
}

GstFlowReturn push_oldest(GstCudaWarp* self) {
  GstBaseTransform* trans = GST_BASE_TRANSFORM(self);
  BufferPtr buffer;
  const GstFlowReturn flow = finish_oldest(self, buffer);
  if (flow != GST_FLOW_OK) return flow;
  // As the base class does for what it pushes: where POSITION queries are answered from.
  if (trans->segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer.get())) {
    trans->segment.position = GST_BUFFER_PTS(buffer.get());
    if (GST_BUFFER_DURATION_IS_VALID(buffer.get()))
      trans->segment.position += GST_BUFFER_DURATION(buffer.get());
  }
  return gst_pad_push(trans->srcpad, buffer.release());
}

// Downstream's pool may have fewer buffers than are in flight: pushes as many as it takes to get one.
GstFlowReturn make_room(GstCudaWarp* self) {
  Private* priv = self->priv;
  if (!priv->small_pool) return GST_FLOW_OK;
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(GST_BASE_TRANSFORM(self));
  GstBufferPoolAcquireParams params{};
  params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstFlowReturn flow = GST_FLOW_OK;
  while (pool && flow == GST_FLOW_OK && priv->frames.size() > 0) {
    GstBuffer* buffer = nullptr;
    const GstFlowReturn got = gst_buffer_pool_acquire_buffer(pool, &buffer, &params);
    gst_clear_buffer(&buffer);
    if (got != GST_FLOW_EOS) break;  // which says that there is none
    flow = push_oldest(self);
  }
  gst_clear_object(&pool);
  return flow;
}

GstFlowReturn begin_in_flight(GstCudaWarp* self, BufferPtr in) {
  Private* priv = self->priv;
  GstFlowReturn flow = make_room(self);
  if (flow != GST_FLOW_OK) return flow;
  GstBuffer* made = nullptr;
  flow = prepare_output_buffer(GST_BASE_TRANSFORM(self), in.get(), &made);
  BufferPtr out(made);
  if (flow != GST_FLOW_OK) return flow;
  if (std::exchange(priv->gap, false)) GST_BUFFER_FLAG_SET(made, GST_BUFFER_FLAG_DISCONT);
  std::unique_ptr<Work> work;
  flow = begin(self, in.get(), made, work);
  if (flow == GST_FLOW_OK)
    priv->frames.add(std::move(in), std::move(out), std::move(work));
  else
    drain(self);
  return flow;
}

// Also of a frame that begins before its segment, as the one that a seek lands in does.
GstClockTime stream_time_of(const GstSegment& segment, GstBuffer* buffer) {
  if (segment.format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID(buffer)) return GST_CLOCK_TIME_NONE;
  guint64 time = 0;
  const gint sign = gst_segment_to_stream_time_full(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer), &time);
  return sign > 0 ? time : sign < 0 ? 0 : GST_CLOCK_TIME_NONE;
}

// What there is to a frame that is not warped.
void pass_through(GstCudaWarp* self, GstBuffer*& buffer) {
  Private* priv = self->priv;
  bool by_tags = false;
  {
    std::lock_guard lock(priv->lock);
    // Newer values may turn, and wait for their caps.
    const bool as_it_is = priv->settings.warp.orientation == Orientation::identity;
    by_tags = (as_it_is ? priv->settings.warp : priv->negotiated).by_tags;
  }
  tell_orientation(self, by_tags);
  buffer = gst_buffer_make_writable(buffer);
  if (priv->stream) mark_unchanged(priv->stream->in, buffer);
  set_forward(self, {});
}

}  // namespace

guint depth_of(GstCudaWarp* self) {
  GstBaseTransform* trans = GST_BASE_TRANSFORM(self);
  if (gst_base_transform_is_passthrough(trans) || GST_PAD_MODE(trans->srcpad) == GST_PAD_MODE_PULL) return 0;
  std::lock_guard lock(self->priv->lock);
  const auto& stream = self->priv->stream;
  return stream && !(stream->in_on_device && stream->out_on_device) ? self->priv->settings.async_depth : 0;
}

void drain(GstCudaWarp* self) {
  Private* priv = self->priv;
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && priv->frames.size() > 0) flow = push_oldest(self);
  if (flow == GST_FLOW_OK) return;
  priv->frames.discard();
  priv->drained_flow = flow;
}

void update_latency(GstCudaWarp* self) {
  Private* priv = self->priv;
  GstClockTime latency = 0;
  if (const guint depth = depth_of(self)) {
    std::lock_guard lock(priv->lock);
    if (priv->stream && GST_VIDEO_INFO_FPS_N(&priv->stream->out) > 0)
      latency = gst_util_uint64_scale(depth * GST_SECOND, GST_VIDEO_INFO_FPS_D(&priv->stream->out),
                                      GST_VIDEO_INFO_FPS_N(&priv->stream->out));
  }
  latency = MIN(latency, G_MAXINT64);  // of less than a frame in centuries
  if (priv->latency.exchange(latency) == latency) return;
  GST_INFO_OBJECT(self, "latency: %" GST_TIME_FORMAT, GST_TIME_ARGS(latency));
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

void add_latency(GstCudaWarp* self, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  const auto later = [more = self->priv->latency.load()](GstClockTime time) {
    return time < GST_CLOCK_TIME_NONE - 1 - more ? time + more : GST_CLOCK_TIME_NONE - 1;
  };
  gst_query_set_latency(query, live, later(min), GST_CLOCK_TIME_IS_VALID(max) ? later(max) : max);
}

void before_transform(GstBaseTransform* trans, GstBuffer* buffer) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  Private* priv = self->priv;
  // Frames that are moved do not pass through.
  if (!priv->moves && gst_buffer_get_meta(buffer, GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE)) {
    priv->moves = true;
    gst_base_transform_reconfigure_src(trans);
  }
  const GstClockTime time = stream_time_of(trans->segment, buffer);
  if (GST_CLOCK_TIME_IS_VALID(time)) priv->stream_time = time;
  if (GST_CLOCK_TIME_IS_VALID(time) && gst_object_has_active_control_bindings(GST_OBJECT(trans))) {
    const auto mark = [priv](GThread* thread) {
      std::lock_guard lock(priv->lock);
      priv->syncing = thread;
    };
    mark(g_thread_self());
    gst_object_sync_values(GST_OBJECT(trans), time);
    mark(nullptr);
  }
  if (!priv->gpu->is_elsewhere(buffer, priv->device_id)) return;
  drain(self);
  if (priv->gpu->adopt(buffer)) {
    GST_INFO_OBJECT(trans, "moved to the CUDA context of the input");
    gst_base_transform_reconfigure_src(trans);
  }
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  if (auto failed = self->priv->gpu->check()) return fail_in_turn(self, *failed);
  const GstFlowReturn flow = base_class()->prepare_output_buffer(trans, in, out);
  if (flow != GST_FLOW_ERROR || !self->priv->stream) return flow;
  // The base class says so where the pool cannot start, and nothing where it has no memory for a frame.
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(trans);
  const bool started = !pool || gst_buffer_pool_is_active(pool);
  gst_clear_object(&pool);
  if (!started) return flow;
  const GstVideoInfo& caps = self->priv->stream->out;
  return fail_in_turn(self, {std::string(self->priv->stream->out_on_device ? "cuMemAlloc" : "malloc") +
                             ": no memory for an output frame of " + std::to_string(caps.width) + "x" +
                             std::to_string(caps.height)});
}

GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean discont, GstBuffer* buffer) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  Private* priv = self->priv;
  priv->base_marks_discont = discont;
  GstFlowReturn flow = base_class()->submit_input_buffer(trans, discont, buffer);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) priv->gap = true;
  const guint depth = depth_of(self);
  if (std::exchange(priv->depth, depth) != depth) update_latency(self);
  if (depth == 0) drain(self);
  if (flow == GST_FLOW_OK && priv->drained_flow != GST_FLOW_OK) {
    flow = std::exchange(priv->drained_flow, GST_FLOW_OK);
    gst_clear_buffer(&trans->queued_buf);
  }
  return flow;
}

GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** buffer) {
  const Range range("cudawarp buffer");
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  Private* priv = self->priv;
  if (trans->queued_buf && gst_base_transform_is_passthrough(trans)) pass_through(self, trans->queued_buf);
  if (priv->depth == 0) {
    priv->gap = false;  // which the base class marks
    return base_class()->generate_output(trans, buffer);
  }
  GstFlowReturn flow = GST_FLOW_OK;
  if (trans->queued_buf) flow = begin_in_flight(self, BufferPtr(std::exchange(trans->queued_buf, nullptr)));
  while (flow == GST_FLOW_OK && priv->frames.size() > priv->depth) {
    // The base class marks what it pushes after a discontinuity: that must be the frame that came with it.
    const bool as_it_is = !priv->base_marks_discont || GST_BUFFER_IS_DISCONT(priv->frames.oldest());
    if (priv->frames.size() == priv->depth + 1 && as_it_is) {
      BufferPtr done;
      flow = finish_oldest(self, done);
      *buffer = done.release();
      return flow;
    }
    flow = push_oldest(self);
  }
  return flow;
}

gboolean transform_meta(GstBaseTransform* trans, GstBuffer* out, GstMeta* meta, GstBuffer* in) {
  return is_copied(meta, base_class()->transform_meta(trans, out, meta, in));
}

GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  std::unique_ptr<Work> work;
  const GstFlowReturn flow = begin(self, in, out, work);
  if (flow != GST_FLOW_OK) return flow;
  if (work)
    if (auto failed = work->wait()) return fail(self, *failed);
  self->priv->stats.count_frame();
  return GST_FLOW_OK;
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudawarp
 * @title: cudawarp
 * @short_description: rotates, scales, shears, moves and fits video
 *
 * Warps every frame by an affine map, on a CUDA GPU where there is one and on the CPU where there is none, to
 * the same pixels. Takes and gives system memory and CUDA memory in any combination.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc ! cudawarp angle=15 ! videoconvert ! autovideosink
 * ]| Turns the picture by 15 degrees, clockwise; black shows in the corners.
 * |[
 * gst-launch-1.0 videotestsrc ! cudawarp angle=30 framing=expand ! videoconvert ! autovideosink
 * ]| The same with a frame large enough for all of the picture.
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! qtdemux ! h264parse ! nvh264dec ! cudawarp \
 *     border-color=0xff727272 ! 'video/x-raw(memory:CUDAMemory),width=640,height=640' ! fakesink
 * ]| Letterboxes decoded video for a neural network without leaving the GPU.
 * |[
 * gst-launch-1.0 videotestsrc ! cudawarp matrix="<1.0,0.2,0.0,0.0,1.0,0.0>" ! videoconvert ! autovideosink
 * ]| An arbitrary affine map, from source pixels to output pixels.
 * |[
 * gst-launch-1.0 videotestsrc pattern=zone-plate kx2=20 ky2=20 ! video/x-raw,width=1280,height=720 ! \
 *     cudawarp interpolation=lanczos ! video/x-raw,width=320,height=180 ! videoconvert ! autovideosink
 * ]| A small picture, sharp and without moire; with antialias=false the source is merely sampled.
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! decodebin ! cudawarp angle=15 async-depth=2 ! x264enc ! \
 *     mp4mux ! filesink location=out.mp4
 * ]| Frames in system memory: two are copied to the GPU and back while a third is warped.
 * |[
 * gst-launch-1.0 filesrc location=phone.mp4 ! decodebin ! cudawarp video-direction=auto ! videoconvert ! \
 *     autovideosink
 * ]| Turns a recording upright by its image-orientation tag.
 * |[
 * gst-launch-1.0 videotestsrc ! cudawarp spin=30 ! videoconvert ! autovideosink
 * ]| Turns on and on, once in 12 seconds.
 * |[
 * gst-launch-1.0 videotestsrc ! cudawarp @preset=letterbox-640 ! video/x-raw,width=640,height=640 ! \
 *     videoconvert ! autovideosink
 * ]| With the values of a preset.
 *
 * Each output buffer carries a #GstCustomMeta named GstCudaWarpMatrix, with the doubles a, b, tx, c, d and
 * ty: from pixels of the source frame to pixels of the buffer.
 */
#include <utility>

#include "allocation.h"
#include "caps.h"
#include "element.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

using namespace cudawarp;

G_DEFINE_TYPE_WITH_CODE(GstCudaWarp, gst_cuda_warp, GST_TYPE_BASE_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_VIDEO_DIRECTION, nullptr)
                            G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, nullptr))
GST_ELEMENT_REGISTER_DEFINE(cudawarp, "cudawarp", GST_RANK_NONE, GST_TYPE_CUDA_WARP)

GstBaseTransformClass* cudawarp::base_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_warp_parent_class);
}

static Settings settings_of(Private* priv) {
  std::lock_guard lock(priv->lock);
  return priv->settings;
}

// ---- engine and context

static gboolean gst_cuda_warp_start(GstBaseTransform* trans) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  Private* priv = self->priv;
  Settings settings;
  std::map<std::string, std::string> refused;
  {
    std::lock_guard lock(priv->lock);
    settings = priv->settings;
    refused.swap(priv->refused);
    priv->refused_animation.clear();
  }
  for (const auto& [property, words] : refused) refuse(self, property, words);
  priv->complaint.clear();
  priv->no_memory.clear();
  priv->device_id = settings.device_id;
  priv->depth = 0;
  priv->gap = false;
  priv->told_upright = priv->moves = false;
  priv->bad_picture.clear();
  priv->stream_time = 0;
  priv->drained_flow = GST_FLOW_OK;

  Status no_gpu;
  if (settings.engine != EngineChoice::cpu) no_gpu = priv->gpu->open(GST_ELEMENT(self), settings.device_id);
  if (no_gpu && settings.engine == EngineChoice::cuda) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("engine=cuda cannot run: %s", no_gpu->words.c_str()),
                      (nullptr));
    return FALSE;
  }
  if (priv->gpu->is_open())
    GST_INFO_OBJECT(self, "engine: cuda (%s)", priv->gpu->device_name().c_str());
  else
    GST_INFO_OBJECT(self, "engine: cpu (%s)", no_gpu ? no_gpu->words.c_str() : "as asked for");
  priv->stats.start(priv->gpu->is_open());
  priv->cpu.emplace();
  return TRUE;
}

namespace {

// What holds for the streaming thread holds while this lives.
class StreamLock {
 public:
  explicit StreamLock(GstPad* pad) : pad_(pad) { GST_PAD_STREAM_LOCK(pad_); }
  StreamLock(const StreamLock&) = delete;
  ~StreamLock() { GST_PAD_STREAM_UNLOCK(pad_); }

 private:
  GstPad* pad_;
};

}  // namespace

static gboolean gst_cuda_warp_stop(GstBaseTransform* trans) {
  Private* priv = priv_of(trans);
  // Queries reach pads that are not active any more.
  const StreamLock streaming(trans->sinkpad);
  priv->frames.discard();
  {
    std::lock_guard lock(priv->lock);
    priv->stream.reset();
    priv->held.reset();
    priv->forward.reset();
    priv->settings = with_tagged(priv->settings, Orientation::identity);
  }
  priv->tags.clear();
  priv->latency = 0;
  priv->plans.clear();
  priv->cpu.reset();
  priv->gpu->close();
  return TRUE;
}

static void gst_cuda_warp_set_context(GstElement* element, GstContext* context) {
  Private* priv = priv_of(element);
  priv->gpu->set_context(element, context, settings_of(priv).device_id);
  GST_ELEMENT_CLASS(gst_cuda_warp_parent_class)->set_context(element, context);
}

static gboolean gst_cuda_warp_query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      priv_of(trans)->gpu->context_query(GST_ELEMENT(trans), query))
    return TRUE;
  const bool serialized = gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED;
  if (direction == GST_PAD_SINK && serialized) drain(GST_CUDA_WARP(trans));
  if (!base_class()->query(trans, direction, query)) return FALSE;
  if (direction == GST_PAD_SRC && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    add_latency(GST_CUDA_WARP(trans), query);
  return TRUE;
}

// ---- negotiation

static GstCaps* gst_cuda_warp_transform_caps(GstBaseTransform* trans, GstPadDirection direction,
                                             GstCaps* caps, GstCaps* filter) {
  // The CPU engine reads CUDA memory through its host mapping, but has no device to make some on.
  const EngineChoice engine = settings_of(priv_of(trans)).engine;
  const bool cuda = Gpu::driver_available() && (direction == GST_PAD_SRC || engine != EngineChoice::cpu);
  GstCaps* others = transform_caps(caps, cuda);
  if (filter) {
    GstCaps* filtered = gst_caps_intersect_full(filter, others, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(others);
    others = filtered;
  }
  GST_DEBUG_OBJECT(trans, "%" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT, caps, others);
  return others;
}

// Caps that are refused here end in somebody else's error, which does not say why.
static gboolean gst_cuda_warp_accept_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps) {
  if (base_class()->accept_caps(trans, direction, caps)) return TRUE;
  GstCaps* known = gst_pad_get_pad_template_caps(direction == GST_PAD_SINK ? trans->sinkpad : trans->srcpad);
  const Status why = unsupported(caps);
  GST_WARNING_OBJECT(trans, "%s: %" GST_PTR_FORMAT "; accepted are %" GST_PTR_FORMAT,
                     why ? why->words.c_str() : "these caps cannot be negotiated", caps, known);
  gst_caps_unref(known);
  return FALSE;
}

// Called in every negotiation, also where the caps come out as before: so it is here that the values which
// the caps stand for are noted, and that passthrough is switched.
static GstCaps* gst_cuda_warp_fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                                          GstCaps* othercaps) {
  if (direction == GST_PAD_SRC) return base_class()->fixate_caps(trans, direction, caps, othercaps);
  Private* priv = priv_of(trans);
  drain(GST_CUDA_WARP(trans));  // their caps come first
  WarpParams params;
  {
    std::lock_guard lock(priv->lock);
    params = priv->negotiated = priv->settings.warp;
    priv->open_size = takes_any_size(othercaps);
    priv->held.reset();
  }
  GstCaps* out = fixate_output(caps, othercaps, params);
  const bool before = gst_base_transform_is_passthrough(trans),
             after = !gst_object_has_active_control_bindings(GST_OBJECT(trans)) && !priv->moves &&
                     same_video(caps, out, params);
  gst_base_transform_set_passthrough(trans, after);
  // Others answer now which metas, and so which layouts and crops, upstream may use.
  if (priv->stream && before != after) gst_base_transform_reconfigure_sink(trans);
  return out;
}

// A stream that cannot be handled. The base class may ask again for the same caps: that is no news.
static void complain(GstCudaWarp* self, const std::string& words) {
  if (words == self->priv->complaint) return;
  self->priv->complaint = words;
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", words.c_str()), (nullptr));
}

Expected<std::shared_ptr<const WarpPlan>> cudawarp::find_plan(GstCudaWarp* self, const WarpParams& params,
                                                              const FrameDesc& src) {
  FrameDesc dst = self->priv->stream->dst;
  dst.interlaced = src.interlaced;
  return self->priv->plans.get(params, src, dst);
}

std::shared_ptr<const WarpPlan> cudawarp::plan_for(GstCudaWarp* self, const WarpParams& params,
                                                   const FrameDesc& src) {
  const auto plan = find_plan(self, params, src);
  if (const Error* why = error_of(plan)) {
    complain(self, why->words);
    return nullptr;
  }
  return std::get<std::shared_ptr<const WarpPlan>>(plan);
}

static gboolean gst_cuda_warp_set_caps(GstBaseTransform* trans, GstCaps* in, GstCaps* out) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  Private* priv = self->priv;
  const auto made = make_stream(in, out);
  if (const Error* why = error_of(made)) {
    complain(self, why->words);
    return FALSE;
  }
  WarpParams params;
  {
    std::lock_guard lock(priv->lock);
    priv->stream = std::get<Stream>(made);
    params = at_time(priv->negotiated, priv->stream_time);
  }
  for (const bool interlaced : {false, true}) {
    if (!brings(priv->stream->in, interlaced)) continue;
    FrameDesc src = priv->stream->src;
    src.interlaced = interlaced;
    const auto plan = plan_for(self, params, src);
    if (!plan) return FALSE;
    set_forward(self, plan->dst_from_src);
  }
  priv->complaint.clear();
  update_latency(self);
  return TRUE;
}

static gboolean gst_cuda_warp_transform_size(GstBaseTransform*, GstPadDirection, GstCaps*, gsize,
                                             GstCaps* othercaps, gsize* othersize) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, othercaps)) return FALSE;
  *othersize = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

// ---- allocation

// Buffers of each side that frames in flight occupy.
static guint buffers_in_flight(GstBaseTransform* trans) {
  const guint depth = depth_of(GST_CUDA_WARP(trans));
  return depth > 0 ? depth + 1 : 0;
}

static gboolean gst_cuda_warp_propose_allocation(GstBaseTransform* trans, GstQuery* decide_query,
                                                 GstQuery* query) {
  if (!base_class()->propose_allocation(trans, decide_query, query)) return FALSE;
  if (!decide_query) return TRUE;  // passthrough: downstream has answered
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps) return TRUE;
  Private* priv = priv_of(trans);
  offer_metas(query);
  const guint buffers = buffers_in_flight(trans);
  if (!priv->gpu->is_open()) {
    if (buffers > 0) ask_for_buffers(query, buffers);
    return TRUE;
  }
  return is_cuda_caps(caps) ? priv->gpu->propose_allocation(query, buffers)
                            : priv->gpu->propose_host_allocation(query, buffers);
}

static gboolean gst_cuda_warp_decide_allocation(GstBaseTransform* trans, GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps) return FALSE;
  Private* priv = priv_of(trans);
  if (is_cuda_caps(caps)) {
    Status failed = Error{"no CUDA device can be used to make CUDA memory"};
    if (priv->gpu->is_open()) failed = priv->gpu->decide_allocation(query);
    // The base class may ask again: that is no news.
    if (failed && failed->words != priv->no_memory)
      GST_ELEMENT_ERROR(trans, RESOURCE, NOT_FOUND, ("%s", failed->words.c_str()), (nullptr));
    priv->no_memory = failed ? failed->words : "";
    if (failed) return FALSE;
  } else {
    if (priv->gpu->is_open()) priv->gpu->decide_host_allocation(query);
    if (!decide_system_allocation(query, buffers_in_flight(trans))) return FALSE;
  }
  if (!base_class()->decide_allocation(trans, query)) return FALSE;
  priv->small_pool = has_end(query);
  return TRUE;
}

// ---- class

static void gst_cuda_warp_init(GstCudaWarp* self) {
  self->priv = new Private;
  self->priv->gpu = Gpu::create();
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);  // as video filters do
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(self), TRUE);  // warped as any frame, and still marked
}

static void gst_cuda_warp_finalize(GObject* object) {
  delete priv_of(object);
  G_OBJECT_CLASS(gst_cuda_warp_parent_class)->finalize(object);
}

static void gst_cuda_warp_class_init(GstCudaWarpClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = gst_cuda_warp_finalize;
  install_properties(object_class);
  install_signals(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  element_class->set_context = gst_cuda_warp_set_context;
  GstCaps* caps = template_caps(Gpu::driver_available());
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
  gst_element_class_set_static_metadata(
      element_class, "Affine video warp", "Filter/Converter/Video/Scaler/Effect/Hardware",
      "Rotates, scales, shears, moves and fits video, on a CUDA GPU or the CPU", "The cudawarp authors");
  gst_element_class_add_static_metadata(element_class, GST_ELEMENT_METADATA_DOC_URI, DOC_URI);

  GstBaseTransformClass* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = gst_cuda_warp_start;
  trans_class->stop = gst_cuda_warp_stop;
  trans_class->query = gst_cuda_warp_query;
  trans_class->transform_caps = gst_cuda_warp_transform_caps;
  trans_class->accept_caps = gst_cuda_warp_accept_caps;
  trans_class->fixate_caps = gst_cuda_warp_fixate_caps;
  trans_class->set_caps = gst_cuda_warp_set_caps;
  trans_class->transform_size = gst_cuda_warp_transform_size;
  trans_class->propose_allocation = gst_cuda_warp_propose_allocation;
  trans_class->decide_allocation = gst_cuda_warp_decide_allocation;
  trans_class->sink_event = handle_sink_event;
  trans_class->src_event = handle_src_event;
  trans_class->before_transform = before_transform;
  trans_class->submit_input_buffer = submit_input_buffer;
  trans_class->prepare_output_buffer = prepare_output_buffer;
  trans_class->generate_output = generate_output;
  trans_class->transform_meta = transform_meta;
  trans_class->transform = transform;
}

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
 */
#include "gstcudawarp.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "allocation.h"
#include "caps.h"
#include "cpu.h"
#include "frame.h"
#include "gpu.h"
#include "plan_cache.h"
#include "settings.h"
#include "stream.h"

GST_DEBUG_CATEGORY_EXTERN(cudawarp_debug);
#define GST_CAT_DEFAULT cudawarp_debug

using namespace cudawarp;

namespace {

struct Private {
  std::mutex lock;  // guards the next four
  Settings settings;
  std::optional<WarpParams>
      held;                      // the values in force until the caps that newer ones ask for are negotiated
  WarpParams negotiated;         // the values that the current caps were made for
  std::optional<Stream> stream;  // written by the streaming thread only, which reads it without the lock

  // By property: a bad value that no bus was there to hear of, until a good one comes; guarded by lock.
  std::map<std::string, std::string> refused;
  std::string complaint;          // the last error of negotiation, until one succeeds
  GThread* syncing = nullptr;     // the thread in which controllers are setting properties
  std::unique_ptr<Gpu> gpu;       // lives as long as the element
  std::optional<TaskPool> cores;  // while started
  PlanCache plans;
};

}  // namespace

struct _GstCudaWarp {
  GstBaseTransform parent;
  Private* priv;
};

G_DEFINE_TYPE(GstCudaWarp, gst_cuda_warp, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudawarp, "cudawarp", GST_RANK_NONE, GST_TYPE_CUDA_WARP)

static Private* priv_of(gpointer self) {
  return GST_CUDA_WARP(self)->priv;
}

static Settings settings_of(Private* priv) {
  std::lock_guard lock(priv->lock);
  return priv->settings;
}

// ---- properties

// A refused value: one message on the bus, now or, where no bus is there yet, when the element starts.
static void refuse(GstCudaWarp* self, const std::string& property, const std::string& words) {
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

static void gst_cuda_warp_set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  GstCudaWarp* self = GST_CUDA_WARP(object);
  Private* priv = self->priv;
  GstBaseTransform* trans = GST_BASE_TRANSFORM(object);
  Status refused;
  bool renegotiate = false;
  {
    std::lock_guard lock(priv->lock);
    const Settings old = priv->settings;
    const WarpParams& before = old.warp;
    // Controllers set properties in the streaming thread, before the negotiation of their buffer; a size that
    // they animate stays as it was negotiated.
    const bool by_hand = priv->syncing != g_thread_self();
    refused = set_property(priv->settings, id, value);
    if (!refused && by_hand && priv->stream)
      refused = check_natural_size(*priv->stream, before, priv->settings.warp);
    if (refused)
      priv->settings = old;
    else
      priv->refused.erase(pspec->name);
    const WarpParams& after = priv->settings.warp;
    if (priv->stream && before != after) {
      if (by_hand && change_caps(*priv->stream, before, after)) {
        if (!priv->held) priv->held = before;
        renegotiate = true;
      } else if (gst_base_transform_is_passthrough(trans)) {
        renegotiate = !is_identity(after, *priv->stream);
      } else {
        renegotiate = by_hand
                          ? is_identity(after, *priv->stream)
                          : (before.border == Border::transparent) != (after.border == Border::transparent);
      }
    }
    // Under the lock: whoever reads the new values finds the request for new caps too.
    if (renegotiate) gst_base_transform_reconfigure_src(trans);
  }
  if (refused) refuse(self, pspec->name, refused->words);
}

static void gst_cuda_warp_get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
  Private* priv = priv_of(object);
  std::lock_guard lock(priv->lock);
  get_property(priv->settings, id, value);
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
  }
  for (const auto& [property, words] : refused) refuse(self, property, words);
  priv->complaint.clear();

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
  priv->cores.emplace();
  return TRUE;
}

static gboolean gst_cuda_warp_stop(GstBaseTransform* trans) {
  Private* priv = priv_of(trans);
  {
    std::lock_guard lock(priv->lock);
    priv->stream.reset();
    priv->held.reset();
  }
  priv->plans.clear();
  priv->cores.reset();
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
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_warp_parent_class)->query(trans, direction, query);
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
  if (GST_BASE_TRANSFORM_CLASS(gst_cuda_warp_parent_class)->accept_caps(trans, direction, caps)) return TRUE;
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
  if (direction == GST_PAD_SRC)
    return GST_BASE_TRANSFORM_CLASS(gst_cuda_warp_parent_class)
        ->fixate_caps(trans, direction, caps, othercaps);
  Private* priv = priv_of(trans);
  WarpParams params;
  {
    std::lock_guard lock(priv->lock);
    params = priv->negotiated = priv->settings.warp;
    priv->held.reset();
  }
  GstCaps* out = fixate_output(caps, othercaps, params);
  const bool before = gst_base_transform_is_passthrough(trans),
             after =
                 !gst_object_has_active_control_bindings(GST_OBJECT(trans)) && same_video(caps, out, params);
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

static const WarpPlan* plan_for(GstCudaWarp* self, const WarpParams& params, const FrameDesc& src) {
  FrameDesc dst = self->priv->stream->dst;
  dst.interlaced = src.interlaced;
  const auto plan = self->priv->plans.get(params, src, dst);
  if (const Error* why = error_of(plan)) {
    complain(self, why->words);
    return nullptr;
  }
  return std::get<const WarpPlan*>(plan);
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
    params = priv->negotiated;
  }
  for (const bool interlaced : {false, true}) {
    FrameDesc src = priv->stream->src;
    src.interlaced = interlaced;
    if (brings(priv->stream->in, interlaced) && !plan_for(self, params, src)) return FALSE;
  }
  priv->complaint.clear();
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

static gboolean gst_cuda_warp_propose_allocation(GstBaseTransform* trans, GstQuery* decide_query,
                                                 GstQuery* query) {
  if (!GST_BASE_TRANSFORM_CLASS(gst_cuda_warp_parent_class)->propose_allocation(trans, decide_query, query))
    return FALSE;
  if (!decide_query) return TRUE;  // passthrough: downstream has answered
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps) return TRUE;
  Private* priv = priv_of(trans);
  offer_layout_metas(query);
  return !is_cuda_caps(caps) || !priv->gpu->is_open() || priv->gpu->propose_allocation(query);
}

static gboolean gst_cuda_warp_decide_allocation(GstBaseTransform* trans, GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps) return FALSE;
  Private* priv = priv_of(trans);
  if (is_cuda_caps(caps)) {
    if (!priv->gpu->is_open() || !priv->gpu->decide_allocation(query)) {
      GST_ELEMENT_ERROR(trans, RESOURCE, NOT_FOUND, ("no CUDA device can be used to make CUDA memory"),
                        (nullptr));
      return FALSE;
    }
  } else if (!decide_system_allocation(query)) {
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_warp_parent_class)->decide_allocation(trans, query);
}

// ---- frames

static void gst_cuda_warp_before_transform(GstBaseTransform* trans, GstBuffer* buffer) {
  Private* priv = priv_of(trans);
  const GstSegment& segment = trans->segment;
  const GstClockTime time =
      segment.format == GST_FORMAT_TIME
          ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
          : GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID(time)) {
    const auto mark = [priv](GThread* thread) {
      std::lock_guard lock(priv->lock);
      priv->syncing = thread;
    };
    mark(g_thread_self());
    gst_object_sync_values(GST_OBJECT(trans), time);
    mark(nullptr);
  }
  if (priv->gpu->adopt(buffer, settings_of(priv).device_id)) {
    GST_INFO_OBJECT(trans, "moved to the CUDA context of the input");
    gst_base_transform_reconfigure_src(trans);
  }
}

// The newest values, unless they wait for caps: then this buffer still belongs to the old ones.
static WarpParams params_for_buffer(Private* priv) {
  std::lock_guard lock(priv->lock);
  return priv->held.value_or(priv->settings.warp);
}

static GstFlowReturn fail(GstCudaWarp* self, const Error& why) {
  GST_ELEMENT_ERROR(self, RESOURCE, FAILED, ("%s", why.words.c_str()), (nullptr));
  return GST_FLOW_ERROR;
}

static GstFlowReturn gst_cuda_warp_transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out) {
  GstCudaWarp* self = GST_CUDA_WARP(trans);
  Private* priv = self->priv;
  if (!priv->stream) return GST_FLOW_NOT_NEGOTIATED;
  const GstVideoInfo &in_caps = priv->stream->in, &out_caps = priv->stream->out;
  const auto brought = input_picture(priv->stream->src, in_caps, in);
  if (const Error* why = error_of(brought)) return fail(self, *why);
  const auto& src = std::get<Picture>(brought);
  const Picture dst = output_picture(priv->stream->dst, out_caps, out, src.desc.interlaced);
  const WarpPlan* plan = plan_for(self, params_for_buffer(priv), src.desc);
  if (!plan) return GST_FLOW_NOT_NEGOTIATED;

  const Status failed =
      priv->gpu->is_open() ? priv->gpu->warp(*plan, src, dst) : warp_on_cores(*plan, src, dst, *priv->cores);
  return failed ? fail(self, *failed) : GST_FLOW_OK;
}

// ---- class

static void gst_cuda_warp_init(GstCudaWarp* self) {
  self->priv = new Private;
  self->priv->gpu = Gpu::create();
}

static void gst_cuda_warp_finalize(GObject* object) {
  delete priv_of(object);
  G_OBJECT_CLASS(gst_cuda_warp_parent_class)->finalize(object);
}

static void gst_cuda_warp_class_init(GstCudaWarpClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_cuda_warp_set_property;
  object_class->get_property = gst_cuda_warp_get_property;
  object_class->finalize = gst_cuda_warp_finalize;
  install_properties(object_class);

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
  trans_class->before_transform = gst_cuda_warp_before_transform;
  trans_class->transform = gst_cuda_warp_transform;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "allocation.h"

#include <gst/video/gstvideoaffinetransformationmeta.h>
#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

#include <initializer_list>

namespace cudawarp {

GstCaps* allocation_caps(GstQuery* query, GstVideoInfo& info) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  return caps && gst_video_info_from_caps(&info, caps) ? caps : nullptr;
}

void put_pool(GstQuery* query, GstBufferPool* pool, guint size, guint min, guint max) {
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_set_nth_allocation_pool(query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool(query, pool, size, min, max);
  gst_object_unref(pool);
}

bool propose_system_allocation(GstQuery* query, GstAllocator* allocator, guint buffers) {
  GstVideoInfo info;
  GstCaps* caps = allocation_caps(query, info);
  if (!caps) return false;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  gst_query_add_allocation_param(query, allocator, &params);
  gboolean wanted = FALSE;
  gst_query_parse_allocation(query, nullptr, &wanted);
  if (!wanted) return true;
  const guint size = GST_VIDEO_INFO_SIZE(&info);
  GstBufferPool* pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, buffers, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  const bool set = gst_buffer_pool_set_config(pool, config);
  if (set) gst_query_add_allocation_pool(query, pool, size, buffers, 0);
  gst_object_unref(pool);
  return set;
}

void ask_for_buffers(GstQuery* query, guint buffers) {
  GstVideoInfo info;
  if (allocation_caps(query, info))
    gst_query_add_allocation_pool(query, nullptr, GST_VIDEO_INFO_SIZE(&info), buffers, 0);
}

bool has_pool(GstQuery* query) {
  GstBufferPool* pool = nullptr;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
  const bool has = pool != nullptr;
  gst_clear_object(&pool);
  return has;
}

bool has_end(GstQuery* decided) {
  GstBufferPool* pool = nullptr;
  if (gst_query_get_n_allocation_pools(decided) > 0)
    gst_query_parse_nth_allocation_pool(decided, 0, &pool, nullptr, nullptr, nullptr);
  if (!pool) return false;
  guint max = 0;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &max);
  gst_structure_free(config);
  gst_object_unref(pool);
  return max > 0;
}

void prefer_allocator(GstQuery* query, GstAllocator* allocator) {
  if (gst_query_get_n_allocation_params(query) == 0) {
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    gst_query_add_allocation_param(query, allocator, &params);
    return;
  }
  GstAllocator* theirs = nullptr;
  GstAllocationParams params;
  gst_query_parse_nth_allocation_param(query, 0, &theirs, &params);
  if (!theirs) gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  gst_clear_object(&theirs);
}

void offer_metas(GstQuery* query) {
  for (const GType api :
       {GST_VIDEO_META_API_TYPE, GST_VIDEO_CROP_META_API_TYPE, GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE})
    if (!gst_query_find_allocation_meta(query, api, nullptr))
      gst_query_add_allocation_meta(query, api, nullptr);
}

bool decide_system_allocation(GstQuery* query, guint more) {
  GstVideoInfo info;
  GstCaps* caps = allocation_caps(query, info);
  if (!caps) return false;
  GstBufferPool* pool = nullptr;
  guint size = GST_VIDEO_INFO_SIZE(&info), min = 0, max = 0;
  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    size = MAX(size, GST_VIDEO_INFO_SIZE(&info));
  }
  min += more;
  if (max > 0) min = MIN(min, max);
  if (!pool) pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config(pool, config);
  put_pool(query, pool, size, min, max);
  return true;
}

}  // namespace cudawarp

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame.h"

#include <algorithm>
#include <string>

#include "formats.h"

namespace cudawarp {
namespace {

// Sides up to here, in bytes of any format, are good for int.
constexpr guint kFar = G_MAXINT / 16;

std::string size(guint width, guint height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

std::string plane_of(const Picture& picture, guint plane) {
  return std::string("the ") + picture.which + " buffer's plane " + std::to_string(plane);
}

// GStreamer's own function takes a number that is no format for a programming error.
std::string name_of(GstVideoFormat format) {
  for (Format known : known_formats()) {
    std::string name(info(known).name);
    if (gst_video_format_from_string(name.c_str()) == format) return name;
  }
  return "of another format (" + std::to_string(format) + ")";
}

// What gst_video_frame_map() takes for granted, or refuses without words.
Status check_meta(const Picture& picture) {
  const std::string buffer = std::string("the ") + picture.which + " buffer";
  const gsize bytes = gst_buffer_get_size(picture.buffer);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(picture.buffer);
  if (!meta) {
    if (bytes >= GST_VIDEO_INFO_SIZE(picture.caps)) return std::nullopt;
    return Error{buffer + " has " + std::to_string(bytes) + " bytes, but its caps ask for " +
                 std::to_string(GST_VIDEO_INFO_SIZE(picture.caps))};
  }
  const guint width = GST_VIDEO_INFO_WIDTH(picture.caps), height = GST_VIDEO_INFO_HEIGHT(picture.caps);
  if (meta->format != GST_VIDEO_INFO_FORMAT(picture.caps))
    return Error{buffer + " is " + name_of(meta->format) + " by its GstVideoMeta, but its caps say " +
                 GST_VIDEO_INFO_NAME(picture.caps)};
  if (meta->width < width || meta->height < height)
    return Error{buffer + " is " + size(meta->width, meta->height) +
                 " by its GstVideoMeta, less than the caps' " + size(width, height)};
  if (meta->n_planes != GST_VIDEO_INFO_N_PLANES(picture.caps))
    return Error{buffer + " has " + std::to_string(meta->n_planes) + " planes by its GstVideoMeta, not " +
                 std::to_string(GST_VIDEO_INFO_N_PLANES(picture.caps))};
  for (guint p = 0; p < meta->n_planes; ++p)
    if (meta->offset[p] >= bytes) return Error{plane_of(picture, p) + " begins beyond its memory"};
  return std::nullopt;
}

bool is_interlaced(const GstVideoInfo& caps, GstBuffer* buffer) {
  switch (GST_VIDEO_INFO_INTERLACE_MODE(&caps)) {
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      return GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
      return true;
    default:
      return false;
  }
}

}  // namespace

Expected<Picture> input_picture(const FrameDesc& of_caps, const GstVideoInfo& caps, GstBuffer* buffer) {
  Picture picture{"input", buffer, &caps, of_caps};
  picture.desc.interlaced = is_interlaced(caps, buffer);
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop) return picture;

  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const guint width = meta ? meta->width : GST_VIDEO_INFO_WIDTH(&caps),
              height = meta ? meta->height : GST_VIDEO_INFO_HEIGHT(&caps);
  const auto within = [](guint begin, guint length, guint end) {
    return length > 0 && begin < end && length <= end - begin;
  };
  if (!within(crop->x, crop->width, std::min(width, kFar)) ||
      !within(crop->y, crop->height, std::min(height, kFar)))
    return Error{"the input buffer's GstVideoCropMeta, " + size(crop->width, crop->height) + " at (" +
                 std::to_string(crop->x) + ", " + std::to_string(crop->y) + "), is no part of its frame of " +
                 size(width, height)};
  const FormatInfo& format = info(of_caps.format);
  const int x = static_cast<int>(crop->x), y = static_cast<int>(crop->y);
  FrameDesc& desc = picture.desc;
  desc.width = static_cast<int>(crop->width), desc.height = static_cast<int>(crop->height);
  desc.skip_x = x % format.block_width();
  desc.skip_y = y % (format.block_height() * (desc.interlaced ? 2 : 1));
  picture.x = x - desc.skip_x, picture.y = y - desc.skip_y;
  return picture;
}

Picture output_picture(const FrameDesc& of_caps, const GstVideoInfo& caps, GstBuffer* buffer,
                       bool interlaced) {
  Picture picture{"output", buffer, &caps, of_caps};
  picture.desc.interlaced = interlaced;
  return picture;
}

MappedFrame::MappedFrame(const Picture& picture, int flags) : picture_(picture) {
  error_ = check_meta(picture);
  if (error_) return;
  mapped_ = gst_video_frame_map(&frame_, picture.caps, picture.buffer,
                                static_cast<GstMapFlags>(flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF));
  error_ = mapped_ ? check_planes()
                   : Error{std::string("gst_video_frame_map: cannot map the ") + picture.which + " buffer"};
}

Status MappedFrame::check_planes() const {
  const FrameDesc& desc = picture_.desc;
  const FormatInfo& format = info(desc.format);
  const int right = picture_.x + desc.skip_x + desc.width, bottom = picture_.y + desc.skip_y + desc.height;
  for (int p = 0; p < format.planes; ++p) {
    const int row = format.row_bytes(p, right), stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, p);
    if (stride < row)
      return Error{plane_of(picture_, p) + " has a stride of " + std::to_string(stride) +
                   " bytes, less than a row's " + std::to_string(row)};
    constexpr int kLargest = G_MAXINT / 2;  // from row to row of a field
    if (stride > kLargest)
      return Error{plane_of(picture_, p) + " has a stride of " + std::to_string(stride) +
                   " bytes, more than " + std::to_string(kLargest)};
    // Without a meta one mapping holds all planes.
    const GstMapInfo& map = frame_.map[frame_.meta ? p : 0];
    const auto begin = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, p)) - map.data;
    const ptrdiff_t end = begin + (format.rows(p, bottom) - 1) * static_cast<ptrdiff_t>(stride) + row;
    if (begin < 0 || end > static_cast<ptrdiff_t>(map.size))
      return Error{plane_of(picture_, p) + " ends " + std::to_string(end - static_cast<ptrdiff_t>(map.size)) +
                   " bytes beyond its memory"};
  }
  return std::nullopt;
}

}  // namespace cudawarp

#!/bin/bash
# Makes docs/images/orientation.png with the plugin that GStreamer finds (GST_PLUGIN_PATH=build/gst): a picture by each
# value of video-direction.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/images"

tile=200 gap=8 step=208 columns=4 number=0 branches=() layout=()
for direction in identity 90r 180 90l horiz vert ul-lr ur-ll; do
  branches+=(t. ! queue ! cudawarp "video-direction=$direction" border-color=0xffffffff
    ! "video/x-raw,width=$tile,height=$tile,pixel-aspect-ratio=1/1"
    ! textoverlay "text=$direction" "font-desc=Sans 14px" auto-resize=false shaded-background=true valignment=bottom ypad=4
    ! "sheet.sink_$number")
  layout+=("sink_$number::xpos=$((gap + number % columns * step))"
    "sink_$number::ypos=$((gap + (number >= columns ? step : 0)))")
  number=$((number + 1))
done
gst-launch-1.0 -q compositor name=sheet background=white "${layout[@]}" \
  ! "video/x-raw,width=$((columns * step + gap)),height=$((2 * step + gap))" \
  ! videoconvert ! pngenc snapshot=true ! filesink location=orientation.png \
  videotestsrc num-buffers=1 pattern=gradient ! video/x-raw,width=200,height=140,format=AYUV \
  ! textoverlay text=R "font-desc=Sans Bold 110px" auto-resize=false valignment=center halignment=left draw-shadow=false \
  ! videoconvert ! video/x-raw,format=BGRA ! tee name=t "${branches[@]}"

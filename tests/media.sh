#!/bin/bash
# Real clips, decoded, warped, encoded and decoded again: no frame lost, sizes right, exact maps exact.
# CUDAWARP_MEDIA: the folder of the clips (*.mp4); by default ../shared/media beside the checkout. 77: there is none.
set -euo pipefail

media=${CUDAWARP_MEDIA:-$(dirname "${BASH_SOURCE[0]}")/../../shared/media}
shopt -s nullglob
clips=("$media"/*.mp4)
if ((!${#clips[@]})); then
  echo "no clips in $media"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
failures=0

# check WHAT FOUND EXPECTED
check() {
  if [[ $2 == "$3" ]]; then
    echo "ok: $1: $2"
  else
    echo "FAILED: $1: $2 instead of $3"
    failures=$((failures + 1))
  fi
}

# launch WORDS...: a pipeline's output, and its words if it fails.
launch() {
  if ! gst-launch-1.0 -v "$@" >"$work/log" 2>&1 </dev/null; then
    cat "$work/log"
    echo "FAILED: gst-launch-1.0 $*"
    exit 1
  fi
}

# probe WORDS...: sets frames and size from what a pipeline delivers.
probe() {
  launch "$@" ! fakesink name=end silent=false
  frames=$(grep -c 'end: last-message = chain' "$work/log") || true
  size=$(sed -nE 's/^.*:end\.GstPad:sink: caps = .*width=\(int\)([0-9]+), height=\(int\)([0-9]+).*$/\1x\2/p' "$work/log" |
    tail -n 1)
}

# digest WORDS...: sets sum, a checksum of all frames that a pipeline delivers, and of their times.
digest() {
  launch "$@" ! checksumsink
  sum=$(grep -E '^[0-9:.]+ [0-9a-f]+$' "$work/log" | cksum)
}

for encoder in x264enc openh264enc avenc_mpeg4 jpegenc; do
  if gst-inspect-1.0 --exists "$encoder"; then break; fi
done
case $encoder in
  x264enc) encode=(x264enc speed-preset=ultrafast ! h264parse ! mp4mux) ;;
  openh264enc) encode=(openh264enc ! h264parse ! mp4mux) ;;
  avenc_mpeg4) encode=(avenc_mpeg4 ! mpeg4videoparse ! mp4mux) ;;
  jpegenc) encode=(jpegenc ! matroskamux) ;;
esac

for clip in "${clips[@]}"; do
  name=${clip##*/}
  decode=(filesrc "location=$clip" ! decodebin ! videoconvert)
  probe "${decode[@]}"
  count=$frames width=${size%x*} height=${size#*x}

  # The properties, then the output's size: asked for after @, expected after =.
  for setting in "angle=15 =$size" "angle=30 framing=expand @960x540" "angle=10 framing=zoom @640x480" \
    "angle=15 async-depth=3 =$size" "angle=90 framing=expand =${height}x$width" \
    "angle=200 scale=0.5 border-mode=mirror =$size" "shear-x=0.2 fit=crop interpolation=bicubic @320x320"; do
    wanted=${setting##*[@=]}
    read -ra warp <<<"${setting% [@=]*}"
    [[ $setting != *@* ]] || warp+=(! "video/x-raw,width=${wanted%x*},height=${wanted#*x}")
    launch "${decode[@]}" ! queue ! cudawarp "${warp[@]}" ! queue ! videoconvert ! video/x-raw,format=I420 \
      ! "${encode[@]}" ! filesink location="$work/out"
    probe filesrc location="$work/out" ! decodebin
    check "$name: ${setting% [@=]*}" "$frames frames of $size" "$count frames of $wanted"
  done

  digest "${decode[@]}"
  plain=$sum
  digest "${decode[@]}" ! cudawarp
  check "$name: no property, every byte and time" "$sum" "$plain"
  decode+=(! "video/x-raw,format=RGB")
  digest "${decode[@]}"
  plain=$sum
  turn=(! cudawarp angle=90 framing=expand)
  digest "${decode[@]}" "${turn[@]}" "${turn[@]}" "${turn[@]}" "${turn[@]}"
  check "$name: four quarter turns, every byte and time" "$sum" "$plain"
done

for picture in "$media"/*.png; do
  launch filesrc "location=$picture" ! pngdec ! cudawarp angle=20 framing=crop ! pngenc ! filesink location="$work/out"
  probe filesrc location="$work/out" ! pngdec
  check "${picture##*/}: frames of a still picture" "$frames" 1
done

exit $((failures > 0))

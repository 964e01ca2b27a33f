#!/bin/bash
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../.ci/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../.ci/setup.sh"

usage() {
  cat <<'END'
usage: examples/quickstart.sh [FILE | URI | camera device]

Installs what is missing, builds cudawarp, and plays the input (a film, a picture, any URI that GStreamer knows, a
camera such as /dev/video0 for five seconds; without one, a test picture) through it. Ctrl-C ends a long input early
and keeps what is done.

The results: warped.mp4, and contact-sheet.png, a frame before and after several settings.

environment:
  OUT   where they go (default: ./quickstart-output)
  WARP  the film's cudawarp properties (default: angle=15), e.g. WARP='angle=-5 framing=zoom'
END
}

WIDTH=1280 HEIGHT=720
SIZE=width=$WIDTH,height=$HEIGHT,pixel-aspect-ratio=1/1
TILE_WIDTH=480 TILE_HEIGHT=320 GAP=8 COLUMNS=3
# The contact sheet's tiles: the properties, then @WIDTHxHEIGHT where the output is not a whole tile.
SETTINGS=(
  ''
  'angle=30'
  'angle=30 framing=expand'
  'angle=10 framing=zoom'
  'shear-x=0.3'
  'scale=0.6 border-mode=mirror'
  'angle=90 scale-x=-1 framing=expand'
  "fit=letterbox border-color=0xff808080 @${TILE_HEIGHT}x$TILE_HEIGHT"
)

# file_uri PATH: every byte that means something in a URI or to gst-launch is escaped.
file_uri() {
  local LC_ALL=C path i byte
  path=$(realpath -- "$1")
  printf 'file://'
  for ((i = 0; i < ${#path}; i++)); do
    byte=${path:i:1}
    case $byte in
      [a-zA-Z0-9/._~-]) printf '%s' "$byte" ;;
      *) printf '%%%02X' "'$byte" ;;
    esac
  done
}

# Sets source (gst-launch words that end in raw video) and input (words for people).
choose_source() {
  local what=${1-} uri
  input=$what
  if [[ -z $what ]]; then
    input="the built-in test picture"
    source=(videotestsrc num-buffers=150 pattern=smpte horizontal-speed=4
      ! "video/x-raw,format=I420,width=1280,height=720,framerate=30/1")
    return
  elif [[ $what == /dev/* ]]; then
    [[ -c $what ]] || fail -2 "no camera at $what"
    [[ -r $what ]] || fail -2 "may not read $what: on Debian, members of the group video may"
    source=(v4l2src "device=$what" num-buffers=150 ! decodebin)
    return
  elif [[ $what =~ ^[a-zA-Z][a-zA-Z0-9+.-]*:// ]]; then
    uri=$what
  else
    [[ -e $what ]] || fail -2 "no such file: $what"
    [[ -f $what && -r $what ]] || fail -2 "not a file that can be read: $what"
    uri=$(file_uri "$what")
  fi
  source=(uridecodebin "uri=$uri")
  shopt -s nocasematch
  if [[ $uri =~ \.(png|jpe?g|bmp|webp|tiff?|gif|pnm|svg)$ ]]; then
    source+=(! videoconvert ! imagefreeze num-buffers=150 ! "video/x-raw,framerate=30/1")
  fi
  shopt -u nocasematch
}

# Sets encoder (words from raw video to a muxer) and film (the file's name).
choose_encoder() {
  local name
  for name in x264enc openh264enc avenc_mpeg4 jpegenc; do
    if gst-inspect-1.0 --exists "$name"; then break; fi
  done
  film=warped.mp4
  case $name in
    x264enc) encoder=(x264enc speed-preset=veryfast ! h264parse ! mp4mux) ;;
    openh264enc) encoder=(openh264enc bitrate=4000000 ! h264parse ! mp4mux) ;;
    avenc_mpeg4) encoder=(avenc_mpeg4 bitrate=4000000 ! mpeg4videoparse ! mp4mux) ;;
    jpegenc)
      encoder=(jpegenc ! matroskamux)
      film=warped.mkv
      ;;
  esac
}

# launch NAME WORDS...: one pipeline, its output in NAME.log; the reason in one line if it fails.
launch() {
  local log=$OUT/$1.log
  shift
  gst-launch-1.0 "$@" >"$log" 2>&1 </dev/null || explain "$log"
}

explain() {
  local reason
  reason=$(grep -m 1 -E '^(ERROR|WARNING)|erroneous pipeline' "$1" | sed -E 's/^(ERROR|WARNING)[^:]*: (from element [^ ]*: )?//') || true
  [[ $reason != 'Delayed linking failed.'* ]] || reason="there is no picture in it that can be decoded"
  fail "could not warp $input: ${reason:-gst-launch-1.0 failed} (details: $1)"
}

# Reads what gst-launch prints, keeps it in $1 less the line per frame, shows how far it is, and last writes the
# count of frames to $2.
follow() {
  local line position shown=$SECONDS frames=0
  trap '' INT
  while IFS= read -r line; do
    case $line in
      *'frames: last-message = chain'*)
        ((frames += 1))
        ;;
      'time ('*)
        position=${line#*: }
        if [[ $position == *' / '* ]]; then
          position="${position/ \/ / of }, "
        else
          position=
        fi
        if [[ -t 1 ]]; then
          printf '\r  %s%d frames \e[K' "$position" "$frames"
        elif ((SECONDS >= shown + 10)); then
          shown=$SECONDS
          printf '  %s%d frames\n' "$position" "$frames"
        fi
        ;;
      *)
        printf '%s\n' "$line" >&3
        ;;
    esac
  done 3>"$1"
  [[ ! -t 1 ]] || printf '\r\e[K'
  printf '%d\n' "$frames" >"$2"
}

# The pipeline's own time, without its start, in seconds.
seconds_of() {
  sed -n 's/^Execution ended after //p' "$1" | awk -F : '{ printf "%.3f", $1 * 3600 + $2 * 60 + $3 }'
}

per_second() { awk -v n="$1" -v s="$2" 'BEGIN { f = n / (s > 0 ? s : 0.001); printf(f < 10 ? "%.1f" : "%.0f", f) }'; }

make_film() {
  # A pipeline that is interrupted closes the film; so must this script live on.
  trap 'interrupted=1' INT
  local start=$EPOCHREALTIME
  GST_DEBUG=cudawarp:4 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$OUT/engine.log \
    gst-launch-1.0 -e -v "${source[@]}" ! progressreport name=time update-freq=1 ! videoconvert ! queue \
    ! cudawarp name=warp "${warp[@]}" ! "video/x-raw,$SIZE" \
    ! identity name=frames silent=false ! videoconvert ! video/x-raw,format=I420 ! queue \
    ! "${encoder[@]}" ! filesink "location=$film" 2>&1 </dev/null |
    follow "$OUT/film.log" "$OUT/frames" || explain "$OUT/film.log"
  elapsed=$(awk "BEGIN { printf \"%.3f\", $EPOCHREALTIME - $start }")
  trap - INT
  frames=$(<"$OUT/frames")
  ((frames)) || explain "$OUT/film.log"
}

# One frame as a PNG: the third of those that are two seconds apart, since many films begin black; or an earlier one.
take_frame() {
  launch frame -q "${source[@]}" ! videoconvert ! videorate drop-only=true ! video/x-raw,framerate=1/2 \
    ! identity eos-after=3 ! videoscale ! video/x-raw,pixel-aspect-ratio=1/1 ! pngenc ! multifilesink location=frame.png
  [[ -s frame.png ]] || explain "$OUT/frame.log"
}

# tile NUMBER LABEL WORDS...: adds a branch that fills one tile.
tile() {
  local number=$1 label=$2 width=$TILE_WIDTH
  shift 2
  [[ $* != *"width=$TILE_HEIGHT,"* ]] || width=$TILE_HEIGHT
  layout+=("sink_$number::xpos=$((GAP + number % COLUMNS * (TILE_WIDTH + GAP) + (TILE_WIDTH - width) / 2))"
    "sink_$number::ypos=$((GAP + (TILE_HEIGHT + GAP) * (number / COLUMNS)))")
  branches+=(t. ! queue ! "$@" ! videoconvert)
  if ((labels)); then
    branches+=(! textoverlay "text=$label" "font-desc=Sans 16px" auto-resize=false shaded-background=true valignment=bottom)
  fi
  branches+=(! "sheet.sink_$number")
}

make_sheet() {
  local labels=0 layout=() branches=() properties size words number=1 rows
  gst-inspect-1.0 --exists textoverlay && labels=1
  tile 0 before videoscale add-borders=true ! "video/x-raw,width=$TILE_WIDTH,height=$TILE_HEIGHT,pixel-aspect-ratio=1/1"
  for properties in "${SETTINGS[@]}"; do
    size=$TILE_WIDTH,height=$TILE_HEIGHT
    if [[ $properties == *@* ]]; then
      size=${properties#*@}
      size=${size/x/,height=}
      properties=${properties% @*}
    fi
    read -ra words <<<"$properties"
    tile "$number" "${properties:-cudawarp}" cudawarp "${words[@]}" ! "video/x-raw,width=$size,pixel-aspect-ratio=1/1"
    ((number += 1))
  done
  rows=$(((number + COLUMNS - 1) / COLUMNS))
  launch sheet -q compositor name=sheet background=white "${layout[@]}" \
    ! "video/x-raw,width=$((COLUMNS * (TILE_WIDTH + GAP) + GAP)),height=$((rows * (TILE_HEIGHT + GAP) + GAP))" \
    ! videoconvert ! pngenc snapshot=true ! filesink location=contact-sheet.png \
    filesrc location=frame.png ! pngdec ! videoconvert ! imagefreeze num-buffers=1 ! video/x-raw,framerate=25/1 \
    ! tee name=t "${branches[@]}"
}

# The element without its neighbours: one frame of the film's size and format, sent again and again.
measure() {
  local count width height format
  alone=
  read -r width height format < <(sed -nE 's/^.*:warp\.Gst[A-Za-z]*Pad:sink: caps = video\/x-raw, (.*)$/\1/p' film.log |
    sed -nE '1s/^.*format=\(string\)([^,]+), width=\(int\)([0-9]+), height=\(int\)([0-9]+).*$/\2 \3 \1/p') || return 0
  for count in 40 1000; do
    launch speed videotestsrc num-buffers=1 ! "video/x-raw,format=$format,width=$width,height=$height" \
      ! imagefreeze num-buffers="$count" ! cudawarp "${warp[@]}" ! "video/x-raw,$SIZE" ! fakesink
    alone=$(per_second "$count" "$(seconds_of speed.log)")
    ((${alone%.*} > 100)) || break
  done
  alone="$alone a second (${width}x$height $format to ${WIDTH}x$HEIGHT)"
}

case ${1-} in
  -h | --help)
    usage
    exit
    ;;
  -*)
    usage >&2
    exit 2
    ;;
esac
(($# <= 1)) || { usage >&2; exit 2; }
choose_source "$@"

install_missing "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}"
build "$PLUGIN"
use_plugin
choose_encoder

if ! mkdir -p "${OUT:=quickstart-output}" || [[ ! -w $OUT ]]; then fail "cannot write to $OUT"; fi
cd "$OUT"
OUT=$PWD
read -ra warp <<<"${WARP-angle=15}"
interrupted=0

say "warping $input"
make_film
take_frame
make_sheet
measure

engine=$(sed -n 's/^.*engine: //p' engine.log | tail -n 1)
((!interrupted)) || say "ended early"
say "engine: ${engine:-unknown}"
say "speed:  $frames frames in $elapsed s, $(per_second "$frames" "$elapsed") a second with start, decoding and encoding"
[[ -z $alone ]] || say "        cudawarp alone: $alone"
say "film:   $OUT/$film"
say "sheet:  $OUT/contact-sheet.png"

#!/bin/bash
# Plays the scenarios beside this file under gst-validate, which watches every event, query and buffer at the
# pads of cudawarp. GST_PLUGIN_PATH_1_0 names the plugin's folder. 77: there is no gst-validate-1.0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v gst-validate-1.0 >/dev/null; then
  echo "skipped: there is no gst-validate-1.0 here"
  exit 77
fi

failures=0
for scenario in *.scenario; do
  # As many frames as no scenario plays: the source knows its duration.
  pipeline="videotestsrc num-buffers=3000 !
    capsfilter name=filter caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1 !
    cudawarp name=warp angle=10 engine=${CUDAWARP_TEST_ENGINE:-cpu} ! fakesink sync=true qos=true"
  # shellcheck disable=SC2086
  if gst-validate-1.0 --set-scenario "$PWD/$scenario" $pipeline; then
    echo "ok: $scenario"
  else
    echo "FAILED: $scenario"
    failures=$((failures + 1))
  fi
done
exit $((failures > 0))

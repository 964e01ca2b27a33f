# Sourced by tests/run.sh, examples/quickstart.sh and .ci/run: installs what is missing and builds.
# shellcheck shell=bash disable=SC2034

# What programs say is read below.
export LC_ALL=C.UTF-8

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${CUDAWARP_BUILD:-$SOURCE/build}
PLUGIN=gst/libgstcudawarp.so

BUILD_PACKAGES=(g++ meson ninja-build pkgconf libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
  libgstreamer-plugins-bad1.0-dev)
# -x has textoverlay, -ugly x264enc, -libav the decoder for most films.
RUN_PACKAGES=(gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
  gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-x fonts-dejavu-core)
# For the CUDA kernels on the CPU; for what is tested from Python.
TEST_PACKAGES=(libboost-context-dev python3-gi gir1.2-gstreamer-1.0)

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
# fail [-EXIT_STATUS] WORDS...
fail() {
  local status=1
  if [[ $1 == -[0-9]* ]]; then
    status=${1#-}
    shift
  fi
  warn "$*"
  exit "$status"
}

# logged NAME COMMAND...: runs quietly; what it printed is kept, and shown if it fails.
logged() {
  local log=$BUILD/$1.log
  shift
  mkdir -p "$BUILD" || fail "cannot write to $BUILD"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    fail "this failed: $* (all of its output: $log)"
  fi
}

# install_missing PACKAGE...: apt is asked only where something is missing, so a second run needs no network.
install_missing() {
  local package missing=() root=() command="apt-get install --no-install-recommends"
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    warn "no apt here: going on with what is installed; Debian's names for what is needed: $*"
    return
  fi
  for package; do
    [[ $(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null) == *installed* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if (($(id -u))); then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo true; }; }; then
      root=(sudo)
    else
      fail "packages are missing, and neither root nor sudo is there to install them. As root: $command ${missing[*]}"
    fi
  fi
  say "installing ${missing[*]}"
  # A stale or foreign package source may fail here and not matter below.
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null >/dev/null ||
    warn "apt-get update failed; trying with the lists that are here"
  logged apt "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# Puts nvcc on the path, if the machine has it at all.
find_nvcc() {
  local dir
  command -v nvcc >/dev/null && return
  for dir in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-*; do
    if [[ -n $dir && -x $dir/bin/nvcc ]]; then
      PATH=$PATH:$dir/bin
      return
    fi
  done
}

# One architecture builds much faster than the list that a release carries: this machine's own GPUs', else one that
# this nvcc knows. Prints nothing where the default has to do.
quick_archs() {
  local known caps cap found=
  known=$(nvcc --list-gpu-code 2>/dev/null) || return 0
  caps=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -nu) || caps=
  for cap in $caps; do
    grep -qx "sm_$cap" <<<"$known" && found+=${found:+,}$cap
  done
  if [[ -z $found ]]; then
    # A GPU newer than nvcc runs the newest PTX; without a GPU any one proves that the code compiles.
    cap=$(sed -n 's/^sm_\([0-9]*\)$/\1/p' <<<"$known" | sort -n | tail -n 1)
    if [[ -z $caps ]] && grep -qx sm_90 <<<"$known"; then cap=90; fi
    found=$cap
  fi
  printf '%s' "$found"
}

# build TARGET...: configures once, and again when the compilers, GStreamer or the GPU are others, then builds the
# targets. A build folder that somebody configured by hand is used as it is.
build() {
  local archs stamp options=()
  find_nvcc
  archs=$(quick_archs)
  [[ -z $archs ]] || options+=("-Dcuda-archs=$archs")
  stamp=$(
    say "$SOURCE" "${options[*]}" "$(command -v nvcc)"
    nvcc --version 2>/dev/null || true
    g++ --version | head -n 1
    pkg-config --modversion gstreamer-1.0
  )
  if [[ -f $BUILD/setup.stamp && $(<"$BUILD/setup.stamp") != "$stamp" ]]; then
    rm -rf -- "${BUILD:?}"
  fi
  if [[ ! -f $BUILD/build.ninja ]]; then
    logged configure meson setup "${options[@]}" "$BUILD" "$SOURCE"
    printf '%s\n' "$stamp" >"$BUILD/setup.stamp"
    if ! command -v nvcc >/dev/null; then
      say "no nvcc here: building without the CUDA engine"
    elif grep -qE 'CUDA engine *: *(False|NO)' "$BUILD/configure.log"; then
      say "nvcc or GStreamer's CUDA library does not do: building without the CUDA engine ($BUILD/configure.log)"
    fi
  fi
  say "building in $BUILD"
  logged build ninja -C "$BUILD" "$@"
}

# So that the plugin is found, and the user's own plugin registry left alone.
use_plugin() {
  export GST_PLUGIN_PATH=$BUILD/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  export GST_REGISTRY=$BUILD/registry.bin
}

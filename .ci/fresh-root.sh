#!/bin/bash
# usage: .ci/fresh-root.sh SUITE COMMAND...
#
# As root: makes a minimal Debian root file system of SUITE with debootstrap, puts a clean copy of the commit that is
# checked out into it (and the clips beside it, and the CUDA toolkit, where this machine has them), and runs each
# COMMAND (one string) there in turn, at the top of the copy. All of it is gone afterwards.
set -euo pipefail

if [[ ${1-} != --inside ]]; then
  if (($(id -u))); then
    echo "${0##*/}: only root can make a root file system" >&2
    exit 1
  fi
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/cudawarp-root.XXXXXX")
  chmod 755 "$root"
  # The mounts live and die with the namespace; what this finds is the day that they do not.
  # shellcheck disable=SC2317
  cleanup() {
    local mount
    trap - EXIT
    kill "$child" 2>/dev/null && wait "$child"
    while read -r _ mount _; do
      [[ $mount != "$root"/* ]] || umount -l "$mount" || true
    done </proc/mounts
    if ! grep -qF " $root/" /proc/mounts; then rm -rf --one-file-system -- "$root"; fi
  }
  child=
  trap cleanup EXIT
  trap 'exit 130' INT TERM HUP
  # Where this itself runs in a chroot, its root is no mount whose propagation can be set.
  propagation=private
  unshare --mount --propagation private true 2>/dev/null || propagation=unchanged
  unshare --mount --propagation "$propagation" --pid --fork --kill-child "$0" --inside "$root" "$@" </dev/null &
  child=$!
  wait "$child"
  exit
fi

root=$2 suite=$3
shift 3
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The mirror that this machine uses, else debootstrap's default.
mirror=$(apt-get indextargets --format "\$(REPO_URI) \$(LABEL)" 'Created-By: Packages' 2>/dev/null |
  sed -n 's/^\(https\{0,1\}:.*\) Debian$/\1/p' | head -n 1) || true
log=$root/debootstrap.out
if ! debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"} >"$log" 2>&1; then
  tail -n 30 "$log" "$root/debootstrap/debootstrap.log" >&2 || true
  echo "debootstrap failed" >&2
  exit 1
fi

# How this machine reaches its mirror: name servers, proxies, certificates.
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
  if [[ -f $file ]]; then
    mkdir -p "$root${file%/*}"
    cat "$file" >"$root$file"
  fi
done
apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)' >"$root/etc/apt/apt.conf.d/90host" || true

mkdir -p "$root/src/cudawarp"
git -c safe.directory="$source" -C "$source" archive HEAD | tar -x -C "$root/src/cudawarp"
media=${CUDAWARP_MEDIA:-$source/../shared/media}
if [[ -d $media ]]; then
  mkdir -p "$root/src/shared"
  cp -r "$media" "$root/src/shared/media"
fi
if [[ -x /usr/local/cuda/bin/nvcc ]]; then
  mkdir -p "$root/usr/local/cuda"
  mount --bind "$(readlink -f /usr/local/cuda)" "$root/usr/local/cuda"
  mount -o remount,bind,ro "$root/usr/local/cuda"
fi
mount -t proc proc "$root/proc"

for command; do
  printf '%s %s\n' '$' "$command"
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CI="${CI-}" \
    chroot "$root" /bin/bash -c "cd /src/cudawarp && $command" </dev/null
done

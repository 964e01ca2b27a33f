#!/bin/bash
# Installs what is missing, builds, runs all tests. Arguments go to `meson test` (a test's name, --suite=...).
# CUDAWARP_BUILD: another build folder than build/.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../.ci/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../.ci/setup.sh"

install_missing "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
build all
exec meson test -C "$BUILD" --no-rebuild --print-errorlogs "$@"

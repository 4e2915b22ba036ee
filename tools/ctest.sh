#!/bin/sh
# ctest.sh DIR [options of meson test] - runs the C tests built in DIR.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
TREADLE_CACHE_DIR=$cache \
    UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1} \
    .venv/bin/meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes 2 "$@"

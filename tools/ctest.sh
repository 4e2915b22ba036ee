#!/bin/sh
# ctest.sh DIR - runs the C tests built in DIR.
set -eu
cd "$(dirname "$0")/.."
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
TREADLE_CACHE_DIR=$cache \
    UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1} \
    .venv/bin/meson test -C "$1" --no-rebuild --print-errorlogs --num-processes 2

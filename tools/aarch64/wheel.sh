#!/bin/sh
# wheel.sh [KEPT] - dist/aarch64/treadle-*.whl, cross-compiled from these sources (tools/wheel.sh, tools/aarch64/setup.sh).
set -eu
cd "$(dirname "$0")/../.."
tools/aarch64/setup.sh build
CROSS="$PWD/.aarch64/wheel.ini aarch64" tools/wheel.sh dist/aarch64 "$@"

#!/bin/sh
# wheel.sh - dist/treadle-*.whl: stripped, tagged with the C library that it was built against.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
.venv/bin/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$tmp" .
glibc=$(getconf GNU_LIBC_VERSION | sed 's/glibc //; s/\./_/')
.venv/bin/python -m wheel tags --remove --platform-tag "manylinux_${glibc}_$(uname -m)" "$tmp"/treadle-*.whl >/dev/null
.venv/bin/python tools/wheel_check.py "$tmp"/treadle-*.whl
mkdir -p dist
rm -f dist/treadle-*.whl
mv "$tmp"/treadle-*.whl dist/
ls -l dist/treadle-*.whl

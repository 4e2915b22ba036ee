#!/bin/sh
# wheel.sh - dist/treadle-*.whl: stripped, linked for an older C library, and tagged with what two checks find.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
.venv/bin/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
    --config-settings=setup-args=-Dold_glibc=true -w "$tmp" .
.venv/bin/python tools/wheel_pack.py "$tmp"/treadle-*.whl
platform=$(.venv/bin/python tools/wheel_check.py "$tmp"/treadle-*.whl)
said=$(.venv/bin/python -m auditwheel show "$tmp"/treadle-*.whl 2>&1)
case $said in
*"platform tag: \"$platform\""*) ;;
*) echo "wheel: auditwheel does not find it $platform: $said" >&2 && exit 1 ;;
esac
.venv/bin/python -m wheel tags --remove --platform-tag "$platform" "$tmp"/treadle-*.whl >/dev/null
.venv/bin/python tools/wheel_pack.py "$tmp"/treadle-*.whl
mkdir -p dist
rm -f dist/treadle-*.whl
mv "$tmp"/treadle-*.whl dist/
ls -l dist/treadle-*.whl

#!/bin/sh
# wheel.sh [FOLDER [KEPT]] - FOLDER/treadle-*.whl (FOLDER: dist): stripped, linked for an older C library, and tagged with what
# two checks confirm. KEPT: a folder for what packing has found out before (tools/wheel_pack.py). CROSS, in the environment:
# meson's cross file of another machine and, after a space, the machine's name (tools/aarch64/wheel.sh).
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
out=${1:-dist}
machine=$(uname -m)
setup=-Dold_glibc=true
if [ -n "${CROSS:-}" ]; then
    machine=${CROSS##* }
    setup=--cross-file=${CROSS% *} # which says the same of the C library: pip passes one argument on
    export _PYTHON_HOST_PLATFORM="linux-$machine"
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
.venv/bin/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
    --config-settings=setup-args="$setup" -w "$tmp" .
platform=$(.venv/bin/python -c 'import sys; sys.path.insert(0, "tools"); import wheel_check; print(wheel_check.PLATFORM)')$machine
.venv/bin/python -m wheel tags --remove --platform-tag "$platform" "$tmp"/treadle-*.whl >/dev/null
.venv/bin/python tools/wheel_pack.py "$tmp"/treadle-*.whl ${2:+"$2"}
.venv/bin/python tools/wheel_check.py "$tmp"/treadle-*.whl >/dev/null
said=$(.venv/bin/python -m auditwheel show "$tmp"/treadle-*.whl 2>&1) || :
case $said in
*"platform tag: \"$platform\""*) ;;
*) echo "wheel: auditwheel does not find it $platform: $said" >&2 && exit 1 ;;
esac
mkdir -p "$out"
rm -f "$out"/treadle-*.whl
mv "$tmp"/treadle-*.whl "$out"
ls -l "$out"/treadle-*.whl

#!/bin/sh
# test.sh - what ends under emulation in some 20 minutes on two cores: the C tests with the C library 2.36, then one program
# for each face and some of the Python tests with 2.41, which has vector functions; SVE has 256 bits in all.
# Where the cross compilers are missing it says so and is content.
set -eu
cd "$(dirname "$0")/../.."
command -v aarch64-linux-gnu-g++ >/dev/null || {
    echo "test-aarch64: skipped: no aarch64-linux-gnu-g++ here (Debian: g++-aarch64-linux-gnu; make wheel-aarch64 installs it)"
    exit 0
}
tools/aarch64/setup.sh build test
dir=build-aarch64
here=$PWD/.aarch64
tools/build.sh $dir --cross-file "$here/cross.ini" --cross-file "$here/tests.ini" -Dcub=false
TREADLE_CACHE_DIR=$(mktemp -d)
trap 'rm -rf "$TREADLE_CACHE_DIR"' EXIT
# This machine's CUDA and compilers are for this machine; what it compiles with is named, and knows no -march=native.
export TREADLE_CACHE_DIR CUDA_HOME=/nonexistent TREADLE_CXX=aarch64-linux-gnu-g++
meson() { .venv/bin/meson test -C $dir --no-rebuild --print-errorlogs --num-processes 2 --timeout-multiplier 2 "$@"; }
TREADLE_CPU=armv8-a meson --suite cpu
meson --no-suite cpu

export PYTHONPATH="$PWD/$dir/tree:$here/packages" MESON_EXE_WRAPPER="$here/run-new"
unset TREADLE_CXX
# What is run, after its environment.  Python's own gamma, the judge of one row, is off by more than gamma may be.
cat >"$TREADLE_CACHE_DIR/list" <<'LIST'
PATH=/nonexistent tests/matrix/driver.py
tests/matrix/mapped.py
tests/matrix/modules.py
tests/matrix/tensors.py
tests/matrix/compiled.py
tests/matrix/arrays.py
tests/matrix/kernels.py
-m treadle tests/matrix/unchanged.py
-m pytest -q -p no:cacheprovider tests/python/test_ops.py --deselect tests/python/test_ops.py::test_dtypes[gamma]
-m pytest -q -p no:cacheprovider tests/python/test_op_tables.py tests/python/test_kernel_fuzz.py
-m pytest -q -p no:cacheprovider tests/python/test_kernels_launch.py tests/python/test_lazy.py
-m pytest -q -p no:cacheprovider tests/python/test_cache.py
TREADLE_CXX=aarch64-linux-gnu-g++ TREADLE_CPU=armv8-a -m pytest -q -p no:cacheprovider tests/python/test_raw_kernel.py
LIST
# shellcheck disable=SC2016
xargs -P2 -L1 sh -c 'said=$TREADLE_CACHE_DIR/said.$$
    while case $1 in *=*) true ;; *) false ;; esac; do
        export "$1" && shift
    done
    "$0" "$@" >"$said" 2>&1 && status=ran || status=FAILED
    export PATH=/usr/bin:/bin
    [ $status = ran ] || cat "$said"
    case "$*" in *pytest*) status="$status, $(tail -n 1 "$said")" ;; esac
    echo "aarch64: $*: $status"
    [ "${status%%,*}" = ran ]' "$here/python" <"$TREADLE_CACHE_DIR/list"
echo "test-aarch64: all passed"

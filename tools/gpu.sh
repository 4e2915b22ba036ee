#!/bin/sh
# gpu.sh WHEEL OUT [STAGE...] - what there is to see of treadle on a machine with a GPU, its driver and a
# Python that has NumPy, pytest and hypothesis: installs the wheel into a folder of its own, runs the C
# tests beside it (any t_*; with libtreadle_null.so), the Python tests, the demonstration and the benchmark; results go to OUT.
# libtreadle_null.so needs LAPACKE, BLAS and FFTW: the machine has them, or their lib*.so.* lie beside the wheel too.
# Stages: info ctest pytest demo bench; all of them unless named.
set -u
cd "$(dirname "$0")/.."
wheel=$1
out=$2
shift 2
[ $# -gt 0 ] || set -- info ctest pytest demo bench
site=$(mktemp -d)
TREADLE_CACHE_DIR=$(mktemp -d)
export TREADLE_CACHE_DIR PYTHONPATH="$site" PYTHONUNBUFFERED=1
mkdir -p "$out"
python3 -m pip install -q --no-index --no-deps --no-compile --target "$site" "$wheel" || exit 1
cp "$(dirname "$wheel")/libtreadle_null.so" "$site/treadle" || exit 1 # the tests' device; no wheel has it
for lib in "$(dirname "$wheel")"/lib*.so.*; do
    [ ! -f "$lib" ] || cp "$lib" "$site/treadle" || exit 1
done
export LD_LIBRARY_PATH="$site/treadle${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
status=0

for stage; do
    echo "== $stage"
    case $stage in
    info) python3 -m treadle info ;;
    ctest)
        for t in "$(dirname "$wheel")"/t_*; do
            echo "-- $(basename "$t")"
            "$t"
        done
        ;;
    pytest)
        python3 -m pytest -q -p no:cacheprovider tests/python -k cuda >"$out/pytest.log" 2>&1 || status=1
        tail -n 25 "$out/pytest.log"
        ;;
    demo) python3 -m treadle.demo --output "$out/demo" ;;
    bench) python3 benchmarks/run.py --device cuda --output "$out" ;;
    esac || status=1
done
exit $status

#!/bin/sh
# sanitize_python.sh DIR [TEST FILE...] - the extension and the core under AddressSanitizer and UndefinedBehaviorSanitizer,
# and Python tests run with them.  Leaks are not looked for: Python keeps what it has at its end.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
tools/build.sh "$dir" -Dbuildtype=debug -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false -Dcub=false
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
# The tests that read what others give, hold others' memory, or run threads and compiled code beside Python.
[ $# != 0 ] || set -- exchange hostile_inputs torch_save jit_arguments jit_arrays boxes recursion kernels_launch interleave errstate \
    executor_fuzz process
files=
for name; do
    files="$files tests/python/test_$name.py"
done
rm -f "$dir"/report.*
# Tests of how much memory is held see the sanitizers' own.
# shellcheck disable=SC2086
LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so) PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path="$PWD/$dir/report" \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:log_path="$PWD/$dir/report" \
    TREADLE_CACHE_DIR=$cache PYTHONPATH=$PWD/$dir/tree \
    .venv/bin/python -m pytest -q -p no:faulthandler -k "not memory_stays" $files || {
    cat "$dir"/report.* 2>/dev/null || :
    exit 1
}

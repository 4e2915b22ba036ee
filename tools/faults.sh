#!/bin/sh
# faults.sh DIR [arguments of tests/faults/inject.py] - the core and the extension under AddressSanitizer and
# UndefinedBehaviorSanitizer, built so that each request of the C code for memory, a thread or a file can fail.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
lib=$PWD/$dir-lib/libfaults.so # build.sh begins with an empty DIR
mkdir -p "$dir-lib"
gcc -O1 -g -shared -fPIC -Wall -Wextra -Werror tests/faults/faults.c -o "$lib"
# With 64-bit offsets glibc gives names of its own to open and others, past those of faults.h.
tools/build.sh "$dir" -Dbuildtype=debug -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false -Dcub=false -Dwerror=false \
    "-Dc_args=-include $PWD/tests/faults/faults.h -U_FILE_OFFSET_BITS" "-Dc_link_args=$lib" "-Dcpp_link_args=$lib"
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so):$lib PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    TREADLE_CACHE_DIR=$cache TREADLE_THREADS=2 TREADLE_DEVICE=cpu PYTHONPATH=$PWD/$dir/tree \
    LSAN_OPTIONS=leak_check_at_exit=0 .venv/bin/python tests/faults/inject.py "$@"

#!/bin/sh
# fuzz.sh DIR SECONDS [TARGET...] - runs the targets of tests/fuzz under libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer, each for so many seconds.  DIR/corpus/NAME keeps what reaches new code; an input that fails
# stands in DIR/found, and goes into tests/fuzz/corpus/NAME once its fault is mended.
set -eu
cd "$(dirname "$0")/.."
dir=$1
seconds=$2
shift 2
CC=clang-19 CXX=clang++-19 tools/build.sh "$dir" -Dbuildtype=debug -Doptimization=1 -Db_sanitize=address,undefined \
    -Db_lundef=false -Dpython=false -Dcub=false -Dfuzz=true -Dwerror=false
mkdir -p "$dir/found"
failed=
for target in "$dir"/fuzz_*; do
    [ -f "$target" ] && [ -x "$target" ] || continue
    name=${target##*/fuzz_}
    [ $# = 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    mkdir -p "$dir/corpus/$name"
    dict=tests/fuzz/$name.dict
    log=$dir/found/$name.log
    # shellcheck disable=SC2046
    if UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TREADLE_CACHE_DIR="$dir/cache" \
        "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=1 -print_final_stats=1 \
        -artifact_prefix="$dir/found/$name-" $([ ! -f "$dict" ] || echo "-dict=$dict") \
        "$dir/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
        echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions in $seconds s, $(grep -o 'cov: [0-9]*' "$log" | tail -n 1)"
    else
        failed="$failed $name"
        tail -n 40 "$log"
        echo "$name: failed; $log has the whole account"
    fi
done
[ -z "$failed" ] || {
    echo "failed:$failed" >&2
    exit 1
}

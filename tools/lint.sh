#!/bin/sh
# lint.sh DIR - layers, layout, types, licences, checkers, a wheel; DIR has been built (compile_commands.json).  What
# clang-tidy found clean it looks at again only when the file, a header or its configuration changes.
set -eu
cd "$(dirname "$0")/.."
dir=$1
stamps=$dir/lint
sources=$(find src tests examples tools -name '*.c' | LC_ALL=C sort)
mkdir -p "$stamps"

.venv/bin/python tools/layers.py src "$dir"
.venv/bin/python tools/python_layers.py python/treadle
.venv/bin/ruff check -q .
tools/types.sh "$dir"
.venv/bin/python tools/notices.py --check "$dir"
# What `make wheel` links for an older C library.
find "$dir/tree/treadle" -maxdepth 1 -name '*.so' ! -name 'libtreadle_null.so' -exec .venv/bin/python tools/old_glibc.py --check {} +
# The wheel itself: what it holds, its size, what its libraries ask for and show.
tools/wheel.sh "$dir/wheel" "$dir/lint/packed" >/dev/null
# Headers are lists laid out by hand.
echo "$sources" | xargs clang-format-19 --dry-run -Werror
echo "$sources" | xargs cppcheck -q -j2 --std=c11 --language=c -Isrc -Itests -Iinclude -I"$dir" -D__x86_64__ -D__linux__ -D__GNUC__ \
    -DPy_BEGIN_ALLOW_THREADS= -DPy_END_ALLOW_THREADS= --enable=warning,performance,portability \
    --inline-suppr --suppressions-list=tools/cppcheck.txt --error-exitcode=1

newest=$(find src tests include .clang-tidy -name '*.h' -o -name '*.def' -o -name .clang-tidy | xargs ls -t | sed -n 1p)
for file in $(echo "$sources" | grep -v ^tools/); do # which the build does not compile
    stamp=$stamps/$(echo "$file" | tr / -).ok
    [ "$stamp" -nt "$file" ] && [ "$stamp" -nt "$newest" ] || echo "$file $stamp"
done | xargs -r -P2 -L1 sh -c 'clang-tidy-19 -p "$0" --quiet "$1" 2>/dev/null && touch "$2"' "$dir"
echo "lint: clean"

#!/bin/sh
# lint.sh DIR - layout, checkers and layers; DIR has been built (compile_commands.json).
set -eu
cd "$(dirname "$0")/.."
sources=$(find src tests -name '*.c')

.venv/bin/python tools/layers.py src
.venv/bin/ruff check -q .
# Headers are lists laid out by hand.
echo "$sources" | xargs clang-format-19 --dry-run -Werror
cppcheck -q -j2 --std=c11 --language=c -Isrc -D__x86_64__ -D__linux__ --enable=warning,performance,portability \
    --inline-suppr --suppressions-list=tools/cppcheck.txt --error-exitcode=1 $sources
# clang-tidy knows nothing of gcc's flags that clang lacks, and prints a count of hidden warnings.
echo "$sources" | xargs -P2 -n4 clang-tidy-19 -p "$1" --quiet 2>/dev/null
echo "lint: clean"

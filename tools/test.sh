#!/bin/sh
# test.sh DIR - C tests, then the Python tests, two files at a time; pytest's summary is the last line.
set -eu
cd "$(dirname "$0")/.."
tools/ctest.sh "$1"
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
TREADLE_CACHE_DIR=$cache PYTHONPATH=$PWD/$1/tree .venv/bin/python -m pytest -q -n 2 --dist loadfile tests/python

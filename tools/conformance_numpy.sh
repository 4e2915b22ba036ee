#!/bin/sh
# conformance_numpy.sh BUILD [ARGUMENT...] - runs NumPy's own tests under `python -m treadle` on the package in BUILD/tree
# and under plain Python, and compares; arguments go to conformance_numpy.py: --device NAME, files as _core/tests/test_api.py.
# Misses named in tools/conformance_numpy.txt are known, which docs/unchanged.md explains; any other is ours.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
exec .venv/bin/python tools/conformance_numpy.py "$build" --known tools/conformance_numpy.txt "$@"

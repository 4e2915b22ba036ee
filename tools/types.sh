#!/bin/sh
# types.sh DIR - the stubs are fresh and true, and programs check with them; DIR has been built.
set -eu
cd "$(dirname "$0")/.."
dir=$1
python=.venv/bin/python
export TREADLE_DEVICE=cpu

PYTHONPATH=$dir/tree $python -W ignore tools/stubs/write.py --check || {
    echo "types: run PYTHONPATH=$dir/tree $python tools/stubs/write.py" >&2
    exit 1
}
# stubtest reads the sources, too, where it finds them: it is given the stubs alone.
rm -rf "$dir/stubs"
mkdir -p "$dir/stubs"
(cd python && find treadle -name '*.pyi' | tar -cf - -T -) | tar -xf - -C "$dir/stubs"
MYPYPATH=$dir/stubs PYTHONPATH=$dir/tree $python -W ignore -m mypy.stubtest treadle \
    --mypy-config-file pyproject.toml --allowlist tools/stubs/allowed.txt >"$dir/stubtest.log" 2>&1 || {
    cat "$dir/stubtest.log" >&2
    exit 1
}
$python -m mypy --no-error-summary --cache-dir "$dir/mypy" examples
$python tools/stubs/pages.py "$dir/pages" "$dir/tree"
$python -m pyright -p "$dir/pages" >"$dir/pyright.log" || {
    cat "$dir/pyright.log" >&2
    exit 1
}

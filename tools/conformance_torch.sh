#!/bin/sh
# conformance_torch.sh BUILD [ARGUMENT...] - runs PyTorch's own samples of its operators and modules on
# treadle.torch in BUILD/tree and compares with PyTorch on the CPU; arguments go to tools/conformance_torch.  Without any the whole runs, in slices.
#   CONFORMANCE_TORCH       a Python that has PyTorch, instead of .torch-venv's
# Deviations named in tools/conformance_torch.txt are known; any other is ours.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
shift
python=${CONFORMANCE_TORCH:-.torch-venv/bin/python}
export PYTHONPATH="$build/tree" OMP_NUM_THREADS=1 CUDA_VISIBLE_DEVICES=
run="$python -W ignore tools/conformance_torch --known tools/conformance_torch.txt"
# shellcheck disable=SC2086
[ $# = 0 ] || exec $run "$@"
report=$build/conformance-torch.jsonl
rm -f "$report"
slices=16
k=0
while [ $k -lt $slices ]; do
    # shellcheck disable=SC2086
    $run --slice $k/$slices --report "$report" --quiet
    k=$((k + 1))
done
# shellcheck disable=SC2086
exec $run --summary "$report"

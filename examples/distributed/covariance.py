"""Means and covariances of data that no process has all of: each makes its part, sums are reduced.

    python examples/distributed/covariance.py [--processes 2] [--rows 200000] [--device cpu|cuda]

starts its processes itself; under mpirun or torchrun it is one of them:

    mpirun -n 2 python examples/distributed/covariance.py
"""

import argparse
import sys

import treadle as td
import treadle.distributed as dist

COLUMNS = 8


def part(rank, rows):
    """Rows of one process: correlated columns with known means."""
    rng = td.random.default_rng(100 + rank)
    mixed = rng.standard_normal((rows, COLUMNS)) @ td.tri(COLUMNS)
    return mixed + td.arange(COLUMNS)


def statistics(rows):
    """In every process: (mean, covariance) over all processes' rows."""
    x = part(dist.rank(), rows)
    n = rows * dist.size()
    mean = dist.all_reduce(x.sum(axis=0)) / n
    centred = x - mean
    products = dist.all_reduce(centred.T @ centred, wait=False)  # is under way while the largest value is looked for
    largest = dist.all_reduce(td.abs(centred).max(), "max")
    covariance = products.wait() / (n - 1)
    return td.asnumpy(mean), td.asnumpy(covariance), float(largest)


def report(mean, covariance, largest):
    want = [[float(min(COLUMNS - i, COLUMNS - j)) for j in range(COLUMNS)] for i in range(COLUMNS)]
    off = abs(covariance - want).max()
    print("means", " ".join(f"{m:.2f}" for m in mean), f"largest deviation {largest:.1f}, covariances within {off:.3f}")
    return off < 0.5


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--processes", type=int, default=2)
    p.add_argument("--rows", type=int, default=200000)
    p.add_argument("--device", choices=("cpu", "cuda", "null"))
    options = p.parse_args()
    if dist.launched():  # by mpirun, torchrun or another launcher
        dist.init(device=options.device)
        result = statistics(options.rows)
        if dist.rank():
            return 0
    else:
        devices = options.device
        if devices not in (None, "cpu"):
            devices = [f"{devices}:{r}" for r in range(options.processes)]
        result = dist.spawn(statistics, options.processes, options.rows, devices=devices)[0]
    return 0 if report(*result) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Groups of GPUs and copies between them, on a machine that has two or more: python tests/gpu/two_gpus.py [PARTS].

Needs treadle on the path and NCCL (pip install nvidia-nccl-cu13). Parts: copies, local, processes, death, torch,
recorded, training; all by default. Exits with 77 where there are fewer than two GPUs, with 1 where a part failed. --device null plays it.
"""

import argparse
import os
import sys
import time
import traceback
from pathlib import Path

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # NVLink multicast: not everywhere allowed
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import distributed_side as side  # noqa: E402
import numpy as np  # noqa: E402
import test_distributed as launcher  # noqa: E402
import torch_parallel_side as steps  # noqa: E402

import treadle as td  # noqa: E402
import treadle.distributed as dist  # noqa: E402


def copies(devices):
    """Round through all devices, of memory that was there before they met, that came later, that was given back."""
    first, second = devices[:2]
    before = td.arange(1 << 20, dtype="float64", device=first)
    td.evaluate(before)
    for n in (1, 1000, 1 << 20, 1 << 24):
        want = np.arange(n, dtype="float32") % 1000
        a = td.array(want, device=first)
        for d in [*devices[1:], first]:
            a = (a + 1).to_device(d)
            assert a.device == d
        side.same(a, want + len(devices), n)
    side.same(before.to_device(second), np.arange(1 << 20, dtype="float64"), "before")
    view = td.arange(1 << 20, device=second).reshape(1024, 1024).T[3:, ::2]
    side.same(view.to_device(first), view.get(), "a view")
    large = td.ones(1 << 27, "float32", device=first)
    td.evaluate(large)
    del large
    td.synchronize(first)
    side.same(td.full(1 << 22, 2.0, device=first).to_device(second) * 2, np.full(1 << 22, 4.0), "memory used again")
    if not first.startswith("null"):
        a = td.ones(1 << 28, "float32", device=first)
        for _ in range(2):
            td.synchronize(first)
            td.synchronize(second)
            start = time.perf_counter()
            for _ in range(10):
                a.to_device(second)
            td.synchronize(first)
            td.synchronize(second)
            rate = 10 * a.nbytes / (time.perf_counter() - start)
        print(f"  1 GiB from {first} to {second}: {rate / 1e9:.0f} GB/s")


def local(devices):
    """Several devices of one process."""
    group = dist.local_group(devices)
    n, many = len(devices), 1 << 20 if devices[0] == "null" else 1 << 24
    for dtype in side.DTYPES:
        each = [side.values(r, (n, 1000), dtype) for r in range(n)]
        arrays = [side.array(r, (n, 1000), dtype).to_device(d) for r, d in enumerate(devices)]
        for op, f in side.FOLD.items():
            if dtype == "complex64" and op != "sum":
                continue
            want = each[0]
            for x in each[1:]:
                want = f(want, x)
            for r, (sums, row) in enumerate(zip(group.all_reduce(arrays, op), group.reduce_scatter(arrays, op))):
                side.same(sums, want, (dtype, op))
                side.same(row, want[r], (dtype, op, "reduce_scatter"))
        for whole, sent in zip(group.all_gather(arrays), group.broadcast(arrays[-1], n - 1)):
            side.same(whole, np.stack(each), dtype)
            side.same(sent, each[-1], dtype)
    fresh = [
        td.ones(many, "float32", device=d) * (r + 1) for r, d in enumerate(devices)
    ]  # memory that NCCL has not seen
    for a in group.all_reduce(fresh, wait=False).wait():
        side.same(a, np.full(many, n * (n + 1) / 2, "float32"), "fresh")
    group.close()


def processes(devices):
    """One process a device, and all on every collective."""
    n = len(devices)
    assert dist.spawn(side.everything, n, devices=devices, timeout=300) == [(r, n, "nccl") for r in range(n)]
    assert dist.spawn(side.overlapping, n, devices=devices, timeout=300) == [True] * n


def death(devices):
    """A process is killed while the others wait for it on the device; they are told, and go on."""
    for how in ("kill", "exit"):
        start = time.monotonic()
        codes, texts = launcher.launch(2, "dies", "1", how, device=devices[0].split(":")[0])
        assert codes[0] == 0 and "told:" in texts[0], texts
        print(f"  {how}: {time.monotonic() - start:.1f} s; {texts[0].strip().splitlines()[-1]}")


def torch(devices):
    """The same sums as PyTorch's, by PyTorch's program."""
    n = len(devices)
    assert dist.spawn(side.torch_program, n, devices=devices, timeout=300) == [True] * n


def recorded(devices):
    """Collectives in graphs; replays after the group's end are told so."""
    told = dist.spawn(side.replays_after_the_end, len(devices), devices=devices, timeout=300)
    assert all("the group was closed" in text for text in told), told


def training(devices):
    """Data-parallel steps, called and replayed, end with the same parameters on all devices."""
    called, replayed = (
        dist.spawn(steps.classify, len(devices), flag, devices=devices, timeout=300) for flag in (False, True)
    )
    for results in (called, replayed):
        for other in results[1:]:
            for a, b in zip(results[0][1], other[1], strict=True):
                np.testing.assert_array_equal(a, b)
    for a, b in zip(called, replayed, strict=True):
        np.testing.assert_allclose(b[0], a[0], rtol=1e-4)
        assert a[2] == b[2]


PARTS = {f.__name__: f for f in (copies, local, processes, death, torch, recorded, training)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    p.add_argument("--device", default="cuda")
    options = p.parse_args()
    found = sum(d.kind == "cuda" for d in td.devices()) if options.device == "cuda" else 3
    if found < 2:
        print("fewer than two GPUs:", td._core.cuda_missing() or f"there is {found}")
        return 77
    devices = [td.device(f"{options.device}:{i}").name for i in range(found)]
    print(devices, td._core._nccl_info(devices[0]))
    failed = False
    for part in options.parts or PARTS:
        start = time.monotonic()
        try:
            PARTS[part](devices)
        except Exception:
            traceback.print_exc()
            failed = True
            print(f"{part}: FAILED", flush=True)
        else:
            print(f"{part}: {time.monotonic() - start:.1f} s", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

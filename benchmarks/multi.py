"""Collectives, copies between devices, data-parallel training, beside PyTorch's: results/multi-{cpu,cuda}.{json,md}.

    python benchmarks/multi.py [--device cpu|cuda|null] [--processes N] [--largest BYTES] [--rounds 3]
                               [--libraries treadle,torch] [--parts collectives,training] [--output FOLDER]

The part "training" (40 s on two GPUs) is a step of the digits' classifier, batch 64 a process, 256 wide: of one
process, and of all with their gradients averaged; called, and replayed as a graph (not on CPUs).

Every library runs in processes of its own, one a device, and the libraries take turns: round after round, so that what
else the machine does meets all of them. A time is the median over the rounds, for a message of so many bytes a process;
bus bandwidth is 2 (n - 1) / n of the bytes by the time, as NCCL's own tests count it. NVLink multicast is off
(NCCL_NVLS_ENABLE=0 unless the environment says else), for both.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SMALLEST, STEP = 1 << 10, 4
BUDGET = 0.4  # seconds that one size may take in a round
LONGEST = 300  # seconds that a library's processes may take for a round

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")


def sizes_up_to(largest):
    size, sizes = SMALLEST, []
    while size < largest:
        sizes.append(size)
        size *= STEP
    return [*sizes, largest]


def timed(reduce, wait, agree):
    """Seconds of one call: as many as the budget allows, behind each other, are begun together and waited for."""
    for _ in range(3):
        reduce()
    wait()
    start = time.perf_counter()
    for _ in range(3):
        reduce()
    wait()
    count = agree(max(5, min(200, int(3 * BUDGET / (time.perf_counter() - start)))))
    start = time.perf_counter()
    for _ in range(count):
        reduce()
    wait()
    return (time.perf_counter() - start) / count


def treadle_process(sizes):
    """In each process: {bytes: seconds}."""
    import treadle as td
    import treadle.distributed as dist

    times, device = {}, dist.world().device
    for size in sizes:
        x = td.ones(size // 4, "float32", device=device)
        td.synchronize(device)

        def agree(count):
            return int(dist.all_reduce(td.array([count], device=device), "min")[0])

        dist.barrier()
        times[size] = timed(lambda x=x: dist.all_reduce(x), lambda: td.synchronize(device), agree)
    first = dist.all_reduce(td.full(3, 1.0 + dist.rank(), device=device))
    assert first.tolist() == [dist.size() * (dist.size() + 1) / 2] * 3
    return times


def torch_process(rank, n, port, sizes, kind, queue):
    import torch
    import torch.distributed as dist

    gpu = kind == "cuda"
    if gpu:
        torch.cuda.set_device(rank)
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("nccl" if gpu else "gloo", init_method=address, rank=rank, world_size=n)
    device = torch.device("cuda", rank) if gpu else torch.device("cpu")
    times = {}
    for size in sizes:
        x = torch.ones(size // 4, dtype=torch.float32, device=device)

        def agree(count):
            least = torch.tensor([count], device=device)
            dist.all_reduce(least, dist.ReduceOp.MIN)
            return int(least)

        dist.barrier()
        times[size] = timed(lambda x=x: dist.all_reduce(x), torch.cuda.synchronize if gpu else (lambda: None), agree)
    if rank == 0:
        queue.put(times)
    dist.barrier()
    dist.destroy_process_group()


def run_treadle(n, sizes, kind):
    import treadle.distributed as dist

    devices = "cpu" if kind == "cpu" else [f"{kind}:{r}" for r in range(n)]
    return dist.spawn(treadle_process, n, sizes, devices=devices, timeout=LONGEST)[0]


def run_torch(n, sizes, kind):
    import importlib.util
    import multiprocessing

    if importlib.util.find_spec("torch") is None:
        raise ImportError("PyTorch is not installed")
    if kind == "null":
        raise ImportError("PyTorch has no null device")
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    args = (n, port, sizes, kind, queue)
    processes = [context.Process(target=torch_process, args=(r, *args)) for r in range(n)]
    for p in processes:
        p.start()
    until = time.monotonic() + LONGEST
    for p in processes:
        p.join(max(0, until - time.monotonic()))
        if p.exitcode != 0:
            for q in processes:
                q.kill()
            raise RuntimeError(f"a process of PyTorch's ended with {p.exitcode}")
    return queue.get()


def copies(kind, nbytes):
    """{library: bytes a second} of copies from one device to the next, in one process."""
    import treadle as td

    rates = {}
    a = td.ones(nbytes // 4, "float32", device=f"{kind}:0")

    def once(copy, wait):
        for _ in range(3):
            copy()
        wait()
        start = time.perf_counter()
        for _ in range(10):
            copy()
        wait()
        return 10 * nbytes / (time.perf_counter() - start)

    def wait():
        td.synchronize(f"{kind}:0")
        td.synchronize(f"{kind}:1")

    wait()
    rates["treadle"] = once(lambda: a.to_device(f"{kind}:1"), wait)
    try:
        import torch
    except ImportError:
        return rates
    if kind == "cuda":
        b = torch.ones(nbytes // 4, device="cuda:0")

        def both():
            torch.cuda.synchronize(0)
            torch.cuda.synchronize(1)

        both()
        rates["torch"] = once(lambda: b.to("cuda:1"), both)
    return rates


MODULES = {"treadle": "treadle.torch", "torch": "torch"}


def training(options):
    """{library: {"called": [seconds of one process, of all], "replayed": …}}, and of those that cannot the reason."""
    found, reasons = {}, {}
    for library in options.libraries:
        if library == "torch" and options.device == "null":
            continue
        base = [sys.executable, str(HERE / "programs" / "parallel.py"), MODULES[library], "--device", options.device,
                "--processes", str(options.processes), "--steps", str(options.steps)]  # fmt: skip
        for more in (["--captured"], []) if options.device != "cpu" else ([],):
            done = subprocess.run(base + more, capture_output=True, text=True, timeout=LONGEST)
            if done.returncode == 0:
                break
            reasons[library] = (done.stderr.strip().splitlines() or ["no word"])[-1]
        else:
            continue
        times = json.loads(done.stdout.splitlines()[-1])
        found[library] = {"called": [times["floor"], times["best"]]}
        if "captured" in times:
            found[library]["replayed"] = [times["captured floor"], times["captured"]]
    return found, reasons


SIDES = {"treadle": run_treadle, "torch": run_torch}


def versions(kind):
    import treadle as td

    found = {"treadle": td.__version__, "nccl": td._core._nccl_info(td.device("cpu" if kind == "cpu" else f"{kind}:0"))}
    try:
        import torch

        found["torch"] = torch.__version__
        if kind == "cuda":
            found["torch's NCCL"] = ".".join(map(str, torch.cuda.nccl.version()))
    except ImportError:
        pass
    return found


def collectives(options):
    kind, n = options.device, options.processes
    sizes = sizes_up_to(options.largest)
    rounds = {library: [] for library in options.libraries}
    reasons = {}
    for _ in range(options.rounds):
        for library in options.libraries:
            if library in reasons:
                continue
            try:
                rounds[library].append(SIDES[library](n, sizes, kind))
            except ImportError as error:
                reasons[library] = str(error)
    times = {
        library: {str(s): statistics.median(r[s] for r in found) for s in sizes}
        for library, found in rounds.items()
        if found
    }
    result = {"all_reduce_seconds": times, "missing": reasons}
    if kind != "cpu" and n > 1:
        result["copy_bytes_per_second"] = copies(kind, min(options.largest, 1 << 30))
    return result


def measure(options, before):
    """What is asked for; the parts that are not, as they were measured before."""
    result = {
        **before,
        "date": datetime.date.today().isoformat(),
        "machine": {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "device": options.device,
        "processes": options.processes,
        "rounds": options.rounds,
        "versions": versions(options.device),
    }
    if "collectives" in options.parts:
        result.update(collectives(options))
    if "training" in options.parts:
        result["training_seconds"], reasons = training(options)
        result["training_missing"] = reasons
    return result


def bus(result, library, size):
    n = result["processes"]
    return 2 * (n - 1) / n * size / result["all_reduce_seconds"][library][str(size)]


def in_units(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} bytes"


def as_text(result):
    text = [f"# {result['processes']} processes, {result['device']}", ""]
    text += [", ".join(f"{k} {v}" for k, v in result["versions"].items()) + f"; {result['date']}.", ""]
    if result.get("all_reduce_seconds"):
        text += collectives_table(result)
    if result.get("training_seconds"):
        text += training_table(result)
    return "\n".join(text) + "\n"


def training_table(result):
    n = result["processes"]
    text = ["", "## A training step of the digits' classifier, batch 64 a process, 256 wide", ""]
    text += [f"| | one process, µs | {n} processes, µs | samples a second by one process's |", "| --- " * 4 + "|"]
    for library, kinds in result["training_seconds"].items():
        for kind, (alone, together) in kinds.items():
            row = f"{library}, {kind}", f"{alone * 1e6:.0f}", f"{together * 1e6:.0f}", f"{n * alone / together:.2f}"
            text.append("| " + " | ".join(row) + " |")
    return text + [f"\n{name}: {why}." for name, why in result["training_missing"].items()]


def collectives_table(result):
    libraries = list(result["all_reduce_seconds"])
    text = ["## All-reduce of float32", ""]
    head = ["bytes a process"] + [f"{name}, µs | {name}, GB/s" for name in libraries]
    compare = len(libraries) > 1
    head += ["treadle by PyTorch"] if compare else []
    text += ["| " + " | ".join(head) + " |", "| --- " * (1 + 2 * len(libraries) + compare) + "|"]
    for size in map(int, result["all_reduce_seconds"][libraries[0]]):
        row = [in_units(size)]
        for name in libraries:
            seconds = result["all_reduce_seconds"][name][str(size)]
            row += [f"{seconds * 1e6:.0f}", f"{bus(result, name, size) / 1e9:.2f}"]
        if compare:
            row.append(f"{bus(result, 'treadle', size) / bus(result, 'torch', size):.2f}")
        text.append("| " + " | ".join(row) + " |")
    for name, rate in result.get("copy_bytes_per_second", {}).items():
        text += ["", f"A copy from one device to the next, {name}: {rate / 1e9:.0f} GB/s."]
    for name, why in result["missing"].items():
        text += ["", f"{name}: {why}."]
    return text


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--device", choices=("cpu", "cuda", "null"))
    p.add_argument("--processes", type=int)
    p.add_argument("--largest", type=int)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=300, help="of training, timed")
    p.add_argument("--parts", type=lambda s: s.split(","), default=["collectives", "training"])
    p.add_argument("--libraries", type=lambda s: s.split(","), default=["treadle", "torch"])
    p.add_argument("--output", type=pathlib.Path, default=HERE / "results")
    options = p.parse_args()
    import treadle as td

    gpus = td._core._gpu_count()
    options.device = options.device or ("cuda" if gpus > 1 else "cpu")
    options.processes = options.processes or (gpus if options.device == "cuda" else 2)
    options.largest = options.largest or (1 << 30 if options.device == "cuda" else 64 << 20)
    options.output.mkdir(exist_ok=True)
    stem = options.output / f"multi-{options.device}"
    kept = stem.with_suffix(".json")
    result = measure(options, json.loads(kept.read_text()) if kept.exists() else {})
    kept.write_text(json.dumps(result, indent=1) + "\n")
    stem.with_suffix(".md").write_text(as_text(result))
    print(as_text(result))


if __name__ == "__main__":
    main()

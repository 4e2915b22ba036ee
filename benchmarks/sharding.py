"""Sharded arrays over one, two and four devices: results/sharding-{cuda,cpu,null}.{json,md}.

    python benchmarks/sharding.py [--device cuda|cpu|null] [--most N] [--scale 1.0] [--output FOLDER]

Each row is one program, run over the first 1, 2, 4 … devices in turn, round after round; a time is the median over the
rounds, of as many calls as take 0.3 s together. Over one device the program is the same, on an ordinary array.
`--scale` divides the rows of all arrays (and the product's size by its cube root), for machines with less memory.
Before they are timed, results over several devices are compared with one device's.
"""

import argparse
import datetime
import json
import pathlib
import platform
import statistics
import time

import numpy

import treadle as td

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS, BUDGET = 5, 0.3


def draw(shape, place):
    return td.random.default_rng(1, device=place).random(shape, "float32")


def elementwise(a, b):
    return a * 2 + b * b


def total(a, b):
    return (a * b).sum()


def product(a, b):
    return a @ b


def stencil(u, steps=100):
    """Steps of the heat equation as a program of arrays writes them."""
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u


def small(a):
    return a * 2 + 1


def rows(scale):
    """{name: (function, shapes of its arguments)}"""
    n, edge = int((1 << 30) * scale), int(16384 * scale ** (1 / 3)) // 16 * 16
    side = int(8192 * scale**0.5) // 16 * 16
    return {
        f"elementwise, {n:,} float32": (elementwise, [(n,), (n,)]),
        f"sum of products, {n:,} float32": (total, [(n,), (n,)]),
        f"product of {edge}² float32": (product, [(edge, edge), (edge, edge)]),
        f"stencil {side}² float32, 100 steps": (stencil, [(side, side)]),
        f"sort, {n // 4:,} float32": (lambda a: td.sort(a), [(n // 4,)]),
        f"FFT of rows, {8 * side}×{side} float32": (lambda a: td.fft.rfft(a, axis=1), [(8 * side, side)]),
        "1000 elements, two operations": (small, [(1000,)]),
    }


def ready(r):
    td.evaluate(r)
    td.synchronize(r.device)


def timed(f, args):
    for _ in range(2):
        ready(f(*args))
    start = time.perf_counter()
    ready(f(*args))
    count = max(1, min(200, int(BUDGET / (time.perf_counter() - start))))
    start = time.perf_counter()
    for _ in range(count):
        ready(f(*args))
    return (time.perf_counter() - start) / count


def measured(f, shapes, places):
    """{number of devices: median seconds}"""
    want, times = None, {len(p): [] for p in places}
    for k in range(ROUNDS):
        for devices in places:
            place = devices[0] if len(devices) == 1 else td.mesh(*devices)
            args = [draw(shape, place) for shape in shapes]
            if not k:
                got = f(*args)
                sample = got if got.ndim == 0 else got[..., :64] if got.ndim == 2 else got[:: max(1, got.size >> 16)]
                sample = sample.get()
                want = sample if want is None else want
                numpy.testing.assert_allclose(sample, want, rtol=1e-4, atol=1e-4)
            times[len(devices)].append(timed(f, args))
            del args
    return {n: statistics.median(t) for n, t in times.items()}


def table(found, counts, cards):
    head = f"# Sharded arrays over {', '.join(map(str, counts))} devices\n\n"
    head += f"{datetime.date.today()}, {cards}, {platform.machine()}\n\n"
    head += "| program | " + " | ".join(f"{n}: ms (times one)" for n in counts) + " |\n"
    head += "|---" * (1 + len(counts)) + "|\n"
    lines = []
    for name, times in found.items():
        cells = [f"{1e3 * times[n]:.3f} ({times[1] / times[n]:.2f})" for n in counts]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return head + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu", "null"))
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results")
    options = parser.parse_args()
    found = [d for d in td.devices() if d.name.startswith(options.device)]
    if options.device != "cuda":
        found = [td.device(options.device)] * options.most
    counts = [n for n in (1, 2, 4, 8) if n <= min(len(found), options.most)]
    places = [found[:n] for n in counts]
    times = {}
    for name, (f, shapes) in rows(options.scale).items():
        times[name] = measured(f, shapes, places)
        print(name, {n: f"{1e3 * t:.3f} ms" for n, t in times[name].items()}, flush=True)
    cards = found[0].model or found[0].name
    text = table(times, counts, cards)
    print(text)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / f"sharding-{options.device}.md").write_text(text)
    (options.output / f"sharding-{options.device}.json").write_text(json.dumps(times, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Run treadle and its peers side by side and write `results/{cpu,cuda}.json` and `.md`.

    python benchmarks/run.py [--device cpu|cuda] [--rows chain,sum] [--groups loops,shapes]
                             [--libraries numpy,torch] [--quick] [--output FOLDER]

Every library computes each group of rows in a process of its own, one process at a time, so that
none disturbs another. A library that is missing, fails, crashes or hangs leaves empty cells with
the reason; the exit code is nonzero only if treadle itself did.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import threading
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import libraries  # noqa: E402
import processes  # noqa: E402
import rows as table  # noqa: E402
import tables  # noqa: E402

SILENCE = 240  # seconds without a line after which a child is ended
TOLERANCE = 1e-3  # relative difference of results' means that is called a difference

PEERS = {
    table.CPU: ("numpy", "numexpr", "numba", "torch", "torch.compile", "jax", "numba.simulator",
                "g++", "clang++", "python", "futures"),
    table.GPU: ("cupy", "cupy.fuse", "torch", "torch.compile", "numba.cuda", "jax", "pycuda",
                "driver", "numpy.host", "python", "futures"),
}


def lines_of(command, env):
    """Yield the child's lines; last, the text of its end: "" where that was orderly."""
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=env,
                              text=True) as process:
            try:
                while True:
                    timer = threading.Timer(SILENCE, process.kill)
                    timer.start()
                    line = process.stdout.readline()
                    timer.cancel()
                    if not line:
                        break
                    yield line
            finally:
                timer.cancel()
                if sys.exc_info()[0]:
                    process.kill()
        errors.seek(0)
        last = errors.read().strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
    if process.returncode:
        yield f"ended: {last[0][:160]}"


def run_group(device, library, names, options, env):
    """({row: cell}, version) of a library's rows. A crash costs the row in which it happened."""
    cells, version = {}, None
    waiting = list(names)
    while waiting:
        end = ""
        command = [sys.executable, str(HERE / "child.py"), device, library, options.ours,
                   str(options.scale), *waiting]
        for line in lines_of(command, env):
            if not line.startswith("{"):
                end = line if line.startswith("ended: ") else end
                continue
            entry = json.loads(line)
            if "version" in entry:
                version = entry["version"]
            else:
                cells[entry.pop("row")] = entry
                waiting.pop(0)
        if not end:
            break
        if version is None:  # the library itself could not be had
            cells.update((name, {"missing": end.removeprefix("ended: ")}) for name in waiting)
            break
        if waiting:
            cells[waiting.pop(0)] = {"missing": end.removeprefix("ended: ")}
    return cells, version


def measure(device, options, env):
    """({row: {library: cell}}, {library: version})."""
    chosen = [row for row in table.rows(device)
              if (not options.rows and not options.groups) or row.name in options.rows or row.group in options.groups]
    cells = {row.name: {} for row in chosen}
    versions = {}
    groups = list(dict.fromkeys(row.group for row in chosen))
    for group in groups:
        members = [row for row in chosen if row.group == group]
        for library in ("treadle", *options.libraries):
            print(f"{group}: {library}", flush=True)
            asked = [row for row in members if row.kind not in (*processes.KINDS, "mean")]
            reasons = {row.name: row.expression(library)[1] for row in asked}
            inside = [name for name, reason in reasons.items() if not reason]
            for name in reasons.keys() - inside:
                cells[name][library] = {"missing": reasons[name]}
            if inside:
                found, version = run_group(device, library, inside, options, env)
                versions[library] = version or versions.get(library)
                for name, entry in found.items():
                    cells[name][library] = entry
            for row in members:
                if row.kind in processes.KINDS:
                    cells[row.name][library] = processes.measure(
                        row, library, options.ours, options.scale)
            for row in members:
                if row.kind == "mean":
                    programs = [cells[r.name] for r in members if r.kind == "unchanged"]
                    cells[row.name][library] = processes.mean(programs, library)
            for row in members:
                entry = cells[row.name].get(library, {})
                print(f"    {row.name:32} {tables.cell(entry):>10} {entry.get('missing', '')}")
    return cells, versions


def differing(cells):
    """A sentence where no peer's mean is near treadle's, else "".

    One is enough: some sum 2^24 float32 values in one running sum, and are off by percents.
    """
    ours = cells.get("treadle", {}).get("value")
    others = [e["value"] for k, e in cells.items() if k != "treadle" and e.get("value") is not None]
    if ours is None or not others:
        return ""
    nearest = min(others, key=lambda value: abs(value - ours))
    near = abs(ours - nearest) <= TOLERANCE * max(abs(nearest), 1e-30)
    return "" if near else f"mean {ours!r}, the nearest peer's {nearest!r}"


def judged(row, cells, copy, reasons):
    """The row of the results: cells, ratio, floor, target and whether that is met."""
    ours = cells.get("treadle", {}).get("seconds")
    peers = {k: e["seconds"] for k, e in cells.items()
             if k != "treadle" and e.get("seconds") is not None}
    best = min(peers.values()) if peers else None
    floor = row.moved / copy if row.moved else cells.get("treadle", {}).get("floor")
    limit = row.target.limit(best, peers.get("numpy", peers.get("numpy.host")), floor) if row.target else None
    return {
        "name": row.name,
        "group": row.group,
        "kind": row.kind,
        "cells": cells,
        "best": min(peers, key=peers.get) if peers else None,
        "ratio": best / ours if best and ours else None,
        "floor": floor,
        "share": floor / ours if floor and ours else None,
        "limit": limit,
        "met": None if limit is None or not ours else ours <= limit,
        "reason": reasons.get(row.name, ""),
        "differs": differing(cells),
    }


def machine(device):
    """What the run ran on."""
    facts = {"Processor": platform.processor() or platform.machine()}
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            facts["Processor"] = line.split(":", 1)[1].strip()
            break
    facts["Cores"] = len(os.sched_getaffinity(0))
    facts["Python"] = platform.python_version()
    if device == table.GPU:
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        asked = subprocess.run(query, capture_output=True, text=True, check=False)
        facts["GPU"] = (asked.stdout.strip().splitlines() or ["unknown"])[0]
    return facts


def kept(path, device, rows):
    """The rows, in place of those of their names in earlier results, in the table's order."""
    old = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    by_name = {row["name"]: row for row in [*old, *rows]}
    return [by_name[row.name] for row in table.rows(device) if row.name in by_name]


def copy_bandwidth(device, env):
    command = [sys.executable, str(HERE / "bandwidth.py"), device]
    asked = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    return json.loads(asked.stdout.splitlines()[-1])


def names(text):
    return [part.replace("\0", ",") for part in text.replace("\\,", "\0").split(",")]


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=table.DEVICES, default=table.CPU)
    parser.add_argument("--rows", type=names, default=[], help="names, with commas between; \\, is a comma in one")
    parser.add_argument("--groups", type=names, default=[], help="all rows of some groups")
    parser.add_argument("--libraries", type=lambda s: s.split(","), help="peers; default: all")
    parser.add_argument("--keep", action="store_true", help="keep the other rows of the results that are there")
    parser.add_argument("--quick", action="store_true", help="few repetitions: only to try it")
    parser.add_argument("--output", default=str(HERE / "results"))
    parser.add_argument("--ours", default="treadle", help="the module measured as treadle")
    options = parser.parse_args(argv)
    options.libraries = options.libraries or list(PEERS[options.device])
    options.scale = 10 if options.quick else 1
    every = table.rows(options.device)
    for asked, known in ((options.rows, {row.name for row in every}), (options.groups, {row.group for row in every})):
        if unknown := sorted(set(asked) - known):
            parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return options


def main(argv=None):
    options = arguments(argv)
    device = options.device
    reasons = tomllib.loads((HERE / "reasons.toml").read_text(encoding="utf-8"))[device]
    with tempfile.TemporaryDirectory(prefix="treadle-bench-") as empty:
        env = {**os.environ, **libraries.environment(), "TREADLE_DEVICE": device,
               **dict.fromkeys(processes.CACHES, empty)}
        os.environ["TREADLE_DEVICE"] = device  # for the rows that start processes themselves
        copy = copy_bandwidth(device, env)
        cells, versions = measure(device, options, env)
    folder = pathlib.Path(options.output)
    rows = [judged(row, cells[row.name], copy["bytes_per_second"], reasons)
            for row in table.rows(device) if row.name in cells]
    result = {
        "device": device,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "machine": machine(device),
        "versions": versions,
        "copy": copy,
        "peers": options.libraries,
        "rows": kept(folder / f"{device}.json", device, rows) if options.keep else rows,
    }
    before = folder / f"{device}.json"
    if options.keep and before.exists():  # its rows' columns and versions stay, too
        old = json.loads(before.read_text(encoding="utf-8"))
        result["peers"] = [*old["peers"], *(p for p in options.libraries if p not in old["peers"])]
        result["versions"] = {**old["versions"], **{k: v for k, v in versions.items() if v}}
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    (folder / f"{device}.json").write_text(text + "\n", encoding="utf-8")
    page = tables.markdown(result)
    (folder / f"{device}.md").write_text(page, encoding="utf-8")
    print(f"\n{page}")
    bad = [row["name"] for row in result["rows"]
           if row["differs"] or row["cells"].get("treadle", {}).get("seconds") is None]
    if bad:
        print(f"treadle gave no or another result: {', '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

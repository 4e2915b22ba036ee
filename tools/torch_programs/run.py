"""Runs the public programs of programs.toml on PyTorch and under `python -m treadle`, and compares their losses.

    run.py --torch PYTHON --sources FOLDER --site FOLDER [NAME…]

PYTHON has PyTorch.  FOLDER of sources: the repositories, each under its own name; what is missing is fetched from
GitHub.  FOLDER of site: packages that programs import (pip install --target, those that need PyTorch with --no-deps):
torchvision, timm, einops, tqdm, pillow, gymnasium, tyro, and whatever an error names.  Data are made up here.

Each loss's distance is |ours - theirs| / max(1, |theirs|).  Where float32's is above 1e-5 both run in float64 too: a
difference that is gone there was rounding.  results.tsv gets a line of each, from which docs/torch.md has its table.
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import tomllib

import numpy as np

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "results.tsv"
LIMIT = 1e-5


def data(sources):
    """Small data sets in the places where programs look for theirs."""
    rng = np.random.default_rng(1)
    words = "the of and a to in he was it her his had with for as she on at by that is be".split()
    texts = sources / "examples" / "word_language_model" / "data" / "tiny"
    tokens = sources / "nanoGPT" / "data" / "tiny"
    for folder in (texts, tokens):
        folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "valid", "test"):
        lines = [" ".join(rng.choice(words, 12)) for _ in range(200)]
        (texts / f"{name}.txt").write_text("\n".join(lines))
    for name in ("train", "val"):
        rng.integers(0, 60, 5000).astype(np.uint16).tofile(tokens / f"{name}.bin")


def fetched(sources, repo, commit):
    """The folder of a repository, cloned where it is missing."""
    folder = sources / repo.rpartition("/")[2]
    if not folder.is_dir():
        subprocess.run(["git", "clone", "-q", f"https://github.com/{repo}", folder], check=True)
        subprocess.run(["git", "-C", folder, "checkout", "-q", commit], check=True)
    return folder


class Pair:
    """PyTorch's Python and ours."""

    def __init__(self, args):
        tree = pathlib.Path(os.environ["PYTHONPATH"].split(os.pathsep)[0]).resolve()
        self.sides = (([args.torch], []), ([sys.executable, "-m", "treadle"], [tree]))
        self.site = pathlib.Path(args.site).resolve()

    def outcome(self, side, folder, command, steps, double=False):
        """The losses of one side, or the last line of what it said."""
        python, before = self.sides[side]
        paths = [*before, folder, self.site]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}
        env |= {"TORCH_PROGRAMS_DOUBLE": "1"} if double else {}
        with tempfile.TemporaryDirectory() as scratch:
            out = os.path.join(scratch, "losses")
            whole = [*python, HERE / "side.py", str(steps), out, *(c.replace("OUT", scratch) for c in command)]
            done = subprocess.run(whole, cwd=folder, env=env, capture_output=True, text=True, timeout=900)
            made = pathlib.Path(scratch, "models")
            if made.exists():
                return json.loads(made.read_text())
            if done.returncode or not os.path.exists(out):
                return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            return json.loads(pathlib.Path(out).read_text())


def distance(theirs, ours):
    """The largest distance of losses; infinity: one side has others, or none."""
    if isinstance(theirs, str) or isinstance(ours, str) or not theirs or len(theirs) != len(ours):
        return np.inf
    return max(abs(a - b) / max(1, abs(a)) for a, b in zip(theirs, ours, strict=True))


def compared(run):
    """{name: (steps, distance in float32, in float64 or None, what a side said)}; run(side, double) gives
    {name: losses}."""
    theirs, ours = run(0, False), run(1, False)
    near = {k: distance(theirs[k], ours.get(k, "no result")) for k in theirs}
    far = {}
    if any(LIMIT < d < np.inf or d != d for d in near.values()):
        a, b = run(0, True), run(1, True)
        far = {k: distance(a[k], b.get(k, "no result")) for k in a if not near[k] <= LIMIT}
    said = {k: next((v for v in (theirs[k], ours.get(k, "no result")) if isinstance(v, str)), "") for k in theirs}
    steps = {k: 0 if isinstance(v, str) else len(v) for k, v in theirs.items()}
    return {k: (steps[k], near[k], far.get(k), said[k]) for k in theirs}


def rows(table, pair, sources, wanted):
    """(repository, name, what compared() found) of the programs and models."""
    for p in table["program"]:
        if not wanted or p["name"] in wanted:
            folder = fetched(sources, p["repo"], table["commits"][p["repo"]]) / p["folder"]
            command = shlex.split(p["command"])

            def run(side, double, p=p, folder=folder, command=command):
                return {p["name"]: pair.outcome(side, folder, command, p["steps"], double)}

            for name, found in compared(run).items():
                yield p["repo"], name, found
    for m in table["models"]:
        specs = [s for s in m["specs"] if not wanted or s.split("|")[0] in wanted]
        if not specs:
            continue
        folder = fetched(sources, m["repo"], table["commits"][m["repo"]]) if m["repo"] else pair.site
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("\n".join(specs))
            file.flush()
            command = [str(HERE / "model_steps.py"), file.name, "OUT/models"]

            def run(side, double, folder=folder, command=command, specs=specs):
                found = pair.outcome(side, folder, command, 10**6, double)
                return found if isinstance(found, dict) else {s.split("|")[0]: str(found) for s in specs}

            for name, found in compared(run).items():
                yield m["repo"], name, found


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--torch", required=True)
    p.add_argument("--sources", required=True, type=pathlib.Path)
    p.add_argument("--site", required=True)
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    table = tomllib.loads((HERE / "programs.toml").read_text())
    for repo, commit in table["commits"].items():
        fetched(args.sources, repo, commit)
    data(args.sources)
    kept = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    found = {tuple(line.split("\t")[:2]): line for line in kept}
    for repo, name, (steps, near, far, said) in rows(table, Pair(args), args.sources.resolve(), args.names):
        double = "" if far is None else f"{far:.0e}"
        key = repo or "packages", name
        found[key] = "\t".join([*key, str(steps), f"{near:.0e}", double, said])
        print(found[key], flush=True)
        RESULTS.write_text("\n".join(found.values()) + "\n")


if __name__ == "__main__":
    main()

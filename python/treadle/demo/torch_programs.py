"""PyTorch programs of the demonstration: a file run by `python -m treadle` and, where it is installed, by PyTorch.

Each is an ordinary script that takes `--history FILE` and writes there, as JSON, the "loss" of each epoch, the
"accuracy" at the end and the "seconds" of training.
"""

import ast
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from . import plot, programs

SIZES = {"cpu": {"epochs": 30}, "cuda": {"epochs": 30}, "small": {"epochs": 2}}
TOLERANCE = {"cpu": 0.03, "cuda": 0.03, "small": 0.9}
WHY = "share of the test digits that are not recognised"


def pytorch():
    """(command, environment) that runs a script with PyTorch, of this Python or of `make bench`. None: there is
    none."""
    if importlib.util.find_spec("torch"):
        return [sys.executable], {}
    homes = [p / ".bench-venv" for p in (pathlib.Path.cwd(), programs.folder().parent)]
    home = next((h for h in homes if list(h.glob("lib/python3*/site-packages/torch"))), None)
    if home is None:
        return None
    found = importlib.util.find_spec("sklearn")  # the benchmark's environment has none: it borrows ours
    packages = str(pathlib.Path(found.origin).parents[1]) if found else ""
    return [str(home / "bin/python")], {"PYTHONPATH": packages}


def once(command, script, size, device, env):
    """Run the script once. Returns what it wrote. Raises RuntimeError with the end of its output where it failed."""
    with tempfile.TemporaryDirectory(prefix="treadle-demo-") as folder:
        path = pathlib.Path(folder) / "history.json"
        script = shutil.copy(script, folder)  # a user's file: what lies in the package is not run with other imports
        options = [word for k, v in size.items() for word in (f"--{k}", str(v))]
        where = ["--device", device.split(":")[0]] if device else []
        done = subprocess.run(
            [*command, str(script), *options, *where, "--history", str(path)],
            env=env, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"ended with code {done.returncode}")
        return json.loads(path.read_text(encoding="utf-8"))


def missing_package():
    """The package that the programs need and that is missing. None: all are installed."""
    return None if importlib.util.find_spec("sklearn") else "scikit-learn"


def run_program(row, size, folder, env, device, show):
    """Fill the row: times of treadle's first and second run, of PyTorch's second, the error, the picture."""
    script = programs.folder() / f"{row.name}.py"
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    row.peer = "PyTorch"
    row.title, *story = text.split("\n\n")
    row.story = [" ".join(p.split()) for p in story]
    row.size, row.tolerance, row.why = SIZES[size], TOLERANCE[size], WHY
    show(row, "start")
    if missing_package():
        row.take({"event": "missing", "package": missing_package()})
        return
    found = {}
    theirs = pytorch()
    if theirs:
        for _ in range(2):
            found["PyTorch"] = once(theirs[0], script, row.size, device, {**env, **theirs[1]})
        row.numpy = found["PyTorch"]["seconds"]
        show(row, "numpy")
    ours = [sys.executable, "-m", "treadle", *(["--device", device] if device else [])]
    row.first = once(ours, script, row.size, device, env)["seconds"]
    show(row, "first")
    found["treadle"] = once(ours, script, row.size, device, env)
    row.treadle = found["treadle"]["seconds"]
    show(row, "treadle")
    path = pathlib.Path(folder) / f"{row.name.replace('/', '-')}.svg"
    losses = {f"{k}: {v['accuracy']:.1%} recognised": v["loss"] for k, v in found.items()}
    path.write_text(plot.curves(losses, "epoch", "mean loss of training"), encoding="utf-8")
    row.pictures = [{"caption": "loss of each epoch", "path": str(path)}]
    row.error = 1 - found["treadle"]["accuracy"]
    row.state = "ok" if row.error <= row.tolerance else "wrong"
    row.note = "" if row.state == "ok" else f"only {found['treadle']['accuracy']:.1%} are recognised"
    if not theirs:
        row.note = row.note or "PyTorch is not installed: treadle's curve stands alone"
    show(row, "done")

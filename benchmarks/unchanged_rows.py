"""The rows of NumPy programs that run unchanged: programs/npbench, of the kinds of that collection, and small arrays.

`python run.py NAME` is NumPy's time, `python -m treadle run.py NAME` treadle's; CuPy runs the same programs with its
name in their import. Times are of the fastest call, until the results are numbers on the host.
"""

from pathlib import Path

from row import CPU, GPU, Row, Target

PROGRAMS = tuple(sorted(p.stem for p in (Path(__file__).parent / "programs/npbench").glob("*.py") if p.stem != "run"))
LOOPS = ("add", "product", "smooth", "mandelbrot", "nearest", "life")  # of programs/elements.py
ONLY_NUMPY = "runs no NumPy programs unchanged"
OTHERS = {CPU: ("numexpr", "numba", "torch", "torch.compile"),
          GPU: ("cupy.fuse", "torch", "torch.compile", "numba.cuda", "jax")}


def row(name, device, command, group="unchanged programs", **more):
    peers = ("numpy",) if device == CPU else ("numpy.host", "cupy")
    text = dict.fromkeys(("treadle", *peers), command)
    return Row(name, group, device, "unchanged", (), text, dict.fromkeys(OTHERS[device], ONLY_NUMPY),
               floor=False, **more)


def rows(device):
    slowest = Target(of_numpy=1.25)
    programs = [row(f"unchanged {name}", device, f"npbench/run.py {name}", target=slowest) for name in PROGRAMS]
    whole = Target(of_numpy=0.5) if device == CPU else Target(of_numpy=0.1, of_best=0.5)
    mean = Row("geometric mean of unchanged programs", "unchanged programs", device, "mean",
               cannot=dict.fromkeys(OTHERS[device], ONLY_NUMPY), floor=False, target=whole)
    small = row("10^5 operations on 10 elements", device, "small.py", "small arrays", target=Target(of_numpy=1.5))
    return [*programs, mean, small, *(loop(name) for name in LOOPS if device == CPU)]


def loop(name):
    """A program that goes through arrays element by element: in Python, and compiled by Numba."""
    text = dict.fromkeys(("treadle", "numpy", "numba"), f"elements.py {name}")
    cannot = {k: ONLY_NUMPY for k in OTHERS[CPU] if k != "numba"}
    return Row(f"loop over elements: {name}", "loops over elements", CPU, "unchanged", (), text, cannot, floor=False,
               target=Target(of_numpy=0.05))

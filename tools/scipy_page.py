"""Writes the parts of docs/scipy.md that say which names are native, composed and host, from the tables.

With --names it first writes python/treadle/scipy/_names.py, the public names of the SciPy that is installed and of
CuPy's list of them in tests/python/scipy_names.txt. With --check it writes nothing, and fails where the page is old.
"""

import importlib
import pathlib
import sys
import textwrap
import types

import page_tables

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scipy.md"
NAMES = ROOT / "python" / "treadle" / "scipy" / "_names.py"
CUPY = ROOT / "tests" / "python" / "scipy_names.txt"
MODULES = (
    "cluster.hierarchy cluster.vq constants datasets differentiate fft fftpack integrate interpolate io linalg "
    "linalg.interpolative ndimage odr optimize signal signal.windows sparse sparse.csgraph sparse.linalg spatial "
    "spatial.distance spatial.transform special stats stats.contingency stats.mstats stats.qmc stats.sampling"
).split()


def public(module):
    """The names of scipy.<module> but its old module names."""
    there = importlib.import_module(f"scipy.{module}")
    names = getattr(there, "__all__", None) or [n for n in dir(there) if not n.startswith("_")]
    return {n for n in names if not isinstance(getattr(there, n, there), types.ModuleType)}


def write_names():
    about = '"""The public names of SciPy\'s modules, and what CuPy has besides: written by tools/scipy_page.py."""'
    lines = [about, "", "NAMES = {"]
    cupy = dict.fromkeys(MODULES, ())
    for full in CUPY.read_text().split():
        module, _, name = full.rpartition(".")
        cupy[module] = (*cupy.get(module, ()), name)
    for module in MODULES:
        parts = textwrap.wrap(" ".join(sorted({*public(module), *cupy[module]})), 108)
        parts = [p + " " for p in parts[:-1]] + parts[-1:]
        lines += [f'    "{module}": (', *[f'        "{p}"' for p in parts], "    ),"]
    NAMES.write_text("\n".join([*lines, "}", ""]))


def table(module):
    """The page's part of a module: its names by status."""
    importlib.import_module(f"treadle.scipy.{module}")
    from treadle.scipy._table import TABLES

    status = TABLES[module].status
    lines = []
    for kind in ("native", "composed", "host"):
        names = sorted(n for n, s in status.items() if s == kind)
        if names:
            lines += [textwrap.fill(f"**{kind}** ({len(names)}): " + ", ".join(f"`{n}`" for n in names), 118), ""]
    return "\n".join([*lines, *bounds()] if module == "special" else lines)


def bounds():
    """What the kernels of special functions promise, smallest first."""
    from treadle.scipy._special._kernel import Kernel

    special = importlib.import_module("treadle.scipy.special")
    native = (n for names in special.NATIVE.values() for n in names.split())
    public = {n: getattr(special, n).bound for n in native if isinstance(getattr(special, n), Kernel)}
    about = "Relative errors in float64, away from a function's zeros, are at most"
    lines = [about, "", "| bound | functions |", "| --- | --- |"]
    for bound in sorted(set(public.values())):
        lines.append(f"| {bound:g} | {', '.join(f'`{n}`' for n in sorted(public) if public[n] == bound)} |")
    return [*lines, ""]


if __name__ == "__main__":
    if "--names" in sys.argv:
        write_names()
    page_tables.write(PAGE, table)

"""Writes docs/cupy.md's tables: which of CuPy's names are here, and which are refused for what reason.

    PYTHONPATH=build/tree python tools/cupy_page.py [--check]

With --names FOLDER it only writes tests/python/cupy_names.txt, from the sources of CuPy in FOLDER: the names of its
reference, of its public modules, and of the classes below. With --check it writes nothing, and fails where the page is
old.
"""

import ast
import importlib
import pathlib
import re
import sys
import textwrap

import page_tables

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cupy.md"
NAMES = ROOT / "tests" / "python" / "cupy_names.txt"

# Classes whose members are listed, and the files that they stand in.
CLASSES = {
    "cupy.ndarray": ("cupy/_core/core.pyx cupy/_core/core.pxd", "_ndarray_base"),
    "cupy.RawKernel": ("cupy/_core/raw.pyx", "RawKernel"),
    "cupy.RawModule": ("cupy/_core/raw.pyx", "RawModule"),
    "cupy.ElementwiseKernel": ("cupy/_core/_kernel.pyx", "ElementwiseKernel"),
    "cupy.ReductionKernel": ("cupy/_core/_reduction.pyx", "ReductionKernel"),
    "cupy.ufunc": ("cupy/_core/_kernel.pyx", "ufunc"),
    "cupy.cuda.Device": ("cupy/cuda/device.pyx", "Device"),
    "cupy.cuda.Event": ("cupy/cuda/stream.pyx", "Event"),
    "cupy.cuda.Graph": ("cupy/cuda/graph.pyx", "Graph"),
    "cupy.cuda.MemoryPointer": ("cupy/cuda/memory.pyx", "MemoryPointer"),
    "cupy.cuda.MemoryPool": ("cupy/cuda/memory.pyx", "MemoryPool"),
    "cupy.cuda.MemoryAsyncPool": ("cupy/cuda/memory.pyx", "MemoryAsyncPool"),
    "cupy.cuda.PinnedMemoryPool": ("cupy/cuda/pinned_memory.pyx", "PinnedMemoryPool"),
    "cupy.cuda.Stream": ("cupy/cuda/stream.pyx", "_BaseStream"),
    "cupy.random.Generator": ("cupy/random/_generator_api.pyx", "Generator"),
    "cupy.random.RandomState": ("cupy/random/_generator.py", "RandomState"),
}
# What is no name of CuPy's but an import of its modules, or the compiler's.
NO_NAMES = re.compile(r"annotations$|[A-Z]\w*Type$|TYPE_CHECKING$")


def reference(folder):
    """(module, name) of the pages of CuPy's reference."""
    for page in sorted((folder / "docs" / "source" / "reference").glob("*.rst")):
        module, listing = "cupy", False
        for line in page.read_text().splitlines():
            begun = re.match(r"\.\. (?:currentmodule|module):: (\S+)", line)
            module = begun[1] if begun else module
            listing = line.startswith(".. autosummary") or (listing and (not line or line[0].isspace()))
            alone = re.match(r"\.\. auto(?:class|function|data|method|attribute):: ([\w.:]+)", line)
            listed = re.match(r"\s+~?([A-Za-z_][\w.]*)", line) if listing else None
            found = alone or listed
            if found:
                full = found[1] if found[1].startswith("cupy") else f"{module}.{found[1]}"
                yield tuple(full.replace("::", ".").rsplit(".", 1))


def modules(folder):
    """(module, name) of what CuPy's public packages bring in or define."""
    for path in sorted([*folder.glob("cupy/**/__init__.py"), *folder.glob("cupyx/**/__init__.py")]):
        module = ".".join(path.parent.relative_to(folder).parts)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom):
                yield from ((module, alias.asname or alias.name) for alias in node.names)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield module, node.name
            elif isinstance(node, ast.Assign):
                yield from ((module, t.id) for t in node.targets if isinstance(t, ast.Name))


def members(folder):
    """(class, name) of the public members of CLASSES."""
    for full, path, name in ((full, path, name) for full, (paths, name) in CLASSES.items() for path in paths.split()):
        text = (folder / path).read_text()
        body = re.split(rf"^(?:cdef )?class {name}\b.*?:\n", text, maxsplit=1, flags=re.M)[1]
        body = re.split(r"^\S", body, maxsplit=1, flags=re.M)[0]
        for found in re.finditer(r"^    (?:def|cpdef(?: [\w\[\], ]+?)??|property) (\w+)(?=[(:])", body, flags=re.M):
            yield full, found[1]
        for found in re.finditer(r"^        (?:readonly|public) .*?(\w+)$", body, flags=re.M):
            yield full, found[1]


def write_names(folder):
    """The table of names, those with a leading underscore left out."""
    table = {}
    for module, name in (*reference(folder), *modules(folder), *members(folder)):
        parts = f"{module}.{name}".split(".")
        if not any(p.startswith("_") for p in parts) and not NO_NAMES.match(name) and parts[-1] != "*":
            table.setdefault(module, set()).add(name)
    NAMES.write_text("".join(f"{module}: {' '.join(sorted(table[module]))}\n" for module in sorted(table)))


def names():
    """{module or class: CuPy's names}."""
    return {m: rest.split() for m, _, rest in (line.partition(": ") for line in NAMES.read_text().splitlines())}


def holder(module):
    """What of treadle's stands for a module or a class of CuPy's; None: nothing."""
    first, *parts = module.split(".")
    if parts[:1] == ["scipy"]:
        parts = parts[1:]
        found, path = importlib.import_module("treadle.scipy"), "treadle.scipy"
    else:
        path = {"cupy": "treadle", "cupyx": "treadle.cupyx"}[first]
        found = importlib.import_module(path)
    for part in parts:
        path += "." + part
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found


def status(module, name):
    """(is it here?, the reason why it is refused or None)."""
    from treadle._cupy import _names

    there = holder(module)
    return there is not None and hasattr(there, name), _names.reason(module, name)


def table(module):
    """The page's part of a module: the names that are here, and a table of those that are refused."""
    parts = [m for m in names() if m == module or (module == "classes" and m in CLASSES)]
    refused, lines = {}, []
    for part in parts:
        every = {n: status(part, n) for n in names()[part]}
        here = [n for n in every if every[n][0]]
        told = f"`{part}`: " if module == "classes" else ""
        if here:
            found = f"{told}**here** ({len(here)}): " + ", ".join(f"`{n}`" for n in here)
            lines += [textwrap.fill(found, 118, break_on_hyphens=False), ""]
        for n, (there, why) in every.items():
            if not there:
                refused.setdefault(why, []).append(f"`{part.rpartition('.')[2]}.{n}`" if told else f"`{n}`")
    if refused:
        lines += ["| refused | why, and what there is |", "| --- | --- |"]
        lines += [f"| {', '.join(found)} | {why} |" for why, found in refused.items()]
        lines += [""]
    return "\n".join(lines)


if __name__ == "__main__":
    if "--names" in sys.argv:
        sys.exit(write_names(pathlib.Path(sys.argv[sys.argv.index("--names") + 1])))
    page_tables.write(PAGE, table)

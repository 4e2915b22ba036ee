"""The documentation does what it says: its programs run, its commands exist, its links lead somewhere.

Every fenced block of README.md, docs/*.md and docs/reference/*.md is classified by its language:

    python   run; the blocks of a file share one namespace, in order. With `>>>`, the output is compared.
    sh       one command a line. `python -m treadle …` runs; others are known and their targets looked up.
    console  `$ command` runs; the lines below it are the output expected, `...` standing for any text.
    ir       parsed, printed, parsed again; with `; grid`, `; in` and `; out` comments interpreted too.
    c        in docs/c.md only, whose programs test_c_api.py compiles and runs
    text     output and tables: not checked

A block that is none of these, or a command that nobody knows, is an error.
"""

import ctypes
import doctest
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import doc_pages
import numpy as np
import pytest
from doc_pages import FENCE, blocks, of

import treadle as td

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = str(pathlib.Path(td.__file__).resolve().parents[1])  # the one under test, wherever a program runs
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "reference").glob("*.md"))]
LANGUAGES = {"python", "sh", "console", "ir", "text"}

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT / "docs")) if "docs" in p.parts else p.name)


@each_page
def test_blocks_are_classified(page):
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks(page)), "a fence is not closed"
    for language, line, _ in blocks(page):
        assert language in LANGUAGES or (language == "c" and page.name == "c.md"), f"{page.name}:{line}: a block of language '{language}'"


# ---- python ----


@each_page
def test_python(page, tmp_path):
    env = {**os.environ, "PYTHONPATH": PACKAGE}
    done = subprocess.run(
        [sys.executable, doc_pages.__file__, page], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ---- commands ----


def make_targets():
    return set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def known(words):
    """Whether a command that is not run can be what it says."""
    if words[0] == "make":
        return {w for w in words[1:] if "=" not in w} <= make_targets()
    if words[:2] == ["pip", "install"] or words[0] in ("export", "cc"):
        return True
    if words[0] == "python" and words[1].endswith(".py"):
        return (ROOT / words[1]).exists()
    return False


def run_command(command, folder):
    """Standard output and error of `[NAME=value…] python …`."""
    words = shlex.split(command)
    env = {**os.environ, "TREADLE_CACHE_DIR": str(folder), "PYTHONPATH": PACKAGE}
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        env[name] = value
    assert words[0] == "python", f"not a command to run: {command}"
    done = subprocess.run([sys.executable, *words[1:]], cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def check_line(command, folder):
    words = shlex.split(command)
    while re.match(r"[A-Z_]+=", words[0]):
        words.pop(0)
    if words[:3] == ["python", "-m", "treadle.demo"]:
        assert "usage" in run_command(f"{command} --help", folder)  # the programs have tests of their own
    elif words[:3] == ["python", "-m", "treadle"]:
        run_command(command, folder)
    else:
        assert known(words), f"nobody knows this command: {command}"


@each_page
def test_commands(page, tmp_path):
    for _, text in of(page, "sh"):
        for command in text.replace("\\\n", " ").splitlines():
            command = command.split("  #")[0].strip()
            if command and not command.startswith("#"):
                check_line(command, tmp_path)


@each_page
def test_console(page, tmp_path):
    for line, text in of(page, "console"):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            found = run_command(command, tmp_path)
            same = doctest.OutputChecker().check_output(expected, found, doctest.ELLIPSIS)
            assert same, f"{page.name}:{line}: {command}\nexpected\n{expected}\nfound\n{found}"


# ---- kernel IR ----


class Core:
    """libtreadle.so's parser, printer and interpreter. Its structs are seen as zeroed bytes."""

    def __init__(self):
        self.lib = ctypes.CDLL(str(pathlib.Path(td.__file__).parent / "libtreadle.so"))
        self.lib.td_error.restype = ctypes.c_char_p
        self.arena = ctypes.create_string_buffer(256)

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        assert status == 0, self.lib.td_error().decode()

    def parse(self, text):
        fn = ctypes.create_string_buffer(1024)
        self.call("td_fn_parse", text.encode(), self.arena, fn)
        return fn

    def text(self, fn):
        out = ctypes.create_string_buffer(256)
        self.lib.td_fn_print(fn, out)
        return ctypes.cast(out, ctypes.POINTER(ctypes.c_char_p))[0].decode()

    def run(self, fn, grid, block, arrays):
        dims = ctypes.c_uint32 * 3
        words = (ctypes.c_uint64 * len(arrays))(*(a.ctypes.data for a in arrays))
        self.call("td_interp", fn, dims(*grid), dims(*block), words, 0, None)


def comments(text, word):
    return re.findall(rf"^; {word} (.*)$", text, re.MULTILINE)


def dims(text, word):
    """The numbers behind `grid` or `block`, which share a comment."""
    found = re.search(rf"^; .*\b{word} ([\d ]+)", text, re.MULTILINE)
    given = [int(n) for n in found[1].split()] if found else []
    return given + [1] * (3 - len(given))


def values(text, word, dtypes):
    """{parameter: array} of `; in %0 = 1 2 3`."""
    pairs = (re.fullmatch(r"%(\d+) = (.*)", c).groups() for c in comments(text, word))
    return {int(k): np.array(v.split(), dtype=float).astype(dtypes[int(k)]) for k, v in pairs}


@each_page
def test_ir(page):
    core = Core()
    for line, text in of(page, "ir"):
        fn = core.parse(text)
        printed = core.text(fn)
        assert core.text(core.parse(printed)) == printed, f"{page.name}:{line}"
        dtypes = {int(k): v for k, v in re.findall(r"= param (\d+) : ptr (\w+)", printed)}
        given, wanted = values(text, "in", dtypes), values(text, "out", dtypes)
        if not wanted:
            continue
        arrays = {**{k: np.zeros_like(v) for k, v in wanted.items()}, **given}
        core.run(fn, dims(text, "grid"), dims(text, "block"), [arrays[k] for k in sorted(arrays)])
        for k, want in wanted.items():
            np.testing.assert_allclose(arrays[k], want, rtol=1e-6, err_msg=f"{page.name}:{line}: %{k}")


# ---- links and the table of speed ----


@each_page
def test_links(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.fixture
def speed_table(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import speed_table

    return speed_table


def result(device, rows):
    return {
        "device": device, "date": "2030-01-02T03:04+00:00", "machine": {"Processor": "P", "Cores": 2},
        "versions": {"treadle": "1", "numpy": "2.0", "numba": None}, "copy": {"bytes_per_second": 1.5e10, "by": "N"},
        "peers": ["numpy"], "rows": rows,
    }


def row(name, group, ratio, best="numpy", **more):
    cells = {"treadle": {"seconds": 1e-3}, best: {"seconds": ratio * 1e-3}}
    return {"name": name, "group": group, "cells": cells, "best": best, "ratio": ratio, "share": 0.5, **more}


ROWS = [
    row("sum", "arrays", 3.0),
    row("sort", "arrays", 0.75),
    row("all", "arrays", 7.0, kind="mean"),  # a mean of other rows counts once
    row("few", "kernels", 90_000.0, best="numba.simulator"),
    {"name": "gone", "group": "arrays", "cells": {"treadle": {"missing": "crashed"}}, "best": None, "ratio": None,
     "share": None},
]  # fmt: skip


def test_speed_table(speed_table, tmp_path):
    for path, text in speed_table.PAGES.items():
        page = path.read_text(encoding="utf-8")
        assert page.count(speed_table.BEGIN) == page.count(speed_table.END) == 1
        assert page == speed_table.filled(page, text(ROOT / "benchmarks" / "results")), "run tools/speed_table.py"
        assert "make bench" in text(tmp_path)
    (tmp_path / "cpu.json").write_text(json.dumps(result("cpu", ROWS)), encoding="utf-8")
    text = speed_table.section(tmp_path)
    assert "| sum | 1 ms | numpy 3 ms | 3.00 | 50% |" in text and "2030-01-02: P, Cores 2" in text
    assert "gone" not in text and "15 GB/s" in text and "## GPU" not in text
    assert text in speed_table.filled(page, text)


def test_speed_of_families(speed_table, tmp_path):
    (tmp_path / "cpu.json").write_text(json.dumps(result("cpu", ROWS)), encoding="utf-8")
    (tmp_path / "cuda.json").write_text(json.dumps(result("cuda", [row("net", "training", 0.96)])), encoding="utf-8")
    lines = speed_table.section(tmp_path).splitlines()
    assert "| arrays | 1.50 | 1 of 2 |  |  |" in lines
    assert "| kernels beside Numba's simulator | 90,000 | 1 of 1 |  |  |" in lines
    assert "| training |  |  | 0.96 | 1 of 1 |" in lines


def test_speed_at_a_glance(speed_table, tmp_path):
    rows = [*ROWS, row("solve", "linear algebra", 0.5), row("qr", "linear algebra", 0.98)]
    (tmp_path / "cpu.json").write_text(json.dumps(result("cpu", rows)), encoding="utf-8")
    (tmp_path / "cuda.json").write_text(json.dumps(result("cuda", [row("net", "training", 0.96)])), encoding="utf-8")
    lines = speed_table.glance(tmp_path).splitlines()
    assert lines[0] == "- CPU, 2030-01-02: P, Cores 2." and lines[1].startswith("- GPU, ")
    assert "| CPU | 1.02 | 2 of 4 | linear algebra 0.70 |" in lines  # neither the mean's row nor the simulator's counts
    assert "| GPU | 0.96 | 1 of 1 | – |" in lines

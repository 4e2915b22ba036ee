"""The checks of who knows whom fail where they should: tools/layers.py of C, tools/python_layers.py of the package."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import layers  # noqa: E402
import python_layers  # noqa: E402


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def package(tmp_path, **files):
    """A made-up package: a module for each name, __ for a dot."""
    texts = {f"{name.replace('__', '/')}.py": text for name, text in files.items()}
    return written(tmp_path / "made", {"__init__.py": "", "room/__init__.py": "", **texts})


def checked(capsys, root):
    wrong = python_layers.main(root)
    return wrong, capsys.readouterr().out


@pytest.mark.parametrize(
    "back",
    ["from ..low import f", "import made.low", "from .. import low", "def g():\n    from ..low import f", "class A:\n    import made.low"],
)
def test_cycle(tmp_path, capsys, back):
    root = package(tmp_path, low="import sys\nfrom .room import high\n", room__high=back + "\n")
    wrong, out = checked(capsys, root)
    lines = out.splitlines()
    assert wrong and lines[0] == "2 modules import each other: made.low made.room.high"
    assert lines[1] == f"    {root}/low.py:2: made.low imports made.room.high"
    assert lines[2].endswith("made.room.high imports made.low") and len(lines) == 3


def test_long_way_round(tmp_path, capsys):
    wrong, out = checked(capsys, package(tmp_path, a="from . import b", b="from . import c", c="from . import a, b"))
    assert wrong and [line.split(": ")[-1] for line in out.splitlines()] == [
        "made.a made.b made.c", "made.a imports made.b", "made.b imports made.c", "made.c imports made.a",
    ]  # fmt: skip


def test_no_cycle(tmp_path, capsys):
    """Types alone, the extension, and a package's names beside its modules."""
    high = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..low import f\nfrom .. import _core, VERSION\n"
    wrong, out = checked(capsys, package(tmp_path, low="from .room import high\n", room__high=high))
    assert not wrong and out == "python: 4 modules in 2 folders; no import cycle\n"


def test_missing_module(tmp_path, capsys):
    wrong, out = checked(capsys, package(tmp_path, low="def f():\n    from .room.away import g\n"))
    assert wrong and out.endswith("low.py:2: there is no module made.room.away\n")


def test_full_folder(tmp_path, capsys):
    wrong, out = checked(capsys, package(tmp_path, **{f"room__m{k}": "" for k in range(layers.MOST)}))
    assert wrong and out == f"{tmp_path}/made/room/: {layers.MOST + 1} modules; at most {layers.MOST}\n"


@pytest.mark.parametrize("line, wrong", [('if d.kind == "cpu": pass', True), ("if d.host: pass", False)])
def test_question(tmp_path, capsys, line, wrong):
    assert checked(capsys, package(tmp_path, low=f"def f(d):\n    {line}\n"))[0] == wrong


TABLE = """
recursive = []
[rank]
base = 0
array = 1
[rooms]
array = ["graph", "run"]
"""


@pytest.mark.parametrize(
    "file, header, why",
    [
        ("base/text.c", "array/graph/node.h", "base/ may not look up to array/graph/"),
        ("array/graph/node.c", "array/run/eval.h", "array/graph/ may not look up to array/run/"),
        ("array/run/eval.c", "Python.h", "only python/ may include Python.h"),
        ("array/run/eval.c", "array/graph/node.h", None),
    ],
)
def test_includes(tmp_path, capsys, file, header, why):
    root = written(tmp_path / "src", {"base/text.h": "", file: f'#include <stdio.h>\n#include "{header}"\n'})
    table = written(tmp_path, {"table.toml": TABLE}) / "table.toml"
    assert layers.main(root, None, table) == bool(why)
    assert capsys.readouterr().out == (f"{root}/{file}:2: {why}\n" if why else "")


@pytest.mark.parametrize("folder, wrong", [("array/run", True), ("dev", False)])
def test_questions_about_devices(tmp_path, capsys, folder, wrong):
    root = written(tmp_path / "src", {f"{folder}/a.c": "if (info->kind == TD_DEV_CPU)\n    return;\n"})
    table = written(tmp_path, {"table.toml": TABLE}) / "table.toml"
    assert layers.main(root, None, table) == wrong
    assert ("simt" in capsys.readouterr().out) == wrong

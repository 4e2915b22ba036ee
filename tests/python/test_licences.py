"""Licences: what `python -m treadle licenses` prints, the notices beside their table, and that the checks can fail."""

import copy
import pathlib
import subprocess
import sys
import tomllib
import zipfile

import pytest

from treadle import _licences

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import notices  # noqa: E402
import wheel_check  # noqa: E402

TABLE = tomllib.loads(notices.TABLE.read_text(encoding="utf-8"))
WRITTEN = notices.FILE.read_text(encoding="utf-8")
KNOWN = ["LLVM", "zlib", "zstd", "libstdc++", "libgcc", "libdevice", "CUB", "CUDA runtime, static library and headers"]


def nothing(row):
    """A machine that has no package's files."""


def run(*arguments):
    r = subprocess.run([sys.executable, "-m", "treadle", *arguments], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def with_component(**more):
    """The table with a made-up component."""
    table = copy.deepcopy(TABLE)
    row = {"name": "madeup", "version": "1", "spdx": "MIT", "where": ["libtreadle.so"], "links": [], "texts": ["madeup"]}
    table["component"].append({**row, **more})
    return table


# ---- the command ----


def test_texts_are_printed():
    status, out, err = run("licenses")
    assert (status, err) == (0, "")
    assert out == "\n".join((ROOT / f).read_text(encoding="utf-8") for f in ("NOTICE", "LICENSE", notices.FILE.name)) + "\n"


def test_components_are_listed():
    status, out, err = run("licenses", "--list")
    lines = out.splitlines()
    assert (status, err, lines[0]) == (0, "", "treadle: Apache-2.0")
    for line, row in zip(lines[1:], TABLE["component"], strict=True):
        assert line == f"{row['name']}, version {row['version']}: {row['spdx']} ({', '.join(row['where'])})"
    assert {name for name, *_ in _licences.components()} >= set(KNOWN)


def test_other_words_are_a_usage_error():
    assert run("licenses", "--lists")[0] == 2


def test_a_reader_that_stops_is_no_error():
    command = f"set -o pipefail; {sys.executable} -m treadle licenses | head -n 1"
    r = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert (r.returncode, r.stdout, r.stderr) == (0, "treadle\n", "")


# ---- the notices ----


def test_licence_is_apaches():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.split() == notices.committed(WRITTEN)["Apache-2.0"].split()


def test_notices_are_what_the_table_says():
    assert notices.faults(TABLE, WRITTEN)[1] == []


def test_every_component_has_its_texts():
    have = notices.committed(WRITTEN)
    for row in TABLE["component"]:
        assert row["texts"] and all(len(have[name]) > 200 for name in row["texts"]), row["name"]


def test_notices_stand_on_a_machine_that_has_no_packages():
    remarks, complaints = notices.faults(TABLE, WRITTEN, nothing)
    assert complaints == []
    assert len(remarks) == len(TABLE["text"]) and all("not on this machine" in r for r in remarks)


def test_another_revision_of_a_text_passes_and_another_text_does_not():
    have = notices.committed(WRITTEN)
    revised = {name: text.replace("2017", "2027") for name, text in have.items()}
    other = {**have, "zlib": have["zstd"]}
    by_text = {id(row): name for name, row in TABLE["text"].items()}
    assert notices.faults(TABLE, WRITTEN, lambda row: revised[by_text[id(row)]])[1] == []
    complaints = notices.faults(TABLE, WRITTEN, lambda row: other[by_text[id(row)]])[1]
    assert complaints == ["zlib: THIRD_PARTY_NOTICES.txt has a text that differs from the copyright file of the Debian package zlib1g-dev"]


def test_a_component_without_text_is_found():
    complaints = notices.faults(with_component(), WRITTEN, nothing)[1]
    assert complaints == ["madeup: a component's text that the table does not describe"]
    assert notices.faults(with_component(texts=[]), WRITTEN, nothing)[1] == ["madeup: it names no text"]
    table = with_component()
    table["text"]["madeup"] = {"debian": "no-such-package"}
    assert any("madeup: no text" in c for c in notices.faults(table, WRITTEN)[1])


def test_a_component_that_was_not_written_is_found():
    complaints = notices.faults(with_component(texts=["zlib"]), WRITTEN, nothing)[1]
    assert complaints == ["THIRD_PARTY_NOTICES.txt is not what licences.toml says"]
    assert notices.faults(TABLE, WRITTEN.replace("Text: zstd\n", "Text: other\n"), nothing)[1]


# ---- what is linked ----

NINJA = """build libtreadle.so.p/src_base_arena.c.o: c_COMPILER ../src/base/arena.c
 ARGS = -O2

build libtreadle_jit.so: c_LINKER libtreadle_jit.so.p/meson-generated_.._{blobs}.c.o libtreadle_jit.so.p/src_lower_math.c.o | libtreadle.so
 LINK_ARGS = -L/usr/lib/llvm-19/lib '-Wl,-rpath,$$ORIGIN/' -shared -Wl,--start-group libtreadle.so -static-libgcc -lLLVMCore {more} /usr/lib/gcc/libstdc++.a -lm -Wl,--end-group
"""


def unnamed(table, blobs="libdevice_blobs", more=""):
    return [c.split(",")[0] for c in notices.unnamed(table, NINJA.format(blobs=blobs, more=more))]


def test_linked_pieces_are_read():
    pieces = [p for _, p in notices.linked(NINJA.format(blobs="libdevice_blobs", more=""))]
    assert pieces == ["libtreadle_jit.so.p/meson-generated_.._libdevice_blobs.c.o", "-static-libgcc", "-lLLVMCore",
                      "/usr/lib/gcc/libstdc++.a", "-lm"]  # fmt: skip


@pytest.mark.parametrize("piece", ["-lmadeup", "/usr/lib/libmadeup.a", "madeup.o", "/usr/lib/libmadeup.so.1"])
def test_a_library_that_the_table_does_not_name_is_found(piece):
    assert unnamed(TABLE) == []
    assert unnamed(TABLE, more=piece) == [f"libtreadle_jit.so links {piece}"]
    assert unnamed(with_component(links=["*madeup*"]), more=piece) == []


def test_the_tests_library_links_what_it_likes():
    text = NINJA.replace("libtreadle_jit.so", "libtreadle_null.so").format(blobs="madeup_blobs", more="-lmadeup")
    assert "build libtreadle_null.so: " in text and list(notices.linked(text)) == []


def test_generated_sources_are_found():
    assert len(unnamed(TABLE, blobs="madeup_blobs")) == 1


# ---- the wheel's metadata ----


def test_project_names_the_licences():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert list(notices.metadata_faults(TABLE, project)) == []
    assert list(notices.metadata_faults(with_component(), project))
    assert list(notices.metadata_faults(TABLE, {**project, "license-files": ["LICENSE"]}))


def complaints(path, files, expression):
    """What is said of a wheel with these licence files and this expression."""
    with zipfile.ZipFile(path, "w") as w:
        named = "".join(f"License-File: {f}\n" for f in TABLE["wheel"]["files"])
        w.writestr("treadle-1.dist-info/METADATA", f"Metadata-Version: 2.4\nLicense-Expression: {expression}\n{named}\n")
        for file in files:
            for folder in ("treadle-1.dist-info/licenses", "treadle/licenses"):
                w.write(ROOT / file, f"{folder}/{file}")
    with zipfile.ZipFile(path) as w:
        return list(wheel_check.licence_complaints(w, TABLE))


def test_a_wheel_without_its_licences_is_found(tmp_path):
    files, expression = TABLE["wheel"]["files"], notices.expression(TABLE)
    assert complaints(tmp_path / "whole.whl", files, expression) == []
    less = complaints(tmp_path / "less.whl", files[:2], expression)
    assert len(less) == 2 and all("THIRD_PARTY_NOTICES.txt is missing" in line for line in less)
    assert complaints(tmp_path / "other.whl", files, "MIT") == ["License-Expression is MIT"]

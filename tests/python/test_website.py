"""The documentation's site: it builds without a warning, works without a network, and has every public name.

Building needs MkDocs (tools/requirements/docs.txt); what tools/website makes of docs and of the package is tested without it.
"""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import types
import xml.etree.ElementTree

import pytest

import treadle as td

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = str(pathlib.Path(td.__file__).resolve().parents[1])
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

sys.path[:0] = [str(ROOT / "tools" / "website"), str(ROOT / "tools")]

import check_links  # noqa: E402
import documented  # noqa: E402
import examples  # noqa: E402
import llms  # noqa: E402
import notebooks  # noqa: E402
import plots  # noqa: E402
import reference  # noqa: E402
import speed_table  # noqa: E402
import stage  # noqa: E402

with_nbclient = pytest.mark.skipif(
    not (importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel")),
    reason="notebooks are run by nbclient and ipykernel: make setup installs them",
)
with_mkdocs = pytest.mark.skipif(
    not importlib.util.find_spec("material"), reason="the site is built by mkdocs-material: make setup installs it"
)


# ---- notebooks ----


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A folder of the notebooks with their outputs."""
    import nbformat

    folder = tmp_path_factory.mktemp("notebooks")
    saved = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = PACKAGE
    try:
        for path in NOTEBOOKS:
            nbformat.write(notebooks.run(path), folder / path.name)
    finally:
        os.environ.pop("PYTHONPATH")
        if saved is not None:
            os.environ["PYTHONPATH"] = saved
    return folder


def test_there_are_notebooks():
    assert [p.stem for p in NOTEBOOKS] == ["arrays", "kernels", "training"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_is_stored_without_outputs(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    code = [c for c in book["cells"] if c["cell_type"] == "code"]
    assert len(code) >= 4 and all(c["outputs"] == [] and c["execution_count"] is None for c in code)
    assert "".join(book["cells"][0]["source"]).startswith("# ")


@with_nbclient
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs(path, executed):
    book = json.loads((executed / path.name).read_text(encoding="utf-8"))
    outputs = [o for c in book["cells"] if c["cell_type"] == "code" for o in c["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error"]
    assert [o for o in outputs if "image/png" in o.get("data", {})], "every notebook has a picture"
    assert [o for o in outputs if "<table>" in "".join(o.get("data", {}).get("text/html", ""))]
    assert not [o for o in outputs if o.get("name") == "stderr"], "a warning"


def test_notebook_page(tmp_path):
    def output(kind, **more):
        return types.SimpleNamespace(output_type=kind, get=lambda k, d=None: more.get(k, d), **more)

    cells = [
        types.SimpleNamespace(cell_type="markdown", source="# A\n\n[k](../kernels.md) and\n- one"),
        types.SimpleNamespace(cell_type="code", source="x", outputs=[
            output("stream", text="\x1b[31mred\x1b[0m at /tmp/ipykernel_1/22.py:3\n"),
            output("execute_result", data={"text/html": "<table></table>", "text/plain": "no"}),
            output("display_data", data={"image/png": "iVBORw0KGgo="}),
            output("execute_result", data={"text/plain": "7"}),
        ]),
    ]  # fmt: skip
    page = notebooks.markdown(types.SimpleNamespace(cells=cells), "arrays", tmp_path)
    assert "[k](../kernels.md)" in page and "and\n\n- one" in page
    assert "```python\nx\n```" in page and "```text\nred at cell:3\n```" in page and "```text\n7\n```" in page
    assert '<div class="td-output"><table></table></div>' in page and "![](arrays-1.png)" in page
    assert (tmp_path / "arrays-1.png").read_bytes().startswith(b"\x89PNG")


# ---- pages ----


def test_links_lead_into_the_site(tmp_path):
    source = ROOT / "docs" / "reference" / "index.md"
    text = "[a](../numpy.md#x) [b](creation.md) [c](../../README.md) [d](../../examples/heat.py) [e](https://e.org/x)\n"
    text += "[f](../../include/treadle.h) [g](../gone.md) [h](#here) [i](../notebooks/arrays.ipynb)\n```\n[j](../../README.md)\n```\n"
    done = stage.to_site(text, source, tmp_path)
    assert re.findall(r"\]\(([^)]*)\)", done) == [
        "../numpy.md#x", "../reference/creation.md", "../index.md", "../examples/heat.py.md", "https://e.org/x",
        "../files/include/treadle.h", "../gone.md", "#here", "../notebooks/arrays.md", "../../README.md",
    ]  # fmt: skip
    assert stage.to_site("[ci](.ci/run)", ROOT / "CHANGELOG.md", tmp_path) == "[ci](files/ci/run)"
    folders = stage.to_site("[docs](docs/) [speed](README.md#speed) [tools](tools/website)", ROOT / "CHANGELOG.md", tmp_path)
    assert folders == "[docs](index.md) [speed](index.md) tools"
    assert (tmp_path / "files/include/treadle.h").read_text() == (ROOT / "include/treadle.h").read_text()


def test_lists_get_an_empty_line(tmp_path):
    def done(text):
        return stage.to_site(text, ROOT / "docs" / "x.md", tmp_path)

    assert done("text:\n- one\n- two\n") == "text:\n\n- one\n- two\n"
    assert done("text:\n\n- one\n- two\n") == "text:\n\n- one\n- two\n"
    assert done("- one\n  more\n- two\n") == "- one\n  more\n- two\n"
    assert done("```\ntext:\n- one\n```\n") == "```\ntext:\n- one\n```\n"


def test_nav_leaves_out_what_is_absent(tmp_path):
    (tmp_path / "there.md").write_text("# There")
    entries = ["a.md", {"T": ["?there.md", "?gone.md", "reference"]}, {"U": ["?gone.md"]}]
    assert stage.nav(entries, tmp_path, ["r.md"]) == ["a.md", {"T": ["there.md", "r.md"]}]


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<script src="https://e.org/x.js"></script><a href="https://e.org">fine</a><a href="b.html#there">fine</a>'
        '<a href="b.html#gone">no</a><a href="c.html">no</a><a href="#own">fine</a><p id="own"><img src="data:x">'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    assert check_links.broken(tmp_path) == [
        "a.html: <script> fetches https://e.org/x.js",
        "a.html: b.html#gone names no part of its page",
        "a.html: c.html is not there",
    ]


def test_llms_lines():
    title, line = llms.title_and_line("# Some page\n\n```python\nx\n```\n\nThis [page](p.md) says\nit: more. And more.\n")
    assert (title, line) == ("Some page", "This page says it: more.")
    found = list(llms.leaves([{"U": "a.md"}, {"S": ["b.md", {"T": "c.md"}]}]))
    assert found == [("U", "a.md"), ("S", "b.md"), ("S", "c.md")]


# ---- the reference ----


def test_every_public_name_is_in_the_reference():
    entries = reference.entries()
    inside = {"ALIASES", "exceptions", "dtypes"}  # the package's own table; NumPy's modules
    names = [n for n in dir(td) if not n.startswith("_") and n not in inside]
    missing = [n for n in names if f"treadle.{n}" not in entries and not isinstance(getattr(td, n), types.ModuleType)]
    assert missing == []
    for module in ("linalg", "fft", "random", "cuda", "executor", "distributed", "memory"):
        names = reference.public(reference.home(f"treadle.{module}"))
        assert names and [n for n in names if f"treadle.{module}.{n}" not in entries] == []
    assert {"treadle.ndarray.reshape", "treadle.torch.Tensor.backward", "treadle.torch.nn.Linear"} <= entries


def test_every_entry_says_something():
    silent = []
    for source in reference.FOLDER.glob("*.md"):
        for spec in reference.MARK.findall(source.read_text(encoding="utf-8")):
            prefix, pairs = reference.named(" ".join(spec.split()))
            for name, value in pairs:
                lines = [line for line in documented.entry(prefix, name, value) if line]
                if not lines or (lines[0] == "```text" and len(lines) == 3):
                    silent.append(f"{prefix}.{name}")
    assert silent == []


def test_markers_that_name_nothing_are_told():
    assert reference.matching("_observe.*", ["_observe._a", "_numpy._b"]) == ["_observe._a"]
    with pytest.raises(LookupError, match="'_gone'"):
        reference.named("homes _gone")


def test_order_of_the_reference():
    names = {p.name for p in reference.FOLDER.glob("*.md")}
    assert set(reference.order()) == names and len(reference.order()) == len(names)


def test_examples_show_results():
    assert examples.shown("treadle", "cumsum")[1][0] == "np.cumsum(x, 0)"
    assert "array([" in examples.shown("treadle", "cumsum")[1][1]
    assert examples.shown("treadle", "add") == [("np.add(x, y)", repr(td.add(*(examples.scope()[n] for n in "xy"))))]
    assert examples.shown("treadle", "arcsin")[0][0] == "np.arcsin(s / 4)", "the first arguments give NaN"
    rows = [n for n in td._core.ufuncs() if n in td._ROWS]
    without = [n for n in rows if not examples.shown("treadle", n)]
    assert len(without) < len(rows) / 10, without


def test_docstrings_become_markdown():
    def f(a, b=1):
        """One *star* and `code_x`, a[i] < b.

            x = 1
            y = 2

        - a list
          of two lines
        - more
        """

    f.__module__ = "treadle.m"
    done = "\n".join(documented.entry("m", "f", f))
    assert "```text\nf(a, b=1)\n```" in done
    assert r"One \*star\* and `code_x`, a\[i\] &lt; b." in done
    assert "```python\nx = 1\ny = 2\n```" in done and "- a list\n  of two lines\n- more" in done
    assert list(documented.blocks("with f() as p:\n    ...\nprint(p)")) == ["```python\nwith f() as p:\n    ...\nprint(p)\n```"]
    assert list(documented.blocks("It raises\n  KeyError  no key\n      there\nand more")) == [
        "It raises", "```text\nKeyError  no key\n    there\n```", "and more",
    ]  # fmt: skip
    assert documented.told("profile", td.profile).startswith("A context manager")
    assert "Holds `a`." in documented.entry("m", "n", types.SimpleNamespace(a=1))
    assert "As `numpy.save`." in documented.entry("treadle", "save", td.save)
    assert "`numpy.float32` itself." in documented.entry("treadle", "float32", td.float32)
    assert "`3.14" in documented.entry("treadle", "pi", td.pi)[0]


# ---- plots ----


def test_plots_have_every_row():
    for device, result in speed_table.results(ROOT / "benchmarks" / "results").items():
        text = "\n".join(plots.device_plots(result))
        charts = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        labels = set()
        for chart in charts:
            svg = xml.etree.ElementTree.fromstring(chart)
            labels |= {t.text for t in svg.iter("text")}
            for bar in svg.iter("rect"):
                assert plots.LEFT <= float(bar.get("x")) and float(bar.get("width")) > 0
                assert float(bar.get("x")) + float(bar.get("width")) <= plots.WIDTH - plots.RIGHT + 2
        for rows in speed_table.families(result).values():
            names = [r["name"] for r in rows if plots.peers(r)]
            assert {line for name in names for line in textwrap.wrap(name, plots.LETTERS)} <= labels, device


def test_glance_has_every_family():
    results = speed_table.results(ROOT / "benchmarks" / "results")
    text = "\n".join(plots.glance(results))
    for result in results.values():
        for family, rows in speed_table.families(result).items():
            mean = speed_table.mean(rows)
            assert mean is None or (f">{family[:30]}" in text.replace("&#x27;", "'") and plots.times(mean) in text)


def test_bars_are_as_long_as_times():
    one = plots.position(1, 0.1, 100)
    assert plots.position(10, 0.1, 100) - one == pytest.approx(one - plots.position(0.1, 0.1, 100))
    row = {"name": "a<b", "cells": {"treadle": {"seconds": 1.0}, "p": {"seconds": 4e6}, "q": {"missing": "x"}}}
    assert plots.peers(row) == {"p": 4e6}
    chart = plots.chart("t", [row], {"p": "#000", "q": "#111"})
    assert "a&lt;b" in chart and "4,000,000 ×" in chart and "#111" not in chart


# ---- the site ----


@pytest.fixture(scope="module")
def site(tmp_path_factory, executed):
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, ROOT / "tools" / "website", "--out", out, "--notebooks", executed]
    env = {**os.environ, "PYTHONPATH": PACKAGE}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@with_mkdocs
@with_nbclient
class TestSite:
    def test_pages(self, site):
        """Strict: a link, an anchor or a page that is missing from the nav has failed the build already."""
        for page in sorted((ROOT / "docs").rglob("*.md")):
            assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists()
        assert check_links.broken(site) == []
        assert len(list((site / "examples").rglob("*.html"))) >= 28

    def test_needs_no_network(self, site):
        for path in [*site.rglob("*.css"), *site.rglob("*.html")]:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"url\([\"']?https?:|@import", text), path
        page = (site / "index.html").read_text(encoding="utf-8")
        assert "fonts.googleapis" not in page and "assets/iframe-worker.js" in page

    def test_search_and_colours(self, site):
        index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
        places = {doc["location"] for doc in index["docs"]}
        assert "reference/reductions.html#treadle.median" in places and "speed.html#fusion" in places
        assert (site / "search" / "search_index.js").exists()
        page = (site / "index.html").read_text(encoding="utf-8")
        assert 'data-md-color-scheme="slate"' in page and 'data-md-color-scheme="default"' in page

    def test_what_is_made(self, site):
        notebook = (site / "notebooks" / "arrays.html").read_text(encoding="utf-8")
        assert "td-output" in notebook and "graph of smooth" in notebook and (site / "notebooks/arrays-1.png").exists()
        assert (site / "speed-table.html").read_text(encoding="utf-8").count('<svg class="td-plot"') >= 20
        page = (site / "reference" / "reductions.html").read_text(encoding="utf-8")
        assert 'id="treadle.median"' in page and "<!-- names" not in page
        gallery = (site / "gallery.html").read_text(encoding="utf-8")
        assert "pictures/heat-2.png" in gallery and (site / "pictures" / "heat-2.png").exists()

    def test_texts_for_programs(self, site):
        index = (site / "llms.txt").read_text(encoding="utf-8")
        assert index.startswith("# treadle\n\n> ")
        for target in re.findall(r"\]\(([^)]*)\)", index):
            assert (site / target).exists(), target
        full = (site / "llms-full.txt").read_text(encoding="utf-8")
        assert "## Fusion" in full and "<svg" not in full

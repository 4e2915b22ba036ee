"""The benchmark's table and its arithmetic. Nothing is measured here."""

import importlib
import math
import pathlib
import sys
import tomllib

import numpy
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def path():
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def module(name):
    return importlib.import_module(name)


def all_rows():
    sys.path.insert(0, str(FOLDER))
    try:
        rows = module("rows")
        return [row for device in rows.DEVICES for row in rows.rows(device)]
    finally:
        sys.path.remove(str(FOLDER))


ROWS = all_rows()
IDS = [f"{row.device}-{row.name}" for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_library_has_an_expression_or_a_reason(row):
    if row.kind in ("startup", "import"):
        programs = module("processes")
        known = programs.IMPORTS if row.kind == "import" else programs.FIRST_RESULT[row.device]
        assert "treadle" in known
        return
    assert row.inputs
    for library in ("treadle", *module("run").PEERS[row.device]):
        text, reason = row.expression(library)
        assert bool(text) != bool(reason), library
    assert row.expression("treadle")[0], "ours must be measured"


@pytest.mark.parametrize("row", [r for r in ROWS if r.inputs], ids=lambda r: f"{r.device}-{r.name}")
def test_expressions_mean_what_numpy_says(row):
    """The text evaluates on small inputs, and the result has the shape that `moved` counts."""
    if row.kind == "compile":
        return
    rows, libraries = module("rows"), module("libraries")
    # Lengths shrink alike, so that what broadcasts still does.
    shrunk = [rows.Input(i.name, i.dtype, tuple(8 for _ in i.shape), i.layout) for i in row.inputs]
    arrays = {i.name: i.view(i.base()) for i in shrunk}
    for item in shrunk:
        assert arrays[item.name].shape == item.shape and arrays[item.name].dtype == item.dtype
        assert arrays[item.name].std() > 0, "inputs are random"
    result = libraries.function(row.expression("numpy")[0] or row.expression("treadle")[0],
                                list(arrays), numpy)(**arrays)
    if row.kind == "throughput":
        out = row.inputs[0].shape if row.out == "inputs" else row.out
        assert numpy.ndim(result) == len(out)
        assert bool(row.moved) != bool(row.flops)


def test_names_are_unique():
    for device in ("cpu", "cuda"):
        names = [row.name for row in ROWS if row.device == device]
        assert len(names) == len(set(names))


def test_the_figures_are_in_the_table():
    limits = {(r.device, r.name): r.target for r in ROWS if r.target}
    assert limits["cuda", "chain"].seconds == 0.65e-3
    assert limits["cpu", "chain"].of_numpy == 0.2
    assert limits["cpu", "a new fused kernel"].seconds == 15e-3
    assert len(limits) == 13


def test_reasons_name_rows():
    reasons = tomllib.loads((FOLDER / "reasons.toml").read_text(encoding="utf-8"))
    assert set(reasons) == {"cpu", "cuda"}
    for device, given in reasons.items():
        assert set(given) <= {row.name for row in ROWS if row.device == device}


def test_bytes_that_must_move():
    rows = module("rows")
    chain, squares = rows.with_targets("cuda")[:2]
    assert chain.moved == 20 * 2**27 and squares.moved == 8 * 2**27


def test_targets():
    target = module("rows").Target
    assert target(seconds=2.0).limit(None, None) == 2.0
    assert target(of_best=1.0, of_numpy=0.2).limit(3.0, 10.0) == 2.0
    assert target(of_best=1.0).limit(None, 10.0) is None


def judged(cells, name="chain"):
    rows = module("rows")
    row = next(r for r in rows.rows("cpu") if r.name == name)
    return module("run").judged(row, cells, 10e9, {name: "because"})


def test_a_row_is_judged():
    cells = {"treadle": {"seconds": 1.0, "value": 2.0}, "numpy": {"seconds": 4.0, "value": 2.0},
             "torch": {"seconds": 2.0, "value": 2.0}, "numba": {"missing": "not here"}}
    row = judged(cells)
    assert row["best"] == "torch" and row["ratio"] == 2.0 and row["limit"] == pytest.approx(0.8)
    assert row["met"] is False and row["reason"] == "because" and not row["differs"]
    assert row["floor"] == pytest.approx(20 * 2**24 / 10e9) and math.isclose(row["share"], row["floor"])


def test_a_wrong_result_is_noticed():
    cells = {"treadle": {"seconds": 1.0, "value": 2.1}, "numpy": {"seconds": 4.0, "value": 2.0}}
    assert "2.1" in judged(cells)["differs"]


def test_ours_missing_is_not_met():
    row = judged({"treadle": {"missing": "crashed"}, "numpy": {"seconds": 4.0, "value": 2.0}})
    assert row["met"] is None and row["ratio"] is None


def test_new_expressions_are_new():
    new = module("child").new_expression
    texts = [new(seed, list("abc")) for seed in range(200)]
    assert len(set(texts)) == len(texts)
    libraries = module("libraries")
    arrays = {x: numpy.linspace(0.1, 1, 9) for x in "abc"}
    with numpy.errstate(all="ignore"):
        for text in texts[:20]:
            libraries.function(text, list("abc"), numpy)(**arrays)


def test_page(tmp_path):
    result = {"device": "cpu", "date": "today", "machine": {"Processor": "x"}, "versions": {"numpy": "2"},
              "copy": {"bytes_per_second": 1e10, "by": "NumPy"}, "peers": ["numpy", "torch"],
              "rows": [judged({"treadle": {"seconds": 1e-3, "value": 1.0},
                               "numpy": {"seconds": 2e-3, "value": 1.0},
                               "torch": {"missing": "not installed"}})]}
    page = module("tables").markdown(result)
    assert "| chain | 1 ms | 2 ms | – | 2.00 |" in page
    assert "- torch: not installed (chain)" in page and "- chain: because" in page


def test_a_library_that_crashes_costs_one_row(tmp_path, monkeypatch):
    """The child is started again for the rows after the one that killed it."""
    run = module("run")
    script = tmp_path / "child.py"
    script.write_text(
        "import os, sys, json\n"
        "print(json.dumps({'version': '1'}), flush=True)\n"
        "for name in sys.argv[5:]:\n"
        "    if name == 'bad': os.abort()\n"
        "    print(json.dumps({'row': name, 'seconds': 1.0}), flush=True)\n", encoding="utf-8")
    monkeypatch.setattr(run, "HERE", tmp_path)
    options = run.arguments(["--rows", "chain"])
    cells, version = run.run_group("cpu", "numpy", ["one", "bad", "two"], options, None)
    assert version == "1" and cells["one"]["seconds"] == cells["two"]["seconds"] == 1.0
    assert "exit code" in cells["bad"]["missing"]

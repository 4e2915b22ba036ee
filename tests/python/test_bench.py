"""The benchmark's table and its arithmetic. Nothing is measured here."""

import dataclasses
import importlib
import math
import pathlib
import sys
import tomllib

import numpy
import pytest

import treadle as td

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
    programs = module("processes")
    if row.kind in ("startup", "import"):
        known = programs.IMPORTS if row.kind == "import" else programs.FIRST_RESULT[row.device]
        assert "treadle" in known
        return
    if row.kind == "mean":
        return
    assert row.inputs or not row.alike or row.kind in ("unchanged", "script")
    for library in ("treadle", *module("run").PEERS[row.device]):
        text, reason = row.expression(library)
        assert bool(text) != bool(reason), library
    assert row.expression("treadle")[0], "ours must be measured"


@pytest.mark.parametrize("row", [r for r in ROWS if r.inputs], ids=lambda r: f"{r.device}-{r.name}")
def test_expressions_mean_what_numpy_says(row):
    """The text evaluates on small inputs, and the result has the shape that `moved` counts."""
    if row.kind in ("compile", "transfer", "kernel", "launch"):
        return
    libraries = module("libraries")
    # Lengths shrink alike, so that what broadcasts still does.
    shrunk = [dataclasses.replace(i, shape=tuple(8 for _ in i.shape), below=8 * bool(i.below))
              for i in row.inputs]
    arrays = {i.name: i.view(i.base()) for i in shrunk}
    for item in shrunk:
        assert arrays[item.name].shape == item.shape and arrays[item.name].dtype == item.host_dtype
        assert arrays[item.name].std() > 0, "inputs are random"
    result = libraries.function(row.expression("numpy")[0] or row.expression("treadle")[0],
                                list(arrays), numpy)(**arrays)
    if row.kind == "throughput":
        out = row.inputs[0].shape if row.out == "inputs" else row.out
        assert numpy.ndim(result) == len(out)
        assert bool(row.moved) == row.floor


KERNELS = [row for row in ROWS if row.kind == "kernel"]


@pytest.mark.parametrize("row", KERNELS, ids=lambda r: f"{r.device}-{r.name}")
def test_programs_compute_what_numpy_says(row):
    """Every kernel and loop of the table, on few elements of the CPU."""
    with td.device("cpu"):
        ours = module("libraries").Ours()
        module("child").compare(ours, row, row.expression("treadle")[0])


@pytest.mark.parametrize("text", ["a[:-1]", "a + 0.01", "a.astype('i4').reshape(1, -1)"])
def test_wrong_programs_are_noticed(text):
    reference = module("kernels").load("reference", "treadle")
    a = numpy.linspace(0, 1, 100)
    assert not reference.problem(a + 1e-6, a)
    assert reference.problem(eval(text), a)


def test_counts_may_differ_in_few_places_only():
    reference = module("kernels").load("reference", "treadle")
    a = numpy.arange(100).reshape(10, 10)
    near = a.copy()
    near[3, 4] += 50
    assert not reference.problem(near, a)
    near[5] += 50
    assert "11 of 100 differ: 84 at (3, 4), NumPy 34" in reference.problem(near, a)


def test_shrinking_keeps_what_belongs_together():
    item = module("row").Input
    assert item("a", "f4", (1 << 20,)).shrunk().shape == item("b", "f4", (1 << 21,)).shrunk().shape == (1000,)
    assert item("a", "f4", (3, 4096)).shrunk().shape == (3, 1000)
    assert item("a", "f4", (4096, 4096)).shrunk().shape == (90, 90)
    assert item("a", "i4", (256,)).shrunk().shape == (256,)


def test_constants_of_programs_are_replaced():
    kernels = module("kernels")
    assert kernels.load("sixty", "treadle").SEED == 0
    assert kernels.load("sixty", "treadle", SEED=7).SEED == 7
    with pytest.raises(AssertionError, match="has 0 lines"):
        kernels.load("sixty", "treadle", MISSING=7)


def test_first_calls_are_timed(monkeypatch, tmp_path):
    """The median of what a script prints; one that fails tells its last line."""
    processes = module("processes")
    script = tmp_path / "first_call.py"
    script.write_text("import os, pathlib, sys\n"
                      "mark = pathlib.Path(os.environ['TREADLE_CACHE_DIR'], 'mark')\n"
                      "if sys.argv[1] == 'bad': raise ValueError('no ' + sys.argv[1])\n"
                      "print(2.0 if mark.exists() else 5.0)\nmark.touch()\n", encoding="utf-8")
    monkeypatch.setattr(processes, "HERE", tmp_path)
    assert processes.first_call(["good"], {}, 2) == 5.0
    assert processes.first_call(["good", "cached"], {}, 2) == 2.0
    with pytest.raises(RuntimeError, match="ValueError: no bad"):
        processes.first_call(["bad"], {}, 2)


def test_names_are_unique():
    for device in ("cpu", "cuda"):
        names = [row.name for row in ROWS if row.device == device]
        assert len(names) == len(set(names))


def test_the_figures_are_in_the_table():
    limits = {(r.device, r.name): r.target for r in ROWS if r.target}
    assert limits["cuda", "chain"].seconds == 0.65e-3
    assert limits["cpu", "chain"].of_numpy == 0.2
    assert limits["cpu", "a new fused kernel"].seconds == 15e-3
    assert limits["cuda", "sort"].seconds == 1.8e-3
    assert limits["cuda", "1 GiB from a NumPy array"].seconds == 2**30 / 45e9
    assert limits["cuda", "launch of a three-array kernel"].seconds == 4e-6
    assert limits["cuda", "first call of a kernel"].seconds == 40e-3
    assert limits["cuda", "first call of a kernel from the disk cache"].seconds == 10e-3
    assert limits["cpu", "first call of a loop"].seconds == 20e-3
    assert limits["cpu", "compiling a function of 60 lines"].of_best == 0.1
    assert limits["cuda", "n-body kernel"].of_best == limits["cpu", "n-body @jit"].of_best == 1.0
    assert limits["cpu", "n-body @cuda.jit of few threads"].of_best == 1e-3


def test_reasons_name_rows():
    reasons = tomllib.loads((FOLDER / "reasons.toml").read_text(encoding="utf-8"))
    assert set(reasons) == {"cpu", "cuda"}
    for device, given in reasons.items():
        assert set(given) <= {row.name for row in ROWS if row.device == device}


def test_bytes_that_must_move():
    rows = module("rows")
    chain, squares = rows.with_targets("cuda")[:2]
    assert chain.moved == 20 * 2**27 and squares.moved == 8 * 2**27
    kernels = {row.name: row for row in module("kernel_rows").rows("cuda")}
    assert kernels["chain kernel"].moved == chain.moved
    assert kernels["histogram of bytes kernel"].moved == 2**26 + 1024
    assert kernels["n-body kernel"].moved == 0


def test_targets():
    target = module("row").Target
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

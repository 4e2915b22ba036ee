"""The demonstration: the programs, their checks, the pictures and the report.

NumPy stands on both sides here (`treadle.demo.numpy_side`), so that what is tested is the
demonstration itself; treadle's results are compared by the demonstration when it runs. Programs
of kernels have treadle on one side, on the CPU.
"""

import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import xml.etree.ElementTree
import zlib

import numpy
import pytest

import treadle as td
from treadle.demo import __main__ as command
from treadle.demo import child, machine, numpy_side, plot, png, programs, report, run, torch_programs

SIDE = "treadle.demo.numpy_side"
KERNELS = [name for name in programs.NAMES if "/" in name]


@pytest.fixture(autouse=True)
def on_cpu():
    with td.device("cpu"):
        yield


def small(name):
    """(program, results on the host) of a small run; skips if its data are missing."""
    program = programs.load(name, "treadle" if name.startswith("raw/") else SIDE)  # they take no host's arrays
    try:
        args = program.setup(**program.SIZES["small"])
    except ModuleNotFoundError as missing:
        pytest.skip(f"needs {missing.name}")
    return program, child.on_host(td if name in KERNELS else numpy_side, program.main(*args))


def error_of(program, ours, numpys):
    return getattr(program, "error", programs.largest_error)(ours, numpys)


def test_list_of_programs_is_the_folder():
    files = [p.relative_to(programs.folder()).with_suffix("") for p in programs.folder().rglob("*.py")]
    assert sorted(programs.ALL + programs.APART) == sorted(str(p) for p in files)


@pytest.mark.parametrize("name", programs.NAMES)
def test_text_is_numpys_with_the_import_changed(name):
    text = (programs.folder() / f"{name}.py").read_text(encoding="utf-8")
    program = programs.load(name, SIDE)
    if name not in KERNELS or "treadle as np" in text:
        assert text.count("import treadle as np\n") == 1 and program.np is numpy_side
    assert set(program.SIZES) == {"cpu", "cuda", "small"}
    assert program.TOLERANCE >= 0 and program.WHY
    assert programs.title(program) and programs.story(program)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_agree_with_numpy(name):
    program, result = small(name)
    text = (programs.folder() / f"{name}.py").read_text(encoding="utf-8")
    assert text.count("from treadle import" if name.startswith("kernels/") else "__global__") >= 1
    program = programs.load(name, SIDE)
    wanted = child.on_host(numpy_side, program.reference(*program.setup(**program.SIZES["small"])))
    assert error_of(program, result, wanted) <= program.TOLERANCE


@pytest.mark.parametrize("name", programs.NAMES)
def test_program_agrees_with_itself(name):
    program, result = small(name)
    assert error_of(program, result, result) <= program.TOLERANCE


@pytest.mark.parametrize("name", programs.NAMES)
def test_wrong_result_is_found(name):
    program, result = small(name)
    wrong = {k: v if k in ("points", "samples") else v[..., ::-1] + 1 if v.ndim else v + 1
             for k, v in result.items()}
    assert not error_of(program, wrong, result) <= program.TOLERANCE


@pytest.mark.parametrize("name", programs.NAMES)
def test_pictures_are_png(name):
    program, result = small(name)
    if not hasattr(program, "pictures"):
        pytest.skip("the program draws no pictures")
    for picture in program.pictures(result).values():
        assert png.png(picture).startswith(png.SIGNATURE)


def test_black_scholes_is_right():
    """Put and call differ by the forward's present value; and one price from a textbook."""
    program = programs.load("black_scholes", SIDE)
    price, strike, years = (numpy.array([x]) for x in (100.0, 95.0, 0.5))
    result = program.main(price, strike, years)
    forward = price - strike * numpy.exp(-program.RATE * years)
    assert result["call"] - result["put"] == pytest.approx(forward, abs=1e-6)
    from statistics import NormalDist

    x = numpy.linspace(-5, 5, 101)
    exact = [NormalDist().cdf(v) for v in x]
    assert program.normal_cdf(x) == pytest.approx(exact, abs=7.5e-8)


def test_heat_conserves_symmetry_and_decays():
    program = programs.load("heat", SIDE)
    plate = numpy.zeros((9, 9), dtype=numpy.float32)
    plate[4, 4] = 1
    end = program.main(plate, 5)["plate"]
    assert numpy.allclose(end, end.T) and numpy.allclose(end, end[::-1])
    assert 0 < end.max() < 1 and end.min() >= 0
    assert plate[4, 4] == 1  # main works on a copy


def test_largest_error_refuses_what_cannot_be_compared():
    a = numpy.array([1.0, 2.0])
    infinite = float("inf")
    assert programs.largest_error({"a": a}, {"a": a}) == 0
    assert programs.largest_error({"a": a + numpy.array([0, 0.02])}, {"a": a}) == pytest.approx(0.01)
    assert programs.largest_error({"a": a}, {"b": a}) == infinite
    assert programs.largest_error({"a": a[:1]}, {"a": a}) == infinite
    assert programs.largest_error({"a": a.astype(int)}, {"a": a}) == infinite
    assert programs.largest_error({"a": a * numpy.nan}, {"a": a}) == infinite


def chunks(data):
    """The chunks of a PNG file, their checksums verified."""
    at, found = 8, []
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        found.append((kind, body))
        at += 12 + size
    return found


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (1, 1)])
def test_png_holds_the_pixels(shape):
    picture = numpy.random.default_rng(0).integers(0, 256, shape).astype(numpy.uint8)
    found = dict(chunks(png.png(picture)))
    assert struct.unpack(">II", found[b"IHDR"][:8]) == (7 if shape[1] == 7 else 1, shape[0])
    rows = numpy.frombuffer(zlib.decompress(found[b"IDAT"]), numpy.uint8).reshape(shape[0], -1)
    assert (rows[:, 0] == 2).all()
    assert (numpy.cumsum(rows[:, 1:], axis=0, dtype=numpy.uint8) == picture.reshape(shape[0], -1)).all()


def test_png_animates():
    frames = [numpy.full((2, 3), i, dtype=numpy.uint8) for i in range(3)]
    kinds = [kind for kind, _ in chunks(png.png(frames))]
    assert kinds == [b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"fcTL", b"fdAT", b"IEND"]


@pytest.mark.parametrize("picture", [[], numpy.zeros((2, 2)), numpy.zeros((2, 2, 2), numpy.uint8),
                                     numpy.zeros((0, 2), numpy.uint8)])
def test_png_refuses(picture):
    with pytest.raises(ValueError, match="png"):
        png.png(picture)


def rows_of(events):
    row = run.Row("heat")
    for event in events:
        row.take(event)
    return row


def sample_rows(tmp_path):
    """One row of every kind, with characters that HTML must escape."""
    png.write_png(tmp_path / "p.png", numpy.zeros((4, 4), numpy.uint8))
    start = {"event": "start", "title": "a < b & `c`", "story": ["see `np.x` & <y>"], "size": {"n": 5},
             "tolerance": 1e-5, "why": '"rounding"'}
    times = [{"event": "numpy", "seconds": 1.0}, {"event": "first", "seconds": 0.5}]
    fast = [{"event": "treadle", "seconds": 0.01}]
    picture = [{"caption": "a & b", "path": str(tmp_path / "p.png")}]
    good = {"event": "done", "error": 1e-7, "ok": True, "pictures": picture}
    wrong = {"event": "done", "error": None, "ok": False, "pictures": []}
    missing = {"event": "missing", "package": "scikit-image"}
    broken = rows_of([dict(start)])
    broken.note, broken.traceback = "ended <badly>", "Traceback\n<x>"
    return [rows_of([dict(start), *times, *fast, good]), rows_of([dict(start), *times, *fast, wrong]),
            rows_of([dict(start), missing]), broken]


def test_report_is_well_formed_and_self_contained(tmp_path):
    rows = sample_rows(tmp_path)
    assert [row.state for row in rows] == ["ok", "wrong", "missing", "failed"]
    text = report.page(rows, {"Processor": "a & b"}, 0.0)
    page = xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    prefix = "{http://www.w3.org/1999/xhtml}"
    images = [node.attrib["src"] for node in page.iter(f"{prefix}img")]
    assert len(images) == 1 and images[0].startswith("data:image/png;base64,")
    assert not [n for n in page.iter() if n.tag in (f"{prefix}link", f"{prefix}script")]
    assert "url(" not in text and "@import" not in text
    assert "100×" in text and "ended &lt;badly&gt;" in text and "pip install scikit-image" in text


def test_headline_counts_programs_of_one_text(tmp_path):
    good = sample_rows(tmp_path)[0]
    assert "1 NumPy programs" in report.headline([good]) and "100×" in report.headline([good])
    good.kernels = True
    assert report.headline([good]) == "No program ran to its end"


def test_failures_decide_the_exit_code(tmp_path):
    good, wrong, missing, broken = sample_rows(tmp_path)
    assert not run.failed([good, missing])
    assert run.failed([good, wrong]) and run.failed([good, broken])


def test_table_and_progress(tmp_path):
    rows = sample_rows(tmp_path)
    lines = run.table(rows).splitlines()
    assert len(lines) == 2 + len(rows) and "10.0 ms" in lines[2] and "100×" in lines[2]
    out = io.StringIO()
    progress = run.Progress(1, out)
    progress.begin("a < b")
    progress.show(rows[0], "start")
    progress.show(rows[0], "numpy")
    progress.end(rows[0])
    assert out.getvalue().startswith("[1/1] a < b") and out.getvalue().endswith("ok\n")


@pytest.mark.parametrize(("seconds", "text"), [(None, "–"), (12.34, "12.3 s"), (1.234, "1.23 s"),
                                              (0.0123, "12.3 ms"), (1.5e-4, "150 µs")])
def test_durations(seconds, text):
    assert run.duration(seconds) == text


def test_command_end_to_end(tmp_path, capfd):
    asked = ["heat", "monte_carlo_pi", "--module", SIDE, "--size", "small", "--output", str(tmp_path)]
    assert command.main(asked) == 0
    assert "report.html" in capfd.readouterr().out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Heat equation" in page and "Monte-Carlo π" in page


def test_kernels_end_to_end(tmp_path, capfd):
    asked = ["kernels/life", "--device", "cpu", "--size", "small", "--output", str(tmp_path)]
    assert command.main(asked) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Game of Life" in page and "examples/kernels/life.py" in page
    assert (tmp_path / "kernels-life-1.png").exists()


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_run_by_themselves(name, tmp_path):
    """`python examples/kernels/life.py`: compared with NumPy, timed, pictures written."""
    program = programs.load(name)
    sizes = [word for key, value in program.SIZES["small"].items() for word in (f"--{key}", str(value))]
    script = str(programs.folder() / f"{name}.py")
    package = str(pathlib.Path(td.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": package, "TREADLE_DEVICE": "cpu", "TREADLE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, script, *sizes], cwd=tmp_path, capture_output=True, text=True,
                          check=True, env=env)
    assert done.stdout.startswith("cpu: first call") and f": {program.WHY}" in done.stdout
    assert len(list(tmp_path.glob("*.png"))) == ("pictures" in vars(program))


def test_command_reports_a_module_that_fails(tmp_path, monkeypatch, capfd):
    """A module whose sums are wrong fails the comparison; one that raises is shown as failed."""
    (tmp_path / "crooked.py").write_text(
        "from treadle.demo.numpy_side import *\nimport numpy\n"
        "from treadle.demo.numpy_side import asnumpy, evaluate, synchronize\n"
        "from numpy import asarray, ndarray\n"
        "def dot(a, b): return numpy.dot(a, b) + 1e-3\nrandom = None\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(sys.path)}")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows, _ = run.run(["matmul", "heat"], "crooked", size="small", folder=tmp_path)
    assert [row.state for row in rows] == ["wrong", "ok"]
    rows, _ = run.run(["monte_carlo_pi"], "crooked", size="small", folder=tmp_path)
    assert rows[0].state == "failed" and "default_rng" in rows[0].note
    assert run.failed(rows)


def test_missing_package_is_a_skip(tmp_path, monkeypatch):
    (tmp_path / "sklearn.py").write_text("raise ModuleNotFoundError('no', name='sklearn')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(sys.path)}")
    rows, _ = run.run(["kmeans"], SIDE, size="small", folder=tmp_path)
    assert rows[0].state == "missing" and "scikit-learn" in rows[0].note


def test_curves_are_well_formed():
    text = plot.curves({"a < b": [2.0, 0.5, 0.01], "c": [1.0, 0.9]}, "epoch", "loss")
    page = xml.etree.ElementTree.fromstring(text)
    prefix = "{http://www.w3.org/2000/svg}"
    lines = [[tuple(map(float, p.split(","))) for p in n.attrib["points"].split()] for n in page.iter(f"{prefix}polyline")]
    assert [len(line) for line in lines] == [3, 2] and lines[0][0][1] < lines[0][1][1] < lines[0][2][1]
    shown = [n.text for n in page.iter(f"{prefix}text")]
    assert {"a < b", "c", "epoch", "loss", "0.1", "2"} <= set(shown)
    assert all(0 <= x <= plot.WIDTH and 0 <= y <= plot.HEIGHT for line in lines for x, y in line)


def torch_row(tmp_path, monkeypatch, size, theirs):
    monkeypatch.setattr(torch_programs, "pytorch", lambda: theirs)
    rows, _ = run.run(["torch/digits_classifier"], device="cpu", size=size, folder=tmp_path)
    return rows[0]


def test_torch_program_learns(tmp_path, monkeypatch):
    """The whole training: at least 97 % of the test digits."""
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(td.__file__).parents[1]))
    row = torch_row(tmp_path, monkeypatch, "cpu", None)
    assert row.state == "ok" and row.error <= 0.03 and row.ratio is None and "PyTorch is not installed" in row.note
    page = xml.etree.ElementTree.fromstring(report.page([row], {}, 0.0).removeprefix("<!DOCTYPE html>\n"))
    (image,) = page.iter("{http://www.w3.org/1999/xhtml}img")
    assert image.attrib["src"].startswith("data:image/svg+xml;base64,")


def test_torch_program_beside_another(tmp_path, monkeypatch):
    """treadle plays PyTorch: the row has its time, and no part in the headline."""
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(td.__file__).parents[1]))
    row = torch_row(tmp_path, monkeypatch, "small", ([sys.executable, "-m", "treadle"], {}))
    assert row.state == "ok" and row.numpy > 0 and "(PyTorch)" in run.table([row])
    assert report.headline([row]) == "No program ran to its end"
    assert (tmp_path / "torch-digits_classifier.svg").read_text(encoding="utf-8").count("<polyline") == 2
    row = torch_row(tmp_path, monkeypatch, "small", ([sys.executable, "-c", "raise SystemExit('no torch')"], {}))
    assert row.state == "failed" and row.note == "no torch"


@pytest.mark.parametrize(("asked", "said"), [(["heet"], "no program heet; did you mean 'heat'?"),
                                             (["--device", "gpu"], 'unknown device "gpu"'),
                                             (["--device", "cuda:99"], "--device: cuda:99: ")])
def test_what_there_is_not_is_refused(asked, said, capsys):
    with pytest.raises(SystemExit) as stop:
        command.arguments(asked)
    assert stop.value.code == 2 and said in capsys.readouterr().err


def test_program_runs_by_itself(tmp_path):
    """`python examples/monte_carlo_pi.py` works as any script; NumPy answers the import here."""
    (tmp_path / "treadle.py").write_text("from numpy import *\nfrom numpy import random", encoding="utf-8")
    script = programs.folder() / "monte_carlo_pi.py"
    text = script.read_text(encoding="utf-8").replace("20_000_000", "1000")
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True,
                          check=True)
    assert "pi" in done.stdout


def test_machine_is_described():
    facts = machine.describe(SIDE)
    assert {"Processor", "Devices", "Computed on", "System", "Versions"} <= set(facts)
    assert json.dumps(facts)


def test_order_without_a_gpu():
    """What suits a CPU comes first, what is for a GPU last; nothing is lost; with a GPU the order stays."""
    order = programs.in_order(programs.ALL, False)
    assert sorted(order) == sorted(programs.ALL) and programs.in_order(programs.ALL, True) == list(programs.ALL)
    assert order[: len(programs.CPU_FIRST)] == list(programs.CPU_FIRST)
    assert {n in programs.FOR_GPU for n in order[-len(programs.FOR_GPU) :]} == {True}
    assert programs.in_order(["matmul", "heat"], False) == ["heat", "matmul"]
    assert programs.FOR_GPU | programs.WITH_COPIES <= set(programs.ALL) and not set(programs.CPU_FIRST) & programs.FOR_GPU
    assert not order[0].startswith("raw/"), "the first row needs no compiler"


@pytest.mark.parametrize(("name", "ratio", "on_gpu", "text"), [
    ("heat", 0.5, False, ""), ("raw/life", 0.5, False, "written for a GPU"), ("raw/life", 0.5, True, ""),
    ("vector_addition", 0.1, False, "written for a GPU; slower: its copies to the device and back are counted"),
    ("vector_addition", 0.1, True, "slower: its copies to the device and back are counted"),
    ("vector_addition", 2.0, True, ""), ("vector_addition", None, True, ""),
])  # fmt: skip
def test_remarks(name, ratio, on_gpu, text):
    assert programs.remark(name, ratio, on_gpu) == text


def demo(tmp_path, *args, **env):
    package = str(pathlib.Path(td.__file__).parents[1])
    command = [sys.executable, "-m", "treadle.demo", *args, "--device", "cpu", "--output", str(tmp_path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                            env={**os.environ, "PYTHONPATH": package, **env})  # fmt: skip


def test_stopped_demo_leaves_a_whole_page(tmp_path):
    """Rows come one by one through a pipe; Ctrl-C ends it with what has run, in the table and on the page."""
    import signal

    with demo(tmp_path, "heat", "mandelbrot", "kernels/life") as process:
        told = []
        for line in process.stdout:
            told.append(line)
            if line.rstrip().endswith("ok"):
                page = (tmp_path / "report.html").read_text(encoding="utf-8")
                xml.etree.ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
                os.killpg(process.pid, signal.SIGINT)
                break
        told += process.stdout.readlines()
    text = "".join(told)
    assert process.returncode == 130 and "stopped: 1 of 3 programs have run" in text and "Traceback" not in text
    assert text.index("Heat equation") < text.index("stopped") < text.rindex("Heat equation")
    assert "1 of 3 programs have run" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_without_a_compiler(tmp_path):
    """A program in CUDA C++ says what it wants, and fails nothing."""
    with demo(tmp_path, "raw/doubling", "--size", "small", PATH=str(tmp_path), TREADLE_CACHE_DIR=str(tmp_path)) as process:
        text = process.stdout.read()
    assert process.returncode == 0, text
    assert "skipped: not run: CUDA C++ on the CPU needs a C++ compiler on PATH" in text and "1/1] Doubling" in text

"""The adviser: planted faults are found at their lines, clean programs are left alone, and what is said is true."""

import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import doctor_programs
import pytest

import treadle as td
from treadle._observe import _findings, _source

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]


def run(*args, cwd=None, **env):
    """(status, output, errors) of python -m treadle."""
    command = [sys.executable, "-m", "treadle", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **env}, timeout=120)
    return done.returncode, done.stdout, done.stderr


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """{name: (findings, text)} of all programs: one process for each device, with an empty cache."""
    everything = {}
    for device in ("cpu", "null"):
        names = [n for n, d, _ in doctor_programs.FAULTS + doctor_programs.CLEAN if d == device]
        env = {**os.environ, "TREADLE_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
        command = [sys.executable, str(HERE / "doctor_side.py"), device, *names]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=240)
        assert done.returncode == 0, done.stderr[-3000:]
        everything.update(json.loads(done.stdout))
    return everything


@pytest.mark.parametrize("name", [n for n, *_ in doctor_programs.FAULTS])
def test_planted_fault_is_found(found, name):
    (text,) = (t for n, _, t in doctor_programs.FAULTS if n == name)
    ((number, line),) = [(i, s) for i, s in enumerate(text.splitlines(), 1) if "# FAULT" in s]
    wanted = line.partition("# FAULT ")[2]
    if found[name] is None:
        pytest.skip("needs a C++ compiler")
    here = [f for f in found[name][0] if f["id"] == wanted and f["line"] == f"{name}.py:{number}"]
    assert here, found[name][1]
    (finding,) = here
    assert finding["code"] == line.strip() and finding["what"] and finding["change"] and finding["how"]
    assert finding["calls"] >= 1 and finding["seconds"] >= 0
    if wanted == "memory":
        assert finding["saved"] is None
    elif wanted not in ("wait", "float64"):  # a wait on the CPU costs nothing, and a busy machine may hide the other
        assert finding["saved"] > 0
    assert finding["line"] in found[name][1] and finding["what"] in found[name][1]


def test_every_question_has_a_program():
    planted = {t.partition("# FAULT ")[2].split("\n")[0] for _, _, t in doctor_programs.FAULTS}
    assert planted == {row[0] for row in _findings.ROWS}
    assert len(doctor_programs.FAULTS) >= 20 and len(doctor_programs.CLEAN) >= 10


@pytest.mark.parametrize("name", [n for n, *_ in doctor_programs.CLEAN])
def test_clean_program_is_left_alone(found, name):
    assert found[name][0] == [], found[name][1]
    assert "nothing to change" in found[name][1]


def test_page_lists_the_questions():
    page = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    for name, question, how, _ in _findings.ROWS:
        assert f"| `{name}` | {question} | {how} |" in page


SLOW = "import numpy as np\nx = np.linspace(0, 1, 60000)\ns = 0.0\nfor i in range(4000):\n    s += x[i]\nprint(s > 0)\n"


def test_script_module_and_text(tmp_path):
    """The program prints and exits as without; what was found goes to standard error."""
    path = write(tmp_path, "prog.py", SLOW + "raise SystemExit(3)\n")
    for args, place in ((["prog.py"], "prog.py:5"), (["-m", "prog"], "prog.py:5"), (["-c", SLOW], "<string>:5")):
        status, out, err = run("--device", "cpu", "--doctor", *args, cwd=tmp_path)
        assert (status, out) == (0 if args[0] == "-c" else 3, "True\n"), err
        assert f"{place}  reads 4000 elements one by one" in err and "s += x[i]" in err, err
        assert "s += x[:4000].sum()" in err and "(measured: " in err
    assert path.exists()


def test_json_and_files(tmp_path):
    write(tmp_path, "prog.py", SLOW)
    status, out, err = run("--device", "cpu", "--doctor=json", "prog.py", cwd=tmp_path)
    facts = json.loads(err)
    assert (status, out) == (0, "True\n") and facts["device"] == "cpu"
    (finding,) = facts["findings"]
    assert (finding["id"], finding["line"], finding["calls"]) == ("element-read", "prog.py:5", 4000)
    assert finding["measured"] and 0 < finding["saved"] <= finding["seconds"]
    for name in ("f.json", "f.html"):
        assert run("--device", "cpu", f"--doctor={name}", "prog.py", cwd=tmp_path)[0] == 0
    assert json.loads((tmp_path / "f.json").read_text())["findings"][0]["line"] == "prog.py:5"
    well_formed((tmp_path / "f.html").read_text(), "prog.py:5", "reads 4000 elements", "<svg")
    status, _, err = run("--device", "cpu", "--doctor=/no/such/folder/f.html", "prog.py", cwd=tmp_path)
    assert status == 0 and "--doctor=/no/such/folder/f.html: " in err and "Traceback" not in err


def well_formed(text, *words):
    """One file, which parses strictly, needs no other, and follows light and dark."""
    xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    assert "prefers-color-scheme:dark" in text
    assert not [
        w
        for w in ("<link", "src=", "@import", "url(", "http://", "https://")
        if w in text.replace("http://www.w3.org", "")
    ]
    for word in words:
        assert word in text, word


def test_explicit_programs():
    x = td.ones(3000, device="cpu")
    with td.doctor() as d:
        for i in range(1000):
            float(x[i])
    assert [f.id for f in d.findings] == ["element-read"] and d.findings[0].calls == 1000
    with d:
        td.evaluate(x + 1)
    assert d.findings == [] and "nothing to change" in str(d)
    with d, pytest.raises(RuntimeError, match="open already"):
        d.__enter__()
    with pytest.raises(TypeError, match="no function to call"):
        d()


def test_watched_function(capsys):
    @td.doctor
    def work(n, by=2):
        "Text."
        return n * by

    assert work(3, by=4) == 12 and (work.__name__, work.__doc__) == ("work", "Text.")
    assert "treadle doctor: nothing to change" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["up", "down"])
def test_many_copies_have_a_price(tmp_path, way):
    """600 copies of small arrays are not worth 0.0 ms."""
    body = {"up": "    y = x + td.asarray(h)\n    td.evaluate(y)\n", "down": "    x.get()\n"}[way]
    text = f"import numpy, treadle as td\nh = numpy.ones(2000)\nx = td.ones(2000)\ntd.evaluate(x)\nfor i in range(600):\n{body}"
    write(tmp_path, "prog.py", text)
    _, _, err = run("--device", "null", "--doctor=json", "prog.py", cwd=tmp_path)
    (copies,) = [f for f in json.loads(err)["findings"] if f["id"] == "transfer"]
    assert copies["calls"] == 600 and copies["saved"] > 1e-4


@pytest.mark.parametrize(
    "change",
    [
        "batch = numpy.full(5000, i * 1.0)",
        "batch += 1",
        "batch[:] = i",
        "batch.fill(i)",
        "numpy.copyto(batch, i)",
        "step(batch)",
    ],
)
def test_arrays_that_change_are_not_the_same_array(tmp_path, change):
    """Batches that are different each time are uploaded once each: nothing to say."""
    text = (
        "import numpy, treadle as td\ntotal, batch = td.zeros(5000), numpy.zeros(5000)\ndef step(x):\n    x += 1\n"
        f"for i in range(20):\n    {change}\n    total = total + td.asarray(batch)\n    td.evaluate(total)\n"
    )
    write(tmp_path, "prog.py", text)
    _, _, err = run("--device", "null", "--doctor=json", "prog.py", cwd=tmp_path)
    assert [f["id"] for f in json.loads(err)["findings"] if f["id"] in ("transfer", "round-trip")] == []


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("x * np.float64(2)", True), ("x * np.ones(50000)", True), ("x / y", True), ("np.add(x, np.float64(1))", True),
        ("x * 2.0", False), ("x * np.float32(2)", False), ("x.astype(np.float64)", False), ("y * 2", False),
        ("x.sum(dtype=np.float64)", False), ("y * y", False), ("x > 0.5", False),
    ],
)  # fmt: skip
def test_claims_of_float64_are_true(expression, told, monkeypatch):
    """What is told follows from dtypes alone: the trial, whose times other load changes, has fixed figures here."""
    import numpy as np

    monkeypatch.setattr("treadle._observe._trials.precisions", lambda nbytes, device: [2.0, 1.0])
    space = {"np": np}
    space["x"], space["y"] = (td.ones(50000, dtype=t, device="cpu") for t in ("float32", "float64"))
    code = compile(f"for _ in range(10):\n    r = {expression}\n", "<string>", "exec")
    with td.doctor() as d, td.device("cpu"):
        exec(code, space)
    assert (np.dtype(space["r"].dtype) == np.float64) or not told
    assert [f.id for f in d.findings if f.id == "float64"] == ["float64"] * told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("if i % 4 == 0: seen.append(x.sum().item())", []),
        ("seen.append(x.sum().item())", ["demand"]),
        ("seen.append(parts['one'].sum().item())", ["demand"]),
        ("seen.append((x + i)[3].item())", ["demand"]),
        ("seen.append(x[i])", []),
    ],
)
def test_looks_are_told_apart(line, told):
    """Elements that are there, values that are computed for each look, looks in some rounds only."""
    x = td.ones(30000, device="cpu")
    space = {"x": x, "seen": [], "parts": {"one": x}}
    text = f"for i in range(60):\n    x = x * 0.5\n    parts['one'] = x\n    {line}\n"
    import linecache

    linecache.cache["<looks>"] = len(text), None, text.splitlines(True), "<looks>"
    with td.doctor() as d:
        exec(compile(text, "<looks>", "exec"), space)
    _source.at.cache_clear()  # the file's name stands for several texts here
    found = [f.id for *_, finder in _findings.ROWS for f in finder(d.seen)]  # whatever it saves
    assert [name for name in found if name in ("demand", "element-read")] == told, str(d)


def test_kernels_compiled_again_are_named(found):
    (finding,) = [f for f in found["compile-types"][0] if f["id"] == "compile"]
    assert "kernel scale is compiled 10 times" in finding["what"] and "argument 1 came as" in finding["what"]


# ---- --explain and --profile ----


def test_explain_as_json_and_page(tmp_path):
    text = SLOW + "z = np.sin(x) * 2\nprint(z.sum() > 0)\nfor i in range(1200):\n    w = np.add(np.ones(3), 1)\n"
    write(tmp_path, "prog.py", text)
    status, _, err = run("--device", "cpu", "--keep", "loops", "--explain=json", "prog.py", cwd=tmp_path)
    facts = json.loads(err)
    ran = {(r[1], r[5]): r for r in facts["tables"][0]["rows"]}
    assert status == 0
    assert ran["element", "prog.py:5"][2:4] == [4000, 4000]
    assert ran["add", "prog.py:10"][2:4] == [1200, 3600]  # three elements a call, however many operands
    assert ran["ones", "prog.py:10"][2:4] == [1200, 3600]
    assert not [r for r in ran if "_crossover" in r[1] or "treadle/" in r[1]]
    assert "prog.py:5" in [f["line"] for f in facts["findings"]]
    assert run("--device", "cpu", "--keep", "loops", "--explain=e.html", "prog.py", cwd=tmp_path)[0] == 0
    well_formed((tmp_path / "e.html").read_text(), "what ran where", "prog.py:5", "<svg")


def test_own_measurements_are_not_the_programs(tmp_path):
    """The crossover is measured in an empty cache, the bandwidth and the trials after the program: no table has them."""
    write(tmp_path, "prog.py", "import numpy as np\nx = np.ones(300000)\nprint((x * 2).sum())\n")
    _, _, err = run(
        "--device",
        "cpu",
        "--explain=json",
        "--profile=p.json",
        "--doctor=d.json",
        "prog.py",
        cwd=tmp_path,
        TREADLE_CACHE_DIR=str(tmp_path),
    )
    tables = json.loads(err[err.index("{\n") : err.rindex("}") + 1])["tables"]
    lines = {
        row[-1] for table in tables for row in table["rows"] if table["title"].startswith(("what ran", "compiled"))
    }
    assert lines and all(line.startswith("prog.py:") for line in lines), lines
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    assert {
        e["args"]["line"].rpartition("/")[2].partition(":")[0] for e in events if e.get("cat") in ("kernel", "compile")
    } == {"prog.py"}


def test_profile_page(tmp_path):
    write(tmp_path, "prog.py", SLOW)
    status, out, err = run("--device", "cpu", "--profile=p.html", "prog.py", cwd=tmp_path)
    assert (status, out) == (0, "True\n"), err
    well_formed((tmp_path / "p.html").read_text(), "Timeline", "<svg", "prog.py", "By line")


def test_an_empty_profile_has_a_page(tmp_path):
    with td.profile() as p:
        pass
    p.save(tmp_path / "p.html")
    well_formed((tmp_path / "p.html").read_text(), "nothing ran")


KERNEL = "from treadle import cuda\n\n@cuda.jit\ndef {name}(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] += 1\n\ndef go(x):\n    {name}[1, 256](x)\n"


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_kernels_have_their_names_and_lines(tmp_path, monkeypatch, device):
    """Two files with the same kernel share its code; each launch has its own name and line, with bytes."""
    import importlib

    import numpy

    monkeypatch.syspath_prepend(str(tmp_path))
    write(tmp_path, "doctor_one.py", KERNEL.format(name="first"))
    write(tmp_path, "doctor_two.py", KERNEL.format(name="second"))
    one, two = importlib.import_module("doctor_one"), importlib.import_module("doctor_two")
    with td.device(device):
        x = td.asarray(numpy.zeros(200, numpy.float32))
        with td.profile() as p:
            one.go(x)
            two.go(x)
        names = [(r["name"], pathlib.Path(r["line"]).name, r["nbytes"]) for r in p.rows() if r["kind"] == "kernel"]
        assert sorted(names) == [("first", "doctor_one.py:10", 800), ("second", "doctor_two.py:10", 800)]
        assert " k_" not in p.table()
        assert x.get().tolist() == [2.0] * 200


def test_kernels_of_cuda_text_have_bytes():
    with td.device("cpu"):
        x = td.ones(500, dtype=td.float32)
        kernel = td.RawKernel(
            'extern "C" __global__ void twice(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }', "twice"
        )
        try:
            kernel((1,), (32,), (x, 32))
        except td.MissingLibraryError:
            pytest.skip("needs a C++ compiler")
        with td.profile() as p:
            kernel((1,), (32,), (x, 32))
    (row,) = [r for r in p.rows() if r["kind"] == "kernel"]
    assert (row["name"], row["nbytes"]) == ("twice", 2000) and row["rate"] > 0

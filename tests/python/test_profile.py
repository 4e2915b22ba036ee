"""td.profile: what is recorded, with which times, bytes and lines; the table; the trace."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import treadle as td

N = 1000


def line_of(text):
    """"test_profile.py:12" of this file's only line that ends so."""
    with open(__file__, encoding="utf-8") as f:
        (found,) = [i for i, line in enumerate(f, 1) if line.rstrip().endswith("# " + text)]
    return f"{os.path.basename(__file__)}:{found}"


def kinds(p, *names):
    return [r for r in p.records if r.kind in names]


def test_kernels_copies_and_memory(dev, rng):
    host = rng.standard_normal(N)
    td.evaluate()
    with td.profile() as p:
        x = td.asarray(host, device=dev)
        y = x * 2 + 1  # written here
        td.evaluate(y)  # asked here
        y.get()
        td.synchronize()
    (kernel,) = kinds(p, "kernel")
    assert kernel.name == "multiply add"
    assert kernel.device == dev
    assert kernel.nbytes == 2 * 8 * N
    assert kernel.line.endswith(line_of("written here"))
    assert kernel.asked.endswith(line_of("asked here"))
    assert kernel.begin <= kernel.end
    assert kernel.on <= kernel.off
    assert not kernel.failed
    assert sum(r.nbytes for r in kinds(p, "copy_in")) == 8 * N
    assert sum(r.nbytes for r in kinds(p, "copy_out")) in (8 * N, 0)  # the CPU gives its memory away
    assert sum(r.nbytes for r in kinds(p, "alloc")) >= 2 * 8 * N
    assert kinds(p, "wait")
    assert all(r.begin <= r.end for r in p.records)
    assert all(r.on is None or r.on <= r.off for r in p.records)


@pytest.mark.parametrize(
    ("f", "name", "nbytes"),
    [
        (lambda x: x + 1, "add", 16 * N),
        (lambda x: x + x, "add", 16 * N),
        (lambda x: x.reshape(10, -1) + x[:100], "add", 8 * (2 * N + 100)),
        (lambda x: td.arange(N, dtype="float64"), "arange", 8 * N),
        (lambda x: x.astype("float32"), "cast", 12 * N),
        (lambda x: (x * 2).sum(), "sum of multiply", 8 * N + 8),
        (lambda x: x.max(), "max of values", 8 * N + 8),
        (lambda x: (y := x.reshape(10, -1)) / y.sum(1, keepdims=True), "sum divide", 16 * N),
        (lambda x: (e := td.exp(x - x.max())) / e.sum(), "max subtract exp sum divide", 16 * N),
        (lambda x: td.maximum(y := x.reshape(10, -1), y.sum(1, keepdims=True)).max(1), "sum maximum max", 8 * N + 80),
        (lambda x: td.cumsum(x), "scan", 16 * N),
        (lambda x: td.random.random(N), "random", 8 * N),
    ],
)
def test_bytes_and_names(dev, f, name, nbytes):
    x = td.ones(N)
    td.evaluate(x)
    with td.profile() as p:
        td.evaluate(f(x))
    (kernel,) = kinds(p, "kernel")
    assert (kernel.name, kernel.nbytes) == (name, nbytes)


def test_compiling_and_loading(tmp_path):
    code = (
        "import treadle as td\n"
        "with td.profile() as p: (td.ones(9) * 3 + 1).get()\n"
        "print(*[r.kind for r in p.records if r.kind in ('compile', 'load')])\n"
    )
    env = {**os.environ, "TREADLE_CACHE_DIR": str(tmp_path), "TREADLE_DEVICE": "cpu"}
    said = [subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True) for _ in range(2)]
    assert [s.stderr for s in said] == ["", ""]
    assert said[0].stdout.split() == ["compile"]
    assert said[1].stdout.split() == ["load"]


def test_streams_have_lanes(dev):
    a, b = td.ones(N), td.zeros(N)
    td.evaluate(a, b)
    s = td.Stream()
    with td.profile() as p:
        td.evaluate(a + 1)
        td.copyto(b, a, stream=s)
        td.copyto(a, b, stream=s)
        s.synchronize()
    (kernel,), copies = kinds(p, "kernel"), kinds(p, "copy")
    assert [c.nbytes for c in copies] == [16 * N] * 2
    assert copies[0].stream == copies[1].stream != kernel.stream


def test_a_graph_is_seen(dev, rng):
    def f(x):
        for _ in range(5):
            x = td.cumsum(x)
        return x

    g = td.graph(f)
    x = td.asarray(rng.standard_normal(N))
    want = f(x).get()
    g(x)
    with td.profile() as p:
        np.testing.assert_array_equal(g(x).get(), want)
    names = [r.kind for r in kinds(p, "kernel", "graph")]
    assert len(names) == 5 if dev == "cpu" else "graph" in names
    assert sum(r.nbytes for r in kinds(p, "kernel", "graph")) == 5 * 16 * N


def test_the_trace_is_valid(dev, tmp_path):
    with td.profile() as p:
        x = td.ones(N)
        for _ in range(20):
            x = td.cumsum(x) * 0.5
        x.get()
    p.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    lanes = {}
    for e in events:
        if e["ph"] == "X":
            assert e["dur"] >= 0
            assert e["ts"] >= 0
            lanes.setdefault((e["pid"], e["tid"]), []).append(e)
    assert set(lanes) == set(names)
    assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {"host", dev}
    for (pid, _), spans in lanes.items():
        assert [e["ts"] for e in spans] == sorted(e["ts"] for e in spans)
        if pid > 1:  # a stream does one thing after the other
            assert all(a["ts"] + a["dur"] <= b["ts"] + 0.002 for a, b in zip(spans, spans[1:]))
    host = {(e["name"], e["ts"]) for e in lanes[1, next(t for p, t in lanes if p == 1)]}
    for e in lanes[next(k for k in lanes if k[0] > 1)]:  # nothing runs before it was asked for
        assert min(ts for name, ts in host if name == e["name"]) <= e["ts"] + 0.002


def test_the_table(dev):
    x = td.ones(N)
    td.evaluate(x)
    with td.profile() as p:
        for _ in range(7):
            td.evaluate(td.exp(x))  # in a loop
        x.sum().get()
    row = next(r for r in p.rows() if r["name"] == "exp")
    assert row["calls"] == 7
    assert row["nbytes"] == 7 * 16 * N
    assert row["line"].endswith(line_of("in a loop"))
    assert row["rate"] > 0
    assert row["share"] > 0
    text = p.table()
    assert text == str(p)
    assert text.splitlines()[0].split() == ["kind", "name", "calls", "total", "ms", "mean", "ms", "MB", "GB/s", "%",
                                            "peak", "line"]  # fmt: skip
    assert any("exp" in s and " 7 " in s and line_of("in a loop") in s for s in text.splitlines())
    assert len(p.table(limit=1).splitlines()) == 3


def test_nested_and_again(dev):
    p, q = td.profile(), td.profile()
    with p:
        td.evaluate(td.ones(3) + 1)
        with q:
            td.evaluate(td.ones(3) + 2)
        td.evaluate(td.ones(3) + 3)
    assert len(kinds(q, "kernel")) == 1
    assert len(kinds(p, "kernel")) == 3
    with p:
        pass
    assert p.records == []
    assert p.rows() == []
    with p, pytest.raises(RuntimeError, match="open already"):
        p.__enter__()
    td.evaluate(td.ones(3) + 4)
    assert p.records == []


def test_the_programs_error_is_kept(dev):
    with pytest.raises(ZeroDivisionError), td.profile() as p:
        td.evaluate(td.ones(3) + 1)
        1 / 0  # noqa: B018
    assert len(kinds(p, "kernel")) == 1
    with pytest.raises(td.OutOfMemoryError, match="asked"), td.profile() as p:
        td.evaluate(td.empty(1 << 55, "uint8"))
    assert [r.failed for r in kinds(p, "alloc")] == [True]


def test_threads_have_lanes(dev):
    def work():
        with td.device(dev):
            for _ in range(50):
                (td.ones(10) + 1).get()

    threads = [threading.Thread(target=work) for _ in range(4)]
    with td.profile() as p:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    kernels = kinds(p, "kernel")
    assert len(kernels) == 200
    assert len({r.thread for r in kernels}) == 4


def test_more_records_than_events_wait_for(dev):
    x = td.ones(4)
    n = 300 if dev == "null" else 10000
    with td.profile() as p:
        for _ in range(n):
            td.evaluate(x + 1)
    assert len(kinds(p, "kernel")) == n
    assert all(r.on is not None for r in kinds(p, "kernel"))


def test_a_whole_program(tmp_path):
    path = tmp_path / "all.json"
    code = "import treadle as td\nx = td.arange(1000.0)\nfor i in range(3):\n    float((x * i).sum())\n"
    (tmp_path / "program.py").write_text(code)
    env = {**os.environ, "TREADLE_PROFILE": str(path), "TREADLE_DEVICE": "null"}
    program = str(tmp_path / "program.py")
    r = subprocess.run([sys.executable, program], env=env, text=True, capture_output=True)
    assert r.returncode == 0
    assert r.stdout == ""
    assert "sum of" in r.stderr
    assert "program.py:4" in r.stderr
    assert any(e["name"].startswith("sum of") for e in json.loads(path.read_text())["traceEvents"])


def test_a_forked_child_is_not_profiled():
    code = (
        "import os, treadle as td\n"
        "with td.profile() as p:\n"
        "    (td.ones(3) + 1).get()\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        (td.ones(3) + 2).get(); os._exit(7)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
        "print(sum(r.kind == 'kernel' for r in p.records))\n"
    )
    env = {**os.environ, "TREADLE_DEVICE": "cpu"}
    r = subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True, timeout=120)
    assert (r.stdout.strip(), r.returncode) == ("1", 0), r.stderr

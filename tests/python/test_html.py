"""What notebooks show: arrays, tensors, profiles and graphs as HTML."""

import functools
import html
import html.parser
import warnings
import xml.etree.ElementTree

import numpy as np
import pytest

import treadle as td
from treadle import _core, torch
from treadle._observe import _html

VOID = {"br", "img", "hr"}


class Read(html.parser.HTMLParser):
    """The cells of a text's tables, its `pre`; every tag has to be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.tags, self.pre = [], [], set(), ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data
        if self.open and self.open[-1] == "pre":
            self.pre += data


ARRAYS = {
    "floats": lambda: td.linspace(0, 1, 7).reshape(7, 1) * np.ones(2),
    "cut": lambda: td.arange(100_000).reshape(100, 1000),
    "no axes": lambda: td.array(3.5),
    "empty": lambda: td.zeros((0, 3), "int8"),
    "complex": lambda: td.array([1 + 2j, 3]),
    "bool": lambda: td.array([True, False]),
    "bfloat16": lambda: td.ones(3, dtype=td.bfloat16),
    "view": lambda: td.arange(24.0).reshape(4, 6)[::2, 1::2].T,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_array(name):
    a = ARRAYS[name]()
    read = Read(a._repr_html_())
    assert read.cells == ["shape", "dtype", "device", str(a.shape), str(a.dtype), str(a.device)]
    assert read.pre == repr(a)
    assert len(read.pre) < 6000


def test_array_is_computed_once_like_repr():
    def launches(show):
        a = td.random.rand(1000) + 1
        b, unused = a * 2, a.sum()
        td.evaluate(a)
        before = _core.jit_stats()
        show(b)
        after = _core.jit_stats()
        return after["launches"] - before["launches"]

    assert launches(lambda b: b._repr_html_()) == launches(repr)


def test_array_raises_what_repr_raises():
    a = td.ones(3)
    with pytest.raises(TypeError):
        a._repr_html_(1)


@pytest.mark.parametrize("make", [
    lambda: torch.arange(6.0).reshape(2, 3),
    lambda: torch.ones(2000, 3),
    lambda: torch.zeros(0, 2, dtype=torch.int64),
    lambda: torch.tensor(True),
    lambda: torch.tensor([1.5, 2], requires_grad=True),
    lambda: (torch.ones(3, requires_grad=True) * 2).sum(),
    lambda: torch.nn.Parameter(torch.ones(2)),
    lambda: torch.ones(2, dtype=torch.bfloat16),
    lambda: torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2]), (2, 2)),
    lambda: torch.ones(2).as_subclass(type("Mine<b>", (torch.Tensor,), {})),
])  # fmt: skip
def test_tensor(make):
    t = make()
    read = Read(t._repr_html_())
    wanted = {"shape": str(tuple(t.shape)), "dtype": str(t.dtype), "device": str(t.device)}
    if t.requires_grad:
        wanted["requires_grad"] = "True"
    n = len(wanted)
    assert dict(zip(read.cells[:n], read.cells[n:])) == wanted and len(read.cells) == 2 * n
    assert read.pre == repr(t)


def test_tensor_inside_of_vmap():
    shown = []
    torch.vmap(lambda t: (shown.append((t._repr_html_(), repr(t))), t)[1])(torch.ones(3, 2))
    page, text = shown[0]
    assert Read(page).pre == text and Read(page).cells[3] == "(2,)"


def test_profile():
    a = td.random.rand(20_000)
    td.evaluate(a)
    with td.profile() as p:
        td.evaluate(td.exp(a) * 2)
        float(a.sum())
    shown = p._repr_html_()
    head = p.table().splitlines()[0]
    read = Read(shown)
    columns = len(_html_head())
    assert read.cells[:columns] == list(_html_head()) and all(c in head for c in _html_head())
    rows = [read.cells[i : i + columns] for i in range(columns, len(read.cells), columns)]
    assert len(rows) == min(len(p.rows()), 40)
    for row, shown_row in zip(p.rows(), rows):
        assert shown_row[0] == row["kind"] and shown_row[2] == str(row["calls"]) and shown_row[8] == row["line"]
    svg = xml.etree.ElementTree.fromstring(shown[shown.index("<svg") : shown.index("</svg>") + 6])
    bars = svg.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(bars) == sum(r.kind not in ("alloc", "free", "widen", "stride", "read") for r in p.records)
    for bar in bars:
        x, width = (float(bar.get(name).rstrip("%")) for name in ("x", "width"))
        assert 0 <= x and x + width <= 100.03
    assert any("exp multiply" in bar[0].text for bar in bars)


def _html_head():
    return td.profile.HEAD


def test_profile_of_nothing():
    with td.profile() as p:
        pass
    assert Read(p._repr_html_()).cells[0] == "kind"
    assert Read(td.profile()._repr_html_()).cells[0] == "kind"


def test_profile_says_what_it_leaves_out():
    from treadle._observe._profile import Record, profile

    p = profile()
    p.records = [Record("compile", f"k{i}", f"f{i}.py:1", "", "cpu", 0, 0, False, 0, 0.0, 1.0, None, None) for i in range(50)]
    p.dropped = 3
    shown = p._repr_html_()
    assert "… and 10 more" in shown and "3 records found no room" in shown
    assert shown.count("<rect") == 50
    p.records *= 100
    assert p._repr_html_().count("<rect") == 3000


def test_profile_escapes():
    from treadle._observe._profile import Record, profile

    p = profile()
    p.records = [Record("kernel", "<script>a & b", '<img>".py:1', "", "cpu", 0, 0, False, 8, 0.0, 1.0, 0.1, 0.9)]
    shown = p._repr_html_()
    read = Read(shown)
    assert "script" not in read.tags and "img" not in read.tags
    assert "<script>a & b" in read.cells and '<img>".py:1' in read.cells


def test_graph():
    @td.graph
    def step(x, y):
        return (td.sin(x) * y).sum(axis=0), td.matmul(x, y)

    assert "not been called" in step._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step(td.ones((30, 30)), td.ones((30, 30)))
    read = Read(step._repr_html_())
    assert read.cells[:4] == ["kind", "name", "bytes", "line"]
    rows = [read.cells[i : i + 4] for i in range(4, len(read.cells), 4)]
    assert len(rows) == step.kernels > 1
    kinds = [row[0] for row in rows]
    assert "kernel" in kinds and "gemm" in kinds
    assert any("sin" in row[1] for row in rows)
    assert all("test_html.py:" in row[3] for row in rows if row[0] == "kernel")
    bytes_of = {row[0]: row[2] for row in rows}
    assert bytes_of["gemm"] == f"{3 * 30 * 30 * 8:,}"
    assert "graph of step, 1 recorded" in step._repr_html_()
    step.clear()
    assert "not been called" in step._repr_html_()


def test_graph_without_a_name():
    g = td.graph(functools.partial(td.add, 1))
    assert "graph of a function" in g._repr_html_()


def test_texts_are_escaped():
    assert "<b>" not in _html.facts([("<b>", "<b>")], "<b>")
    assert "<b>" not in _html.table(["<b>"], [["<b>"]], "<b>", ["<b>"])

"""td.config.implicit_host: conversions to NumPy that nobody spelled out are counted, warned of or refused."""

import warnings

import numpy as np
import pytest

import treadle as td

IMPLICIT = ["np.asarray(t)", "np.array(t)", "np.asarray(t, dtype='float32')", "t.__array__()", "h.__setitem__(slice(None), t)", "h.__iadd__(t)", "np.add(t, t, out=h)", "np.ma.masked_array(t)"]  # fmt: skip
SPELLED = ["t.get()", "td.asnumpy(t)", "float(t[0])", "int(t[1])", "bool(t[1])", "t.tolist()", "t[0].item()", "t.tobytes()",
           "repr(t)", "str(t)", "np.add(t, t)", "np.exp(t)", "np.concatenate([t, t])", "t.to_device('cpu')", "td.asarray(t, device='cpu')",
           "list(t)", "complex(t[0])", "f'{t[0]}'", "td.sort(t)", "np.float64(t[0])", "np.copyto(h, t)"]  # fmt: skip


@pytest.fixture(autouse=True)
def fresh():
    td.config.implicit_host_sites(clear=True)
    yield
    td.config.implicit_host = "allow"
    td.config.implicit_host_sites(clear=True)


def scope():
    return {"td": td, "np": np, "t": td.arange(4.0) + 1, "h": np.zeros(4)}


@pytest.mark.parametrize("text", IMPLICIT)
def test_implicit(text, dev):
    eval(text, scope())
    sites = td.config.implicit_host_sites()
    if dev == "cpu":
        assert sites == {}
        return
    assert list(sites) == ["<string>:1"] and sites["<string>:1"][0] >= 1 and sites["<string>:1"][1] >= 8
    td.config.implicit_host = "error"
    with pytest.raises(TypeError, match=r"\.get\(\)"):
        eval(text, scope())


@pytest.mark.parametrize("text", SPELLED)
def test_spelled_out(text, dev):
    td.config.implicit_host = "error"
    eval(text, scope())
    assert td.config.implicit_host_sites() == {}


def test_counts_and_bytes_by_line(dev):
    t = td.arange(1000, dtype="float32")
    for _ in range(3):
        np.asarray(t)
    np.asarray(t[:10])
    sites = td.config.implicit_host_sites()
    if dev == "cpu":
        assert sites == {}
        return
    (first, a), (second, b) = sites.items()
    assert (a, b) == ((3, 12000), (1, 40))
    assert first.rpartition(":")[0] == __file__ and int(second.rpartition(":")[2]) == int(first.rpartition(":")[2]) + 1
    assert td.config.implicit_host_sites(clear=True) and td.config.implicit_host_sites() == {}


def test_one_warning_a_line(dev):
    t = td.arange(1000, dtype="float32")
    td.config.implicit_host = "warn"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            np.asarray(t)
        np.asarray(t)
    assert len(seen) == (0 if dev == "cpu" else 2)
    assert all("4000 bytes" in str(w.message) and w.filename == __file__ and w.category is RuntimeWarning for w in seen)


def test_config_is_checked():
    assert td.config.implicit_host == "allow"
    with pytest.raises(ValueError, match="'allow', 'warn', 'error'"):
        td.config.implicit_host = "never"
    assert td.config.implicit_host == "allow"

"""Arrays of two devices in one operation: one error, which names both and what to do."""

import numpy as np
import pytest

import treadle as td

# c lives on the CPU, n on the null device; ci, cm and ni, nm are indices and masks there.
REFUSED = """
c + n
n + c
c.__iadd__(n)
c == n
c ** n
divmod(c, n)
c @ n
td.matmul(c, n)
td.add(c, n)
td.add(c, c, out=n)
td.add(c, 1, where=nm)
np.add(c, n)
np.add(c, c, out=n)
td.where(cm, c, n)
td.where(nm, c, 1.0)
td.clip(c, n, 5)
td.concatenate([c, n])
td.concatenate([c, c], out=td.zeros(8, device="null"))
td.stack([c, n])
td.hstack([c, n])
td.append(c, n)
np.concatenate([c, n])
c.sum(out=td.asarray(0.0, device="null"))
td.cumsum(c, out=n)
td.dot(c, n)
td.vdot(c, n)
td.inner(c, n)
td.outer(c, n)
td.tensordot(c, n, 1)
td.einsum("i,i", c, n)
td.kron(c, n)
td.cross(c[:3], n[:3])
c[ni]
c[nm]
c[ni, None]
c.reshape(2, 2)[ni, ni]
td.take(c, ni)
c.take(ni)
td.compress(nm, c)
td.extract(nm, c)
td.put(c, ni, 1.0)
c.__setitem__(slice(None), n)
c.__setitem__(ci, n[:2])
c.__setitem__(ni, 1.0)
c.__setitem__(nm, 1.0)
c.__setitem__(cm, n[:3])
c.fill(n[:1].reshape(()))
td.full(4, n, device="cpu")
td.searchsorted(c, n)
td.digitize(c, n)
td.bincount(ci, weights=n[:2])
td.histogram(c, n)
td.lexsort([c, n])
td.isin(c, n)
td.isclose(c, n)
td.allclose(c, n)
td.array_equal(c, n)
td.array_equiv(c, n)
td.average(c, weights=n)
td.copyto(c, c, where=nm)
""".split("\n")[1:-1]


def names():
    c, n = td.arange(4.0, device="cpu"), td.arange(4.0, device="null")
    r = {"td": td, "np": np, "c": c, "n": n}
    for letter, device in ("c", "cpu"), ("n", "null"):
        r[letter + "i"] = td.asarray([0, 1], device=device)
        r[letter + "m"] = td.asarray([True, False, True, True], device=device)
    return r


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    scope = names()
    function = text.split("(")[0]
    if function.startswith("td.") and not hasattr(td, function[3:]):
        pytest.skip(f"there is no {function}")
    with pytest.raises(ValueError, match=r"arrays on (cpu and on null|null and on cpu); .*to_device") as error:
        eval(text, scope)
    assert "cpu" in str(error.value) and "null" in str(error.value)
    assert scope["c"].tolist() == scope["n"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["td.isclose(n, [0, 1, 2, 3])", "td.isin(n, [1])", "n[[0, 1]]", "n[[True] * 4]",
                                  "td.take(n, [0, 1], mode='wrap')", "td.array_equal(n, [1])", "n @ [1, 2, 3, 4.0]",
                                  "td.concatenate([n, [1.0]])", "td.append(n, 1)", "n + np.arange(4)",
                                  "np.arange(4) * n", "td.where(nm, n, [9.0] * 4)"])  # fmt: skip
def test_host_data_goes_where_the_array_is(text):
    """Whatever the default device is."""
    r = eval(text, names())
    assert r is False or r.device == "null"


def test_moves_on_request():
    c, n = td.arange(4.0, device="cpu"), td.zeros(4, device="null")
    assert c.to_device("cpu") is c
    moved = c.to_device("null")
    assert moved.device == "null" and (moved + n).tolist() == [0, 1, 2, 3]
    td.copyto(n, c)
    assert n.tolist() == [0, 1, 2, 3]
    assert td.asarray(n, device="cpu").device == "cpu"
    with pytest.raises(ValueError, match="stream"):
        c.to_device("null", stream=1)
    with pytest.raises(ValueError, match="unknown device"):
        c.to_device("gpu")

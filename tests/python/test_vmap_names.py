"""Every function of NumPy's that treadle computes, in a function that vmap runs once for all items: against the loop over
the items, with the array in question batched, and with all arrays. Which functions run item by item stands in LOOPED."""

import tempfile
import warnings

import pytest
import test_numpy_cases as cases

import treadle as td
from treadle._vmap import _vmap

pytestmark = cases.pytestmark

N = 2  # items
FOLDER = tempfile.TemporaryDirectory()  # for cases that write
NAMES = [(module, name) for module in ("", "ndarray", "linalg", "fft") for name in cases.CASES[module]]


def scopes():
    """The arrays of two items, and what all items share."""
    shared = cases.operands(td, "float64", "contiguous", FOLDER.name + "/file")
    arrays = {k: v for k, v in shared.items() if isinstance(v, td._core.ndarray)}
    other = {k: td.flip(v, 0) if k == "i" else ~v if v.dtype.kind == "b" else v * 0.75 + 0.5 for k, v in arrays.items()}
    return shared, {k: td.stack([v, other[k]]).astype(v.dtype) for k, v in arrays.items()}


def run(text, names, loop):
    """The text's value for all items, or the exception."""
    shared, stacks = scopes()
    code = compile(text, text, "eval")

    def f(*items):
        return eval(code, {**shared, **dict(zip(names, items, strict=True))})

    given = [stacks[k] for k in names]
    try:
        if loop == "loop":
            return _vmap._looped(f, ([_vmap._Mapped(a) for a in given], {}), N, 0), None
        return _vmap.batched(f, loop=loop)(*given), None
    except Exception as error:
        return None, error


def compare(text, names):
    """(what differs or None, did it run once for all items?)"""
    theirs, their_error = run(text, names, "loop")
    ours, our_error = run(text, names, False)
    once = not isinstance(our_error, _vmap.Unbatched)
    if not once:
        ours, our_error = run(text, names, True)
    if our_error or their_error:
        alike = our_error is not None and their_error is not None and cases.same_kind(our_error, their_error)
        return None if alike else f"{text} of {names}: {our_error!r} where a loop has {their_error!r}", once or bool(their_error)
    found = cases.difference(cases.comparable(ours), cases.comparable(theirs))
    return found and f"{text} of {names}: {found}", once


# Functions of which some call runs item by item: results of other lengths or Python values for every item, files, and
# what has no rule (yet) for these arguments.
LOOPED = {
    "": "all any allclose apply_along_axis apply_over_axes argwhere array_equal array_equiv asarray_chkfinite bincount "
    "broadcast c_ corrcoef correlate cov cross diag_indices_from diff digitize dot extract fill_diagonal flatnonzero "
    "from_dlpack fromfile frompyfunc fromregex genfromtxt geomspace gradient histogram histogram2d histogram_bin_edges "
    "histogramdd insert interp intersect1d isfortran isin isscalar ix_ lexsort linspace load loadtxt matvec "
    "may_share_memory ndenumerate nditer nested_iters nonzero packbits pad piecewise place poly poly1d polyadd polyder "
    "polydiv polyfit polyint polymul polysub polyval put putmask r_ ravel repeat require reshape resize save savetxt "
    "savez savez_compressed searchsorted setdiff1d setxor1d shares_memory std take take_along_axis trapezoid "
    "tril_indices_from triu_indices_from union1d unique unique_all unique_counts unique_inverse unique_values vecdot "
    "vectorize where",
    "ndarray": "__bool__ __int__ __float__ __index__ __imatmul__ __getitem__ __setitem__ __contains__ __array__ "
    "__array_wrap__ __reduce__ __reduce_ex__ __setstate__ dumps dump byteswap choose compress flatten getfield item "
    "nonzero partition put ravel reshape resize searchsorted setfield setflags take tolist view __dlpack__ "
    "__dlpack_device__ __array_namespace__ data base flat ctypes __array_interface__ __array_struct__",
    "linalg": "lstsq matrix_rank",
    "fft": "",
}
_ORDER = "stacked results have an order of memory of their own"
EXCEPT = {"isfortran": _ORDER, "flags": _ORDER}


def texts(module, name):
    """The name's texts; few of operations on elements, which have one rule."""
    found = cases.CASES[module][name] or []
    return [t for k, t in enumerate(found) if not k or "v)" in t] if name in td._core.ufuncs() else found


def check(module, name):
    found, looped = [], []
    for text in texts(module, name):
        used = [k for k in "xyvmkibqsd" if k in compile(text, text, "eval").co_names]
        for names in {tuple(used[:1]), tuple(used)} - {()}:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wrong, once = compare(text, names)
            found += [wrong] if wrong else []
            looped += [] if once else [f"{text} of {names}"]
    return found, looped


@pytest.mark.parametrize("module, name", NAMES, ids=lambda v: v or "np")
def test_as_a_loop(module, name):
    if name in EXCEPT:
        pytest.skip(EXCEPT[name])
    found, looped = check(module, name)
    assert not found, "\n".join(found)
    assert not looped or name in LOOPED[module].split(), f"these run item by item: {looped}"

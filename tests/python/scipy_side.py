"""What the tests of treadle.scipy share: cases, and their comparison with SciPy.

A file scipy_cases_<what>.py has MODULES, the modules of scipy that it covers, and CASES: for each name ("special.beta")
a Case or a list of them. A case is a function of SciPy's root module and the module that makes arrays; it is called with
(scipy, numpy) and with (treadle.scipy, treadle), and the results must agree in values, shapes and dtypes.
"""

import glob
import importlib
import os

import numpy as np

import treadle as td


class Case:
    """call(sp, xp); rtol, atol: of the comparison (for float32 results rtol is at least 2e-6); dtype=False: values
    only; null: also on the null device; want: what to expect where SciPy no longer has the name."""

    def __init__(self, call, rtol=1e-12, atol=0.0, dtype=True, null=False, want=None):
        self.call, self.rtol, self.atol, self.dtype, self.null, self.want = call, rtol, atol, dtype, null, want

    def expected(self):
        if self.want is not None:
            return self.want() if callable(self.want) else self.want
        import scipy

        with np.errstate(all="ignore"):
            return self.call(scipy, np)

    def check(self, xp=td):
        compare(self.call(td.scipy, xp), self.expected(), self.rtol, self.atol, self.dtype)


class On:
    """treadle, whose arrays are made on a device that is not the current one."""

    def __init__(self, device):
        self.device = device

    def __getattr__(self, name):
        return getattr(td, name)

    def asarray(self, *args, **kwargs):
        return td.asarray(*args, **{"device": self.device, **kwargs})


def compare(got, want, rtol, atol, dtype=True):
    """Asserts that got, of treadle's arrays, is want, of NumPy's: in tuples, lists and dicts too."""
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list)) and len(got) == len(want), (got, want)
        for g, w in zip(got, want, strict=True):
            compare(g, w, rtol, atol, dtype)
    elif isinstance(want, dict):
        assert set(got) == set(want)
        for k in want:
            compare(got[k], want[k], rtol, atol, dtype)
    elif isinstance(want, (np.ndarray, np.generic, float, complex)):
        g = got.get() if isinstance(got, td._core.ndarray) else np.asarray(got)
        w = np.asarray(want)
        assert g.shape == w.shape, (g.shape, w.shape)
        if dtype and isinstance(want, (np.ndarray, np.generic)):
            assert g.dtype == w.dtype, (g.dtype, w.dtype)
        if w.dtype.kind not in "fc":
            np.testing.assert_array_equal(g, w)
        else:
            single = w.dtype in (np.dtype("f4"), np.dtype("c8"))
            np.testing.assert_allclose(g, w, rtol=max(rtol, 2e-6) if single else rtol, atol=atol)
    else:
        assert got == want or got is want, (got, want)


def load():
    """Modules that have cases, and the cases of all files."""
    modules, cases = set(), {}
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "scipy_cases_*.py"))):
        file = importlib.import_module(os.path.basename(path)[:-3])
        modules |= set(file.MODULES)
        for name, case in file.CASES.items():
            cases[name] = case if isinstance(case, list) else [case]
    return modules, cases

"""Cases of scipy.fft and scipy.fftpack."""

import numpy as np
from scipy_side import Case

MODULES = ("fft", "fftpack")
_rng = np.random.default_rng(6)
X, C = _rng.normal(size=(3, 4, 5)), _rng.normal(size=(4, 5)) + 1j * _rng.normal(size=(4, 5))
V = _rng.normal(size=8)


def case(module, name, x, *args, null=True, **kwargs):
    return Case(lambda sp, xp: getattr(getattr(sp, module), name)(xp.asarray(x), *args, **kwargs), rtol=1e-9, atol=1e-9, null=null)


def ones(name):
    return [case("fft", name, X, n=6, axis=1, norm="ortho"), case("fft", name, X.astype("f4"), workers=1)]


def manys(name):
    cases = [case("fft", name, X), case("fft", name, X, (3, 4), (0, 2), norm="forward")]
    return cases if name.endswith("2") else [*cases, case("fft", name, X, s=(4, 4))]


def cosines(module, name):
    return [case(module, name, X[0, :, :n], t, norm=norm, axis=axis) for t in (1, 2, 3, 4) for n, norm, axis in
            ((5, None, -1), (4, "ortho", -1), (2, None, 0))] + [case(module, name, C), case(module, name, V.astype("f4"), n=5)]  # fmt: skip


REALS = {"rfft", "ihfft", "rfft2", "rfftn", "ihfft2", "ihfftn"}
CASES = {f"fft.{name}": ones(name) + ([] if name in REALS else [case("fft", name, C)])
         for name in "fft ifft rfft irfft hfft ihfft".split()}  # fmt: skip
CASES |= {f"fft.{name}": manys(name) + ([] if name in REALS else [case("fft", name, C)])
          for name in "fftn ifftn rfftn irfftn hfftn ihfftn fft2 ifft2 rfft2 irfft2 hfft2 ihfft2".split()}  # fmt: skip
for name in ("dct", "dst", "idct", "idst"):
    CASES[f"fft.{name}"] = cosines("fft", name) + [
        case("fft", name, V, 2, norm="forward"),
        case("fft", name, V, 3, norm="ortho", orthogonalize=False),
        case("fft", name, V, 1, orthogonalize=True),
    ]
    CASES[f"fft.{name}n"] = [case("fft", name + "n", X), case("fft", name + "n", X, 3, (3, 6), (0, 2), norm="ortho")]
    CASES[f"fftpack.{name}"] = cosines("fftpack", name)
    CASES[f"fftpack.{name}n"] = [case("fftpack", name + "n", X), case("fftpack", name + "n", X, 2, (3, 6), (0, 2), norm="ortho")]
for name in ("fftshift", "ifftshift"):
    CASES[f"fft.{name}"] = case("fft", name, X, axes=(0, 2))
    CASES[f"fftpack.{name}"] = case("fftpack", name, X)
for name in ("fftfreq", "rfftfreq"):
    CASES[f"fft.{name}"] = Case(lambda sp, xp, name=name: getattr(sp.fft, name)(7, 0.1), null=True)
    CASES[f"fftpack.{name}"] = Case(lambda sp, xp, name=name: getattr(sp.fftpack, name)(6, 0.1), null=True)
for name, module in (("next_fast_len", "fft"), ("prev_fast_len", "fft"), ("next_fast_len", "fftpack")):
    CASES[f"{module}.{name}"] = Case(lambda sp, xp, m=module, n=name: [getattr(getattr(sp, m), n)(k) for k in range(1, 200)])
CASES["fft.next_fast_len"] = [CASES["fft.next_fast_len"], Case(lambda sp, xp: [sp.fft.next_fast_len(k, True) for k in range(1, 200)])]
CASES["fft.fht"] = case("fft", "fht", V, 0.1, 0.5, null=False)
CASES["fft.ifht"] = case("fft", "ifht", V, 0.1, 0.5, null=False)
for name in ("fft", "ifft"):
    CASES[f"fftpack.{name}"] = [case("fftpack", name, X, 6, 1), case("fftpack", name, C)]
    CASES[f"fftpack.{name}n"] = [case("fftpack", name + "n", X), case("fftpack", name + "n", C, (3, 4), (0, 1))]
    CASES[f"fftpack.{name}2"] = case("fftpack", name + "2", X)
for name in ("rfft", "irfft"):
    CASES[f"fftpack.{name}"] = [case("fftpack", name, X), case("fftpack", name, X, 7, 1), case("fftpack", name, V[None], 8), case("fftpack", name, V.astype("f4"), 1)]
CASES["fftpack.get_fft_plan"] = Case(lambda sp, xp: sp.fftpack.get_fft_plan(xp.ones(4)).__enter__() is not None, want=True)

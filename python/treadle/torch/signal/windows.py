"""torch.signal.windows: windows of M numbers. sym=False: one period of a periodic window, for transforms."""

import functools
import math

from ... import torch
from ..._public import dir_of as _dir_of

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _checked(f):
    """The window, after a check of dtype and layout."""

    @functools.wraps(f)
    def made(*args, dtype=None, layout=None, **options):
        if layout not in (None, torch.strided):
            raise ValueError(f"{f.__name__} is implemented for strided tensors only, got: {layout}")
        if dtype not in (None, torch.float32, torch.float64):
            raise ValueError(f"{f.__name__} expects float32 or float64 dtypes, got: {dtype}")
        return f(*args, dtype=dtype, **options)

    return made


def _made(M, window, sym, dtype, device, requires_grad):
    """The window of M numbers that window(places, last place) computes. A single number is 1. Raises ValueError if M is
    negative."""
    if M < 0:
        raise ValueError(f"window requires non-negative window length, got M={M}")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if M < 2:
        return torch.ones(M, dtype=dtype, device=device, requires_grad=requires_grad)
    n = torch.arange(M, dtype=torch.float64, device=device)
    return window(n, M - 1 if sym else M).to(dtype).requires_grad_(requires_grad)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(-|n - center| / tau). Raises ValueError unless tau is positive, and for a center with sym=True."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    f = lambda n, last: torch.exp(-(n - (last / 2 if center is None else center)).abs() / tau)  # noqa: E731
    return _made(M, f, sym, dtype, device, requires_grad)


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Half a period of a sine."""
    f = lambda n, last: torch.sin(math.pi * (n + 0.5) / (last + 1))  # noqa: E731
    return _made(M, f, sym, dtype, device, requires_grad)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(-((n - middle) / std) ** 2 / 2). Raises ValueError unless std is positive."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    f = lambda n, last: torch.exp(-(((n - last / 2) / std) ** 2) / 2)  # noqa: E731
    return _made(M, f, sym, dtype, device, requires_grad)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """i0(beta * sqrt(1 - x ** 2)) / i0(beta), x from -1 to 1. ValueError: beta is below 0."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    top = torch.tensor(float(beta), dtype=torch.float64)
    f = lambda n, last: torch.i0(beta * (1 - (2 * n / last - 1) ** 2).clamp(min=0).sqrt()) / torch.i0(top)  # noqa: E731
    return _made(M, f, sym, dtype, device, requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """A triangle that rises from 0 to 1 and falls back to 0."""
    f = lambda n, last: 1 - (2 * n / last - 1).abs()  # noqa: E731
    return _made(M, f, sym, dtype, device, requires_grad)


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The sum of (-1) ** k * a[k] * cos(2 pi k n / last). TypeError, ValueError: a is no list of numbers."""
    if not hasattr(a, "__iter__"):
        raise TypeError("Coefficients must be a list/tuple")
    a = list(a)
    if not a:
        raise ValueError("Coefficients cannot be empty")
    f = lambda n, last: sum((-1) ** k * c * torch.cos(2 * math.pi * k * n / last) for k, c in enumerate(a))  # noqa: E731
    return _made(M, f, sym, dtype, device, requires_grad)


def general_hamming(M, *, alpha=0.54, sym=True, **options):
    """alpha - (1 - alpha) * cos(2 pi n / last)."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def hamming(M, *, sym=True, **options):
    """general_hamming with alpha 0.54."""
    return general_hamming(M, sym=sym, **options)


def hann(M, *, sym=True, **options):
    """general_hamming with alpha 0.5."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M, *, sym=True, **options):
    """general_cosine with 0.42, 0.5 and 0.08."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


def nuttall(M, *, sym=True, **options):
    """general_cosine with Nuttall's four numbers."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)


for _name in __all__:
    globals()[_name] = _checked(globals()[_name])
__dir__ = _dir_of(__name__)

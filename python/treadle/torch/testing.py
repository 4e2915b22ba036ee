"""torch.testing: assert_close, and tensors to try functions with."""

import numbers
from collections.abc import Mapping, Sequence

import numpy

from .._public import dir_of as _dir_of
from ._prim import Tensor
from ._register import FUNCTIONS
from ._tensor import _dtypes
from ._tensor._create import as_tensor

rand = FUNCTIONS["rand"]

_TOLERANCE = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
    check_dtype=True, check_layout=True, check_stride=False, msg=None,
):  # fmt: skip
    """Raise AssertionError unless |actual - expected| <= atol + rtol |expected|, for numbers, tensors, arrays,
    sequences and mappings of them. The error says where and by how much they differ.

    rtol and atol depend on the dtypes unless they are given. Give both or none.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified, but got only one of them")
    checks = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "device": check_device, "dtype": check_dtype}
    try:
        _pair(actual, expected, checks, "")
    except AssertionError as e:
        if msg is None:
            raise
        raise AssertionError(msg(str(e)) if callable(msg) else msg) from None


def _pair(a, b, checks, at):
    where = f"\n\nThe failure occurred for item {at}" if at else ""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            raise AssertionError(
                "The keys of the mappings do not match:\nMissing keys in the actual mapping: "
                f"{sorted(set(b) - set(a), key=str)}\nAdditional keys in the actual mapping: "
                f"{sorted(set(a) - set(b), key=str)}{where}"
            )
        for k in b:
            _pair(a[k], b[k], checks, f"{at}[{k!r}]")
    elif isinstance(a, Sequence) and isinstance(b, Sequence) and not isinstance(a, str):
        if len(a) != len(b):
            raise AssertionError(f"The length of the sequences mismatch: {len(a)} != {len(b)}{where}")
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            _pair(x, y, checks, f"{at}[{k}]")
    elif isinstance(a, (bool, type(None), str)) and isinstance(b, (bool, type(None), str)):
        if a != b:
            raise AssertionError(f"{a!r} is not {b!r}{where}")
    elif any(isinstance(v, (Tensor, numpy.ndarray, numbers.Number)) for v in (a, b)):
        _tensors(a, b, checks, where)
    else:
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.{where}")


def _tensors(a, b, checks, where):
    scalars = isinstance(a, numbers.Number) and isinstance(b, numbers.Number)
    x, y = (v if isinstance(v, Tensor) else _number(v) for v in (a, b))
    if x.shape != y.shape:
        raise AssertionError(f"The values for attribute 'shape' do not match: {x.shape} != {y.shape}.{where}")
    for name in ("device", "dtype"):
        if checks[name] and getattr(x, name) != getattr(y, name) and not scalars:
            raise AssertionError(
                f"The values for attribute '{name}' do not match: {getattr(x, name)} != {getattr(y, name)}.{where}"
            )
    if checks["rtol"] is None:
        both = [_TOLERANCE.get(t.dtype._name, (0.0, 0.0)) for t in (x, y)]
        rtol, atol = (max(pair) for pair in zip(*both, strict=True))
    else:
        rtol, atol = checks["rtol"], checks["atol"]
    x, y = x.detach().cpu(), y.detach().cpu()
    kind = _dtypes.promote_types(x.dtype, y.dtype)
    kind = (
        _dtypes.DTYPES["complex128" if kind.is_complex else "float64"]
        if kind._kind in "fc"
        else _dtypes.DTYPES["int64"]
    )
    p, q = (t.to(kind).numpy() for t in (x, y))
    with numpy.errstate(all="ignore"):
        near = (
            numpy.isclose(p, q, rtol, atol, checks["equal_nan"])
            if rtol or atol
            else (p == q) | (checks["equal_nan"] & (p != p) & (q != q))
        )
    if not near.all():
        raise AssertionError(_said(p, q, near, rtol, atol, scalars) + where)


def _number(v):
    return (
        as_tensor(numpy.asarray(v))
        if isinstance(v, (numpy.ndarray, numpy.generic))
        else as_tensor(
            v,
            dtype=_dtypes.DTYPES[
                "int64" if isinstance(v, int) else "complex128" if isinstance(v, complex) else "float64"
            ],
        )
    )


def _said(p, q, near, rtol, atol, scalars):
    kind = "equal" if not rtol and not atol else "close"
    if scalars or p.ndim == 0:
        off = abs(p - q)
        ratio = off / abs(q) if q != 0 else float("inf")
        return (
            f"{'Scalars' if p.ndim == 0 else 'Tensor-likes'} are not {kind}!\n\n"
            f"Expected {q.item()} but got {p.item()}.\n"
            f"Absolute difference: {off} (up to {atol} allowed)\n"
            f"Relative difference: {ratio} (up to {rtol} allowed)"
        )
    with numpy.errstate(all="ignore"):
        off = numpy.where(near, 0, numpy.abs(p - q))
        ratio = numpy.where(near, 0, off / numpy.abs(q))
    lines = [
        f"Tensor-likes are not {kind}!",
        "",
        f"Mismatched elements: {int((~near).sum())} / {near.size} ({100 * (~near).mean():.1f}%)",
    ]
    for name, values, limit in (("absolute", off, atol), ("relative", ratio, rtol)):
        place = numpy.unravel_index(int(numpy.nanargmax(values)) if not numpy.isnan(values).all() else 0, values.shape)
        lines.append(
            f"Greatest {name} difference: {values[place]} at index {tuple(map(int, place))} (up to {limit} allowed)"
        )
    return "\n".join(lines)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """assert_close, without its checks of device and dtype."""
    if not isinstance(actual, Tensor):
        actual = as_tensor(actual)
    if not isinstance(expected, Tensor):
        expected = as_tensor(expected, dtype=actual.dtype)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=False,
        check_dtype=False,
        msg=msg or None,
    )


def make_tensor(
    *shape,
    dtype,
    device="cpu",
    low=None,
    high=None,
    requires_grad=False,
    noncontiguous=False,
    exclude_zero=False,
    memory_format=None,
):
    """Random numbers of a shape and dtype between low and high, by default about -9 and 9."""
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    signed = dtype._kind in "ifc"
    low = (-9 if signed else 0) if low is None else low
    high = (2 if dtype._kind == "b" else 10 if dtype._kind in "iu" else 9) if high is None else high
    if dtype._kind == "c":
        r = (
            rand(*shape, dtype=dtype.to_real(), device=device) + rand(*shape, dtype=dtype.to_real(), device=device) * 1j
        ) * (high - low) + complex(low, low)
        r = r.to(dtype)
    else:
        wide = dtype if dtype._name in ("float32", "float64") else _dtypes.DTYPES["float64"]
        r = rand(tuple(shape), dtype=wide, device=device) * (high - low) + low
        r = (r.floor() if dtype._kind in "biu" else r).to(dtype)
    if exclude_zero:
        r = r.masked_fill(r == 0, 1)
    if noncontiguous and r.numel() > 1:
        r = r.repeat_interleave(2, -1)[..., ::2]
    return r.requires_grad_() if requires_grad else r


__dir__ = _dir_of(__name__)

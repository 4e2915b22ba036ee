"""The text of tensors. It equals PyTorch's, to the same columns and digits."""

import numpy

from . import _dtypes

_DEFAULT = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES = {
    "default": _DEFAULT,
    "short": dict(_DEFAULT, precision=2, edgeitems=2),
    "full": dict(_DEFAULT, threshold=float("inf")),
}
OPTIONS = dict(_DEFAULT)
_INDENT = len("tensor(")


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Set how tensors print: digits after the point, the number of elements from which the middle is left out, how many
    elements stay at each edge, the line width, and whether to write exponents (None: where the numbers call for them).
    profile "default", "short" or "full" is applied first."""
    if profile is not None:
        OPTIONS.update({k: v for k, v in _PROFILES[profile].items() if k != "sci_mode"})
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    OPTIONS.update({k: v for k, v in given.items() if v is not None})
    OPTIONS["sci_mode"] = sci_mode


class _Format:
    """The format that all numbers of a tensor share: its width, and whether it has exponents. values is a NumPy array.
    """

    def __init__(self, values):
        self.real = values.dtype.kind == "f"
        self.width, self.whole, self.exponent = 1, True, False
        if not self.real:
            self.width = max((len(str(v)) for v in values.ravel().tolist()), default=1)
            return
        values = values.astype("f8")
        values = values[numpy.isfinite(values) & (values != 0)]
        if values.size:
            self._fit(values)
        if OPTIONS["sci_mode"] is not None:
            self.exponent = OPTIONS["sci_mode"]

    def _fit(self, values):
        size = numpy.abs(values)
        high, low = size.max(), size.min()
        self.whole = bool((values == numpy.ceil(values)).all())
        self.exponent = high / low > 1000 or high > 1e8 or (not self.whole and low < 1e-4)
        if OPTIONS["sci_mode"] is not None:
            self.exponent = OPTIONS["sci_mode"]
        self.width = max(len(self._text(v)) for v in values.tolist())

    def _text(self, v):
        digits = OPTIONS["precision"]
        if not self.real:
            return str(v)
        if self.exponent:
            return f"{v:.{digits}e}"
        if self.whole:
            return f"{v:.0f}" + ("." if numpy.isfinite(v) else "")
        return f"{v:.{digits}f}"

    def __call__(self, v):
        return self._text(v).rjust(self.width)


class _Pair:
    """The format of complex numbers: one _Format for each part."""

    def __init__(self, values):
        self.parts = _Format(values.real), _Format(values.imag)
        self.width = self.parts[0].width + self.parts[1].width + 1

    def __call__(self, v):
        imag = (self.parts[1](v.imag) + "j").lstrip()
        return self.parts[0](v.real) + ("" if v.imag < 0 else "+") + imag


def _short(values):
    """A NumPy array without the middles that are left out, from which widths are computed."""
    edge = OPTIONS["edgeitems"]
    for axis, n in enumerate(values.shape):
        if n > 2 * edge:
            values = numpy.take(values, [*range(edge), *range(n - edge, n)], axis)
    return values


def _body(values, form, indent, cut):
    if values.ndim == 0:
        return form(values.item())
    edge, n = OPTIONS["edgeitems"], len(values)
    places = list(range(n)) if not (cut and n > 2 * edge) else [*range(edge), None, *range(n - edge, n)]
    if values.ndim > 1:
        rows = ["..." if i is None else _body(values[i], form, indent + 1, cut) for i in places]
        return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(rows) + "]"
    texts = [" ..." if i is None else form(values[i].item()) for i in places]
    per_line = max(1, (OPTIONS["linewidth"] - indent) // (form.width + 2))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)] or [""]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _suffixes(t):
    default = _dtypes.get_default_dtype()
    plain = [default, _dtypes.DTYPES["int64"], _dtypes.DTYPES["bool"]]
    if default._name in ("float32", "float64"):
        plain.append(default.to_complex())
    if str(t.device) != "cpu":
        yield f"device='{t.device}'"
    if t.numel() == 0:
        if t.ndim != 1:
            yield f"size={tuple(t.shape)}"
        plain = [default]
    if t.dtype not in plain:
        yield f"dtype={t.dtype}"
    if t.grad_fn is not None:
        name = type(t.grad_fn).__name__ if not hasattr(t.grad_fn, "name") else t.grad_fn.name()
        yield f"grad_fn=<{name}>"
    elif t.requires_grad:
        yield "requires_grad=True"


def text(t):
    """tensor(…): repr of a tensor."""
    values = t.detach().cpu().resolve_conj()
    if t.dtype._name in ("float16", "bfloat16"):
        values = values.float()
    values = values.numpy()
    cut = values.size > OPTIONS["threshold"]
    if values.size == 0:
        body = "[]"
    else:
        form = (_Pair if t.dtype.is_complex else _Format)(_short(values) if cut else values)
        body = _body(values, form, _INDENT, cut)
    r, at = "tensor(" + body, len(body) - body.rfind("\n") + 1
    for suffix in _suffixes(t):
        if at + len(suffix) + 2 > OPTIONS["linewidth"]:
            r, at = r + ",\n" + " " * _INDENT + suffix, _INDENT + len(suffix)
        else:
            r, at = r + ", " + suffix, at + len(suffix) + 2
    return r + ")"

"""What ElementwiseKernel and ReductionKernel share: CuPy's notation for parameters, their types, arguments."""

import math
import struct

import numpy

from .. import _core
from . import _text as _rawtext

_SCALARS = (int, float, complex, numpy.generic)


class Param:
    """A parameter like "T x" or "raw float32 y". name; dtype (NumPy's, None for a placeholder); ctype (the placeholder,
    or C++'s name of the dtype); raw; is_const."""

    def __init__(self, text, is_const):
        words = text.split()
        if len(words) < 2:
            raise ValueError(f"parameter {text!r}: a type and a name are expected, as in 'T x' or 'raw float32 y'")
        kind, self.name = words[-2:]
        self.dtype, self.ctype, self.raw, self.is_const = None, kind, False, is_const
        if not self.name.isidentifier() or self.name in ("i", "n") or self.name.startswith("_"):
            raise ValueError(
                f"parameter {text!r}: {self.name!r} cannot be its name: i, n and what begins with _ are taken"
            )
        if len(kind) != 1:
            self.dtype = _core._bfloat16() if kind == "bfloat16" else _dtype(kind, text)
            self.ctype = _rawtext.ctype(self.dtype)
        for word in words[:-2]:
            if word == "raw":
                self.raw = True
            elif word == "_non_const":
                self.is_const = False
            else:
                raise ValueError(f"parameter {text!r}: unknown word {word!r}; 'raw' can stand before the type")

    def __repr__(self):
        kind = self.ctype if self.dtype is None else self.dtype.name
        return f"<ParameterInfo({'raw ' * self.raw}{kind} {self.name})>"


def _dtype(kind, text):
    try:
        found = numpy.dtype(kind)
    except TypeError:
        found = None
    if found is None or found.name != kind:
        raise ValueError(
            f"parameter {text!r}: {kind!r} is no type: one letter stands for any, else a dtype's full name"
        )
    return found


def parse(text, is_const):
    """The Params of a text like "T x, raw float32 y"."""
    return tuple(Param(part.strip(), is_const) for part in text.split(",") if part.strip())


def check_names(params):
    seen = set()
    for p in params:
        if p.name in seen:
            raise ValueError(f"two parameters are called {p.name!r}")
        seen.add(p.name)


# ---- arguments ----


def take(args, params, who):
    """(the arguments as treadle arrays and numbers, the arrays' device, or None without arrays)."""
    taken, device = [], None
    for a, p in zip(args, params):
        if not isinstance(a, _core.ndarray):
            if isinstance(a, _SCALARS):
                if p.raw or not p.is_const:
                    raise TypeError(f"{who}: parameter {p.name} takes an array, not {type(a).__name__}")
                taken.append(a)
                continue
            a = _foreign(a, p, who)
        if device is None:
            device = a.device
        elif device != a.device:
            raise ValueError(f"{who}: arrays on {device} and on {a.device}; bring one to the other's device")
        taken.append(a)
    return taken, device


def _foreign(a, p, who):
    """treadle's array on the memory of another library's array."""
    if isinstance(a, numpy.ndarray) or not (hasattr(a, "__cuda_array_interface__") or hasattr(a, "__dlpack__")):
        more = "; treadle.asarray(x) copies it to the device" if isinstance(a, numpy.ndarray) else ""
        raise TypeError(
            f"{who}: argument {p.name} is a {type(a).__name__}; arrays of devices and numbers are taken{more}"
        )
    return _core.asarray(a, copy=False)


def decide(in_params, out_params, in_args, out_args, who):
    """(types of in_params, types of out_params, {placeholder: dtype}). The arrays determine the placeholders; numbers
    are converted to these types."""
    known, unknown = {}, []
    for p, a in [*zip(out_params, out_args), *zip(in_params, in_args)]:
        if not isinstance(a, _core.ndarray):
            if p.dtype is None:
                unknown.append(p)
        elif p.dtype is not None:
            if a.dtype != p.dtype:
                raise TypeError(f"{who}: argument {p.name} has dtype {a.dtype}, the parameter is {p.dtype}")
        elif known.setdefault(p.ctype, a.dtype) != a.dtype:
            raise TypeError(f"{who}: {p.ctype} is {known[p.ctype]} of one argument, but {p.name} has dtype {a.dtype}")
    for p in [*unknown, *out_params]:
        if p.dtype is None and p.ctype not in known:
            raise TypeError(f"{who}: no array tells what {p.ctype} of parameter {p.name} is; name its type there")
    return (
        [known.get(p.ctype, p.dtype) if p.dtype is None else p.dtype for p in in_params],
        [known[p.ctype] if p.dtype is None else p.dtype for p in out_params],
        known,
    )


def scalar(value, dtype):
    """A number as the argument for a by-value parameter of dtype. The launch checks Python's numbers."""
    if dtype.kind == "c" or dtype.name == "float16":
        return numpy.asarray(value, dtype).tobytes()
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind == "f":
        return float(value)
    if isinstance(value, (float, complex, numpy.floating, numpy.complexfloating)):
        return int(numpy.asarray(value).astype(dtype))  # converts as C++ and CuPy do
    return int(value)


def shape_bytes(a):
    """A raw parameter's td_shape: the size, the extents, the strides in bytes."""
    nd = a.ndim
    if not nd:
        return struct.pack("3q", 1, 1, 0)
    return struct.pack(f"{1 + 2 * nd}q", math.prod(a.shape), *a.shape, *a.strides)


def typedefs(known, params_types):
    """The text that precedes the user's: headers that the types need, and typedefs of placeholders."""
    lines = [_rawtext.includes([*known.values(), *params_types])]
    lines += [f"typedef {_rawtext.ctype(d)} {letter};\n" for letter, d in sorted(known.items())]
    return "".join(lines)


# The definitions of raw arrays and indices for the user's text.
SUPPORT = """\
template <int _td_N> struct td_shape { ptrdiff_t n, dim[_td_N ? _td_N : 1], step[_td_N ? _td_N : 1]; };

template <typename _td_T, int _td_N, bool _td_plain> struct td_raw {
    static const int ndim = _td_N;
    _td_T *_p;
    td_shape<_td_N> _s;
    __device__ td_raw(_td_T *p, const td_shape<_td_N> &s) : _p(p), _s(s) {}
    __device__ ptrdiff_t size() const { return _s.n; }
    __device__ const ptrdiff_t *shape() const { return _s.dim; }
    __device__ const ptrdiff_t *strides() const { return _s.step; }
    __device__ _td_T *data() const { return _p; }
    __device__ _td_T &operator[](ptrdiff_t i) const
    {
        if (_td_plain)
            return _p[i];
        ptrdiff_t at = 0;
        for (int k = _td_N - 1; k > 0; --k) {
            ptrdiff_t q = i / _s.dim[k];
            at += (i - q * _s.dim[k]) * _s.step[k];
            i = q;
        }
        if (_td_N > 0)
            at += i * _s.step[0];
        return *(_td_T *)((char *)_p + at);
    }
    __device__ _td_T &operator[](const ptrdiff_t (&index)[_td_N ? _td_N : 1]) const
    {
        ptrdiff_t at = 0;
        for (int k = 0; k < _td_N; ++k)
            at += index[k] * _s.step[k];
        return *(_td_T *)((char *)_p + at);
    }
};

template <int _td_N> struct td_indexer {
    static const int ndim = _td_N;
    ptrdiff_t _n, _dim[_td_N ? _td_N : 1], _at[_td_N ? _td_N : 1];
    __device__ ptrdiff_t size() const { return _n; }
    __device__ const ptrdiff_t *shape() const { return _dim; }
    __device__ const ptrdiff_t (&get() const)[_td_N ? _td_N : 1] { return _at; }
    __device__ void set(ptrdiff_t i)
    {
        for (int k = _td_N - 1; k > 0; --k) {
            ptrdiff_t q = i / _dim[k];
            _at[k] = i - q * _dim[k];
            i = q;
        }
        _at[0] = i;
    }
};
"""


def raw_parameter(p, dtype, ndim):
    """(declaration, statement) for a raw parameter."""
    const = "const " if p.is_const else ""
    c = _rawtext.ctype(dtype)
    return (
        f"{const}{c} *_raw_{p.name}, const td_shape<{ndim}> _shape_{p.name}",
        lambda plain: (
            f"td_raw<{const}{c}, {ndim}, {'true' if plain else 'false'}> {p.name}(_raw_{p.name}, _shape_{p.name});\n"
        ),
    )

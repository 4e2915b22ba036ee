"""Elementwise functions: rows of the core's table under PyTorch's names, and functions composed of rows.

Rows bring their derivatives. A composed function is differentiated through its parts.
"""

import math

from .._prim import ROWS as CORE
from .._prim import Tensor, apply, cast, derived, joint_shape, op_names, scalar, td
from .._register import both, factors_first, function, inplace, method
from . import _dtypes
from ._create import full
from ._layout import laid_like
from ._results import named

# PyTorch's names of rows of the core's table, each with the row and the operands. A name that ends in an underscore
# also has a method that writes in place.
NAMES = {name: (row, CORE[row].nin) for name, row in op_names("torch").items() if "." not in name}
ROWS, ROWS_OF_TWO = ({k.removesuffix("_"): row for k, (row, n) in NAMES.items() if n == count} for count in (1, 2))


def _row(name, row, operands):
    if operands == 1:

        def f(x):
            return apply(row, x)

    elif name == "pow":

        def f(x, exponent):
            return apply(row, x, exponent)

    else:

        def f(x, other):
            return apply(row, x, other)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"{row} of the elements of {'a tensor' if operands == 1 else 'two tensors, or of one and a number'}."
    return both()(f)


for _name, (_r, _n) in NAMES.items():
    _row(_name.removesuffix("_"), _r, _n)


# ---- arithmetic with factors ----


def scaled(x, factor):
    """factor * x, and x itself for 1."""
    if type(factor) in (int, float) and factor == 1:
        return x
    return apply("multiply", x, factor) if isinstance(x, Tensor) or isinstance(factor, Tensor) else x * factor


def _alpha_times(x, other, alpha):
    """alpha * other, in the dtype that both have in common. Raises RuntimeError if alpha's kind is above it."""
    if type(alpha) in (int, float) and alpha == 1:
        return other
    dt = _dtypes.result_of(*_tensors_and_numbers(x, other))
    if isinstance(alpha, bool) and dt._kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and dt._kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if isinstance(alpha, float) and dt._kind in "bui":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if not isinstance(other, Tensor):
        return bool(other and alpha) if dt._kind == "b" else other * alpha
    return apply("multiply", cast(other, dt), bool(alpha) if dt._kind == "b" else alpha)


def _tensors_and_numbers(*operands):
    is_tensor = [isinstance(t, Tensor) for t in operands]
    return [t for t, yes in zip(operands, is_tensor) if yes], [t for t, yes in zip(operands, is_tensor) if not yes]


@both()
@factors_first("alpha")
def add(x, other, *, alpha=1):
    """x + alpha * other."""
    return apply("add", x, _alpha_times(x, other, alpha))


@both("subtract")
@factors_first("alpha")
def sub(x, other, *, alpha=1):
    """x - alpha * other."""
    for t in (x, other):
        if getattr(t, "dtype", None) is _dtypes.DTYPES["bool"]:
            raise NotImplementedError(
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert "
                "a mask, use the `~` or `logical_not()` operator instead."
            )
    return apply("subtract", x, _alpha_times(x, other, alpha))


@both()
def rsub(x, other, *, alpha=1):
    """other - alpha * x."""
    return apply("subtract", other, _alpha_times(other, x, alpha))


@both("divide")
def div(x, other, *, rounding_mode=None):
    """x / other; rounding_mode: None, "trunc" (towards zero) or "floor". Integers divide to floats without one."""
    if rounding_mode is None:
        return apply("divide", x, other)
    if rounding_mode == "floor":
        return apply("floor_divide", x, other)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    whole = _dtypes.result_of(*_tensors_and_numbers(x, other))._kind not in "fc"
    return apply("truncate_divide", x, other) if whole else apply("trunc", apply("divide", x, other))


@both()
def float_power(x, exponent):
    """x ** exponent in float64, or in complex128 where one of them is complex."""
    wide = [
        t.to(_dtypes.DTYPES["complex128" if t.dtype.is_complex else "float64"])
        if isinstance(t, Tensor)
        else t
        if isinstance(t, complex)
        else float(t)
        for t in (x, exponent)
    ]
    return apply("power", *wide)


@both()
@factors_first("value")
def addcmul(x, tensor1, tensor2, *, value=1):
    """x + value * tensor1 * tensor2, in the dtype of the three tensors."""
    dt = _dtypes.result_of((x, tensor1, tensor2))
    if dt._kind == "b":
        raise NotImplementedError("\"addcmul\" not implemented for 'Bool'")
    return x + scaled(cast(tensor1, dt) * tensor2, _value(value, dt))


def _value(value, dt):
    """A factor in the dtype of a result, as PyTorch reads it: without a fraction for integers."""
    if isinstance(value, complex) and dt._kind != "c":
        raise RuntimeError(f"value cannot be converted to type {dt} without overflow")
    return int(value) if dt._kind in "ui" and isinstance(value, float) else value


@both()
@factors_first("value")
def addcdiv(x, tensor1, tensor2, *, value=1):
    """x + value * tensor1 / tensor2, in the dtype of the three tensors."""
    if tensor1.dtype._kind in "bui" and tensor2.dtype._kind in "bui":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: add value * torch.trunc(tensor1 / tensor2), or "
            "convert the tensors to floating-point numbers"
        )
    dt = _dtypes.result_of((x, tensor1, tensor2))
    return x + scaled(cast(tensor1, dt) / tensor2, _value(value, dt))


@both()
def lerp(x, end, weight):
    """x + weight * (end - x). As in PyTorch, the formula starts from the nearer end."""
    way = end - x
    if isinstance(weight, Tensor):
        return apply("select", apply("absolute", weight) < 0.5, x + weight * way, end - way * (1 - weight))
    return x + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)


@both("clip")
def clamp(x, min=None, max=None):
    """x held between min and max, which are numbers, tensors or None for no bound. At a bound that is a number x has no
    gradient; at a tensor both have half of it. NaN has none."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    _dtypes.want_order("clamp", x)
    if x.dtype._kind in "ui":
        min, max = _limit(x, min, "min"), _limit(x, max, "max")
        if min is None and max is None:
            return x.clone()
    if min is not None:
        x = apply("maximum", x, min) if isinstance(min, Tensor) else _held(x, x > min, "maximum", min)
    if max is None:
        return x
    return apply("minimum", x, max) if isinstance(max, Tensor) else _held(x, x < max, "minimum", max)


def _limit(x, limit, name):
    """A bound of integers: None if all of the dtype lie within it. Raises RuntimeError if none does."""
    if type(limit) is not int:
        return limit
    own = _dtypes.iinfo(x.dtype)
    if own.min <= limit <= own.max:
        return limit
    if (limit > own.max) is (name == "min"):
        raise RuntimeError(f"Clamp {name} value {limit} is outside the representable range of {x.dtype}")
    return None


def _held(x, within, row, limit):
    return apply("select", within, x, apply(row, x.detach(), limit))


@both()
def clamp_min(x, min):
    """x, at least min."""
    return clamp(x, min)


@both()
def clamp_max(x, max):
    """x, at most max."""
    return clamp(x, None, max)


@function()
def threshold(x, threshold, value):
    """x where x > threshold, else value."""
    return apply("select", x <= threshold, value, x)


@both()
def round_(x, *, decimals=0):
    """x rounded to so many decimals, halves to even."""
    _dtypes.want_order("round", x)
    if not decimals:
        return apply("rint", x) if x.dtype._kind in "fc" else x.clone()
    if x.dtype._kind in "ui":
        raise NotImplementedError(f"\"round\" with decimals not implemented for '{x.dtype._word}'")
    ten, wide = 10.0 ** abs(decimals), x.float() if x.dtype.itemsize == 2 else x  # a product may pass a half's limits
    return cast(apply("rint", wide * ten) / ten if decimals > 0 else apply("rint", wide / ten) * ten, x.dtype)


@both()
def frac(x):
    """The fractional part of x."""
    return x - apply("trunc", x)


@both()
def positive(x):
    """x itself."""
    if x.dtype._kind == "b":
        raise NotImplementedError("The `+` operator, on a bool tensor is not supported.")
    return x


@derived("Frexp")
def _frexp(a):
    return CORE["mantissa"](a), CORE["exponent"](a).astype("int32")


@_frexp.backward
def _(inputs, r, g):
    return None if g[0] is None else g[0] * apply("power", 2.0, -r[1].to(g[0].dtype))


@both()
def frexp(x):
    """(mantissa, exponent) with x = mantissa * 2 ** exponent. The exponents are int32."""
    return named("frexp", "mantissa exponent")(*(laid_like(r, x) for r in _frexp(x)))


@both()
def ldexp(x, other):
    """x * 2 ** other."""
    if x.dtype._kind != "f" or other.dtype._kind not in "ui":
        return x * apply("power", 2.0, other)
    wide = x.float() if x.dtype.itemsize == 2 else x  # 2 ** other alone may pass the limits
    return cast(apply("scale", wide, other.clamp(-5000, 5000).to(wide.dtype)), x.dtype)


@both()
def logaddexp(x, other):
    """log(exp(x) + exp(other)), without overflow."""
    common = _dtypes.result_of([x, other])
    if common._kind in "bui":
        raise NotImplementedError(f"\"logaddexp\" not implemented for '{common._word}'")
    if common._kind != "c":
        return apply("logaddexp", x, other)
    larger = x.real >= other.real
    top, low = apply("select", larger, x, other), apply("select", larger, other, x)
    return top + apply("log", apply("exp", low - top) + 1)


@both("arccosh")
def acosh(x):
    """The inverse of cosh."""
    x = x if x.dtype._kind in "fc" else x.to(_dtypes.get_default_dtype())
    return apply("arccosh", x) if x.dtype.is_complex else laid_like(_acosh(x), x)


@derived("Acosh")
def _acosh(a):
    return CORE["arccosh"](a)


@_acosh.backward
def _(inputs, r, g):
    """For x < -1 the result is NaN, but the gradient has to be a number: `where` multiplies it by 0, and 0 times NaN is
    NaN."""
    return g * apply("rsqrt", inputs[0] * inputs[0] - 1)


@both()
def conj_physical(x):
    """The conjugate; a copy of a real tensor."""
    return apply("conjugate", x) if x.dtype.is_complex else x.clone()


@both()
def sign(x):
    """-1, 0 or 1: the sign; 0 for NaN."""
    _dtypes.want_order("sign", x)
    if x.dtype._kind == "b":
        return x.clone()
    return apply("sign", apply("select", x == x, x, scalar(0, x)) if x.dtype._kind == "f" else x)


@both()
def sgn(x):
    """x / |x|, and 0 for 0."""
    return apply("sign", x) if x.dtype.is_complex else sign(x)


@both()
def heaviside(x, values):
    """0 where x < 0, 1 where x > 0, values where it is 0."""
    _dtypes.want_order("heaviside", x)
    if values.dtype is not x.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return apply("select", x == 0, values, (x > 0).to(x.dtype))


@both()
def angle(x):
    """The angle of complex numbers; of real ones 0, and pi below 0."""
    if x.dtype.is_complex:
        return apply("angle", x)
    x = x if x.dtype._kind == "f" else x.to(_dtypes.get_default_dtype())
    return laid_like(_angle(x), x)


@derived("Angle")
def _angle(a):
    return td.where(a < 0, math.pi, td.where(a == a, 0, a)).astype(a.dtype)


@_angle.backward
def _(inputs, r, g):
    return g * 0


@both()
def sinc(x):
    """sin(pi x) / (pi x), and 1 for 0."""
    if x.dtype._kind == "f" and x.dtype.itemsize == 2:  # 0 divided by 0 where pi * x rounds to a half
        return _sinc(x.float()).to(x.dtype)
    x = x if x.dtype._kind in "fc" else x.to(_dtypes.get_default_dtype())
    return laid_like(_sinc(x), x)


@derived("Sinc")
def _sinc(a):
    return td.sinc(a)


@_sinc.backward
def _(inputs, r, g):
    """(cos y - sinc x) / x with y = pi x. Close to 0 that difference cancels, so its series is used there."""
    (x,) = inputs
    y = x * math.pi
    near = apply("absolute", y) < 0.5
    t = y * y
    series = -y * (1 / 3 - t * (1 / 30 - t * (1 / 840 - t * (1 / 45360 - t / 3991680)))) * math.pi
    slope = apply("select", near, series, (apply("cos", y) - r) / apply("select", near, scalar(1, x), x))
    return g * conj(slope)


@both()
def logit(x, eps=None):
    """log(x / (1 - x)). With eps, x is clamped to [eps, 1 - eps] first."""
    x = x if x.dtype._kind in "fc" else x.to(_dtypes.get_default_dtype())
    if eps is not None:  # if the bounds cross, the lower one wins
        nearest = apply("select", x < eps, eps, apply("select", x > 1 - eps, 1 - eps, x.detach()))
        x = apply("select", (x >= eps) & (x <= 1 - eps), x, nearest)
    return apply("logit", x)


@both()
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """x with its NaNs and infinities replaced by these numbers. None stands for the type's largest and smallest number.
    """
    if x.dtype._kind == "c":
        return complex_(nan_to_num(x.real, nan, posinf, neginf), nan_to_num(x.imag, nan, posinf, neginf))
    if x.dtype._kind != "f":
        return x.clone()
    limits = _dtypes.finfo(x.dtype)
    r = apply("select", x != x, nan or 0.0, x)
    r = apply("select", r == math.inf, limits.max if posinf is None else posinf, r)
    return apply("select", r == -math.inf, limits.min if neginf is None else neginf, r)


# ---- what is true of elements ----


def truth(x):
    """x != 0, as bool."""
    return x if x.dtype is _dtypes.DTYPES["bool"] else x != 0


@both()
def logical_and(x, other):
    """Are both nonzero?"""
    return apply("logical_and", truth(x), truth(other))


@both()
def logical_or(x, other):
    """Is one nonzero?"""
    return apply("logical_or", truth(x), truth(other))


@both()
def logical_xor(x, other):
    """Is exactly one nonzero?"""
    return apply("logical_xor", truth(x), truth(other))


@both()
def logical_not(x):
    """Is it zero?"""
    return x == 0


def _always(x, value):
    return full(x.shape, value, dtype=_dtypes.DTYPES["bool"], device=x.device)


@both()
def isposinf(x):
    """Is it infinity?"""
    _dtypes.want_order("isposinf", x, TypeError)
    return x == math.inf if x.dtype._kind == "f" else _always(x, False)


@both()
def isneginf(x):
    """Is it minus infinity?"""
    _dtypes.want_order("isneginf", x, TypeError)
    return x == -math.inf if x.dtype._kind == "f" else _always(x, False)


@both()
def isreal(x):
    """Is its imaginary part 0?"""
    return x.imag == 0 if x.dtype.is_complex else _always(x, True)


@both()
def isclose(x, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|x - other| <= atol + rtol |other|, or x == other."""
    if x.dtype is not other.dtype:
        raise RuntimeError(f"{_plain(x)} did not match {_plain(other)}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    x, other = x.detach(), other.detach()
    same = x == other
    if x.dtype._kind in "fc":
        if equal_nan:
            same = same | ((x != x) & (other != other))
        near = apply("absolute", x - other) <= atol + apply("absolute", other * rtol)
        return same | (near & apply("isfinite", x) & apply("isfinite", other))
    away = apply("absolute", x.double() - other.double())
    return same | (away <= atol + apply("absolute", other.double() * rtol))


def _plain(t):
    return {"float32": "Float", "float64": "Double", "int64": "Long", "int32": "Int", "bool": "Bool"}.get(
        t.dtype._name, t.dtype._name
    )


@both()
def allclose(x, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Are all elements close (isclose)? A Python bool."""
    return bool(isclose(x, other, rtol, atol, equal_nan).all())


@both()
def equal(x, other):
    """Have both the same shape and elements? A Python bool."""
    if x is other:
        return not bool(apply("isnan", x).any())
    return x.shape == other.shape and bool((x == other).all())


# ---- activations that PyTorch has in torch itself ----


@derived("Elu")
def elu(a, *, alpha=1.0, scale=1.0, rate=1.0):
    """scale * x where positive, else scale * alpha * (exp(rate * x) - 1)."""
    return td.where(a > 0, a, td.expm1(td.where(a > 0, 0, a) * rate) * alpha) * scale


@elu.backward
def _(inputs, r, g, *, alpha=1.0, scale=1.0, rate=1.0):
    """At 0 the derivative is that of the left side, whose slope then continues below 0."""
    (x,) = inputs
    bent = apply("exp", apply("select", x >= 0, scalar(0, x), x) * rate) * (alpha * rate * scale)
    return g * apply("select", x > 0, scalar(scale, x), bent)


@function()
def selu(x):
    """scale * (max(x, 0) + min(0, alpha * (exp(x) - 1)))."""
    return elu(x, alpha=1.6732632423543772, scale=1.0507009873554805)


@function()
def celu(x, alpha=1.0):
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))."""
    return elu(x, alpha=alpha, rate=1 / alpha)


@both()
def hardshrink(x, lambd=0.5):
    """0 between -lambd and lambd, else x."""
    return apply("select", apply("absolute", x) > lambd, x, apply("select", x == x, scalar(0, x), x.detach()))


@both()
def prelu(x, weight):
    """x where it is above 0, else weight * x; weight: one number, or one for each channel (dimension 1)."""
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.numel() == 1:
        weight = weight.reshape(())
    else:
        channels = x.shape[1] if x.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
        weight = weight.reshape([-1 if i == 1 else 1 for i in range(x.ndim)])
    return apply("select", x > 0, x, weight * apply("select", x > 0, scalar(0, x), x))


# ---- complex numbers ----


@derived("Complex")
def _complex(a, b):
    kind = "f8" if a.dtype == "f8" else "f4"  # there is no complex type of half types
    return td.stack([a.astype(kind), b.astype(kind)], axis=-1).view("c16" if kind == "f8" else "c8")[..., 0]


@_complex.backward
def _(inputs, r, g):
    return g.real, g.imag


@function()
def complex_(real, imag):
    """Complex numbers from two tensors, the real and the imaginary parts."""
    if any(t.dtype._kind != "f" or t.dtype._name == "bfloat16" for t in (real, imag)):
        kinds = f"{real.dtype} and {imag.dtype}"
        raise NotImplementedError(f"Expected both inputs to be Half, Float or Double tensors but got {kinds}")
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {_plain(real)} but got scalar type {_plain(imag)} for second argument"
        )
    shape = joint_shape(tuple(real.shape), tuple(imag.shape))
    return laid_like(_complex(real.expand(shape), imag.expand(shape)), real, imag)


@function()
def polar(abs, angle):
    """Complex numbers from absolute values and angles."""
    return complex_(abs * apply("cos", angle), abs * apply("sin", angle))


@both()
def conj(x):
    """The conjugate; a real tensor itself."""
    return apply("conjugate", x) if x.dtype.is_complex else x


@both()
def resolve_conj(x):
    """x itself: conjugation is never delayed here."""
    return x


@both()
def resolve_neg(x):
    """x itself: negation is never delayed here."""
    return x


@function()
def real(x):
    """The real parts; a real tensor itself."""
    return x.real


@function()
def imag(x):
    """The imaginary parts. RuntimeError: x is real."""
    return x.imag


# ---- choosing ----


@function()
def where(condition, input=None, other=None):
    """input where condition is true, else other; both may be tensors or numbers. With condition alone: the indices of
    its nonzero elements, one tensor for each dimension."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        kind = _dtypes.promote_types(_dtypes.default_of(input), _dtypes.default_of(other))
        input = scalar(input, condition, kind)
    if condition.dtype._name not in ("bool", "uint8"):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}"
        )
    return apply("select", condition, input, other)


@method("where")
def _where(self, condition, other):
    """self where condition, else other."""
    return where(condition, self, other)


inplace(
    "sign",
    "acosh",
    "arccosh",
    "conj_physical",
    *(k.removesuffix("_") for k in NAMES if k.endswith("_")),
    *"add sub subtract rsub div divide float_power addcmul addcdiv lerp clamp clip clamp_min clamp_max round frac "
    "ldexp sgn heaviside sinc logit nan_to_num logical_and logical_or logical_xor logical_not".split(),
)  # fmt: skip

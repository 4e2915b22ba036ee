"""torch._foreach_*: a function of one tensor applied to each tensor of a list. Optimizers of other packages call these.
"""

from .._prim import Tensor
from .._register import FUNCTIONS

_SAME = {"max": "amax"}
_KEYWORDS = {"scalar": "value", "scalars": "value", "tensors1": "other", "ord": "p"}


def _at(value, i, count):
    """The argument for the i-th tensor: item i of a list, else the argument itself. Raises RuntimeError if a list has
    another length."""
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) != count:
        what = "tensor" if value and isinstance(value[0], Tensor) else "scalar"
        wrong = f"Tensor list must have same number of elements as {what} list, got {count} and {len(value)}"
        raise RuntimeError(wrong)
    return value[i]


def _written(each):
    """The in-place form of f for a name f_ that is no method: it writes f's result into the first tensor. None if there
    is no f."""
    f = getattr(Tensor, each.removesuffix("_"), None) if each.endswith("_") else None
    return f and (lambda x, *args, **kwargs: x.copy_(f(x, *args, **kwargs)))


def of(name):
    """The function torch.<name>. Raises AttributeError if no function has the name without its prefix."""
    each = name.removeprefix("_foreach_")
    each = _SAME.get(each, each)
    f = getattr(Tensor, each, None) or FUNCTIONS.get(each) or _written(each)
    if f is None:
        raise AttributeError(f"module 'torch' has no attribute {name!r}", name=name)

    def call(tensors, *args, **kwargs):
        lists = tensors if isinstance(tensors, (list, tuple)) else args[0]  # a number may be the base
        count = len(lists)
        kwargs = {_KEYWORDS.get(k, k): v for k, v in kwargs.items()}
        found = []
        for i in range(count):
            first, *rest = (_at(a, i, count) for a in (tensors, *args))
            named = {k: _at(v, i, count) for k, v in kwargs.items()}
            if each.rstrip("_") in ("addcmul", "addcdiv") and len(rest) == 3:
                named["value"] = rest.pop()
            use = f if isinstance(first, Tensor) else FUNCTIONS[each]
            found.append(use(first, *rest, **named))
        return tensors if name.endswith("_") else tuple(found)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{each} of each tensor, with its item of every other list."
    return call

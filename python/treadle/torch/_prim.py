"""What functions are composed of: the core's differentiable primitives, and functions of arrays with a derivative
that is given beside them (`derived`)."""

import treadle as td

from .. import _core
from ._tensor import _axes

Tensor = _core.Tensor
wrap = _core.tensor_wrap  # (array, requires_grad=False): a tensor on the same storage
apply = _core._grad_apply  # (row, *operands): a row of the table of operations, of tensors and numbers
recording = _core._grad_mode
join = _core._grad_cat  # (tensors, dim): joined along it; one dtype
cumulate = _core._grad_cumulate  # (row, x, dim): the sum (prod, max, min) of the elements up to each
gathered = _core._grad_gather  # (x, dim, index, trusted=False): take_along_dim; trusted: the index is in range
ROWS = _core.ufuncs()  # the rows, as functions of arrays
op_names = _core.op_names  # (face): {name: row}
reshaped = Tensor.reshape
expanded = Tensor.expand


def array(t):
    """The array on the tensor's storage."""
    return t._array


def permuted(x, order):
    """The dimensions in that order."""
    return Tensor.permute(x, tuple(order))


def reduce(row, x, dim, keepdim, ddof=0):
    """A row of the table of reductions over dim: None, an int or several. Unsigned sums and products are int64."""
    whole = "int64" if row in ("sum", "prod") and x.dtype._kind in "bui" else None
    return _core._grad_reduce(row, x, _axes.several(dim, x.ndim), keepdim, whole, ddof)


def scalar(value, like, dtype=None):
    """A number as a tensor without dimensions, of like's dtype and device."""
    kind = (like.dtype if dtype is None else dtype)._numpy
    return wrap(td.full((), value, kind, device=like._array.device))


def cast(x, dtype):
    """x as dtype; itself where nothing changes."""
    return x if x.dtype is dtype else x._cast(dtype)


def to_device(x, where):
    """x on a device of the array layer's; itself where it lies there."""
    return x if x._array.device == where else _core._grad_to_device(x, where)


def strided(x, shape, steps, offset):
    """A window on x's storage: steps and offset in elements; offset None: x's own."""
    return _core._grad_strided(x, tuple(shape), tuple(steps), x.storage_offset() if offset is None else offset)


def add_at(x, key, values):
    """x[key] += values, in place, once for each time that an index occurs; x."""
    from .._select._tensor_index import add_item

    add_item(x, key, values)
    return x


# ---- functions of arrays with a derivative ----


class _Saved:
    """What a recorded function keeps: its operands, its results' arrays, and which versions of both it saw."""

    __slots__ = ("function", "inputs", "outputs", "static", "versions", "many")
    next_functions = ()

    def name(self):
        """What it is called as a tensor's grad_fn."""
        return self.function._facts.name + "Backward0"

    def __repr__(self):
        return f"<{self.name()}>"

    def values(self):
        """(operands, results). RuntimeError: one was written to since."""
        kept = (*self.inputs, *self.outputs)
        for t, version in zip(kept, self.versions, strict=True):
            if t._version != version:
                check_version(t, version)
        if not recording() or not self.outputs:
            return self.inputs, self.outputs if self.many else self.outputs[:1]
        again = self.function(*self.inputs, **self.static)  # with a history of its own, for derivatives of derivatives
        return self.inputs, again if self.many else (again,)


def check_version(t, version):
    """RuntimeError: a tensor that was saved for a backward pass has been written to."""
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{t.type().removeprefix('torch.')} {list(t.shape)}] is at version {t._version}; expected version "
        f"{version} "
        "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True)."
    )


class derived:
    """A function of arrays as one of tensors: @derived(name), then @f.backward for the formula of its gradients.

    f(*arrays, **static) gives an array or a tuple of them. The formula is formula(inputs, results, gradients, **static)
    in tensors' operations, and gives a gradient for each operand (None: zero); with one result it gets that and its
    gradient, not tuples. linear=True: it needs no values, and gets the operands' shapes in their place.
    """

    def __init__(self, name, linear=False):
        self.name, self.linear, self._formula = name, linear, None

    def __call__(self, f):
        self._f = f
        self.__doc__ = f.__doc__
        return _Function(self)

    def formula(self, saved, grads):
        """The operands' gradients."""
        if self._formula is None:
            raise RuntimeError(f"derivative for {self.name} is not implemented")
        inputs, outputs = saved.values() if not self.linear else (saved.inputs, ())
        g = grads if saved.many else grads[0]
        if g is None:
            return (None,) * len(inputs)
        r = None if self.linear else outputs if saved.many else outputs[0]
        back = self._formula(inputs, r, g, **saved.static)
        return back if isinstance(back, tuple) else (back,)


class _Function:
    """A derived function; call it with tensors and, by keyword, with what is none."""

    def __init__(self, facts):
        self._facts, self.__doc__ = facts, facts.__doc__
        self._saved = type(facts.name + "Backward0", (_Saved,), {"__slots__": ()})

    def backward(self, formula):
        """Enters the formula of its gradients."""
        self._facts._formula = formula
        return formula

    def __call__(self, *inputs, **static):
        r = self._facts._f(*(t._array for t in inputs), **static)
        many = isinstance(r, tuple)
        outputs = tuple(map(wrap, r)) if many else (wrap(r),)
        if recording() and any(t.requires_grad for t in inputs):
            outputs = self._recorded(inputs, outputs, static, many)
        return outputs if many else outputs[0]

    def _recorded(self, inputs, outputs, static, many):
        saved = self._saved()
        saved.function, saved.static, saved.many = self, static, many
        if self._facts.linear:
            saved.inputs, saved.outputs = tuple(tuple(t.shape) for t in inputs), ()
        else:
            saved.inputs, saved.outputs = inputs, outputs
            saved.versions = [t._version for t in (*inputs, *outputs)]
        return _core._grad_custom(saved, self._back, inputs, outputs, self._facts.name)

    def _back(self, saved, *grads):
        return self._facts.formula(saved, grads)


@derived("Zero", linear=True)
def nothing_of(a):
    """0 of the operand's dtype: in a sum it gives the operand a part in the history, with the gradient 0."""
    return td.zeros((), dtype=a.dtype, device=a.device)


@nothing_of.backward
def _(inputs, r, g):
    return g.new_zeros(inputs[0])

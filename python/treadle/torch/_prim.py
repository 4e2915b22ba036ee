"""The primitives that functions are composed of: the core's differentiable ones, and functions of arrays that bring a
derivative (`derived`)."""

import functools

import treadle as td

from .. import _core
from ._tensor import _axes
from ._tensor._layout import FORMATS

Tensor = _core.Tensor
wrap = _core.tensor_wrap  # (array, requires_grad=False): a tensor on the same storage
apply = _core._grad_apply  # (row, *operands): a row of the table of operations, of tensors and numbers
recording = _core._grad_mode
join = _core._grad_cat  # (tensors, dim): joined along it; one dtype
cumulate = _core._grad_cumulate  # (row, x, dim): the sum (prod, max, min) of the elements up to each
held = _core._grad_held  # (value, dtype): a number as that dtype has it; RuntimeError: overflow
gathered = _core._grad_gather  # (x, dim, index, trusted=False): take_along_dim; trusted: the index is in range
ROWS = _core.ufuncs()  # the rows, as functions of arrays
op_names = _core.op_names  # (face): {name: row}
reshaped = Tensor.reshape
expanded = Tensor.expand


def array(t):
    """The array on the same storage as the tensor."""
    return t._array


def permuted(x, order):
    """The dimensions in that order."""
    return Tensor.permute(x, tuple(order))


def reduce(row, x, dim, keepdim, ddof=0):
    """Reduce x over dim (None, an int or several) by a row of the table of reductions. Sums and products of unsigned
    integers are int64."""
    whole = "int64" if row in ("sum", "prod") and x.dtype._kind in "bui" else None
    return _core._grad_reduce(row, x, _axes.several(dim, x.ndim), keepdim, whole, ddof)


def scalar(value, like, dtype=None):
    """A number as a tensor without dimensions, in like's dtype and on its device. Raises RuntimeError if it overflows.
    """
    kind = like.dtype if dtype is None else dtype
    return wrap(td.full((), held(value, kind), kind._numpy, device=like._array.device))


def cast(x, dtype):
    """x as dtype; itself where nothing changes."""
    return x if x.dtype is dtype else x._cast(dtype)


def to_device(x, where):
    """x on one of the array layer's devices, its dimensions in the same order in memory. x itself if it is there."""
    if x._array.device == where:
        return x
    steps = x.stride()
    if 0 in steps or x.is_contiguous():
        return _core._grad_to_device(x, where)
    order = sorted(range(x.ndim), key=lambda d: -steps[d])
    return permuted(_core._grad_to_device(permuted(x, order), where), [order.index(d) for d in range(x.ndim)])


def strided(x, shape, steps, offset):
    """A view of x's storage with these extents, strides and offset, in elements. offset None keeps x's own."""
    return _core._grad_strided(x, tuple(shape), tuple(steps), x.storage_offset() if offset is None else offset)


def apart(r, x):
    """r, of what PyTorch has as a copy of x: a copy in C order where it is a view, which happens when nothing moves."""
    a, b = array(r), array(x)
    known = issubclass(type(a), _core.ndarray) and issubclass(type(b), _core.ndarray)  # not within vmap
    return r if known and not _core._same_storage(a, b) else r.clone(memory_format=FORMATS["contiguous_format"])


def whole_storage(t):
    """(t, a number that its storage has to itself, the storage's elements in a row or None): None where t is all of
    them, in order. A view with another dtype is copied, and one that goes backwards, as PyTorch has none."""
    number, size = _core._storage_of(array(t))
    if size < 0 or min(t.stride(), default=0) < 0:
        t = wrap(td.array(array(t)))
        number, size = _core._storage_of(array(t))
    in_order = t.numel() == size and t.is_contiguous()
    return t, number, None if in_order else strided(t, (size,), (1,), 0)


def add_at(x, key, values):
    """x[key] += values in place. An index that occurs several times adds each of its values. Returns x."""
    from .._select._tensor_index import add_item

    add_item(x, key, values)
    return x


def joint_shape(*shapes):
    """The shape that the shapes broadcast to. Raises RuntimeError if they do not."""
    try:
        return td.broadcast_shapes(*shapes)
    except ValueError:
        raise RuntimeError(_mismatch(shapes)) from None


def _mismatch(shapes):
    most = max(map(len, shapes))
    for d in reversed(range(most)):
        extents = dict.fromkeys(s[d - most] for s in shapes if len(s) >= most - d and s[d - most] != 1)
        if len(extents) > 1:
            a, b, *_ = extents
            return f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {d}"
    return f"Shape mismatch: {shapes} cannot be broadcast to a single shape"


# ---- functions of arrays with a derivative ----


class AccumulateGrad:
    """Where a graph ends: a leaf, whose gradients are added up."""

    next_functions = ()

    def __init__(self, variable):
        self.variable = variable

    def name(self):
        """PyTorch's name for the end of a graph."""
        return "torch::autograd::AccumulateGrad"

    def __eq__(self, other):
        return isinstance(other, AccumulateGrad) and self.variable is other.variable

    def __hash__(self):
        return id(self.variable)

    def __repr__(self):
        return "<AccumulateGrad>"


SPENT = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


class _Node:
    """A function of the graph that Python runs. The core tells it as `_node` which one it is."""

    __slots__ = ("_node",)

    @property
    def next_functions(self):
        """((function, which of its results), …): what made the operands."""
        return _core._grad_next(getattr(self, "_node", None))

    def _let_go(self):
        """A backward pass that keeps nothing has been through."""


class _Saved(_Node):
    """What a backward pass needs of a recorded call: its operands, the arrays of its results, and the versions that
    both had."""

    __slots__ = ("function", "inputs", "outputs", "static", "versions", "many")

    def _let_go(self):
        if not self.function._facts.linear and any(self.function._facts.reads):
            self.inputs = self.outputs = self.versions = None

    def name(self):
        """The name that a tensor's grad_fn shows."""
        return self.function._facts.name + "Backward0"

    def __repr__(self):
        return f"<{self.name()}>"

    def values(self):
        """(operands, results). Raises RuntimeError if a program has written to one of them since, and its values are
        needed, or if a pass has freed them."""
        if self.versions is None:
            raise RuntimeError(SPENT)
        kept = (*self.inputs, *self.outputs)
        of_operands, of_results = self.function._facts.reads
        n = len(self.inputs)
        for i, (t, version) in enumerate(zip(kept, self.versions, strict=True)):
            if t._version != version and (recording() or (of_operands if i < n else of_results)):
                check_version(t, version)
        if not recording() or not self.outputs:
            return self.inputs, self.outputs if self.many else self.outputs[:1]
        again = self.function(*self.inputs, **self.static)  # with a history of its own, for derivatives of derivatives
        return self.inputs, again if self.many else (again,)


def check_version(t, version):
    """Raise RuntimeError if a tensor that a backward pass needs has been written to."""
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{t.type().removeprefix('torch.')} {list(t.shape)}] is at version {t._version}; expected version "
        f"{version} "
        "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True)."
    )


class derived:
    """Turn a function of arrays into one of tensors: @derived(name), then @f.backward above the formula of its
    gradients.

    f(*arrays, **static) returns an array or a tuple of them. The formula is called as formula(inputs, results,
    gradients, **static). It computes with tensors, and returns a gradient for each operand; None stands for zero. If f
    has one result, the formula gets that result and its gradient instead of tuples. linear=True: the formula needs no
    values, and gets the shapes of the operands in place of inputs.
    """

    def __init__(self, name, linear=False):
        self.name, self.linear, self._formula = name, linear, None

    def __call__(self, f):
        self._f = f
        self.__doc__ = f.__doc__
        return _Function(self)

    @functools.cached_property
    def reads(self):
        """Whether the formula reads the operands, and the results. A program may write to those that it does not before
        the backward pass."""
        import dis  # loaded by the first program that records such a function

        found = {i.argval for i in dis.get_instructions(self._formula)}
        found |= {name for several in found if isinstance(several, tuple) for name in several}
        return [name in found for name in self._formula.__code__.co_varnames[:2]]

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
    """A derived function. Operands are positional tensors; all other arguments are keywords."""

    def __init__(self, facts):
        self._facts, self.__doc__ = facts, facts.__doc__
        self._saved = type(facts.name + "Backward0", (_Saved,), {"__slots__": ()})

    def backward(self, formula):
        """Set the formula of the gradients."""
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
            if self._facts._formula is not None and self._facts.reads[0]:
                for t in inputs:
                    _core._grad_savable(t)
            saved.versions = [t._version for t in (*inputs, *outputs)]
        return _core._grad_custom(saved, self._back, inputs, outputs, self._facts.name)

    def _back(self, saved, *grads):
        return self._facts.formula(saved, grads)


@derived("Zero", linear=True)
def nothing_of(a):
    """Zero in the operand's dtype. Adding it makes a result depend on the operand, with gradient 0."""
    return td.zeros((), dtype=a.dtype, device=a.device)


@nothing_of.backward
def _(inputs, r, g):
    return g.new_zeros(inputs[0])

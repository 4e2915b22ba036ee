"""torch.autograd: backward passes, functions with derivatives of one's own, and modes in which nothing is recorded."""

from ... import _core
from .._prim import Tensor
from . import functional, grad_mode
from .function import Function
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad", "grad_mode", "gradcheck",
    "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


def _tuple(o):
    return (o,) if isinstance(o, Tensor) else tuple(o)


def _gradients(tensors, given):
    """A gradient for each tensor: 1 where there is one element. RuntimeError: none is given and there are more."""
    given = (None,) * len(tensors) if given is None else _tuple(given)
    for t, g in zip(tensors, given, strict=True):
        if g is None and t.requires_grad and t.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if g is not None and g.shape != t.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[0] has a shape of {g.shape} and output[0] has a shape of {t.shape}."
            )
    return given


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of the leaves (or of inputs) that tensors were made of to their grad."""
    tensors = _tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    inputs = None if inputs is None else _tuple(inputs)
    _core._grad_run(tensors, _gradients(tensors, grad_tensors), inputs, keep, create_graph, False)


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
    is_grads_batched=False, materialize_grads=False,
):  # fmt: skip
    """The gradients of outputs by inputs, a tuple; nothing's grad is touched.

    RuntimeError: an input has no part in the outputs, unless allow_unused (None then) or materialize_grads (zeros).
    """
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched(outputs, inputs, _tuple(grad_outputs), keep, create_graph, allow_unused)
    for t in inputs:
        if not t.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    found = _core._grad_run(outputs, _gradients(outputs, grad_outputs), inputs, keep, create_graph, True)
    if materialize_grads:
        return tuple(t.new_zeros(t.shape) if g is None else g for t, g in zip(inputs, found, strict=True))
    if not allow_unused and any(g is None for g in found):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior."
        )
    return found


def _batched(outputs, inputs, given, keep, graph, unused):
    """grad for each row of the gradients given, stacked."""
    from .._tensor._parts import stack

    count = len(given[0])
    rows = [
        grad(outputs, inputs, tuple(g[i] for g in given), True if i + 1 < count else keep, graph, allow_unused=unused)
        for i in range(count)
    ]
    return tuple(None if parts[0] is None else stack(parts) for parts in zip(*rows, strict=True))


# ---- checks ----


class detect_anomaly:
    """A mode in which a gradient that is NaN is an error; for with statements."""

    def __init__(self, check_nan=True):
        self._on = check_nan

    def __enter__(self):
        self._was = _anomaly[0]
        _anomaly[0] = self._on

    def __exit__(self, *_):
        _anomaly[0] = self._was


_anomaly = [False]


class set_detect_anomaly(detect_anomaly):
    """detect_anomaly(mode), from now on or for a with statement."""

    def __init__(self, mode, check_nan=True):
        self._was, self._on = _anomaly[0], mode
        _anomaly[0] = mode

    def __enter__(self):
        pass


def _numeric(f, inputs, at, eps):
    """The derivatives of f's outputs by the elements of inputs[at], by central differences."""
    x, columns = inputs[at], []
    flat = x.detach().reshape(-1)
    for k in range(x.numel()):
        sides = []
        for step in (eps, -eps):
            moved = flat.clone()
            moved[k] = moved[k] + step
            with no_grad():
                given = [moved.reshape(x.shape).requires_grad_() if i == at else v for i, v in enumerate(inputs)]
                sides.append([t.detach().reshape(-1) for t in _tuple(f(*given))])
        columns.append([(a - b) / (2 * eps) for a, b in zip(*sides, strict=True)])
    return columns


def gradcheck(func, inputs, *, eps=1e-06, atol=1e-05, rtol=0.001, raise_exception=True, **unused):
    """Are func's gradients those that finite differences give? inputs: float64 tensors that require gradients."""
    inputs = _tuple(inputs)
    outputs = _tuple(func(*inputs))
    for at, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        numeric = _numeric(func, inputs, at, eps)
        for k, out in enumerate(outputs):
            for i in range(out.numel()):
                one = out.detach().new_zeros(out.shape).reshape(-1)
                one[i] = 1
                g = None
                if out.requires_grad:
                    g = grad(out, x, one.reshape(out.shape), retain_graph=True, allow_unused=True)[0]
                ours = [0.0] * x.numel() if g is None else g.reshape(-1).tolist()
                theirs = [float(c[k][i]) for c in numeric]
                if any(abs(a - b) > atol + rtol * abs(b) for a, b in zip(ours, theirs, strict=True)):
                    if not raise_exception:
                        return False
                    raise RuntimeError(
                        f"Jacobian mismatch for output {k} with respect to input "
                        f"{at},\nnumerical:{theirs}\nanalytical:{ours}\n"
                    )
    return True


def gradgradcheck(func, inputs, grad_outputs=None, **options):
    """gradcheck of func's gradients."""
    inputs = _tuple(inputs)
    wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]

    def first(*given):
        outs = _tuple(func(*given))
        total = sum((t * (k + 1)).sum() for k, t in enumerate(outs))
        again = [g for g in given if isinstance(g, Tensor) and g.requires_grad]
        with enable_grad():
            return grad(total, again, create_graph=True)

    return gradcheck(_always_recorded(first), inputs, **options) if wanted else True


def _always_recorded(f):
    def g(*given):
        with enable_grad():
            return f(*given)

    return g


def Variable(data, requires_grad=False, volatile=None):
    """data itself: tensors are variables."""
    return data.requires_grad_() if requires_grad else data

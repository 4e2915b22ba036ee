"""torch.autograd: backward passes, functions with a derivative that a program gives, and modes that record nothing."""

from ... import _core
from .. import _modules
from .._prim import Tensor
from . import functional, grad_mode
from ._passes import _tuple, backward, grad
from .function import Function
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad", "grad_mode", "gradcheck",
    "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


__getattr__, __dir__ = _modules.refusing("torch.autograd")


# ---- checks ----


class detect_anomaly:
    """A mode, as a context manager, in which a backward pass raises RuntimeError where a function produces a NaN
    gradient, and names the function. The pass waits for each gradient to check it, so it is slow."""

    def __init__(self, check_nan=True):
        self._on = check_nan

    def __enter__(self):
        self._was = _core._grad_anomaly(self._on)

    def __exit__(self, *_):
        _core._grad_anomaly(self._was)


class set_detect_anomaly(detect_anomaly):
    """Switch detect_anomaly on (mode True) or off (False), from now on or as a context manager."""

    def __init__(self, mode, check_nan=True):
        self._was = _core._grad_anomaly(bool(mode and check_nan))

    def __enter__(self):
        pass


def _numeric(f, inputs, at, eps):
    """The derivatives of f's outputs with respect to the elements of inputs[at], by central differences."""
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
    """Whether func's gradients agree with finite differences. inputs: float64 tensors that require gradients."""
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
    """data itself: every tensor is a variable."""
    return data.requires_grad_() if requires_grad else data

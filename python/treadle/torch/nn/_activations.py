"""Functions of elements and of rows: activations, softmax, dropout."""

import math
import warnings

from ... import torch
from .._prim import apply
from .._tensor import _elementwise
from .._tensor._layout import laid_like


def _in_place(function):
    """The function with PyTorch's additional parameter ``inplace``."""

    def call(input, *args, inplace=False, **kwargs):
        if not inplace:
            return function(input, *args, **kwargs)
        # The function works on a copy, because the formula's backward pass needs the values that are overwritten.
        return input.copy_(function(input.clone(), *args, **kwargs))

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


def relu(input, inplace=False):
    """The larger of each element and 0."""
    return torch.relu_(input) if inplace else torch.relu(input)


def relu_(input):
    return torch.relu_(input)


def sigmoid(input):
    return torch.sigmoid(input)


def tanh(input):
    return torch.tanh(input)


@_in_place
def relu6(input):
    """min(max(x, 0), 6)."""
    return input.clamp(0, 6)


@_in_place
def hardtanh(input, min_val=-1.0, max_val=1.0):
    """x held between min_val and max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    r = input.clamp(min_val, max_val)
    return r if r.dtype is input.dtype else r.to(input.dtype)


@_in_place
def leaky_relu(input, negative_slope=0.01):
    """x where positive, else negative_slope * x."""
    return torch.where(input > 0, input, input * negative_slope)


@_in_place
def elu(input, alpha=1.0):
    """x where positive, else alpha * (exp(x) - 1)."""
    return _elementwise.elu(input, alpha=alpha)


@_in_place
def selu(input):
    """Self-normalising: scale * elu(x)."""
    return torch.selu(input)


@_in_place
def celu(input, alpha=1.0):
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))."""
    return torch.celu(input, alpha)


@_in_place
def silu(input):
    """x * sigmoid(x)."""
    return input * torch.sigmoid(input)


@_in_place
def mish(input):
    """x * tanh(softplus(x))."""
    return input * torch.tanh(softplus(input))


@_in_place
def hardsigmoid(input):
    """(x + 3) / 6, held between 0 and 1."""
    return (input + 3).clamp(0, 6) / 6


@_in_place
def hardswish(input):
    """x * hardsigmoid(x)."""
    if input.dtype.itemsize == 2:  # the product may pass a half's limits
        return hardswish(input.float()).to(input.dtype)
    return input * (input + 3).clamp(0, 6) / 6


threshold = _in_place(torch.threshold)
hardshrink, prelu = torch.hardshrink, torch.prelu


def gelu(input, approximate="none"):
    """x times the normal distribution's cdf at x. approximate="tanh" uses a formula with tanh."""
    if approximate == "tanh":
        return 0.5 * input * (1 + torch.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input * input * input)))
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return 0.5 * input * (1 + torch.erf(input * math.sqrt(0.5)))


def softplus(input, beta=1.0, threshold=20.0):
    """log(1 + exp(beta * x)) / beta, or x itself where beta * x exceeds threshold."""
    scaled = input * beta if beta != 1 else input
    soft = apply("softplus", scaled)
    return torch.where(scaled > threshold, input, soft / beta if beta != 1 else soft)


def logsigmoid(input):
    """log(sigmoid(x))."""
    return 0 - apply("softplus", -input.contiguous())


def softsign(input):
    """input / (1 + |input|)."""
    return input / (1 + input.abs())


def tanhshrink(input):
    """input - tanh(input)."""
    return input - torch.tanh(input)


def softshrink(input, lambd=0.5):
    """input moved towards 0 by lambd; 0 if it is within lambd of 0."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return torch.where(input > lambd, input - lambd, torch.where(input < -lambd, input + lambd, input * 0))


@_in_place
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """x where positive, else a slope times x. In training the slope is drawn between lower and upper, else it is their
    mean."""
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, but got {lower} > {upper}")
    slope = torch.rand_like(input) * (upper - lower) + lower if training else (lower + upper) / 2
    return torch.where(input > 0, input, input * slope).contiguous()


def glu(input, dim=-1):
    """The first half along dim, times the sigmoid of the second half."""
    if input.size(dim) % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {input.size(dim)}")
    a, b = input.chunk(2, dim)
    return a * torch.sigmoid(b)


def _dim_of(dim, ndim, name):
    if isinstance(dim, (bool, float, str)):
        raise TypeError(f"{name}: dim must be an int or None, got {type(dim)}")
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return torch.softmax(input, _dim_of(dim, input.dim(), "softmax"), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return torch.log_softmax(input, _dim_of(dim, input.dim(), "log_softmax"), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -input along dim."""
    return torch.softmax(-input, _dim_of(dim, input.dim(), "softmin"), dtype=dtype)


def gumbel_softmax(logits, tau=1.0, hard=False, eps=1e-10, dim=-1):
    """softmax of logits plus Gumbel noise. hard=True gives a one-hot result that has the softmax's gradient."""
    noise = -torch.log(-torch.log(torch.rand_like(logits) * (1 - 2e-7) + 1e-7))
    soft = torch.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    places = torch.arange(logits.size(dim), device=logits.device)
    shape = [1] * logits.dim()
    shape[dim] = -1
    one_hot = (places.reshape(shape) == soft.argmax(dim, keepdim=True)).to(soft.dtype)
    return one_hot - soft.detach() + soft


def _masked(input, p, shape, training, inplace, name):
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if input.dtype._kind in "bui":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype._word}")
    if p == 1:
        result = input * 0
    else:
        # The kernel of the expression draws the mask, and the backward pass's kernel draws it again, so it takes no
        # memory.
        keep = torch.rand(shape, dtype=torch.float32, device=input.device) >= p
        result = laid_like(torch.where(keep, input * (1 / (1 - p)), 0.0), input)
    return input.copy_(result) if inplace else result


def dropout(input, p=0.5, training=True, inplace=False):
    """In training each element becomes 0 with probability p, and the others are multiplied by 1 / (1 - p)."""
    return _masked(input, p, tuple(input.shape), training, inplace, "dropout")


def _channels(dims):
    """dropout{dims}d, with PyTorch's rules for what a channel is. They depend on the number of dims."""
    name = f"dropout{dims}d"
    usual = (dims + 1, dims + 2)

    def call(input, p=0.5, training=True, inplace=False):
        n = input.dim()
        if dims == 1 and n not in usual:
            raise RuntimeError(
                f"dropout1d: Expected 2D or 3D input, but received a {n}D input. Note that dropout1d exists to provide "
                "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
                "dimension (i.e. 2D or 3D inputs)."
            )
        if n not in usual:
            warnings.warn(
                f"{name}: Received a {n}-D input to {name}, which is deprecated and will result in an error in a "
                "future release. To retain the behavior and silence this warning, please use dropout instead.",
                stacklevel=2,
            )
        if dims == 2 and n == 3:
            warnings.warn(
                "dropout2d: Received a 3D input to dropout2d, which is taken for (N, C, L) as dropout1d takes it.",
                stacklevel=2,
            )
        batched = dims == 2 or n == dims + 2  # dropout2d takes the first two dims of any tensor for (N, C)
        lead = 2 if batched else 1
        if n < lead and training and 0 < p < 1:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        return _masked(input, p, (*input.shape[:lead], *[1] * (n - lead)), training, inplace, name)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "In training each channel is 0 with probability p, the others are multiplied by 1 / (1 - p)."
    return call


dropout1d, dropout2d, dropout3d = map(_channels, (1, 2, 3))


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1 of values that SELU gave."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    low = -1.7580993408473766
    keep = torch.rand(tuple(input.shape), dtype=torch.float32, device=input.device) >= p
    scale = 0.0 if p == 1 else ((1 - p) * (1 + p * low**2)) ** -0.5
    result = torch.where(keep, input, low) * scale - scale * low * p
    return input.copy_(result) if inplace else result

"""Convolutions as matrix products over windows.

There are three operations on an input x, weights w and an output y, each the derivative of the others: ``conv`` (x, w →
y), ``conv_input`` (y, w → x) and ``conv_weight`` (x, y → w). On a CPU the core gathers windows tile by tile. Elsewhere
windows are copied once, channels first, so that one product computes a whole batch. Its result is laid out channels
first, too, which suits the windows of the next convolution.
"""

import math
from typing import NamedTuple

from ... import _core, torch
from ._windows import fold, pad, padded, places, spread, windows


class Geometry(NamedTuple):
    kernel: tuple
    stride: tuple
    pads: tuple  # (before, after) for each dim
    dilation: tuple
    groups: int

    @property
    def rank(self):
        return len(self.kernel)


_FORWARD, _INPUT, _WEIGHT = range(3)


def _three(numbers, fill):
    """Let f handle up to three dims, by adding dims of one element in front."""
    return (fill,) * (3 - len(numbers)) + tuple(numbers)


def _at_once(kind, first, second, shape, space, out, geo):
    """The result that the core computes, or None if it cannot. An empty sum gives zeros."""
    if any(type(t) not in (torch.Tensor, torch.nn.Parameter) for t in (first, second)):
        return None
    if not math.prod(shape) or not first.numel() or not second.numel():
        return torch.zeros(shape, dtype=first.dtype, device=first.device)
    x, w, y = {_FORWARD: (first.shape, second.shape, shape), _INPUT: (shape, second.shape, first.shape),
               _WEIGHT: (first.shape, shape, second.shape)}[kind]  # fmt: skip
    counts = (x[0], x[1] // geo.groups, w[0] // geo.groups)
    before = _three([a for a, _ in geo.pads], 0)
    dims = (_three(n, 1) for n in (space, out, geo.kernel, geo.stride))
    r = _core._grad_conv(kind, first, second, tuple(shape), counts, geo.groups, *dims, before, _three(geo.dilation, 1))
    return None if r is NotImplemented else r


def _places(space, geo):
    return places([n + a + b for n, (a, b) in zip(space, geo.pads)], geo.kernel, geo.stride, geo.dilation)


def _columns(x, geo):
    """(the windows of x as columns (groups, channels of a group * kernel, batch * places), the places)."""
    n = geo.rank
    win = windows(padded(x, geo.pads), geo.kernel, geo.stride, geo.dilation)
    order = (1, *range(2 + n, 2 + 2 * n), 0, *range(2, 2 + n))
    out = win.shape[2 : 2 + n]
    return win.permute(order).reshape(geo.groups, -1, x.size(0) * math.prod(out)), out


def _rows(y, geo):
    """An output as (groups, channels of a group, batch * places)."""
    return y.transpose(0, 1).reshape(geo.groups, y.size(1) // geo.groups, -1)


def _unrows(rows, batch, out):
    return rows.reshape(-1, batch, *out).transpose(0, 1)


def _product(a, b):
    """Matrix products, one for each group. A single group is a plain product."""
    return (a[0] @ b[0]).unsqueeze(0) if a.size(0) == 1 else a @ b


def conv(x, w, geo):
    """From (N, C, *space) and (O, C / groups, *kernel) to (N, O, *places)."""
    found = tuple(_places(x.shape[2:], geo))
    done = _at_once(_FORWARD, x, w, (x.size(0), w.size(0), *found), x.shape[2:], found, geo)
    if done is not None:
        return done
    cols, out = _columns(x, geo)
    return _unrows(_product(w.reshape(geo.groups, w.size(0) // geo.groups, -1), cols), x.size(0), out)


def conv_weight(x, y, geo):
    shape = (y.size(1), x.size(1) // geo.groups, *geo.kernel)
    done = _at_once(_WEIGHT, x, y, shape, x.shape[2:], y.shape[2:], geo)
    if done is not None:
        return done
    cols, _ = _columns(x, geo)
    return _product(_rows(y, geo), cols.transpose(1, 2)).reshape(y.size(1), -1, *geo.kernel)


def conv_input(y, w, size, geo):
    """The x of extents `size` that leads to y: a transposed convolution. With steps of one it is a convolution with
    flipped weights."""
    shape = (y.size(0), w.size(1) * geo.groups, *size)
    done = _at_once(_INPUT, y, w, shape, size, y.shape[2:], geo)
    if done is not None:
        return done
    if all(s == 1 for s in geo.stride):
        return _turned(y, w, size, geo)
    n, channels = geo.rank, w.size(1) * geo.groups
    rows = _product(w.reshape(geo.groups, w.size(0) // geo.groups, -1).transpose(1, 2), _rows(y, geo))
    cols = rows.reshape(channels, *geo.kernel, y.size(0), *y.shape[2:])
    cols = cols.permute(1 + n, 0, *range(2 + n, 2 + 2 * n), *range(1, 1 + n))
    wide = tuple(m + a + b for m, (a, b) in zip(size, geo.pads))
    return padded(fold(cols, wide, geo.stride, geo.dilation), [(-a, -b) for a, b in geo.pads])


def _turned(y, w, size, geo):
    n, g = geo.rank, geo.groups
    turned = w.flip(tuple(range(2, 2 + n))).reshape(g, w.size(0) // g, w.size(1), *geo.kernel)
    turned = turned.transpose(1, 2).reshape(w.size(1) * g, w.size(0) // g, *geo.kernel)
    reach = [d * (k - 1) for d, k in zip(geo.dilation, geo.kernel)]
    before = [r - a for r, (a, _) in zip(reach, geo.pads)]
    after = [m - o - b + r for m, o, b, r in zip(size, y.shape[2:], before, reach)]
    return conv(y, turned, geo._replace(pads=tuple(zip(before, after))))


class Conv(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, geo):
        ctx.save_for_backward(x, w)
        ctx.geo = geo
        return conv(x, w, geo)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        dx = ConvInput.apply(grad, w.conj(), x.shape[2:], ctx.geo) if ctx.needs_input_grad[0] else None
        dw = ConvWeight.apply(x.conj(), grad, ctx.geo) if ctx.needs_input_grad[1] else None
        return dx, dw, None


class ConvInput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, w, size, geo):
        ctx.save_for_backward(y, w)
        ctx.geo = geo
        return conv_input(y, w, size, geo)

    @staticmethod
    def backward(ctx, grad):
        y, w = ctx.saved_tensors
        dy = Conv.apply(grad, w.conj(), ctx.geo) if ctx.needs_input_grad[0] else None
        dw = ConvWeight.apply(grad, y.conj(), ctx.geo) if ctx.needs_input_grad[1] else None
        return dy, dw, None, None


class ConvWeight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, geo):
        ctx.save_for_backward(x, y)
        ctx.geo = geo
        return conv_weight(x, y, geo)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        dx = ConvInput.apply(y.conj(), grad, x.shape[2:], ctx.geo) if ctx.needs_input_grad[0] else None
        dy = Conv.apply(x.conj(), grad, ctx.geo) if ctx.needs_input_grad[1] else None
        return dx, dy, None


def _with_bias(y, bias):
    return y if bias is None else y + bias.reshape(1, -1, *[1] * (y.dim() - 2))


def _check(name, x, w, bias, groups, channels, of_bias):
    if x.dim() != w.dim():
        raise RuntimeError(
            f"Expected {w.dim() - 1}D (unbatched) or {w.dim()}D (batched) input to {name}, but got input of "
            f"size: {list(x.shape)}"
        )
    if groups <= 0 or w.size(0) % groups:
        raise RuntimeError(
            f"expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"{list(w.shape)} instead"
        )
    if x.size(1) != channels:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(w.shape)}, expected input{list(x.shape)} to have "
            f"{channels} channels, but got {x.size(1)} channels instead"
        )
    if bias is not None and tuple(bias.shape) != (of_bias,):
        raise RuntimeError(
            f"Given weight of size {list(w.shape)}, expected bias to be 1-dimensional with {of_bias} elements, "
            f"but got bias of size {list(bias.shape)} instead"
        )
    if x.dtype != w.dtype:
        raise RuntimeError(f"Input type ({x.dtype}) and weight type ({w.dtype}) should be the same")
    if bias is not None and x.dtype != bias.dtype:
        raise RuntimeError(f"Input type ({x.dtype}) and bias type ({bias.dtype}) should be the same")


def _pads(padding, kernel, stride, dilation):
    """(before, after) for each dim, from numbers, "valid" or "same"."""
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding == "same":
        if any(s != 1 for s in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        return tuple((d * (k - 1) // 2, d * (k - 1) - d * (k - 1) // 2) for k, d in zip(kernel, dilation))
    if isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    sizes = spread(padding, len(kernel), "padding")
    if min(sizes) < 0:
        raise RuntimeError(f"negative padding is not supported, but got padding={tuple(sizes)}")
    return tuple((p, p) for p in sizes)


def _convolution(rank):
    name = f"conv{rank}d"

    def call(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if input.dim() == rank + 1:
            return call(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
        _check(name, input, weight, bias, groups, weight.size(1) * groups, weight.size(0))
        kernel = tuple(weight.shape[2:])
        stride, dilation = spread(stride, rank, "stride"), spread(dilation, rank, "dilation")
        pads = _pads(padding, kernel, stride, dilation)
        if min(places([n + a + b for n, (a, b) in zip(input.shape[2:], pads)], kernel, stride, dilation)) < 1:
            wide = " x ".join(str(n + a + b) for n, (a, b) in zip(input.shape[2:], pads))
            raise RuntimeError(
                f"Calculated padded input size per channel: ({wide}). Kernel size: "
                f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size"
            )
        return _with_bias(Conv.apply(input, weight, Geometry(kernel, stride, pads, dilation, groups)), bias)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"Correlates (N, C, {rank} dims) with weights (O, C / groups, {rank} dims); padding: numbers, "
        '"valid" or "same".'
    )
    return call


def _transposed(rank):
    name = f"conv_transpose{rank}d"

    def call(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        if input.dim() == rank + 1:
            args = (weight, bias, stride, padding, output_padding, groups, dilation)
            return call(input.unsqueeze(0), *args).squeeze(0)
        _check(name, input, weight, bias, groups, weight.size(0), weight.size(1) * groups)
        kernel = tuple(weight.shape[2:])
        stride, dilation = spread(stride, rank, "stride"), spread(dilation, rank, "dilation")
        padding, more = spread(padding, rank, "padding"), spread(output_padding, rank, "output_padding")
        if any(m >= s and m >= d for m, s, d in zip(more, stride, dilation)):
            raise RuntimeError(
                f"output padding must be smaller than either stride or dilation, but got output_padding "
                f"{more}, stride {stride}, dilation {dilation}"
            )
        sizes = zip(input.shape[2:], kernel, stride, padding, more, dilation)
        size = tuple((n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, k, s, p, m, d in sizes)
        # What is left of the extent must not hold one more window. So more of it is cut off, or filled with zeros.
        pads = tuple((p, p - max(m - s + 1, 0)) for p, m, s in zip(padding, more, stride))
        return _with_bias(ConvInput.apply(input, weight, size, Geometry(kernel, stride, pads, dilation, groups)), bias)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The adjoint of conv{rank}d: (N, C, {rank} dims) with weights (C, O / groups, {rank} dims)."
    return call


conv1d, conv2d, conv3d = (_convolution(n) for n in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed(n) for n in (1, 2, 3))


def padded_conv(rank, input, weight, bias, stride, padding, dilation, groups, mode):
    """A convolution with padding "zeros" or one of ``pad``'s modes."""
    function = (conv1d, conv2d, conv3d)[rank - 1]
    if mode == "zeros":
        return function(input, weight, bias, stride, padding, dilation, groups)
    kernel = tuple(weight.shape[2:])
    pads = _pads(padding, kernel, spread(stride, rank, "stride"), spread(dilation, rank, "dilation"))
    flat = [n for ab in reversed(pads) for n in ab]
    return function(pad(input, flat, mode), weight, bias, stride, 0, dilation, groups)

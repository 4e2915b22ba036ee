"""The parts of convolutions and pools: padding, windows that slide over a tensor, and fold, which adds windows back.

The windows of a tensor (N, C, *space) are a view (N, C, *places, *kernel) of the same memory. ``fold`` is the adjoint.
"""

import itertools
import math

from ... import torch
from .._prim import apart


def spread(value, n, name):
    """One number for each of n dims."""
    if isinstance(value, int):
        return (value,) * n
    value = tuple(int(v) for v in value)
    if len(value) == 1:
        return value * n
    if len(value) != n:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values, but got {name}={list(value)}"
        )
    return value


def places(size, kernel, stride, dilation):
    """The number of windows along each dim."""
    return tuple((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(size, kernel, stride, dilation))


def plain(x):
    """x in C order. The channels of images may come last in memory: PyTorch's layers keep that layout, too."""
    return x if x.dim() == 4 and x.permute(0, 2, 3, 1).is_contiguous() else x.contiguous()


def padded(x, pads, value=0.0, channels_first=True):
    """x with padding (before, after) of value around its last dims. Negative padding cuts elements off. The channels
    of a batch come first in memory if that is asked for, as windows are read fastest; else memory is in C order."""
    if not any(a or b for a, b in pads):
        return x
    lead = x.dim() - len(pads)
    size = [n + a + b for n, (a, b) in zip(x.shape[lead:], pads)]
    if min(size) < 0:
        raise RuntimeError(f"pad: amounts {list(pads)} leave extents {size} of {list(x.shape)}; none may be negative")
    inner = [slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape[lead:], pads)]
    if all(a <= 0 and b <= 0 for a, b in pads):
        return x[(..., *inner)]
    place = [slice(max(a, 0), n - max(b, 0)) for n, (a, b) in zip(size, pads)]
    if lead == 2 and channels_first:
        out = torch.full((x.size(1), x.size(0), *size), value, dtype=x.dtype, device=x.device).transpose(0, 1)
    else:
        out = torch.full((*x.shape[:lead], *size), value, dtype=x.dtype, device=x.device)
    part = x[(..., *inner)]
    if part.numel():
        out[(..., *place)] = part
    return out


def windows(x, kernel, stride, dilation):
    """The windows of x as a view."""
    own = x.stride()
    out = places(x.shape[2:], kernel, stride, dilation)
    steps = [a * s for a, s in zip(own[2:], stride)] + [a * d for a, d in zip(own[2:], dilation)]
    return x.as_strided((*x.shape[:2], *out, *kernel), (*own[:2], *steps))


def shifted(x, kernel, stride, dilation):
    """For each place in the kernel, the elements that the windows see there: views (N, C, *places)."""
    out = places(x.shape[2:], kernel, stride, dilation)
    for at in itertools.product(*(range(k) for k in kernel)):
        yield x[(..., *(slice(a * d, a * d + (n - 1) * s + 1, s) for a, d, n, s in zip(at, dilation, out, stride)))]


def fold(cols, size, stride, dilation):
    """Windows (N, C, *places, *kernel), added up into a tensor (N, C, *size)."""
    n = len(size)
    out, kernel = cols.shape[2 : 2 + n], cols.shape[2 + n :]
    if (
        tuple(stride) == tuple(kernel)
        and all(d == 1 for d in dilation)
        and all(o * k == m for o, k, m in zip(out, kernel, size))
    ):
        order = [0, 1] + [x for i in range(n) for x in (2 + i, 2 + n + i)]
        return cols.permute(order).reshape((*cols.shape[:2], *size))
    if cols.dtype in (torch.float16, torch.bfloat16):  # sums of half types lose digits
        return fold(cols.float(), size, stride, dilation).to(cols.dtype)
    result = torch.zeros((*cols.shape[:2], *size), dtype=cols.dtype, device=cols.device)
    every = itertools.product(*(range(k) for k in kernel))
    for at, place in zip(every, shifted(result, kernel, stride, dilation)):
        place += cols[(..., *at)]
    return result


class Pad(torch.autograd.Function):
    """``padded``, differentiable; a copy in C order."""

    @staticmethod
    def forward(ctx, x, pads, value):
        ctx.pads = pads
        cuts = all(a <= 0 and b <= 0 for a, b in pads)
        out = padded(x, pads, value, False)
        return out.clone(memory_format=torch.contiguous_format) if cuts else out

    @staticmethod
    def backward(ctx, grad):
        return Pad.apply(grad, [(-a, -b) for a, b in ctx.pads], 0.0), None, None


class Windows(torch.autograd.Function):
    """``windows``, differentiable; it copies."""

    @staticmethod
    def forward(ctx, x, kernel, stride, dilation):
        ctx.geometry = x.shape[2:], stride, dilation
        return windows(x, kernel, stride, dilation).clone()

    @staticmethod
    def backward(ctx, grad):
        return Fold.apply(grad, *ctx.geometry), None, None, None


class Fold(torch.autograd.Function):
    """``fold``, differentiable."""

    @staticmethod
    def forward(ctx, cols, size, stride, dilation):
        ctx.geometry = cols.shape[2 + len(size) :], stride, dilation
        return fold(cols, size, stride, dilation)

    @staticmethod
    def backward(ctx, grad):
        return Windows.apply(grad, *ctx.geometry), None, None, None


def pad(input, pad, mode="constant", value=None):
    """Pad the last dims, beginning with the last: (before, after, before, after, …).

    mode: "constant" (value, default 0; negative amounts cut off), "reflect", "replicate" or "circular".
    """
    if len(pad) % 2 or len(pad) // 2 > input.dim():
        raise RuntimeError(
            f"Padding length must be divisible by 2 and at most twice the number of dimensions, got {len(pad)}"
        )
    pads = [(int(pad[i]), int(pad[i + 1])) for i in range(len(pad) - 2, -1, -2)]
    if mode == "constant":
        if not any(map(any, pads)):
            return input.clone()
        return Pad.apply(input, pads, 0.0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if input.dim() not in (len(pads) + 1, len(pads) + 2) or len(pads) > 3:
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    given = input
    for i, (a, b) in enumerate(pads):
        dim = input.dim() - len(pads) + i
        n = input.size(dim)
        if max(a, b) >= n + (mode == "circular") and mode != "replicate":
            raise RuntimeError(
                f"Padding size should be less than the corresponding input dimension, but got: padding "
                f"({a}, {b}) at dimension {dim} of input {list(input.shape)}"
            )
        if mode == "circular" and -min(a, 0) - min(b, 0) > n:
            raise RuntimeError(f"Negative padding ({a}, {b}) leaves nothing of dimension {dim} of {list(input.shape)}")
        if a or b:
            # Negative amounts are cut off before a circle is closed.
            low, high = (max(-a, 0), n - max(-b, 0)) if mode == "circular" else (0, n)
            places = [low + _mirrored(k - low, high - low, mode) for k in range(-a, n + b)]
            input = input.index_select(dim, torch.tensor(places, dtype=torch.int64, device=input.device))
    return apart(input, given)


def _mirrored(k, n, mode):
    """The element that place k, inside or outside of n elements, repeats."""
    if mode == "circular":
        return k % n
    if mode == "replicate":
        return min(max(k, 0), n - 1)
    return -k if k < 0 else 2 * (n - 1) - k if k >= n else k


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows as columns: (N, C, H, W) to (N, C * kernel, places)."""
    rank = 2
    if input.dim() not in (3, 4) or not all(input.shape[-3:]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    if input.dim() == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    kernel, stride = spread(kernel_size, rank, "kernel_size"), spread(stride, rank, "stride")
    dilation, padding = spread(dilation, rank, "dilation"), spread(padding, rank, "padding")
    places = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(input.shape[2:], padding, dilation, kernel, stride)
    ]
    if min(places) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[2:])}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, calculated shape of the array of sliding blocks as {tuple(places)}, but its "
            "components must be at least one."
        )
    x = Pad.apply(input, [(p, p) for p in padding], 0.0) if any(padding) else input
    cols = Windows.apply(x, kernel, stride, dilation)
    order = (0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank))
    return cols.permute(order).reshape(x.size(0), x.size(1) * math.prod(kernel), math.prod(cols.shape[2 : 2 + rank]))


def fold_columns(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The adjoint of unfold: columns (N, C * kernel, places), added up into (N, C, *output_size)."""
    if input.dim() not in (2, 3) or not all(input.shape[-2:]):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(input.shape)}"
        )
    if input.dim() == 2:
        return fold_columns(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    size = spread(output_size, 2, "output_size")
    kernel, stride = spread(kernel_size, 2, "kernel_size"), spread(stride, 2, "stride")
    dilation, padding = spread(dilation, 2, "dilation"), spread(padding, 2, "padding")
    wide = tuple(n + 2 * p for n, p in zip(size, padding))
    out = places(wide, kernel, stride, dilation)
    if input.size(2) != math.prod(out):
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, expected the size of input at dimension 2 to "
            f"match the calculated number of sliding blocks {' * '.join(map(str, out))} = {math.prod(out)}, "
            f"but got input.size(2)={input.size(2)}."
        )
    cols = input.reshape(input.size(0), -1, *kernel, *out).permute(0, 1, 4, 5, 2, 3)
    folded = Fold.apply(cols, wide, stride, dilation)
    return Pad.apply(folded, [(-p, -p) for p in padding], 0.0) if any(padding) else apart(folded, input)

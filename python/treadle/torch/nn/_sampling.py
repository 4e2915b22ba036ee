"""Values between and outside of the elements of grids: sampling at arbitrary places, and unpooling."""

import itertools
import math
import warnings

from ... import torch
from .._prim import nothing_of
from ._windows import spread


def _corners(align_corners):
    """align_corners as it was given, or False with PyTorch's warning."""
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
            "details.",
            UserWarning,
            stacklevel=3,
        )
    return bool(align_corners)


def affine_grid(theta, size, align_corners=None):
    """The places, (N, H, W, 2) or (N, D, H, W, 3), to which the affine maps theta, (N, 2, 3) or (N, 3, 4), move a grid.

    size: the shape that grid_sample will return, (N, C, H, W) or (N, C, D, H, W).
    """
    align_corners = _corners(align_corners)
    rank = len(size) - 2
    if tuple(theta.shape[1:]) != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size {size}. Got "
            f"{tuple(theta.shape)}."
        )
    lines = []
    for n in size[2:]:
        line = torch.linspace(-1, 1, n, dtype=theta.dtype, device=theta.device) if n > 1 else theta.new_zeros(1)
        lines.append(line if align_corners else line * ((n - 1) / n))
    places = torch.meshgrid(*lines, indexing="ij")[::-1]  # x, which is the last dimension, comes first
    base = torch.stack([*places, torch.ones_like(places[0])], -1).reshape(1, -1, rank + 1)
    return (base @ theta.transpose(1, 2)).reshape(size[0], *size[2:], rank)


def _in_elements(x, n, align_corners):
    """Places from -1 to 1, converted to element indices."""
    return (x + 1) * ((n - 1) / 2) if align_corners else ((x + 1) * n - 1) / 2


def _reflected(x, n, align_corners):
    low, span = (0.0, n - 1) if align_corners else (-0.5, n)
    if not span:
        return torch.zeros_like(x)
    x = (x - low).abs()
    turns = torch.floor(x.detach() / span)
    rest = x - turns * span
    return (torch.where(turns % 2 == 0, rest, span - rest) + low).clamp(0, n - 1)


def _coordinates(grid, sizes, padding_mode, align_corners):
    """Element indices, in one tensor for each dimension of the input."""
    found = []
    for k, n in enumerate(sizes):
        x = _in_elements(grid[..., len(sizes) - 1 - k], n, align_corners)
        found.append(_placed(x, n, padding_mode, align_corners))
    return found


def _placed(x, n, padding_mode, align_corners):
    """Element indices. If padding_mode says so, those outside of the n elements are moved inside."""
    if padding_mode == "border":
        return x.clamp(0, n - 1)
    return _reflected(x, n, align_corners) if padding_mode == "reflection" else x


def _taken(flat, sizes, places):
    """The elements at integer indices, 0 outside."""
    there, number = None, 0
    for place, n in zip(places, sizes, strict=True):
        inside = (place >= 0) & (place <= n - 1)
        there = inside if there is None else there & inside
        number = number * n + place.clamp(0, n - 1).to(torch.int64)
    shape = tuple(number.shape)
    index = number.reshape(shape[0], 1, -1).expand(*flat.shape[:2], math.prod(shape[1:]))
    return torch.where(there.unsqueeze(1), flat.gather(2, index).reshape(*flat.shape[:2], *shape[1:]), 0.0)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """input (N, C, H, W) or (N, C, D, H, W), sampled at the places grid (N, H', W', 2) or (N, D', H', W', 3) between -1
    and 1.

    mode: bilinear, nearest or, for (N, C, H, W), bicubic. padding_mode, for places outside: zeros, border or
    reflection. align_corners: -1 and 1 are the centres of the outermost elements instead of their edges.
    """
    align_corners = _corners(align_corners)
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    sizes = tuple(input.shape[2:])
    if grid.dim() != input.dim() or grid.size(-1) != len(sizes) or grid.size(0) != input.size(0):
        raise RuntimeError(
            f"grid_sample(): an input of shape {list(input.shape)} and a grid of shape {list(grid.shape)} do not fit"
        )
    if mode == "bicubic":
        return _bicubic(input, grid, sizes, padding_mode, bool(align_corners))
    at = _coordinates(grid, sizes, padding_mode, bool(align_corners))
    flat = input.flatten(2)
    if mode == "nearest":
        return _taken(flat, sizes, [torch.round(x.detach()) for x in at]) + nothing_of(grid)
    low, total = [torch.floor(x.detach()) for x in at], None
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight = None
        for x, below, up in zip(at, low, corner, strict=True):
            part = x - below if up else below + 1 - x
            weight = part if weight is None else weight * part
        value = _taken(flat, sizes, [below + up for below, up in zip(low, corner, strict=True)]) * weight.unsqueeze(1)
        total = value if total is None else total + value
    return total


def _cubic(t, a=-0.75):
    """The weights of the four elements around a place that lies t beyond the second of them."""

    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return a * (((x - 5) * x + 8) * x - 4)

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _bicubic(input, grid, sizes, padding_mode, align_corners):
    """Combine the sixteen elements around each place. padding_mode applies to each element by itself."""
    if len(sizes) != 2:
        raise RuntimeError("grid_sample(): bicubic interpolation only supports 4D input")
    flat, total = input.flatten(2), None
    at = [_in_elements(grid[..., 1 - k], n, align_corners) for k, n in enumerate(sizes)]
    low = [torch.floor(x.detach()) for x in at]
    weights = [_cubic(x - below) for x, below in zip(at, low, strict=True)]
    for i, j in itertools.product(range(4), repeat=2):
        places = [_placed(below + k - 1, n, padding_mode, align_corners) for below, k, n in zip(low, (i, j), sizes)]
        value = _taken(flat, sizes, places) * (weights[0][i] * weights[1][j]).unsqueeze(1)
        total = value if total is None else total + value
    return total


def _unpool(rank):
    def call(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = spread(kernel_size, rank, "kernel_size")
        step = kernel if stride is None else spread(stride, rank, "stride")
        pad = spread(padding, rank, "padding")
        if input.dim() not in (rank + 1, rank + 2):
            raise RuntimeError(f"max_unpool{rank}d: expected {rank + 1}D or {rank + 2}D input, got {input.dim()}D")
        if indices.shape != input.shape:
            raise RuntimeError(
                f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
                f"indices tensor with shape: {list(indices.shape)}"
            )
        if min(step) < 1:
            raise RuntimeError(f"strides should be greater than zero, but got stride: {list(step)}")
        sizes = input.shape[-rank:]
        usual = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(sizes, step, pad, kernel, strict=True)]
        shape = list(usual if output_size is None else output_size)[-rank:]
        for n, m, s in zip(shape, usual, step, strict=True):
            if not m - s < n < m + s:
                raise ValueError(
                    f'invalid output_size "{tuple(shape)}" (dim 0 must be between {usual[0] - step[0]} and '
                    f"{usual[0] + step[0]})"
                )
        lead = tuple(input.shape[:-rank])
        places, values = indices.reshape(*lead, -1), input.reshape(*lead, -1)
        zeros = torch.zeros(*lead, math.prod(shape), dtype=input.dtype, device=input.device)
        return zeros.scatter(len(lead), places, values).reshape(*lead, *shape)

    call.__name__ = call.__qualname__ = f"max_unpool{rank}d"
    call.__doc__ = f"The maxima that max_pool{rank}d found, where they stood; zeros elsewhere."
    return call


max_unpool1d, max_unpool2d, max_unpool3d = map(_unpool, (1, 2, 3))

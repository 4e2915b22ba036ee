"""Pools whose windows begin at random places: fractional_max_pool2d and 3d."""

from ... import torch
from ._windows import spread


def _begins(samples, size, kernel, out):
    """The places where the windows of one axis begin: (N, C, out). samples: one number of [0, 1) for each plane."""
    if out == 1:
        return torch.full((*samples.shape, 1), size - kernel, dtype=torch.int64, device=samples.device)
    step = (size - kernel) / (out - 1)
    i = torch.arange(out - 1, dtype=samples.dtype, device=samples.device)
    u = samples.unsqueeze(-1)
    first = ((i + u) * step).to(torch.int64) - (u * step).to(torch.int64)
    return torch.cat([first, torch.full_like(first[..., :1], size - kernel)], -1)


def _pool(rank, input, kernel_size, output_size, output_ratio, return_indices, samples):
    name = f"fractional_max_pool{rank}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if input.dim() not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}: expected {rank + 1}D or {rank + 2}D input, got {input.dim()}D")
    x = input if input.dim() == rank + 2 else input.unsqueeze(0)
    kernel, space = spread(kernel_size, rank, "kernel_size"), tuple(x.shape[2:])
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * rank
        out = tuple(int(n * r) for n, r in zip(space, ratios, strict=True))
    else:
        out = spread(output_size, rank, "output_size")
    if any(o + k - 1 > n for o, k, n in zip(out, kernel, space, strict=True)):
        raise RuntimeError(f"{name}: pooling {kernel} into {out} is too large for the input's {space}")
    if samples is None:
        samples = torch.rand(*x.shape[:2], rank, dtype=x.dtype, device=x.device)
    order = range(rank) if rank == 3 else reversed(range(rank))  # which sample belongs to which axis
    flat, shape = 0, (*x.shape[:2], *[1] * (2 * rank))
    for axis, at in enumerate(order):
        begins = _begins(samples[: x.size(0), :, at], space[axis], kernel[axis], out[axis])
        places = begins.unsqueeze(-1) + torch.arange(kernel[axis], device=x.device)
        wide = list(shape)
        wide[2 + axis], wide[2 + rank + axis] = out[axis], kernel[axis]
        flat = flat * space[axis] + places.reshape(wide)
    flat = flat.expand(*x.shape[:2], *out, *kernel).reshape(*x.shape[:2], -1)
    windows = x.reshape(*x.shape[:2], -1).gather(2, flat).reshape(*x.shape[:2], *out, -1)
    best, place = windows.max(-1)
    index = flat.reshape(*windows.shape).gather(-1, place.unsqueeze(-1)).squeeze(-1)
    best, index = (t if input.dim() == rank + 2 else t.squeeze(0) for t in (best, index))
    return (best, index) if return_indices else best


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """The largest element of windows of kernel_size that begin at random places. There are output_size of them, or
    output_ratio times the input's size. return_indices: their indices in each plane, too."""
    return _pool(2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """fractional_max_pool2d over three dims."""
    return _pool(3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)

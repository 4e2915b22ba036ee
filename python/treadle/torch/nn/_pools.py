"""Pools, which take the largest element or the mean of windows, and resampling."""

import math
import operator
import warnings

from ... import torch
from .._prim import apart
from ._windows import Fold, Pad, plain, shifted, spread


def _geometry(input, rank, kernel_size, stride, padding, dilation, ceil_mode):
    """(kernel, stride, padding, dilation, places). With ceil_mode the last window may extend beyond the end."""
    kernel = spread(kernel_size, rank, "kernel_size")
    stride = kernel if stride is None or stride == [] or stride == () else spread(stride, rank, "stride")
    padding, dilation = spread(padding, rank, "padding"), spread(dilation, rank, "dilation")
    for name, sizes, least in (
        ("kernel_size", kernel, 1), ("stride", stride, 1), ("dilation", dilation, 1), ("padding", padding, 0)
    ):  # fmt: skip
        if min(sizes) < least:
            raise RuntimeError(f"pooling: {name} must be at least {least}, but got {name}={tuple(sizes)}")
    if input.dim() != rank + 2 or not all(input.shape[1:]):
        raise RuntimeError(
            f"pooling: expected a non-empty {rank + 1}D or {rank + 2}D (batch mode) tensor, but got {list(input.shape)}"
        )
    if any(2 * p > k for p, k in zip(padding, kernel)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={max(padding)}, "
            f"kernel_size={max(kernel)} and dilation={max(dilation)}"
        )
    out = []
    for n, k, s, p, d in zip(input.shape[2:], kernel, stride, padding, dilation):
        over = n + 2 * p - d * (k - 1) - 1
        m = (-(-over // s) if ceil_mode else over // s) + 1
        out.append(m - 1 if ceil_mode and (m - 1) * s >= n + p else m)  # the window begins inside of the input
    if min(out) < 1:
        given, made = ("x".join(map(str, sizes)) for sizes in (input.shape[1:], (input.size(1), *out)))
        raise RuntimeError(f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small")
    return kernel, stride, padding, dilation, tuple(out)


def _pads(input, kernel, stride, padding, dilation, out):
    """The padding (negative: elements to cut off) that makes the windows fit exactly."""
    need = [(o - 1) * s + d * (k - 1) + 1 for o, k, s, d in zip(out, kernel, stride, dilation)]
    return [(p, m - n - p) for p, m, n in zip(padding, need, input.shape[2:])]


class _Largest(torch.autograd.Function):
    """The largest element of each window, and its index in the kernel."""

    @staticmethod
    def forward(ctx, x, kernel, stride, dilation):
        best = place = None
        for i, seen in enumerate(shifted(x, kernel, stride, dilation)):
            if i == 0:
                best, place = seen, torch.zeros(tuple(seen.shape), dtype=torch.int64, device=x.device)
                continue
            better = (seen > best) | (seen != seen)
            best, place = torch.where(better, seen, best), torch.where(better, i, place)
        best = best.clone() if math.prod(kernel) == 1 else best
        ctx.save_for_backward(place)
        ctx.mark_non_differentiable(place)
        ctx.geometry = x.shape[2:], kernel, stride, dilation
        return best, place

    @staticmethod
    def backward(ctx, grad, _):
        (place,) = ctx.saved_tensors
        size, kernel, stride, dilation = ctx.geometry
        wide = (*place.shape, *[1] * len(kernel))
        numbers = torch.arange(math.prod(kernel), device=grad.device).reshape(kernel)
        cols = torch.where(place.reshape(wide) == numbers, grad.reshape(wide), 0.0)
        return Fold.apply(cols, size, stride, dilation), None, None, None


def _flat_places(place, size, kernel, stride, padding, dilation):
    """Indices in kernels, turned into indices of the input's elements."""
    flat = 0
    for i, n in enumerate(size):
        inner = (place // math.prod(kernel[i + 1 :])) % kernel[i]
        shape = [1] * place.dim()
        shape[2 + i] = -1
        first = (torch.arange(place.size(2 + i), device=place.device) * stride[i] - padding[i]).reshape(shape)
        flat = flat * n + first + inner * dilation[i]
    return flat


def _max_pool(rank):
    def call(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        if input.dim() == rank + 1:
            got = call(input.unsqueeze(0), kernel_size, stride, padding, dilation, ceil_mode, return_indices)
            return tuple(t.squeeze(0) for t in got) if return_indices else got.squeeze(0)
        kernel, stride, padding, dilation, out = _geometry(
            input, rank, kernel_size, stride, padding, dilation, ceil_mode
        )
        pads = _pads(input, kernel, stride, padding, dilation, out)
        least = -math.inf if input.dtype.is_floating_point else torch.iinfo(input.dtype).min
        x = Pad.apply(input, pads, least) if any(map(any, pads)) else plain(input)
        best, place = _Largest.apply(x, kernel, stride, dilation)
        if return_indices:
            return best, _flat_places(place, input.shape[2:], kernel, stride, padding, dilation)
        return best

    call.__name__ = call.__qualname__ = f"max_pool{rank}d"
    call.__doc__ = (
        f"The largest element of each window of (N, C, {rank} dims); the first of equal ones has the gradient."
    )
    return call


class _Sums(torch.autograd.Function):
    """The sum of each window."""

    @staticmethod
    def forward(ctx, x, kernel, stride, dilation):
        ctx.geometry = x.shape[2:], kernel, stride, dilation
        total = None
        for seen in shifted(x, kernel, stride, dilation):
            total = seen if total is None else total + seen
        return total.clone() if math.prod(kernel) == 1 else total

    @staticmethod
    def backward(ctx, grad):
        size, kernel, stride, dilation = ctx.geometry
        cols = grad.reshape((*grad.shape, *[1] * len(kernel))).expand(*grad.shape, *kernel)
        return Fold.apply(cols, size, stride, dilation), None, None, None


def _counts(size, kernel, stride, padding, out, include):
    """The number of elements in each window along each dim: those of the input, or also those of the padding."""
    for n, k, s, p, o in zip(size, kernel, stride, padding, out):
        low, high = (-p, n + p) if include else (0, n)
        yield [min(i * s - p + k, high) - max(i * s - p, low) for i in range(o)]


def _whole_means(total, counts, divisor):
    """Sums of integers divided by their counts, in the integers' type, rounded towards zero."""
    for i, row in enumerate(counts if not divisor else []):
        shape = [1] * total.dim()
        shape[2 + i] = -1
        counts[i] = torch.tensor(row, dtype=total.dtype, device=total.device).reshape(shape)
    return torch.div(total, divisor or math.prod(counts, start=1), rounding_mode="trunc")


def _avg_pool(rank):
    def call(
        input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        if input.dim() == rank + 1:
            args = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
            return call(input.unsqueeze(0), *args).squeeze(0)
        if input.dtype in (torch.float16, torch.bfloat16):  # sums of half types lose digits
            args = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
            return call(input.float(), *args).to(input.dtype)
        kernel, stride, padding, ones, out = _geometry(input, rank, kernel_size, stride, padding, 1, ceil_mode)
        pads = _pads(input, kernel, stride, padding, ones, out)
        x = Pad.apply(input, pads, 0.0) if any(map(any, pads)) else plain(input)
        total = _Sums.apply(x, kernel, stride, ones)
        counts = list(_counts(input.shape[2:], kernel, stride, padding, out, count_include_pad))
        if not total.is_floating_point() and not total.is_complex():
            return _whole_means(total, counts, divisor_override)
        if divisor_override:
            return total / divisor_override
        if all(c == k for row, k in zip(counts, kernel) for c in row):
            return total / math.prod(kernel)
        for i, row in enumerate(counts):
            shape = [1] * total.dim()
            shape[2 + i] = -1
            total = total / torch.tensor(row, dtype=total.dtype, device=total.device).reshape(shape)
        return total

    call.__name__ = call.__qualname__ = f"avg_pool{rank}d"
    call.__doc__ = f"The mean of each window of (N, C, {rank} dims)."
    return call


max_pool1d, max_pool2d, max_pool3d = (_max_pool(n) for n in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(n) for n in (1, 2, 3))


def _wanted(name, rank, input, output_size):
    """The requested size of each dim. Raises ValueError or RuntimeError for a size or an input that cannot be used."""
    wanted = (output_size,) * rank if not hasattr(output_size, "__len__") else tuple(output_size)
    if len(wanted) == rank and rank > 1 and input.dim() <= rank:
        raise ValueError(f"Input dimension should be at least {rank + 1}, not {input.dim()}")
    if rank == 1 and input.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.dim()}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {name})"
        )
    if any(m is not None and m < 0 for m in wanted):
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received {wanted}")
    return wanted


def _adaptive(rank, pool, along, name):
    """Pool to a given size: windows reach from floor(i * n / m) to ceil((i + 1) * n / m)."""

    def call(input, output_size):
        wanted = _wanted(name, rank, input, output_size)
        size = input.shape[input.dim() - rank :]
        wanted = tuple(n if m is None else m for n, m in zip(size, wanted))
        if all(m and n % m == 0 for n, m in zip(size, wanted)):
            return pool(input, tuple(n // m for n, m in zip(size, wanted)))
        for i, m in enumerate(wanted):
            dim = input.dim() - rank + i
            n = input.size(dim)
            parts = [along(input.narrow(dim, j * n // m, -(-(j + 1) * n // m) - j * n // m), dim) for j in range(m)]
            input = torch.cat(parts, dim)
        return input

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Pools the last {rank} dims to output_size."
    return call


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    _adaptive(n, p, lambda x, dim: x.mean(dim, keepdim=True), f"adaptive_avg_pool{n}d")
    for n, p in enumerate((avg_pool1d, avg_pool2d, avg_pool3d), 1)
)


def _adaptive_max(rank, pool):
    """The largest element of each window, and its index in the flattened last dims."""

    def call(input, output_size, return_indices=False):
        wanted = _wanted(f"adaptive_max_pool{rank}d", rank, input, output_size)
        lead, size = input.dim() - rank, tuple(input.shape[input.dim() - rank :])
        wanted = tuple(n if m is None else m for n, m in zip(size, wanted))
        if all(m and n % m == 0 for n, m in zip(size, wanted)):
            return pool(input, tuple(n // m for n, m in zip(size, wanted)), return_indices=return_indices)
        found, places, step = input, None, 1
        for i in reversed(range(rank)):  # last dim first: of equal elements the first in memory wins
            dim, n, m = lead + i, size[i], wanted[i]
            parts = [found.narrow(dim, j * n // m, -(-(j + 1) * n // m) - j * n // m).max(dim, True) for j in range(m)]
            starts = [p.indices + j * n // m for j, p in enumerate(parts)]
            found, at = (torch.cat(list(ts), dim) for ts in ([p.values for p in parts], starts))
            if return_indices:
                places = at if places is None else torch.gather(places, dim, at) + at * step
            step *= n
        return (found, places) if return_indices else found

    call.__name__ = call.__qualname__ = f"adaptive_max_pool{rank}d"
    call.__doc__ = f"Pools the last {rank} dims to output_size; return_indices: (values, places in those dims)."
    return call


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _adaptive_max(n, p) for n, p in enumerate((max_pool1d, max_pool2d, max_pool3d), 1)
)


def _lp_pool(rank):
    pool = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1]

    def call(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        kernel = spread(kernel_size, rank, "kernel_size")
        mean = pool(input**norm_type, kernel, stride, 0, ceil_mode)
        return (torch.relu(mean) * math.prod(kernel)) ** (1 / norm_type)

    call.__name__ = call.__qualname__ = f"lp_pool{rank}d"
    call.__doc__ = "The norm of each window."
    return call


lp_pool1d, lp_pool2d, lp_pool3d = map(_lp_pool, (1, 2, 3))


# ---- resampling ----


def _scale(n, m, scale, align_corners):
    """How many of n elements one step among m covers. scale: the factor that the caller asked for, if any."""
    if align_corners:
        return (n - 1) / (m - 1) if m > 1 else 0.0
    return 1 / scale if scale else n / m


def _nearest(n, m, step, exact):
    """[(element indices, weights)] of the elements nearest to m places."""
    return [([min(int((i + 0.5 * exact) * step), n - 1) for i in range(m)], None)]


def _linear(n, m, step, align_corners):
    at = [i * step if align_corners else max((i + 0.5) * step - 0.5, 0.0) for i in range(m)]
    low = [min(int(a), n - 1) for a in at]
    part = [a - k for a, k in zip(at, low)]
    return [(low, [1 - p for p in part]), ([min(k + 1, n - 1) for k in low], part)]


def _cubic(n, m, step, align_corners):
    at = [i * step if align_corners else (i + 0.5) * step - 0.5 for i in range(m)]
    low = [math.floor(a) for a in at]
    return [
        ([min(max(k + j, 0), n - 1) for k in low], [cubic_weight(a - k - j) for a, k in zip(at, low)])
        for j in (-1, 0, 1, 2)
    ]


def cubic_weight(x, a=-0.75):
    """The weight of an element at distance x, in cubic convolution with the parameter a."""
    x = abs(x)
    if x >= 2:
        return 0.0
    return ((a + 2) * x - (a + 3)) * x * x + 1 if x < 1 else a * (((x - 5) * x + 8) * x - 4)


def _smoothed(n, m, step, cubic):
    """The weights of n elements at each of m places, as rows of a matrix. The filter is as wide as a step."""
    wide = max(step, 1.0)
    reach = (2 if cubic else 1) * wide
    rows = []
    for i in range(m):
        center = step * (i + 0.5)
        low, high = max(int(center - reach + 0.5), 0), min(int(center + reach + 0.5), n)
        away = [(j - center + 0.5) / wide for j in range(low, high)]
        weights = [cubic_weight(x, -0.5) if cubic else max(1 - abs(x), 0.0) for x in away]
        total = sum(weights) or 1.0
        rows.append([0.0] * low + [w / total for w in weights] + [0.0] * (n - high))
    return rows


def _mixed(input, dim, taps):
    """The weighted sum of the elements along dim that each of taps names."""
    total = None
    for places, weights in taps:
        part = input.index_select(dim, torch.tensor(places, dtype=torch.int64, device=input.device))
        if weights is not None:
            shape = [-1 if i == dim else 1 for i in range(input.dim())]
            part = part * torch.tensor(weights, dtype=input.dtype, device=input.device).reshape(shape)
        total = part if total is None else total + part
    return total


def _resampled(input, dim, m, scale, mode, align_corners, antialias):
    n = input.size(dim)
    step = _scale(n, m, scale, align_corners)
    if mode.startswith("nearest"):
        return _mixed(input, dim, _nearest(n, m, step, mode == "nearest-exact"))
    if input.dtype == torch.uint8:
        return _resampled_bytes(input, dim, m, step, mode, align_corners, antialias)
    if antialias:
        rows = torch.tensor(_smoothed(n, m, step, mode == "bicubic"), dtype=input.dtype, device=input.device)
        return (input.movedim(dim, -1) @ rows.t()).movedim(-1, dim)
    return _mixed(input, dim, (_cubic if mode == "bicubic" else _linear)(n, m, step, align_corners))


def _resampled_bytes(input, dim, m, step, mode, align_corners, antialias):
    """uint8 resampled as PyTorch does: with weights of 16 bits, and rounding after each dim."""
    n = input.size(dim)
    if antialias:
        rows = _smoothed(n, m, step, mode == "bicubic")
    else:
        rows = [[0.0] * n for _ in range(m)]
        for places, weights in (_cubic if mode == "bicubic" else _linear)(n, m, step, align_corners):
            for row, k, w in zip(rows, places, weights):
                row[k] += w
    top, bits = max(map(max, rows)), 0
    while bits < 22 and int(0.5 + top * (1 << bits + 1)) < 1 << 15:
        bits += 1
    whole = [[int(w * (1 << bits) + (0.5 if w >= 0 else -0.5)) for w in row] for row in rows]
    weights = torch.tensor(whole, dtype=torch.float64, device=input.device)
    sums = (input.double().movedim(dim, -1) @ weights.t()).movedim(-1, dim)
    return torch.floor(sums / (1 << bits) + 0.5).clamp(0, 255).to(torch.uint8)


_RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_FREE = ("nearest", "nearest-exact", "area")


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resample (N, C, *space) to size, or by scale_factor.

    mode: "nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic" or "trilinear". antialias, for bilinear
    and bicubic: each place is a mean over all elements that it covers. uint8 is rounded.
    """
    rank = input.dim() - 2
    if rank not in (1, 2, 3):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D)")
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined"
            if size is not None
            else "either size or scale_factor should be defined"
        )
    for name, given in (("output", size), ("scale_factor", scale_factor)):
        if isinstance(given, (tuple, list)) and len(given) != rank:
            what = "output size of" if name == "output" else "scale_factor of"
            raise ValueError(
                f"Input and {name} must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and {what} {given}. Please provide input tensor in (N, C, d1, "
                "d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
            )
    if mode not in _FREE and _RANKS.get(mode) != rank:
        raise NotImplementedError(f"interpolate: mode {mode!r} for {rank} dims")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    if align_corners is not None and mode in _FREE:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    scales = [None] * rank
    if size is None:
        scales = list(scale_factor) if hasattr(scale_factor, "__len__") else [float(scale_factor)] * rank
        size = [int(math.floor(n * s)) for n, s in zip(input.shape[2:], scales)]
        if recompute_scale_factor:
            scales = [None] * rank
    size = spread(operator.index(size) if isinstance(size, torch.Tensor) else size, rank, "size")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1](input, size)
    r = input.float() if mode not in _FREE and input.dtype in (torch.float16, torch.bfloat16) else input
    for i in reversed(range(rank)):
        r = _resampled(r, 2 + i, size[i], scales[i], mode, bool(align_corners), antialias)
    return r.to(input.dtype)



def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate, under its older name."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def pixel_shuffle(input, upscale_factor):
    """Rearrange (…, C r², H, W) to (…, C, H r, W r)."""
    r, (c, h, w) = upscale_factor, input.shape[-3:]
    lead = tuple(input.shape[:-3])
    x = input.reshape(*lead, c // (r * r), r, r, h, w)
    n = len(lead)
    x = x.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)
    return apart(x, input)


def pixel_unshuffle(input, downscale_factor):
    """Rearrange (…, C, H r, W r) to (…, C r², H, W)."""
    r, (c, h, w) = downscale_factor, input.shape[-3:]
    lead = tuple(input.shape[:-3])
    x = input.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    return apart(x.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r), input)

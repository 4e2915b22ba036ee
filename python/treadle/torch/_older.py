"""Functions of torch that are older names of others, or single steps of them: copies of views, cells, factorisations,
control flow."""

import math
import mmap

from .. import _core, torch
from . import linalg
from ._register import all_with_out

# ---- views as copies ----


def _copied(name):
    def copy(input, *args, **kwargs):
        found = getattr(input, name)(*args, **kwargs)
        return tuple(t.clone() for t in found) if isinstance(found, (tuple, list)) else found.clone()

    copy.__name__ = copy.__qualname__ = name + "_copy"
    copy.__doc__ = f"Tensor.{name}, as a copy."
    return copy


expand_copy, select_copy, split_copy, split_with_sizes_copy, unbind_copy, unfold_copy, view_copy = map(
    _copied, "expand select split split_with_sizes unbind unfold view".split()
)


def alias_copy(input):
    """input.clone()."""
    return input.clone()


def view_as_complex_copy(input):
    """view_as_complex, as a copy."""
    return torch.view_as_complex(input).clone()


def view_as_real_copy(input):
    """view_as_real, as a copy."""
    return torch.view_as_real(input).clone()


def _part(input, dim, start, end, step):
    n = input.shape[dim]
    start, end, _ = slice(start, end, step).indices(n)
    index = [slice(None)] * input.dim()
    index[dim] = slice(start, end, step)
    return tuple(index)


def slice_copy(input, dim=0, start=None, end=None, step=1):
    """input[start:end:step] along dim, as a copy."""
    return input[_part(input, dim, start, end, step)].clone()


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of input in which the window as_strided(size, stride, storage_offset) holds src."""
    offset = 0 if storage_offset is None else storage_offset
    if torch.is_grad_enabled() and (input.requires_grad or src.requires_grad):
        places = torch.arange(input.numel(), device=input.device).as_strided(size, stride, offset)
        return input.reshape(-1).index_put((places,), src).reshape(input.shape)
    out = input.clone()
    out.as_strided(size, stride, offset).copy_(src)
    return out


def empty_permuted(
    size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """A tensor whose dims lie in memory in the order of physical_layout."""
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(f"physical_layout has to name each of the {len(size)} dims once: {list(physical_layout)}")
    out = torch.empty([size[d] for d in physical_layout], dtype=dtype, device=device)
    back = [list(physical_layout).index(d) for d in range(len(size))]
    return out.permute(back).requires_grad_(requires_grad)


def new_empty_strided(self, size, stride, dtype=None, device=None, requires_grad=False, **unused):
    """empty_strided, of the tensor's dtype and device."""
    made = torch.empty_strided(size, stride, dtype=dtype or self.dtype, device=device or self.device)
    return made.requires_grad_(requires_grad)


def fill(input, value):
    """A new tensor like input, filled with value."""
    return input.clone().fill_(value)


def from_file(
    filename, shared=False, size=0, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """A tensor of the first size elements of a file. shared=True: writes to the tensor go to the file, which grows to
    the needed length."""
    if requires_grad:
        return from_file(filename, shared, size, dtype=dtype).requires_grad_()
    dtype = torch.get_default_dtype() if dtype is None else dtype
    nbytes = size * dtype.itemsize
    with open(filename, "r+b" if shared else "rb") as file:
        if not shared:
            return torch.frombuffer(bytearray(file.read(nbytes)), dtype=dtype, count=size)
        file.seek(0, 2)
        if file.tell() < nbytes:
            file.truncate(nbytes)
        return torch.frombuffer(mmap.mmap(file.fileno(), nbytes), dtype=dtype, count=size)


# ---- torch._utils: one flat tensor for several, and back ----


def _flatten_dense_tensors(tensors):
    """The elements of all tensors, one after another, as a vector."""
    return torch.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Pieces of the vector, with the shapes of the given tensors."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.reshape(t.shape) for part, t in zip(parts, tensors, strict=True))


# ---- conditions ----


def _assert(condition, message):
    """Raise AssertionError with the message unless the condition holds."""
    assert condition, message


def _check(cond, message=None):
    """Raise RuntimeError with the text message() unless cond, a bool, is true."""
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False" if message is None else str(message()))


# ---- layers' steps ----


def _gates(input, hx, w_ih, w_hh, b_ih, b_hh):
    F = torch.nn.functional
    return F.linear(input, w_ih, b_ih), F.linear(hx, w_hh, b_hh)


def _cell(mode, function=None):
    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        from .nn.modules.rnn import _MODES

        states = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        given = _gates(input, states[0], w_ih, w_hh, b_ih, b_hh)
        found = _MODES[mode][2](*given, states, function)
        return found if len(found) > 1 else found[0]

    cell.__name__ = cell.__qualname__ = f"{mode.lower()}_cell"
    cell.__doc__ = f"The step of nn.{mode.split('_')[0]}Cell, as a function of its weights."
    return cell


gru_cell, lstm_cell = _cell("GRU"), _cell("LSTM")
rnn_tanh_cell, rnn_relu_cell = _cell("RNN_TANH", torch.tanh), _cell("RNN_RELU", torch.relu)


def norm_except_dim(v, pow=2, dim=0):
    """The norms of v's slices along dim, with as many dimensions as v."""
    from .nn.utils._weights import norm_except_dim as norms

    return norms(v, pow, dim)


def constant_pad_nd(input, pad, value=0):
    """nn.functional.pad with a constant."""
    return torch.nn.functional.pad(input, tuple(pad), value=value)


def affine_grid_generator(theta, size, align_corners):
    """nn.functional.affine_grid."""
    return torch.nn.functional.affine_grid(theta, size, align_corners)


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """nn.functional.grid_sample with numbers for its modes."""
    mode = ("bilinear", "nearest", "bicubic")[interpolation_mode]
    padding = ("zeros", "border", "reflection")[padding_mode]
    return torch.nn.functional.grid_sample(input, grid, mode, padding, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def conv_tbc(input, weight, bias, pad=0):
    """A convolution of (time, batch, channels) with (kernel, in, out)."""
    out = torch.nn.functional.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return out.permute(2, 0, 1)


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """conv1d, conv2d or conv3d, or their transposes. The rank of the weights decides which."""
    F, rank = torch.nn.functional, weight.dim() - 2
    if transposed:
        f = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
        return f(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (F.conv1d, F.conv2d, F.conv3d)[rank - 1](input, weight, bias, stride, padding, dilation, groups)


def embedding_bag(
    weight, indices, offsets=None, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """nn.functional.embedding_bag with a number for its mode. Returns a tuple with its result first; the other three
    tensors exist for PyTorch's backward pass and are not computed."""
    out = torch.nn.functional.embedding_bag(
        indices, weight, offsets, mode=("sum", "mean", "max")[mode], per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset, padding_idx=padding_idx,
    )  # fmt: skip
    return out, *(torch.empty(0, dtype=torch.int64) for _ in range(3))


def embedding_renorm_(input, indices, max_norm, norm_type):
    """Scale the rows of input that indices name and whose norm exceeds max_norm, in place."""
    with torch.no_grad():
        rows = torch.unique(indices.reshape(-1))
        length = input[rows].norm(norm_type, -1, keepdim=True)
        input[rows] = input[rows] * torch.where(length > max_norm, max_norm / (length + 1e-7), 1.0)
    return input


def max_pool1d_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """The results of max_pool1d, and the positions of the maxima."""
    return torch.nn.functional.max_pool1d(
        input, kernel_size, stride or None, padding, dilation, ceil_mode, return_indices=True
    )


def _activation(name):
    def written(input, *args, **kwargs):
        return getattr(torch.nn.functional, name)(input, *args, inplace=True, **kwargs)

    written.__name__ = written.__qualname__ = name + "_"
    written.__doc__ = f"nn.functional.{name}, written into its input."
    return written


celu_, selu_, rrelu_, threshold_ = map(_activation, "celu selu rrelu threshold".split())


def _dropout(name, inplace):
    def drop(input, p, train):
        return getattr(torch.nn.functional, name)(input, p, train, inplace)

    drop.__name__ = drop.__qualname__ = name + "_" * inplace
    drop.__doc__ = f"nn.functional.{name}" + ", written into its input." * inplace
    return drop


dropout_, alpha_dropout_, feature_alpha_dropout_ = (
    _dropout(n, True) for n in ("dropout", "alpha_dropout", "feature_alpha_dropout")
)
feature_alpha_dropout = _dropout("feature_alpha_dropout", False)


def feature_dropout(input, p, train):
    """Set whole channels to zero with probability p, and scale the others up."""
    if not train or p == 0:
        return input
    keep = torch.rand(*input.shape[:2], *[1] * (input.dim() - 2), device=input.device) >= p
    return torch.where(keep, input / (1 - p) if p < 1 else input, 0.0)


def feature_dropout_(input, p, train):
    """feature_dropout, written into its input."""
    return input.copy_(feature_dropout(input.clone(), p, train))


# ---- matrices ----


def cholesky(input, upper=False):
    """linalg.cholesky; upper: its transpose."""
    low = linalg.cholesky(input)
    return low.mH if upper else low


def qr(input, some=True):
    """linalg.qr: reduced (some) or complete."""
    return linalg.qr(input, "reduced" if some else "complete")


def matrix_rank(input, tol=None, symmetric=False):
    """linalg.matrix_rank."""
    return linalg.matrix_rank(input, tol=tol, hermitian=symmetric)


def lu(A, pivot=True, get_infos=False, out=None):
    """(the factors in one matrix, the pivots). get_infos=True adds a tensor of zeros, since a failure raises."""
    factors, pivots = linalg.lu_factor(A, pivot=pivot)
    info = torch.zeros(A.shape[:-2], dtype=torch.int32, device=A.device)
    return (factors, pivots, info) if get_infos else (factors, pivots)


def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V) of the q largest singular values of A - M. Random projections find them, refined by niter power
    iterations."""
    A = A if M is None else A - M
    wide = A.shape[-2] < A.shape[-1]
    A = A.mH if wide else A
    Q = linalg.qr(A @ torch.randn(*A.shape[:-2], A.shape[-1], q, dtype=A.dtype, device=A.device)).Q
    for _ in range(niter):
        Q = linalg.qr(A @ linalg.qr(A.mH @ Q).Q).Q
    U, S, Vh = linalg.svd(Q.mH @ A, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    """svd_lowrank of A minus the mean of its columns. Raises ValueError if q exceeds the shorter side."""
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """(counts of rows (…, D) in bins of D dims, the bins' edges): bins: a number, D numbers, or D tensors of edges."""
    rows = input.reshape(-1, input.shape[-1])
    count, edges = rows.shape[1], []
    given = list(bins) if isinstance(bins, (tuple, list)) else [bins] * count
    if len(given) != rows.shape[1]:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input: "
            f"{len(given)} and {rows.shape[1]}"
        )
    for d, one in enumerate(given):
        if isinstance(one, torch.Tensor):
            edges.append(one)
            continue
        low, high = (rows[:, d].min().item(), rows[:, d].max().item()) if range is None else range[2 * d : 2 * d + 2]
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        edges.append(torch.linspace(low, high, one + 1, dtype=input.dtype, device=input.device))
    flat, inside = 0, torch.ones(rows.shape[0], dtype=torch.bool, device=input.device)
    for d, e in enumerate(edges):
        x, n = rows[:, d].contiguous(), e.shape[0] - 1
        inside = inside & (x >= e[0]) & (x <= e[-1])
        flat = flat * n + (torch.searchsorted(e, x, right=True) - 1).clamp(0, n - 1)
    weight = torch.ones_like(inside, dtype=input.dtype) if weight is None else weight.reshape(-1)
    shape = [e.shape[0] - 1 for e in edges]
    hist = torch.bincount(flat, torch.where(inside, weight, 0.0), math.prod(shape)).to(input.dtype).reshape(shape)
    if density:
        volume = 1.0
        for d, e in enumerate(edges):
            volume = volume * e.diff().reshape([-1 if k == d else 1 for k, _ in enumerate(edges)])
        hist = hist / (hist.sum() * volume)
    return _HistogramDD(hist, tuple(edges))


class _HistogramDD(tuple):
    """(hist, bin_edges)."""

    def __new__(cls, *values):
        return super().__new__(cls, values)

    hist = property(lambda self: self[0])
    bin_edges = property(lambda self: self[1])


def nonzero_static(input, *, size, fill_value=-1):
    """The first `size` places that are not zero, (size, dims); fill_value where there are fewer."""
    found = input.nonzero()[:size]
    more = found.new_full((size - found.shape[0], found.shape[1]), fill_value)
    return torch.cat([found, more])


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Reduce segments of data along axis 0 to their sum, mean, max, min or prod. lengths or offsets say where segments
    lie."""
    if axis != 0 or (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce: give lengths or offsets, and axis 0")
    sizes = offsets.diff() if lengths is None else lengths
    if sizes.dim() != 1:
        raise RuntimeError(f"segment_reduce: lengths of one dim; {sizes.dim()} given")
    neutral = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}[reduce]
    found = []
    for part in data.split(sizes.tolist()):
        first = part.new_full((1, *data.shape[1:]), neutral if initial is None else initial)
        if reduce == "mean":
            empty = first[0] if initial is not None else first[0] * math.nan
            found.append(part.mean(0) if part.shape[0] else empty)
            continue
        both = torch.cat([first, part])
        found.append({"sum": both.sum, "prod": both.prod, "max": both.amax, "min": both.amin}[reduce](0))
    return torch.stack(found)


# ---- control flow and switches ----


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) if pred is true, else false_fn(*operands). This waits for the value of pred."""
    return (true_fn if bool(pred) else false_fn)(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """Run body_fn as long as cond_fn is true. Each iteration waits for the value of cond_fn."""
    values = tuple(carried_inputs)
    while bool(cond_fn(*values)):
        values = body_fn(*values)
        values = values if isinstance(values, tuple) else (values,)
    return values


def fork(func, *args, **kwargs):
    """torch.jit.fork."""
    return torch.jit.fork(func, *args, **kwargs)


def wait(future):
    """torch.jit.wait."""
    return future.wait()


_MODES = ("default", "warn", "error")


def get_deterministic_debug_mode():
    """0; 1 or 2 where use_deterministic_algorithms is on, 1 with warn_only."""
    return _core._deterministic(None)


def set_deterministic_debug_mode(debug_mode):
    """Set use_deterministic_algorithms by a mode: "default", "warn" or "error", or 0, 1 or 2. "warn" and "error" switch
    it on, "warn" with warn_only."""
    number = _MODES.index(debug_mode) if debug_mode in _MODES else debug_mode
    if number not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, 2, 'default', 'warn' or 'error', but got {debug_mode}"
        )
    torch.use_deterministic_algorithms(number > 0, warn_only=number == 1)


def is_deterministic_algorithms_warn_only_enabled():
    """Whether use_deterministic_algorithms is on with warn_only."""
    return _core._deterministic(None) == 1


def is_anomaly_enabled():
    """Is torch.autograd.detect_anomaly on?"""
    return bool(torch.autograd._anomaly[0])


def set_anomaly_enabled(mode, check_nan=True):
    """torch.autograd.set_detect_anomaly(mode)."""
    torch.autograd.set_detect_anomaly(mode, check_nan)


def is_anomaly_check_nan_enabled():
    """True."""
    return True


def init_num_threads():
    """Does nothing: the core has started its threads."""


all_with_out(
    "alias_copy expand_copy nonzero_static select_copy slice_copy unbind_copy unfold_copy view_as_complex_copy "
    "view_as_real_copy view_copy".split(),
    globals(),
)
has_lapack = True
has_mkl = has_openmp = has_spectral = False
legacy_contiguous_format = torch.contiguous_format

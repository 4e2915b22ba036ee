"""torch.fft: the Fourier transforms of the array layer, with derivatives. The adjoint of a transform is again a
transform.

A transform over several dimensions is made of transforms over one. If a gradient is needed, a real transform is made of
complex ones.
"""

from . import _device, _modules
from ._prim import array, derived, td, wrap
from ._register import all_with_out, both
from ._tensor import _axes, _dtypes
from ._tensor._convert import view_as_real
from ._tensor._parts import cat, narrow, roll

__all__ = (
    "fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft "
    "irfft2 irfftn istft rfft rfft2 rfftfreq rfftn stft"
).split()

_NORMS = ("backward", "ortho", "forward")
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _mode(norm):
    norm = norm or "backward"
    if norm not in _NORMS:
        raise RuntimeError(f"Invalid normalization mode: {norm}")
    return norm


def _fitted(x, n, dim):
    """x cut to n elements along dim, or padded with zeros."""
    have = x.shape[dim]
    if n is None or n == have:
        return x
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    if n < have:
        return narrow(x, dim, 0, n)
    shape = [n - have if i == dim else m for i, m in enumerate(x.shape)]
    return cat([x, x.new_zeros(shape)], dim)


def _floating(x):
    return x if x.dtype._kind in "fc" else x.to(_dtypes.get_default_dtype())


@derived("FftC2C", linear=True)
def _fft(a, *, dim, norm, inverse):
    r = (td.fft.ifft if inverse else td.fft.fft)(a, None, dim, norm)
    return r.astype("complex64") if a.dtype in ("complex64", "float32") and r.dtype != "complex64" else r


@_fft.backward
def _(inputs, r, g, *, dim, norm, inverse):
    return _fft(g, dim=dim, norm=_OPPOSITE[norm], inverse=not inverse)


def _complex(x):
    x = _floating(x)
    return x if x.dtype.is_complex else x.to(x.dtype.to_complex())


def fft(input, n=None, dim=-1, norm=None):
    """The transform along dim, of n elements. norm: "backward", "ortho" or "forward"."""
    dim = _axes.one(dim, input.ndim)
    return _fft(_fitted(_complex(input), n, dim), dim=dim, norm=_mode(norm), inverse=False)


def ifft(input, n=None, dim=-1, norm=None):
    """The inverse transform along dim."""
    dim = _axes.one(dim, input.ndim)
    return _fft(_fitted(_complex(input), n, dim), dim=dim, norm=_mode(norm), inverse=True)


@derived("FftR2C", linear=True)
def _rfft(a, *, dim, norm):
    r = td.fft.rfft(a, None, dim, norm)
    return r.astype("complex64") if a.dtype == "float32" and r.dtype != "complex64" else r


@_rfft.backward
def _(shapes, r, g, *, dim, norm):
    n = shapes[0][dim]
    return _fft(_fitted(g, n, dim), dim=dim, norm=_OPPOSITE[norm], inverse=True).real


def rfft(input, n=None, dim=-1, norm=None):
    """The transform of real numbers along dim. The half that mirrors the other is left out."""
    if input.dtype.is_complex:
        raise TypeError(f"Expected a real input tensor to rfft, but got {input.dtype}")
    dim = _axes.one(dim, input.ndim)
    return _rfft(_fitted(_floating(input), n, dim), dim=dim, norm=_mode(norm))


@derived("FftC2R", linear=True)
def _irfft(a, *, n, dim, norm):
    r = td.fft.irfft(a, n, dim, norm)
    return r.astype("float32") if a.dtype == "complex64" and r.dtype != "float32" else r


@_irfft.backward
def _(shapes, r, g, *, n, dim, norm):
    """Half a spectrum stands for both halves, so elements that are not their own mirror images count twice."""
    half = _rfft(g, dim=dim, norm=_OPPOSITE[norm])
    twice = wrap(td.where(_own_mirror(n, array(half).device), 1.0, 2.0).astype(g.dtype._numpy))
    return half * twice.reshape([-1 if i == dim else 1 for i in range(half.ndim)])


def _own_mirror(n, dev):
    k = td.arange(n // 2 + 1, device=dev)
    return (k == 0) | (2 * k == n)


def irfft(input, n=None, dim=-1, norm=None):
    """The inverse of rfft: n real numbers, by default 2 (m - 1) for m inputs."""
    x, dim = _complex(input), _axes.one(dim, input.ndim)
    n = 2 * (x.shape[dim] - 1) if n is None else n
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return _irfft(_fitted(x, n // 2 + 1, dim), n=n, dim=dim, norm=_mode(norm))


def hfft(input, n=None, dim=-1, norm=None):
    """The real transform of a Hermitian signal, of which one half is given."""
    return irfft(_complex(input).conj(), n, dim, _OPPOSITE[_mode(norm)])


def ihfft(input, n=None, dim=-1, norm=None):
    """The inverse of hfft."""
    return rfft(input, n, dim, _OPPOSITE[_mode(norm)]).conj()


# ---- several dimensions ----


def _sizes(x, s, dim):
    """(sizes, dims). Without dims the sizes belong to the last dims."""
    if dim is None:
        dims = list(range(x.ndim)) if s is None else list(range(x.ndim - len(s), x.ndim))
    else:
        dims = [_axes.one(d, x.ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    return [None] * len(dims) if s is None else [None if n == -1 else n for n in s], dims


def fftn(input, s=None, dim=None, norm=None):
    """The transform over dims of sizes s. dim None means all dims."""
    for n, d in zip(*_sizes(input, s, dim), strict=True):
        input = fft(input, n, d, norm)
    return input


def ifftn(input, s=None, dim=None, norm=None):
    """The inverse of fftn."""
    for n, d in zip(*_sizes(input, s, dim), strict=True):
        input = ifft(input, n, d, norm)
    return input


def rfftn(input, s=None, dim=None, norm=None):
    """The transform of real numbers over dim (None: all dims), with half of the last of them."""
    sizes, dims = _sizes(input, s, dim)
    r = rfft(input, sizes[-1], dims[-1], norm)
    for n, d in zip(sizes[:-1], dims[:-1], strict=True):
        r = fft(r, n, d, norm)
    return r


def irfftn(input, s=None, dim=None, norm=None):
    """The inverse of rfftn: real numbers."""
    sizes, dims = _sizes(input, s, dim)
    for n, d in zip(sizes[:-1], dims[:-1], strict=True):
        input = ifft(input, n, d, norm)
    return irfft(input, sizes[-1], dims[-1], norm)


def hfftn(input, s=None, dim=None, norm=None):
    """hfft over the last of dims, fft over the others."""
    sizes, dims = _sizes(input, s, dim)
    for n, d in zip(sizes[:-1], dims[:-1], strict=True):
        input = fft(input, n, d, norm)
    return hfft(input, sizes[-1], dims[-1], norm)


def ihfftn(input, s=None, dim=None, norm=None):
    """The inverse of hfftn."""
    sizes, dims = _sizes(input, s, dim)
    r = ihfft(input, sizes[-1], dims[-1], norm)
    for n, d in zip(sizes[:-1], dims[:-1], strict=True):
        r = ifft(r, n, d, norm)
    return r


def _of_two(f, name):
    def two(input, s=None, dim=(-2, -1), norm=None):
        return f(input, s, dim, norm)

    two.__name__ = two.__qualname__ = name
    two.__doc__ = f"{f.__name__} over two dimensions, by default the last."
    return two


fft2, ifft2 = _of_two(fftn, "fft2"), _of_two(ifftn, "ifft2")
hfft2, ihfft2 = _of_two(hfftn, "hfft2"), _of_two(ihfftn, "ihfft2")
rfft2, irfft2 = _of_two(rfftn, "rfft2"), _of_two(irfftn, "irfft2")

# ---- frequencies ----


def _frequencies(make):
    def f(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
        kind = _dtypes.get_default_dtype() if dtype is None else dtype
        return wrap(make(n, d, device=_device.theirs(device)).astype(kind._numpy))

    f.__name__ = f.__qualname__ = make.__name__
    f.__doc__ = f"The frequencies that {make.__name__[:-4]} of n elements, d apart, stands for."
    return f


fftfreq, rfftfreq = _frequencies(td.fft.fftfreq), _frequencies(td.fft.rfftfreq)


def fftshift(input, dim=None):
    """Move frequency 0 to the middle."""
    dims = _axes.several(dim, input.ndim)
    return roll(input, [input.shape[d] // 2 for d in dims], dims)


def ifftshift(input, dim=None):
    """The inverse of fftshift."""
    dims = _axes.several(dim, input.ndim)
    return roll(input, [-(input.shape[d] // 2) for d in dims], dims)


# ---- windows of a signal ----


def _window(window, length, n, like):
    w = like.new_ones(length, dtype=like.dtype.to_real()) if window is None else window
    if length < n:
        left = (n - length) // 2
        w = cat([w.new_zeros(left), w, w.new_zeros(n - length - left)])
    return w


def _reflected(x, pad, mode):
    if mode != "reflect":
        return cat([x.new_zeros((*x.shape[:-1], pad)), x, x.new_zeros((*x.shape[:-1], pad))], -1)
    n = x.shape[-1]
    return cat([narrow(x, -1, 1, pad).flip(-1), x, narrow(x, -1, n - 1 - pad, pad).flip(-1)], -1)


@both()
def stft(
    x,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """Transforms of overlapping windows: complex numbers (…, frequencies, windows). return_complex=False gives a new
    last dim of two, the real and the imaginary parts."""
    if return_complex is None and not (x.dtype.is_complex or window is not None and window.dtype.is_complex):
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs")
    hop, win = hop_length or n_fft // 4, win_length or n_fft
    if x.ndim not in (1, 2):
        raise RuntimeError(f"stft({list(x.shape)}, n_fft={n_fft}): expected a 1D or 2D tensor")
    if center:
        x = _reflected(x, n_fft // 2, pad_mode)
    w = _window(window, win, n_fft, x)
    frames = x.unfold(-1, n_fft, hop) * w
    half = not (x.dtype.is_complex or w.dtype.is_complex) if onesided is None else onesided
    norm = "ortho" if normalized else "backward"
    r = (rfft(frames, norm=norm) if half else fft(frames, norm=norm)).transpose(-2, -1)
    return view_as_real(r) if return_complex is False else r


@both()
def istft(
    x,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal from which stft made x. Windows are added up, and divided by the sum of their weights."""
    if not x.dtype.is_complex:
        raise TypeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    hop, win = hop_length or n_fft // 4, win_length or n_fft
    norm = "ortho" if normalized else "backward"
    half = x.shape[-2] != n_fft if onesided is None else onesided
    x = x.transpose(-2, -1)
    if not half and not return_complex:  # one half of the spectrum determines a real signal
        half, x = True, narrow(x, -1, 0, n_fft // 2 + 1)
    frames = irfft(x, n_fft, norm=norm) if half else ifft(x, norm=norm)
    w = _window(window, win, n_fft, frames)
    frames, count = frames * w, x.shape[-2]
    total = n_fft + hop * (count - 1)
    places = td.arange(count, device=array(x).device)[:, None] * hop + td.arange(n_fft, device=array(x).device)
    at = wrap(places.reshape(-1))
    lead = tuple(frames.shape[:-2])
    signal = frames.new_zeros((*lead, total)).index_add(-1, at, frames.reshape((*lead, -1)))
    weight = w.new_zeros(total).index_add(0, at, (w * w).expand((count, n_fft)).reshape(-1))
    start = n_fft // 2 if center else 0
    stop = total - start if length is None else min(start + length, total)
    kept = narrow(weight, 0, start, stop - start)
    r = narrow(signal, -1, start, stop - start) / kept
    return (
        r if length is None or length <= stop - start else cat([r, r.new_zeros((*lead, length - (stop - start)))], -1)
    )


all_with_out(__all__, globals())
__getattr__, __dir__ = _modules.refusing("torch.fft")

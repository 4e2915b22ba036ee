"""Random tensors. Philox draws them on the device, and the draws fuse into the operations that use them.

The same seed of torch.manual_seed gives the same numbers on every device. They are not PyTorch's numbers.
"""

import contextlib
import os
import threading
from operator import index as _index

from ... import _core
from ... import random as _random
from .. import _device
from .._prim import Tensor, apply, array, joint_shape, td, wrap
from .._register import both, function, method
from . import _dtypes
from ._create import _shape, as_asked, tensor

_LONG, _FLOAT = _dtypes.DTYPES["int64"], _dtypes.DTYPES["float32"]


class Generator:
    """A source of random numbers with a seed and a state of its own: Generator(device="cpu")."""

    def __init__(self, device="cpu"):
        self.device = _device.device(device)
        self._on, self._lock = {}, threading.Lock()
        self.manual_seed(67280421310721)

    def manual_seed(self, seed):
        """Set the seed, and return the generator."""
        self._seed = int(seed) % 2**64
        self._bits = _random.Philox(self._seed)
        self._on.clear()
        return self

    def seed(self):
        """Set a seed that the system provides, and return it."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little") >> 1).initial_seed()

    def initial_seed(self):
        """The seed that was set last."""
        return self._seed

    def get_state(self):
        """The generator's state as a tensor of bytes."""
        key, counter = self._bits._stream.state
        words = b"".join(int(v).to_bytes(8, "little") for v in (self._seed, key, counter))
        return tensor(list(words), dtype=_dtypes.DTYPES["uint8"])

    def set_state(self, new_state):
        """Restore a state that get_state returned."""
        words = bytes(new_state.tolist())
        if len(words) != 24:
            raise RuntimeError(f"RNG state must be 24 bytes of a Generator's get_state, not {len(words)}")
        seed, key, counter = (int.from_bytes(words[i : i + 8], "little") for i in (0, 8, 16))
        self.manual_seed(seed)
        self._bits._stream.state = (key, counter)
        return self

    def clone_state(self):
        """A new generator in the same state."""
        return Generator(self.device).set_state(self.get_state())

    def _at(self, dev):
        """The object that draws on a device. All devices draw from one stream of numbers."""
        found = self._on.get(dev)
        if found is None:
            found = self._on[dev] = _random.Generator(self._bits, dev)
        return found


default_generator = Generator()


def manual_seed(seed):
    """Set the default generator's seed, so that a program draws the same numbers each time. Returns the Generator."""
    return default_generator.manual_seed(seed)


def seed():
    """Set the default generator's seed to one that the system provides, and return it."""
    return default_generator.seed()


def initial_seed():
    """The default generator's seed."""
    return default_generator.initial_seed()


def get_rng_state():
    """The default generator's state, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Restore a state of the default generator that get_rng_state returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    """A context manager that restores the default generator's state at its end."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


# ---- draws ----


def _source(generator, dev):
    return (generator or default_generator)._at(dev)


def _drawn(shape, draw, dtype, device, generator, requires_grad=False):
    """draw(generator, shape, dtype) on a device. Types narrower than float32 are drawn as float32."""
    dev = _device.theirs(device)
    kind = _dtypes.get_default_dtype() if dtype is None else _dtypes.asked(dtype)
    if kind._kind not in "fc":
        raise NotImplementedError(f"{draw.__name__.lstrip('_')} numbers are not implemented for '{kind._word}'")
    if kind.is_complex:
        parts = [draw(_source(generator, dev), shape, kind.to_real()._name) for _ in range(2)]
        a = (parts[0] + parts[1] * 1j) * (0.5**0.5 if draw is _normal else 1)
        return wrap(a.astype(kind._numpy))
    wide = kind._name if kind._name in ("float32", "float64") else "float32"
    a = draw(_source(generator, dev), shape, wide)
    t = wrap(a.astype(kind._numpy) if a.dtype != kind._numpy else a)
    return t.requires_grad_() if requires_grad else t


def _uniform(g, shape, dtype):
    return g.random(shape, dtype)


def _normal(g, shape, dtype):
    return g.standard_normal(shape, dtype)


def _maker(name, draw, what):
    def f(
        *size_,
        size=None,
        generator=None,
        out=None,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        pin_memory=False,
    ):
        t = _drawn(_shape(size_, size), draw, dtype, device, generator, requires_grad)
        return t if out is None else out.resize_(t.shape).copy_(t)

    def like(
        input,
        *,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        memory_format=None,
        pin_memory=False,
        generator=None,
    ):
        kind, where = (input.dtype if dtype is None else dtype), (input.device if device is None else device)
        t = _drawn(tuple(input.shape), draw, kind, where, generator, False)
        return as_asked(t, input, memory_format, requires_grad)

    for g, also in ((f, ""), (like, "_like")):
        g.__name__ = g.__qualname__ = name + also
        g.__doc__ = f"{what} of a shape." if not also else f"{what} in input's shape, dtype and device."
        function(out=False)(g)


_maker("rand", _uniform, "Uniform numbers in [0, 1)")
_maker("randn", _normal, "Normal numbers of mean 0 and variance 1")


@function(out=False)
def randint(
    low=0,
    high=None,
    size=None,
    *,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """Integers from low (default 0) up to high - 1."""
    if size is None and not isinstance(high, int):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    a = _source(generator, _device.theirs(device)).integers(low, high, _shape((size,)))
    kind = _LONG if dtype is None else _dtypes.asked(dtype)
    t = wrap(a.astype(kind._numpy))
    return t if out is None else out.resize_(t.shape).copy_(t)


@function(out=False)
def randint_like(
    input,
    low=0,
    high=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    memory_format=None,
    pin_memory=False,
    generator=None,
):
    """Integers from low (default 0) up to high - 1, in input's shape, dtype and device."""
    low, high = (0, low) if high is None else (low, high)
    kind, where = (input.dtype if dtype is None else dtype), (input.device if device is None else device)
    t = randint(low, high, tuple(input.shape), dtype=kind, device=where, generator=generator)
    return as_asked(t, input, memory_format, requires_grad)


@function(out=False)
def randperm(
    n, *, generator=None, out=None, dtype=_LONG, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """The integers 0 to n - 1 in random order."""
    n = _index(n)
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    a = _source(generator, _device.theirs(device)).permutation(td.arange(n, device=_device.theirs(device)))
    return wrap(a.astype(dtype._numpy) if a.dtype != dtype._numpy else a)


@function(out=False)
def normal(
    mean=0.0,
    std=1.0,
    size=None,
    *,
    generator=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """Normal numbers of that mean and standard deviation, numbers or tensors."""
    first = next((v for v in (mean, std) if isinstance(v, Tensor)), None)
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if first is None:
        r = _drawn(_shape((size,)), _normal, dtype, device, generator) * std + mean
    else:
        shape = joint_shape(*(tuple(v.shape) for v in (mean, std) if isinstance(v, Tensor)))
        r = _drawn(shape, _normal, first.dtype, first.device, generator) * std + mean
    r = r.detach()
    if out is not None:
        return out.resize_(r.shape).copy_(r)
    return r.requires_grad_() if requires_grad else r


@both()
def bernoulli(input, p=None, *, generator=None):
    """1 with probability input (or p), else 0."""
    chance = input.detach() if p is None else p
    return (_drawn(tuple(input.shape), _uniform, _FLOAT, input.device, generator) < chance).to(input.dtype)


@function(out=False)
def poisson(input, generator=None):
    """Poisson draws. input holds the expected numbers of events."""
    g = _source(generator, array(input).device)
    return wrap(g.poisson(array(input.detach()).astype("float64"), tuple(input.shape))).to(input.dtype)


@function(out=False)
def binomial(count, prob, generator=None):
    """The numbers of successes in count trials, each with probability prob."""
    g = _source(generator, array(count).device)
    n, p = array(count.detach()).astype("int64"), array(prob.detach()).astype("float64")
    return wrap(g.binomial(n, p)).to(count.dtype)


@both()
def multinomial(input, num_samples, replacement=False, *, generator=None):
    """num_samples indices into the last dimension. Their probabilities are proportional to input."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"multinomial: the probabilities are to have 1 or 2 dims, not {input.ndim}")
    if input.dtype._kind != "f":
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}")
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got {num_samples}")
    rows = input.detach().double() if input.ndim == 2 else input.detach().double()[None]
    if rows.shape[1] >= 2**24:
        raise RuntimeError(f"number of categories cannot exceed 2^24, got {rows.shape[1]}")
    _likely(rows)
    if not replacement:
        if num_samples > rows.shape[1]:
            raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
        # The indices of the largest u ** (1 / p) are a draw without replacement. log(u) / p has the same order.
        u = _drawn(tuple(rows.shape), _uniform, _dtypes.DTYPES["float64"], input.device, generator)
        key = (1 - u).log() / rows
        r = key.topk(num_samples, 1)[1]
    else:
        edges = rows.cumsum(1)
        u = (
            _drawn((rows.shape[0], num_samples), _uniform, _dtypes.DTYPES["float64"], input.device, generator)
            * edges[:, -1:]
        )
        r = (edges[:, None, :] <= u[:, :, None]).sum(-1)
    return r if input.ndim == 2 else r[0]


def _likely(rows):
    """Raise RuntimeError if a row holds no probabilities. Only on the CPU and outside of a recording, because the check
    waits for the values."""
    if rows.device.type != "cpu" or hasattr(rows, "_value") or _core._capturing():
        return
    least, total = float(rows.min()) if rows.numel() else 0.0, rows.sum(1)
    if not least >= 0 or not bool(apply("isfinite", total).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if bool((total <= 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


# ---- into a tensor ----


def _filler(name, draw, doc, refuse=lambda *args, **kwargs: None):
    """A method that fills a tensor with draws. refuse(arguments) says what is wrong with the draw's arguments, or None.
    """

    def f(self, *args, generator=None, **kwargs):
        wrong = refuse(*args, **kwargs)
        if wrong:
            raise RuntimeError(f"{name} expects {wrong}")
        shape, wide = tuple(self.shape), self.dtype._name if self.dtype._name in ("float32", "float64") else "float32"
        a = draw(_source(generator, array(self).device), shape, wide, *args, **kwargs)
        return self.copy_(wrap(a))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    method()(f)


def _backwards(low, high):
    return f"to return a [from, to) range, but found from={low} > to={high}" if low > high else None


def _from_to(g, shape, dtype, low, high):
    return g.random(shape, dtype) * (high - low) + low


_filler(
    "uniform_",
    lambda g, s, d, a=0.0, b=1.0, **k: _from_to(g, s, d, k.get("from", a), k.get("to", b)),
    "Uniform numbers from `from` (0) to below `to` (1).",
    lambda a=0.0, b=1.0, **k: _backwards(k.get("from", a), k.get("to", b)),
)
_filler(
    "normal_",
    lambda g, s, d, mean=0.0, std=1.0: g.standard_normal(s, d) * std + mean,
    "Normal numbers of that mean and deviation.",
    lambda mean=0.0, std=1.0: f"std >= 0.0, but found std={std}" if not isinstance(std, Tensor) and std < 0 else None,
)
_filler(
    "log_normal_",
    lambda g, s, d, mean=1.0, std=2.0: td.exp(g.standard_normal(s, d) * std + mean),
    "exp of normal numbers of that mean and deviation.",
    lambda mean=1.0, std=2.0: None if std > 0 else f"std > 0.0, but found std={std}",
)
_filler(
    "exponential_",
    lambda g, s, d, lambd=1.0: -td.log1p(-g.random(s, d)) / lambd,
    "Exponential numbers of mean 1 / lambd.",
    lambda lambd=1.0: None if lambd > 0 else f"lambda > 0.0, but found lambda={lambd}",
)
_filler(
    "cauchy_",
    lambda g, s, d, median=0.0, sigma=1.0: median + sigma * td.tan(3.141592653589793 * (g.random(s, d) - 0.5)),
    "Cauchy numbers about median.",
    lambda median=0.0, sigma=1.0: None if sigma > 0 else f"sigma > 0.0, but found sigma={sigma}",
)
_filler(
    "geometric_",
    lambda g, s, d, p: td.floor(td.log1p(-g.random(s, d)) / float(td.log1p(-float(p)))) + 1,
    "Numbers of tries up to the first success, of probability p.",
    lambda p: None if 0 < p < 1 else f"p to be in (0, 1), but got p={p}",
)


@method()
def bernoulli_(self, p=0.5, *, generator=None):
    """1 with probability p, which is a number or a tensor, else 0."""
    chance = p.detach() if isinstance(p, Tensor) else p
    return self.copy_(_drawn(tuple(self.shape), _uniform, _FLOAT, self.device, generator) < chance)


@method()
def random_(self, *args, to=None, generator=None, **start):
    """Integers below the last argument, from 0 or from the first of two arguments on. Without arguments: from 0 to
    below the dtype's largest integer, or to below 2**24 for floats."""
    if to is not None:
        args = (*args, *start.values(), to)
    low, high = (
        (0, *args)[-2:]
        if args
        else (0, 2**24 if self.dtype._kind == "f" else _dtypes.iinfo(self.dtype).max if self.dtype._kind in "iu" else 2)
    )
    if high is None:
        low, high = args[0], _dtypes.iinfo(self.dtype).max
    return self.copy_(wrap(_source(generator, array(self).device).integers(low, high, tuple(self.shape))))

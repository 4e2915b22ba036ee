"""PyCUDA's random numbers: ``curandom.rand((1000,))``, generators of pseudo-random and of Sobol's numbers.

cuRAND is not used: the pseudo-random generators are Philox4x32-10 under the names that PyCUDA has, the others Sobol
sequences. Numbers depend on seeds alone, not on the device, and are others than cuRAND's.
"""

import numpy

from .. import _core
from .._public import dir_of as _dir_of
from ..random import default_rng as _default_rng
from ._arrays import _sobol
from ._arrays._arraymake import empty, to_gpu
from ._arrays._gpuarray import GPUArray
from ._driver import _layout, _streams
from ._driver._pointer import ordered

_RAND = {"float32", "float64", "int32", "uint32"}


def rand(shape, dtype=numpy.float32, stream=None):
    """Uniform numbers: floats in [0, 1), int32 and uint32 over all their values. numpy.random.seed() repeats them."""
    name = numpy.dtype(dtype).name
    if name not in _RAND:
        raise NotImplementedError(f"rand of {name}: it makes {', '.join(sorted(_RAND))}")
    draw, shape = _default_rng(int(numpy.random.randint(0, 2**63 - 1, dtype=numpy.int64))), _layout.shape_of(shape)
    with ordered(stream, _core.device()):
        if name.startswith("float"):
            return GPUArray._of(draw.random(shape, dtype=name))
        first = 0 if name == "uint32" else -(2**31)
        return GPUArray._of(draw.integers(first, first + 2**32, shape, dtype=name))


def get_curand_version():
    """The version of cuRAND whose generators have counterparts here."""
    return (10, 3, 0)


class direction_vector_set:
    """Kinds of direction vectors."""

    VECTOR_32 = 101
    SCRAMBLED_VECTOR_32 = 102
    VECTOR_64 = 103
    SCRAMBLED_VECTOR_64 = 104


_SETS = {
    None: (_sobol.vectors, 32),
    direction_vector_set.VECTOR_32: (_sobol.vectors, 32),
    direction_vector_set.SCRAMBLED_VECTOR_32: (_sobol.scrambled, 32),
    direction_vector_set.VECTOR_64: (_sobol.vectors, 64),
    direction_vector_set.SCRAMBLED_VECTOR_64: (_sobol.scrambled, 64),
}


def generate_direction_vectors(count, direction=None):
    """Direction vectors of the first `count` dimensions, at most 1111: a GPUArray of (count, 32) or (count, 64)."""
    if direction not in _SETS:
        raise ValueError(f"generate_direction_vectors: {direction!r} is not one of direction_vector_set")
    make, bits = _SETS[direction]
    return to_gpu(make(count, bits))


def generate_scramble_constants32(count):
    """What shifts the points of `count` dimensions: a GPUArray of uint32."""
    return to_gpu(_sobol.shifts(count, 32))


def generate_scramble_constants64(count):
    """What shifts the points of `count` dimensions: a GPUArray of uint64."""
    return to_gpu(_sobol.shifts(count, 64))


def seed_getter_uniform(n):
    """One random seed for n generators, which their numbers keep apart."""
    import random

    return empty([n], numpy.int32).fill(random.randint(0, 2**31 - 1))


def seed_getter_unique(n):
    """A seed, drawn by NumPy, for each of n generators."""
    return to_gpu(numpy.random.randint(0, 2**31 - 1, n).astype(numpy.int32))


_UNIFORM = {"float32": "uniform_float", "float64": "uniform_double", "int32": "word", "uint32": "word"}
_LONG = {"int64": "long_word", "uint64": "long_word"}
_FLOATS = ("float32", "float64")


def _wanted(what, data, dtypes):
    """The name of the array's dtype. Raises NotImplementedError unless it is among dtypes."""
    if not isinstance(data, GPUArray):
        raise TypeError(f"{what}: data is a GPUArray, not {type(data).__name__}")
    if data.dtype.name not in dtypes:
        raise NotImplementedError(f"{what} of {data.dtype}: it makes {', '.join(dtypes)}")
    return data.dtype.name


class _Generators:
    """The base of the generators.

    Element i, in memory order, belongs to generator i % (block_count * generators_per_block). Every device has the
    same number of generators, so the numbers are the same too."""

    block_count = 32
    generators_per_block = 128
    generator_bits = 32
    has_box_muller = False
    _source = None  # the function of _streams that makes bits
    _arrays = ()  # the two arrays of the core that it reads

    def __init__(self, offset):
        self._positions = _core.full((self._count,), offset, "uint64")

    @property
    def _count(self):
        return self.block_count * self.generators_per_block

    def _fill(self, data, name, par=()):
        par = _core.asarray(numpy.array([*par, 0.0]), device=data.device)
        fill = _streams.filler(self._source, getattr(_streams, name))
        self._run(data, lambda flat: fill(flat, par, self._positions, *self._arrays))

    def _run(self, data, write):
        """Let write() fill the elements in memory order, and move each generator by the number of elements that it
        made."""
        straight, _ = _layout.in_memory_order(data._plain())
        flat = straight.reshape(-1)
        if flat.dtype.kind == "i":
            flat = flat.view(f"uint{8 * flat.itemsize}")
        write(flat)
        if not data.flags.forc:
            straight[...] = flat.view(data.dtype).reshape(straight.shape)
        turns = _core.arange(data.size + self._count - 1, data.size - 1, -1) // self._count
        self._positions += turns.astype("uint64")

    def fill_uniform(self, data, stream=None):
        """Floats in (0, 1]; integers over all their values, those of 64 bits by 64-bit generators only."""
        kinds = {**_UNIFORM, **_LONG} if self.generator_bits == 64 else _UNIFORM
        name = kinds[_wanted("fill_uniform", data, kinds)]
        with ordered(stream, data.device):
            self._fill(data, name)

    def fill_normal(self, data, stream=None):
        """Mean 0, deviation 1; float32 or float64."""
        _wanted("fill_normal", data, _FLOATS)
        with ordered(stream, data.device):
            self._fill(data, "normal")

    def fill_log_normal(self, data, mean, stddev, stream=None):
        """The exponential of normal numbers of that mean and deviation; float32 or float64."""
        _wanted("fill_log_normal", data, _FLOATS)
        if not stddev >= 0:
            raise ValueError(f"fill_log_normal: a deviation of {stddev}")
        with ordered(stream, data.device):
            self._fill(data, "log_normal", (mean, stddev))

    def fill_poisson(self, data, lambda_value=None, stream=None):
        """Counts of that rate, uint32. Without a rate the elements are rates, float32, float64 or uint32, and are
        replaced."""
        _wanted("fill_poisson", data, (*_FLOATS, "uint32") if lambda_value is None else ("uint32",))
        if lambda_value is not None and not lambda_value >= 0:
            raise ValueError(f"fill_poisson: a rate of {lambda_value}")
        with ordered(stream, data.device):
            if lambda_value is not None:
                self._fill(data, "poisson", (lambda_value,))
            else:
                fill = _streams.replacer(self._source)
                self._run(data, lambda flat: fill(flat, self._positions, *self._arrays))

    def _made(self, fill, shape, dtype, *args):
        result = empty(shape, dtype)
        fill(result, *args)
        return result

    def gen_uniform(self, shape, dtype, stream=None):
        """fill_uniform of a new array."""
        return self._made(self.fill_uniform, shape, dtype, stream)

    def gen_normal(self, shape, dtype, stream=None):
        """fill_normal of a new array."""
        return self._made(self.fill_normal, shape, dtype, stream)

    def gen_log_normal(self, shape, dtype, mean, stddev, stream=None):
        """fill_log_normal of a new array."""
        return self._made(self.fill_log_normal, shape, dtype, mean, stddev, stream)

    def gen_poisson(self, shape, dtype, lambda_value, stream=None):
        """fill_poisson of a new array."""
        return self._made(self.fill_poisson, shape, dtype, lambda_value, stream)

    def _steps(self, i):
        """An argument as one number for all generators, or an array with one for each."""
        if not isinstance(i, GPUArray):
            if i < 0:
                raise ValueError(f"generators move forward: {i} places")
            return _core.full((self._count,), i, "uint64")
        if i.shape != (self._count,) or i.dtype.kind not in "iu":
            raise TypeError(f"the places are {self._count} integers, not {i.shape} of {i.dtype}")
        return i._plain().astype("uint64")

    def call_skip_ahead(self, i, stream=None):
        """Every generator leaves out i numbers."""
        with ordered(stream, self._positions.device):
            self._positions += self._steps(i)

    def call_skip_ahead_array(self, i, stream=None):
        """Generator g leaves out i[g] numbers."""
        self.call_skip_ahead(i, stream)


class _Pseudo(_Generators):
    """Generators with seeds: seed_getter(count) gives a GPUArray of as many int32; offset: where they start."""

    has_box_muller = True
    _source = staticmethod(_streams.philox)
    _kind = 0  # makes generators of different classes differ for one seed

    def __init__(self, seed_getter=None, offset=0):
        super().__init__(offset)
        seed = (seed_getter or seed_getter_unique)(self._count)
        if not (isinstance(seed, GPUArray) and seed.dtype == numpy.int32 and seed.size == self._count):
            raise TypeError(f"seed_getter gives a GPUArray of {self._count} int32")
        key = seed._plain().reshape(-1).view("uint32").astype("uint64") + (self._kind << 48)
        _core.evaluate(key)
        self._arrays = (key, _core.zeros((self._count,), "uint64"))

    def _move(self, i, shift, stream):
        with ordered(stream, self._positions.device):
            places = self._arrays[1]
            places += self._steps(i) << numpy.uint64(shift)

    def call_skip_ahead_sequence(self, i, stream=None):
        """Every generator goes to its i-th sequence from here."""
        self._move(i, 32, stream)

    def call_skip_ahead_sequence_array(self, i, stream=None):
        """Generator g goes to its i[g]-th sequence from here."""
        self._move(i, 32, stream)


class XORWOWRandomNumberGenerator(_Pseudo):
    """Pseudo-random numbers (Philox's): XORWOWRandomNumberGenerator(seed_getter=None, offset=0)."""

    _kind = 1


class MRG32k3aRandomNumberGenerator(_Pseudo):
    """Pseudo-random numbers (Philox's), others than XORWOW's; the parameters are the same."""

    _kind = 2

    def call_skip_ahead_subsequence(self, i, stream=None):
        """Every generator goes to its i-th subsequence from here."""
        self._move(i, 0, stream)

    def call_skip_ahead_subsequence_array(self, i, stream=None):
        """Generator g goes to its i[g]-th subsequence from here."""
        self._move(i, 0, stream)


class _Sobol(_Generators):
    """Quasi-random numbers: generator g gives the points of dimension g, from point number `offset` on."""

    block_count = 2
    generators_per_block = 32
    _source = staticmethod(_streams.sobol)
    _set = None

    def __init__(self, dir_vector=None, offset=0):
        super().__init__(offset)
        self._take_tables(dir_vector, None)

    def _take_tables(self, dir_vector, scramble):
        bits, dtype = self.generator_bits, f"uint{self.generator_bits}"
        if dir_vector is None:
            dir_vector = generate_direction_vectors(self._count, self._set)
        tables = {"dir_vector": (dir_vector, (self._count, bits)), "scramble_vector": (scramble, (self._count,))}
        for what, (table, shape) in tables.items():
            right = isinstance(table, GPUArray) and table.dtype == dtype and table.shape == shape
            if table is not None and not right:
                raise TypeError(f"{what} is a GPUArray of shape {shape} and dtype {dtype}")
        up = numpy.uint64(64 - bits)
        # the middle of the interval that a point of 32 digits stands for
        middle = numpy.uint64(1 << 31 if bits == 32 else 0)
        shift = _core.zeros((self._count,), "uint64") if scramble is None else scramble._plain().astype("uint64")
        self._arrays = (dir_vector._plain().astype("uint64") << up, (shift << up) + middle)
        _core.evaluate(*self._arrays)


class _ScrambledSobol(_Sobol):
    """Quasi-random numbers whose digits are mixed by the direction vectors and shifted by scramble_vector."""

    def __init__(self, dir_vector=None, scramble_vector=None, offset=0):
        _Generators.__init__(self, offset)
        if scramble_vector is None:
            scramble_vector = to_gpu(_sobol.shifts(self._count, self.generator_bits))
        self._take_tables(dir_vector, scramble_vector)


class Sobol32RandomNumberGenerator(_Sobol):
    """Sobol's points of 32 digits: Sobol32RandomNumberGenerator(dir_vector=None, offset=0)."""

    _set = direction_vector_set.VECTOR_32


class Sobol64RandomNumberGenerator(_Sobol):
    """Sobol's points of 64 digits: Sobol64RandomNumberGenerator(dir_vector=None, offset=0)."""

    generator_bits = 64
    _set = direction_vector_set.VECTOR_64


class ScrambledSobol32RandomNumberGenerator(_ScrambledSobol):
    """Scrambled points of 32 digits; parameters dir_vector=None, scramble_vector=None, offset=0."""

    _set = direction_vector_set.SCRAMBLED_VECTOR_32


class ScrambledSobol64RandomNumberGenerator(_ScrambledSobol):
    """Scrambled points of 64 digits; parameters dir_vector=None, scramble_vector=None, offset=0."""

    generator_bits = 64
    _set = direction_vector_set.SCRAMBLED_VECTOR_64


__dir__ = _dir_of(__name__)

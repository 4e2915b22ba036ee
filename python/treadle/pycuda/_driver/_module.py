"""Compiled code by PyCUDA's names: modules, and functions that are launched."""

import os

import numpy

from ... import _core
from ._blocks import SurfaceReference, TextureReference
from ._enums import function_attribute
from ._errors import LogicError
from ._events import Event
from ._memory import ArgumentHandler

_CACHE, _SHARED = 0, 1  # options of Kernel.set_config


class Module:
    """Code that is loaded on the device of the current context. SourceModule, module_from_file and module_from_buffer
    make one; it stays loaded as long as it, or a Function of it, is there."""

    def __init__(self, program):
        self._program = program
        self._references = {}

    def get_function(self, name):
        """The Function of that name, also "ns::f", or an instance of a template, "f<float, 4>".

        LogicError: there is none."""
        try:
            return Function(self._program.kernel(name), self)
        except ValueError as error:
            raise LogicError(f"cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND: {error}") from None

    def get_global(self, name):
        """(address, bytes) of a __device__ or __constant__ variable. LogicError: there is none."""
        try:
            return self._program.variable(name)
        except ValueError as error:
            raise LogicError(f"cuModuleGetGlobal failed: CUDA_ERROR_NOT_FOUND: {error}") from None

    def _reference(self, name, make):
        found = self._references.get(name)
        if found is None:
            found = self._references[name] = make(self.get_global(name)[0])
            found._module = self._program  # keeps the variable alive, but not the module, which holds the reference
        return found

    def get_texref(self, name):
        """The TextureReference of a texture<…> in the text. LogicError: there is none."""
        rows = [row for row in self._program.textures if row[0] == name]
        if not rows:
            raise LogicError(f"cuModuleGetTexRef failed: CUDA_ERROR_NOT_FOUND: the text declares no texture {name!r}")
        _name, _type, dims, as_float = rows[0]
        return self._reference(name, lambda at: TextureReference(at, as_float, dims))

    def get_surfref(self, name):
        """The SurfaceReference of a surface<…> in the text. LogicError: there is none."""
        return self._reference(name, SurfaceReference)

    def __repr__(self):
        return f"<module of {', '.join(self._program.kernels) or 'compiled code'}>"


def module_from_buffer(buffer, options=(), message_handler=None):
    """A Module of a cubin, PTX, a fatbin, or what compiler.compile gave. options, of the driver's compiler, are not
    needed."""
    del options
    module = Module(_core.load_program(buffer, device=_core._raw_current()))
    if message_handler:
        message_handler(True, "", "")
    return module


def module_from_file(filename):
    """A Module of a file, as module_from_buffer."""
    with open(os.fspath(filename), "rb") as file:
        return module_from_buffer(file.read())


def _letter(type_):
    """The struct module's format for an item of prepare's list: a letter, or anything that numpy.dtype accepts."""
    if isinstance(type_, str) and len(type_) == 1:
        return type_
    dtype = numpy.dtype(type_)
    return f"{dtype.itemsize}s" if dtype.kind == "V" else dtype.char


def _attribute(number, doc):
    return property(lambda self: self._kernel.attribute(number), doc=doc)


class Function:
    """A kernel of a module: f(*args, block=(x, y, z), grid=(x, y), shared=0, stream=None).

    Arguments are checked against the kernel's signature: numbers become its types; a NumPy scalar of another size or
    kind is a TypeError, and so is an array whose elements are not what the pointer points to."""

    def __init__(self, kernel, module):
        self._kernel, self._module = kernel, module
        self.texrefs = []

    name = property(lambda self: self._kernel.name, doc="The name by which it was asked for.")

    def __call__(self, *args, block=None, grid=(1, 1), shared=0, stream=None, texrefs=(), time_kernel=False):
        """Launches the kernel; arrays wrapped in In, Out or InOut are copied round it.

        With time_kernel the seconds that the device took, after waiting for it. texrefs are bound already."""
        if block is None:
            raise ValueError("must specify block size")
        handlers = [a for a in args if isinstance(a, ArgumentHandler)]
        if handlers:
            args = [a.get_device_alloc() if isinstance(a, ArgumentHandler) else a for a in args]
            for handler in handlers:
                handler.pre_call(stream)
        begun = Event().record(stream) if time_kernel else None
        self._kernel(grid, block, args, shared=shared, stream=stream)
        ended = Event().record(stream).synchronize() if time_kernel else None
        for handler in handlers:
            handler.post_call(stream)
        return begun.time_till(ended) * 1e-3 if time_kernel else None

    # ---- prepared calls ----

    def prepare(self, arg_types, texrefs=()):
        """Says the arguments' types, by letters of the struct module ("PPif") or as a list of dtypes and "P"; returns
        the function. TypeError: they are not those of the kernel's signature, where it is known."""
        self.arg_format = arg_types if isinstance(arg_types, str) else "".join(map(_letter, arg_types))
        self.texrefs = list(texrefs)
        self.prepared_call = self._kernel.prepare(self.arg_format)
        return self

    def prepared_call(self, grid, block, *args, shared_size=0):
        """Launches: prepared_call(grid, block, *args, shared_size=0). LogicError: not prepared."""
        raise LogicError(f"{self.name}: prepare() says the arguments' types before a prepared call")

    def prepared_async_call(self, grid, block, stream, *args, shared_size=0):
        """As prepared_call, on a stream."""
        if stream is None:
            return self.prepared_call(grid, block, *args, shared_size=shared_size)
        return self.prepared_call(grid, block, *args, shared_size=shared_size, stream=stream)

    def prepared_timed_call(self, grid, block, *args, shared_size=0):
        """As prepared_call; returns a function that waits and gives the seconds that the device took."""
        begun = Event().record()
        self.prepared_call(grid, block, *args, shared_size=shared_size)
        ended = Event().record()

        def get_call_time():
            ended.synchronize()
            return begun.time_till(ended) * 1e-3

        return get_call_time

    # ---- attributes ----

    max_threads_per_block = _attribute(0, "Most threads of a block.")
    shared_size_bytes = _attribute(1, "Static shared memory of a block, bytes.")
    const_size_bytes = _attribute(2, "Constant memory, bytes.")
    local_size_bytes = _attribute(3, "Local memory of a thread, bytes: what did not fit its registers.")
    num_regs = _attribute(4, "Registers of a thread; 0 on a CPU.")
    ptx_version = _attribute(5, "The PTX version that it was compiled for.")
    binary_version = _attribute(6, "The architecture that it was compiled for.")

    def get_attribute(self, attr):
        """What the driver knows of it: function_attribute.NUM_REGS."""
        return self._kernel.attribute(int(function_attribute(int(attr))))

    def set_attribute(self, attr, value):
        """Sets function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES or PREFERRED_SHARED_MEMORY_CARVEOUT."""
        self._kernel.set_attribute(int(function_attribute(int(attr))), int(value))

    def set_cache_config(self, fc):
        """Which of shared memory and first-level cache is to be large: func_cache."""
        self._kernel.set_config(_CACHE, int(fc))

    def set_shared_config(self, conf):
        """How wide banks of shared memory are: shared_config."""
        self._kernel.set_config(_SHARED, int(conf))

    def __repr__(self):
        return f"<function {self._kernel!r}>"

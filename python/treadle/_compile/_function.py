"""The base of compiled functions of both kinds, for hosts and for kernels: signatures, compilations, their text."""

import functools
import itertools
import math
import sys

from .. import _core
from . import _texts

_texts.watch()

KERNEL, FUNCTION, ELEMENT = 0, 1, 2


class Compiled:
    """A function compiled for a row of argument types on one device.

    args: treadle.types of the arguments; return_type; device: its name; kernel: the name of the machine code;
    shared: bytes of static shared memory; notes: lines for explain()."""

    def __init__(self, function, number, info):
        self._function, self._number = function, number
        self.args = tuple(_type_of(text) for text in info["args"])
        self.return_type = _type_of(info["result"][0]) if info["result"] else None
        self.device, self.kernel, self.shared = info["device"], info["kernel"], info["shared"]
        self.cooperative, self.notes = info["cooperative"], info["notes"].splitlines()

    def __call__(self, *args):
        """Call the function with arguments of these types."""
        return self._function(*args)

    @property
    def signature(self):
        """The types.Signature."""
        from .. import types

        return types.Signature(self.return_type, self.args)

    def text(self, stage, arch=None):
        """'ir', 'llvm', 'ptx' or 'asm'. arch: 'sm_90' and its like; None: the device's."""
        return self._function._text(self._number, stage, arch)

    def attribute(self, number, otherwise=0):
        """A function attribute of the driver's, by its CU_FUNC_ATTRIBUTE number; `otherwise` on the CPU."""
        value = self._function._attribute(self._number, number)
        return otherwise if value is None else value

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """How many blocks of blockdim threads (int or tuple) can be on the device at once, as grid.sync() needs."""
        threads = blockdim if isinstance(blockdim, int) else math.prod(blockdim)
        return self._function._most_blocks(self._number, threads, dynsmemsize)

    def __repr__(self):
        return f"<{self._function.__name__}{self.args} on {self.device}>"


def _type_of(text):
    from .. import types

    try:
        return types.parse(text)
    except TypeError:  # constants and records have no type that text could spell
        return text


def is_signature(x):
    """Whether x is what a decorator takes as a signature, and not the function to decorate."""
    if x is None or isinstance(x, (str, tuple, list)):
        return True
    types = sys.modules.get("treadle.types")
    return types is not None and isinstance(x, (types.Signature, types.Type))


def signatures_of(x):
    """A tuple of argument types for each signature in x: one, or a list of them; None: none."""
    return [args for args, _ in declared_in(x)]


def declared_in(x):
    """(argument types, the result's type or None) for each signature in x, as signatures_of takes it."""
    from .. import types

    if x is None:
        return []
    whole = [isinstance(s, types.Signature) or (isinstance(s, str) and "(" in s) for s in x] if type(x) is tuple else []
    several = isinstance(x, list) or (whole and all(whole))
    return [types.normalize(s) for s in (x if several else [x])]


def without_optionals(declared):
    """The signatures that declared_in gives, with a value and with None for each optional argument."""
    return [(args, returns) for either, returns in declared for args in itertools.product(*map(_choices, either))]


def _choices(t):
    from .. import types

    return (t.type, types.none) if isinstance(t, types.Optional) else (t,)


def _remember(fn):
    if fn.__code__.co_filename.startswith("<"):
        from ._source import remember

        remember(fn)


class Function(_core.Dispatcher):
    """A Python function that is compiled when it is called with types of arguments that it has not met.

    py_func: the function itself. Calls give the GIL up where its options say so."""

    def __new__(cls, fn, options=None, **core):
        if isinstance(fn, Function):
            fn = fn.py_func
        self = _core.Dispatcher.__new__(cls, fn, **core)
        _remember(fn)
        functools.update_wrapper(self, fn)
        self.targetoptions = options or {}
        self._core_options = core
        return self

    def __init__(self, *args, **kwargs):
        pass

    def __repr__(self):
        return f"<{type(self).__name__} {self.__qualname__}>"

    def __reduce__(self):
        return _by_name, (self.__module__, self.__qualname__)

    def __get__(self, obj, cls=None):
        return self if obj is None else functools.partial(self, obj)

    # ---- signatures and compilations ----

    def compile(self, sig):
        """Compiles for a signature (a types.Signature, its text, a tuple of types); returns the Compiled.

        Calls that fit no signature that was given so raise TypeError once one was given to the decorator."""
        (args,) = signatures_of(sig)
        self._compile(args)
        return self._find(args)

    def declare(self, args, returns=None):
        """Fit calls from now on to these types of arguments, and convert the result to `returns`, if that is a number's
        type. Compiles nothing."""
        self._declare(args, returns if getattr(returns, "dtype", None) is not None else None)

    def compile_declared(self, args):
        """Compile for a tuple of types that was declared."""
        self._compile(args)

    def _compiled(self):
        return [Compiled(self, i, info) for i, info in enumerate(self._specs())]

    def _find(self, args):
        for c in self._compiled():
            if tuple(c.args) == tuple(args):
                return c
        raise KeyError(f"{self.__name__} has not been compiled for {args}")

    def disable_compile(self, val=True):
        """Change nothing: calls of a function with declared signatures are fitted to these in any case."""

    @property
    def overloads(self):
        """A dict of what has been compiled: tuple of argument types -> Compiled."""
        return {c.args: c for c in self._compiled()}

    @property
    def signatures(self):
        """The tuples of argument types that have been compiled."""
        return list(self.overloads)

    @property
    def nopython_signatures(self):
        """The types.Signatures that have been compiled."""
        return [c.signature for c in self._compiled()]

    @property
    def stats(self):
        """Counts of the process: kernels compiled, loaded from the disk cache, launches."""
        return _core.jit_stats()

    # ---- texts ----

    def _each(self, signature, of):
        if signature is not None:
            (args,) = signatures_of(signature)
            return of(self._find(args))
        return {c.args: of(c) for c in self._compiled()}

    def _arch(self, compiled):
        return None

    def inspect_llvm(self, signature=None):
        """LLVM's IR of a compilation; without a signature a dict of all."""
        return self._each(signature, lambda c: c.text("llvm", self._arch(c)))

    def inspect_asm(self, signature=None):
        """The machine's text (PTX, x86) of a compilation; without a signature a dict of all."""
        return self._each(signature, lambda c: c.text("ptx" if self._arch(c) else "asm", self._arch(c)))

    def inspect_types(self, file=None):
        """Prints the source and the typed program of each compilation."""
        from ._source import find

        for c in self._compiled():
            print(f"{self.__name__} {c.args}", "-" * 80, find(self.py_func).text, c.text("ir"), sep="\n", file=file)

    def explain(self):
        """What was found out about the compilations: one line each thing."""
        return "\n".join(f"{c}: {note}" for c in self._compiled() for note in c.notes)

    def parallel_diagnostics(self, signature=None, level=1):
        """Print explain(): which loops run in parallel, and what stood in the way of others.

        signature: one of signatures, of which alone to tell. level is accepted and changes nothing."""
        told = [c for c in self._compiled() if signature is None or c.args == tuple(signature)]
        print(*[f"{c}: {note}" for c in told for note in c.notes], sep="\n")

    def lint(self):
        """What makes the compilations slower than they could be: a list of lines, "file:line: what was found".

        float64 arithmetic beside float32 arrays, strided access to memory, bank conflicts in shared memory, local
        arrays that lie in memory, 64-bit integer divisions, atomic operations that are loops; on a GPU kernels whose
        threads need more than registers."""
        found = dict.fromkeys(line for c in self._compiled() for line in self._lint(c._number).splitlines())
        return list(found)


def _by_name(module, name):
    from importlib import import_module

    return functools.reduce(getattr, name.split("."), import_module(module))

"""Ordinary functions, compiled for the CPU: ``@treadle.jit``."""

import builtins
import contextlib
import inspect
import warnings

from .. import _core, types
from ._function import FUNCTION, Function, declared_in, is_signature, without_optionals


class CPUFunction(Function):
    """A function compiled by treadle.jit. Called as it is in Python: NumPy's and treadle's arrays on the CPU are
    shared, numbers and tuples of them come back."""

    def _refused(self, why, args, kw):
        """Python runs a function that yields, where Python calls it. Any other error is raised."""
        if not isinstance(why, TypeError) or not inspect.isgeneratorfunction(self.py_func):
            raise why
        warnings.warn(
            f"{self.__name__} yields: Python runs it. It is compiled where another compiled function iterates over it",
            _core.PerformanceWarning,
            stacklevel=3,
        )
        self._elsewhere = self.py_func
        return self.py_func(*args, **kw or {})


def prange(*args):
    """range(*args) whose iterations run in any order and on all cores, in a compiled function.

    What the iterations only add to, multiply, and, or, xor, or take the least or greatest of, is reduced over them. In
    plain Python it is range.

    Parameters
    ----------
    *args : int
        As range's.

    Returns
    -------
    range
        The numbers.

    Examples
    --------
    >>> list(np.prange(3))
    [0, 1, 2]
    """
    return range(*args)


prange._td_name = "treadle.prange"

_IGNORED = {
    "nopython", "cache", "inline", "forceinline", "looplift", "no_cpython_wrapper", "no_cfunc_wrapper", "no_rewrites",
    "writable_args", "target_backend", "debug", "_nrt", "_dbg_extend_lifetimes", "_dbg_optnone",
}  # fmt: skip
# _numba: numbers promote as in Numba, not as in NumPy
_KNOWN = {"parallel", "fastmath", "nogil", "error_model", "boundscheck", "locals", "_numba"}


# As NumPy's ufuncs do, those that are made here give infinity and NaN where they divide by zero.
UFUNC_OPTIONS = {"error_model": "numpy"}


def check_options(what, options, target="cpu"):
    """Raise TypeError where an option does not exist or does not apply to the target."""
    unknown = set(options) - _IGNORED - _KNOWN
    if options.get("forceobj") or unknown:
        refused = ", ".join(sorted(unknown)) or "forceobj"
        raise TypeError(f"{what}: {refused} is not an option; docs/numba.md tells which there are")
    if target == "cuda" and "nopython" in options:
        if not options["nopython"]:
            raise TypeError(f"{what}: nopython={options['nopython']!r}: what runs on a GPU is compiled always")
        warnings.warn(f"{what}: nopython is redundant with target='cuda'", RuntimeWarning, stacklevel=4)


def jit(signature_or_function=None, **options):
    """Compile a function of numbers and arrays, when it is called with types that it has not met.

    Options are ``parallel``: None runs loops whose iterations are found to be independent on all cores, or all over the
    GPU that the arrays are on (explain() names them), True loops over prange too, False none. ``fastmath``: sums may be
    reordered, and NaN and infinity need not be minded. ``nogil``: other Python threads run during a call.
    ``error_model``: "python" raises at a division by zero, "numpy" gives infinity or NaN. ``boundscheck``: an index out
    of range raises IndexError. Compiled code is always kept on disk (``cache``) and never falls back to Python
    (``nopython``); ``forceobj`` raises. ``locals``: {name: type} of variables, to which what they are assigned is cast.

    Parameters
    ----------
    signature_or_function : callable, str, signature or list of them, optional
        The function (``@jit``), or signatures: then it is compiled at once, and calls are fitted to them.
    **options : any
        See above.

    Returns
    -------
    Dispatcher
        Called as the function; or a decorator.

    Raises
    ------
    TypeError
        The function uses what cannot be compiled; the text shows the line and says what to write instead.

    Examples
    --------
    >>> @np.jit
    ... def total(n):
    ...     s = 0
    ...     for i in range(n):
    ...         s += i
    ...     return s
    >>> total(5)
    10
    """
    return decorator(CPUFunction, signature_or_function, options)


def decorator(cls, signature_or_function, options):
    """Build what jit returns: a function of class cls, or a decorator that makes one."""
    check_options("jit", options)
    model = options.get("error_model", "python")
    if model not in ("python", "numpy"):
        raise ValueError(f"jit: error_model is 'python' or 'numpy', not {model!r}")

    def decorate(fn):
        fast = bool(options.get("fastmath"))
        f = cls(
            fn,
            options,
            mode=FUNCTION,
            fma=fast,
            fast=fast,
            checked=model == "python",
            parallel=options.get("parallel") is not False,
            prange=bool(options.get("parallel")),
            nogil=bool(options.get("nogil")),
            debug=bool(options.get("boundscheck") or options.get("debug")),
            numba=bool(options.get("_numba")),
        )
        if options.get("locals"):
            f._locals = {name: variable_type(name, t) for name, t in options["locals"].items()}
        declared = without_optionals(declared_in(signature_or_function)) if signature_or_function is not fn else ()
        for args, returns in declared:
            f.declare(args, returns)
        with _known_by_name(fn, f) if declared else contextlib.nullcontext():
            for args, _ in declared:
                f.compile_declared(args)
        return f

    return decorate if is_signature(signature_or_function) else decorate(signature_or_function)


@contextlib.contextmanager
def _known_by_name(fn, f):
    """Let fn, which a decorator compiles before its name is bound, find f by that name: it may call itself."""
    code, name = getattr(fn, "__code__", None), getattr(fn, "__name__", None)
    bound = False
    if code is not None and name in code.co_freevars:
        cell = fn.__closure__[code.co_freevars.index(name)]
        try:
            cell.cell_contents  # noqa: B018 (whether it is empty)
        except ValueError:
            cell.cell_contents, bound = f, True
        try:
            yield
        finally:
            if bound:
                del cell.cell_contents
    elif code is not None and name in code.co_names and name not in fn.__globals__ and not hasattr(builtins, name):
        fn.__globals__[name] = f
        try:
            yield
        finally:
            del fn.__globals__[name]
    else:
        yield


def variable_type(name, t):
    """The type that the option `locals` gives a variable.

    Raises
    ------
    TypeError
        It is no type of numbers or of arrays.
    """
    found = types.parse(t)
    if found.dtype is None and found.kind != "array":
        raise TypeError(f"jit: locals={{{name!r}: {t}}}: a variable's type here is that of numbers or of arrays")
    return found


njit = jit

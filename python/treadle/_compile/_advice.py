"""What to do in place of calling an object that compiled code cannot call."""

_C = "it is a C function at an address: write it in Python, or call it before or after the compiled function"
_DRAW = "a numpy.random.Generator is made outside, and is an argument of the compiled function"
# by the type's module and name, of which the name may be empty: any
_OF_TYPES = {
    ("_ctypes", ""): _C,
    ("ctypes", ""): _C,
    ("_cffi_backend", ""): _C,
    ("numba.core.ccallback", "CFunc"): "call the Python function that the cfunc was made of",
    ("treadle.unchanged._numbaparts", "CFunc"): "call the Python function that the cfunc was made of",
    ("treadle.unchanged._extending", "Intrinsic"): (
        "an intrinsic is made for Numba's compiler: write what it does in Python, or install Numba, which then "
        "compiles its callers"
    ),
}


def advice(o):
    """A text that goes on after "... cannot be called: ", or None."""
    owner = getattr(o, "__self__", None)
    if _is_generator(type(owner)) or getattr(o, "__name__", "") == "default_rng":
        return _DRAW
    for t in type(o).__mro__:
        module = t.__module__
        for name in (t.__name__, ""):
            if (module, name) in _OF_TYPES:
                return _OF_TYPES[module, name]
    return None


def _is_generator(t):
    return t.__module__ == "numpy.random._generator" and t.__name__ == "Generator"

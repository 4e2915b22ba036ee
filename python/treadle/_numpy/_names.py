"""Every public name of NumPy 2.4 (with ndarray, linalg, fft, random, polynomial), and what treadle has for it.

A name that treadle computes stands in the module that computes it (`_HOME` in __init__.py, or the submodule itself);
here stand only the facts that cannot be read there. A name's status is one of

    native    kernels of treadle's own, or the vendor's library; on the CPU NumPy where it is the library for it
    composed  made of native functions
    host      computed by NumPy on the host, told and counted (treadle.fallbacks)
    numpy     NumPy's own object: types, constants, questions about dtypes, printing, files; there is nothing to compute
    left out  not there, with the reason

The lookup of names (treadle.__getattr__), docs/numpy.md (tools/numpy_page.py) and the tests read this table.
"""

import importlib

from .._cupy import _names as _cupys
from .._words import near

# NumPy's own: types, constants, questions about dtypes, settings and modules, and what works on arrays that hold no
# numbers or are of a class of NumPy's own.
NUMPY = set(
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp int_ uint intc uintc longlong ulonglong "
    "long ulong byte ubyte short ushort float16 float32 float64 half single double longdouble float128 complex64 "
    "complex128 csingle cdouble clongdouble complex256 generic number integer signedinteger unsignedinteger "
    "inexact floating complexfloating flexible character bytes_ str_ object_ void datetime64 timedelta64 dtype "
    "iinfo promote_types issubdtype isdtype can_cast result_type min_scalar_type mintypecode typename "
    "typecodes sctypeDict ScalarType True_ False_ little_endian set_printoptions get_printoptions printoptions "
    "format_float_positional format_float_scientific base_repr binary_repr "
    "getbufsize setbufsize iterable ndindex flatiter memmap info get_include show_config show_runtime "
    "dtypes exceptions typing version "
    "busday_count busday_offset busdaycalendar is_busday datetime_as_string datetime_data isnat char strings "
    "rec recarray record ma matrix asmatrix bmat core ctypeslib f2py".split()
)
_UNLISTED = {"typing", "version"}  # modules that dir(numpy) leaves out

# name: why no device computes it. If no module of treadle has the name, _host.fallback calls NumPy's function.
_ELEMENTS = "a Python program looks at one element after another"
HOST = {
    "poly": "each root changes all coefficients",
    "polydiv": "each coefficient of the quotient needs those before it",
    "frompyfunc": "it calls a Python function of objects",
    "ndenumerate": _ELEMENTS,
    "nditer": _ELEMENTS,
    "nested_iters": _ELEMENTS,
}

LEFT_OUT = {
    "a tool for testing NumPy itself": "test",
}

# Parameters of NumPy's functions that are refused: {function: {parameter: why}}.
PARAMETERS = {
    "array": {"ndmax": "it makes arrays of objects"},
}

# Differences from NumPy, except for what every page says (results of no axes are arrays, not scalars).
DIFFERENT = {
    "float int complex": "an array of one element and any number of axes is a number, as in NumPy before 2.4",
    "getfield setfield": "the offset is a multiple of the field's size",
    "base": "the array whose memory a view is of as long as the program holds it, then another one of the whole memory",
    "reciprocal": "of the integer 0 it is 0",
    "nditer": "what it writes into an array of a GPU arrives there at close() or at the end of the loop",
    "poly1d Polynomial": "coefficients live on the host, so coef is a NumPy array in series (an array in poly1d)",
    "vectorize": "a compiled function gives the dtype that its types have, not that of the first value",
}

# A note on modules whose functions the docs do not list one by one.
NOTES = {
    "polynomial": "In the six modules values (`…val`), matrices (`…vander`), fits (`…fit`) and weights are composed. "
    "Functions of coefficients alone (`…add`, `…roots`, `…der`, …) and a series' coefficients are NumPy's: there are "
    "few, and each needs those before it. On the CPU that is the library for it; from a GPU it is host.",
    "lib.stride_tricks": "Both give views; one whose subscripts share elements cannot be written. The rest of "
    "`numpy.lib` is NumPy's own.",
}

# Modules whose functions are kernels of the core's. Functions of other modules are composed, except for those named
# here.
NATIVE_HOMES = set(
    "_core _select._sorting _select._counting _select._searching _select._indexing _select._writing _select._sets "
    "_select._quantile random fft lib".split()
)
NATIVE = {
    "": "where clip matmul dot float_power divmod",
    "linalg": "cholesky det eig eigh eigvals eigvalsh inv matmul norm qr slogdet solve svd svdvals",
}
HOST_OF = {  # like HOST, for submodules
    "linalg": {},
}
NUMPY_OF = {
    "linalg": "LinAlgError",
    "random": "MT19937 PCG64 PCG64DXSM SFC64 SeedSequence",
    "polynomial": "polyutils set_default_printstyle",
}
LEFT_OUT_OF = {
    "linalg": {"a tool for testing NumPy itself": "test"},
    "fft": {"a tool for testing NumPy itself": "test"},
    "random": {
        "a tool for testing NumPy itself": "test",
        "a compiled module of NumPy's, not functions": "bit_generator",
    },
    "polynomial": {"a tool for testing NumPy itself": "test"},
    "ndarray": {"classes that programs derive are numpy.ndarray's": "__array_finalize__"},
}


def find(name):
    """The value of treadle.name, for names that no module of treadle holds.

    Raises AttributeError, with advice, for unknown names."""
    if name in HOST:
        return function(name)
    if name == "_NoValue":  # NumPy's sentinel, the default of parameters in programs that wrap its functions
        import numpy

        return numpy._NoValue
    if name not in NUMPY:
        why = reasons(LEFT_OUT).get(name) or _cupys.reason("cupy", name)
        if why is None:
            import treadle

            why = "what NumPy has and treadle lacks can be called on x.get()" + near(name, dir(treadle))
        raise AttributeError(f"module 'treadle' has no attribute '{name}': {why}", name=name)
    import numpy

    if name not in numpys_here():
        why = f"NumPy {numpy.__version__} has none"
        raise AttributeError(f"module 'treadle' has no attribute '{name}': {why}", name=name)
    return importlib.import_module(f"numpy.{name}") if name in _UNLISTED else getattr(numpy, name)


def numpys_here():
    """The names of NUMPY that the installed NumPy has."""
    import numpy

    return NUMPY.intersection(dir(numpy)) | _UNLISTED


def reasons(table):
    """{name: reason} of {reason: names}."""
    return {name: reason for reason, names in table.items() for name in names.split()}


def function(name):
    """The function `name` of HOST, which calls NumPy."""
    import functools

    import numpy

    from .._exchange import _host

    theirs, why = getattr(numpy, name), HOST[name]

    @functools.wraps(theirs)
    def fn(*args, **kwargs):
        return _host.fallback(f"numpy.{name}", theirs, args, kwargs, why)

    fn.__module__ = "treadle"
    return fn


def _holder(module):
    import treadle

    if module == "ndarray":
        return treadle.ndarray
    holder = treadle
    for part in module.split(".") if module else ():
        holder = getattr(holder, part, None)
    return holder


def status(name, module=""):
    """(status, home, why) of a name of numpy or numpy.module: home is the treadle module that holds it; why is said
    where NumPy computes it or it is left out. Status None: treadle has neither the name nor a reason."""
    import treadle

    host = HOST_OF.get(module, {}) if module else HOST
    out = reasons(LEFT_OUT_OF.get(module, {}) if module else LEFT_OUT)
    if name in host:
        return "host", None, host[name]
    if module or name not in treadle._FROM:
        if name in out:
            return "left out", None, out[name]
        if name in (NUMPY_OF.get(module, "").split() if module else NUMPY):
            return "numpy", None, None
    if not hasattr(_holder(module), name):
        return None, None, None
    home = module.partition(".")[0] or treadle._FROM.get(name, "_core")
    native = home in NATIVE_HOMES or home == "ndarray" or name in NATIVE.get(module, "").split()
    return "native" if native else "composed", home, None


def numpys(module=""):
    """NumPy's public names of a module, or of the classes ndarray (with its special methods) and random.Generator."""
    import numpy

    if module == "ndarray":
        special = [n for n in vars(numpy.ndarray) if n.startswith("__") or not n.startswith("_")]
        return [n for n in special if n not in ("__doc__", "__new__", "__buffer__")]  # Python 3.12 adds __buffer__

    holder = numpy
    for part in module.split(".") if module else ():
        holder = getattr(holder, part)
    return [n for n in dir(holder) if not n.startswith("_")]

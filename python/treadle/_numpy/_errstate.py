"""Floating-point errors: NumPy's errstate, seterr, geterr, seterrcall and geterrcall, for values on every device.

By default nothing is checked. While a thread asks for checks, each operation that it records runs at once, and one
more kernel compares its result with its operands. That helps to find where a NaN comes from, but is slow.
"""

import functools
import sys
import threading
import warnings

from .. import _core
from .._callers import outside

_KINDS = {
    "divide": (1, "divide by zero"),
    "over": (2, "overflow"),
    "under": (4, "underflow"),
    "invalid": (8, "invalid value"),
}
_MODES = ("ignore", "warn", "raise", "call", "print", "log")
_RAISE = 4  # position of the bits that say which errors raise
_KEEP = object()


class _State(threading.local):
    def __init__(self):
        self.modes = dict.fromkeys(_KINDS, "ignore")
        self.call = None


_state = _State()


def _checked(all, given):
    """The modes by kind: that of the argument for the kind, else that of `all`."""
    modes = {k: all if v is None else v for k, v in given.items()}
    for k, mode in modes.items():
        if mode is not None and mode not in _MODES:
            raise ValueError(f"errstate: {k}={mode!r}; there are {', '.join(map(repr, _MODES))}")
    return {k: v for k, v in modes.items() if v is not None}


def _set(modes):
    old = _state.modes
    _state.modes = {**old, **modes}
    look = 0
    for k, mode in _state.modes.items():
        bit = _KINDS[k][0]
        look |= (mode != "ignore" and bit) | (mode == "raise" and bit << _RAISE)
    _core._look_for(look)
    return old


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """Say what the calling thread does about floating-point errors.

    Each mode is one of "ignore", "warn" (RuntimeWarning), "raise" (FloatingPointError), "call" (seterrcall's function),
    "print" (to standard error) and "log" (seterrcall's object). At first all are "ignore", otherwise than in NumPy. See
    errstate.

    Parameters
    ----------
    all : str, optional
        The mode of all kinds that are not given.
    divide, over, under, invalid : str, optional
        The mode of one kind; None leaves it.

    Returns
    -------
    dict
        The modes before.

    Raises
    ------
    ValueError
        There is no such mode.

    Examples
    --------
    >>> np.seterr(divide="ignore")
    {'divide': 'ignore', 'over': 'ignore', 'under': 'ignore', 'invalid': 'ignore'}
    """
    return dict(_set(_checked(all, {"divide": divide, "over": over, "under": under, "invalid": invalid})))


def geterr():
    """What the calling thread does about floating-point errors.

    Returns
    -------
    dict
        The modes of divide, over, under and invalid.

    Examples
    --------
    >>> np.geterr()["invalid"]
    'ignore'
    """
    return dict(_state.modes)


def seterrcall(func):
    """Set what the modes "call" and "log" call.

    Parameters
    ----------
    func : callable, object with a method write, or None
        func(kind, flag) for "call", func.write(text) for "log".

    Returns
    -------
    callable, object or None
        The one before.

    Raises
    ------
    ValueError
        func is none of these.

    Examples
    --------
    >>> np.seterrcall(None)
    """
    if func is not None and not callable(func) and not callable(getattr(func, "write", None)):
        raise ValueError("Only callable can be used as callback")
    old, _state.call = _state.call, func
    return old


def geterrcall():
    """What seterrcall has set.

    Returns
    -------
    callable, object or None
        At first None.

    Examples
    --------
    >>> np.geterrcall() is None
    True
    """
    return _state.call


class errstate:
    """What the calling thread does about floating-point errors, for a while: a context manager and a decorator.

    Inside, operations are evaluated where they are recorded, on every device, and results are compared with operands. A
    NaN of numbers is "invalid". Infinity of finite numbers is "divide" at a pole (x / 0, log(0)) and "over" elsewhere.
    What is less than the least normal number is "under". Elementwise operations, casts, sums, products, means,
    variances, cumulative sums and products and matrix products are looked at; of the last two only what no operand
    holds anywhere. Compiled functions and recorded graphs are not. Operations over from_host's arrays are checked part
    by part when they are evaluated.

    Parameters
    ----------
    call : callable or object with a method write, optional
        As seterrcall's.
    all : str, optional
        The mode of all kinds that are not given, as seterr's.
    divide, over, under, invalid : str, optional
        The mode of one kind; None leaves it.

    Raises
    ------
    ValueError
        There is no such mode.

    Examples
    --------
    >>> with np.errstate(invalid="ignore"):
    ...     np.sqrt(np.asarray([-1.0]))
    array([nan])
    """

    def __init__(self, *, call=_KEEP, all=None, divide=None, over=None, under=None, invalid=None):
        self._modes = _checked(all, {"divide": divide, "over": over, "under": under, "invalid": invalid})
        self._call = call
        self._before = None

    def __enter__(self):
        if self._before is not None:
            raise TypeError("Cannot enter `errstate` twice.")
        self._before = _set(self._modes), _state.call
        if self._call is not _KEEP:
            try:
                seterrcall(self._call)
            except ValueError:
                self.__exit__()
                raise

    def __exit__(self, *exc):
        modes, _state.call = self._before
        self._before = None
        _set(modes)

    def __call__(self, func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            again = errstate(call=self._call, **self._modes)
            with again:
                return func(*args, **kwargs)

        return inner


def found(kind, operation, raises):
    """The core calls this when a checked operation of this thread had an error of that kind."""
    name, what = next((k, text) for k, (bit, text) in _KINDS.items() if bit == kind)
    mode, call = _state.modes[name], _state.call
    text = f"{what} encountered in {operation}"
    if mode == "ignore":  # recorded under another mode and evaluated only now
        mode = "raise" if raises else "warn"
    if mode == "raise":
        raise FloatingPointError(text)
    if mode == "warn":
        warnings.warn(text, RuntimeWarning, stacklevel=outside()[1])
    elif mode == "print":
        print(f"Warning: {text}", file=sys.stderr)
    elif call is None:
        raise NameError(f"{mode} specified for {what} (in {operation}) but seterrcall has set nothing")
    elif mode == "call":
        call(what, kind)
    else:
        call.write(f"Warning: {text}\n")


def of_numpy():
    """numpy.errstate and seterr for unchanged programs: they set treadle's modes as well."""
    import numpy

    class NumpyErrstate(numpy.errstate):
        __doc__ = numpy.errstate.__doc__
        __slots__ = ("_td_given", "_td_listens", "_td_ours")
        __module__ = "numpy"

        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self._td_given = kwargs
            self._td_listens = False

        def __enter__(self):
            super().__enter__()
            self._td_ours = errstate(**self._td_given)
            self._td_ours.__enter__()
            # On the CPU NumPy computes inside of a block that asks for errors, and reports them itself. On a GPU
            # treadle checks.
            self._td_listens = _core.device().host and any(
                self._td_given.get(k) not in (None, "ignore") for k in (*_KINDS, "all")
            )
            if self._td_listens:
                _core._unchanged_busy(True)

        def __exit__(self, *exc):
            if self._td_listens:
                _core._unchanged_busy(False)
            self._td_ours.__exit__()
            return super().__exit__(*exc)

        def __call__(self, func):
            @functools.wraps(func)
            def inner(*args, **kwargs):
                with type(self)(**self._td_given):
                    return func(*args, **kwargs)

            return inner

    NumpyErrstate.__name__ = NumpyErrstate.__qualname__ = "errstate"

    @functools.wraps(numpy.seterr)
    def set_both(all=None, divide=None, over=None, under=None, invalid=None):
        old = numpy.seterr(all, divide, over, under, invalid)
        seterr(all, divide, over, under, invalid)
        return old

    @functools.wraps(numpy.seterrcall)
    def set_call(func):
        old = numpy.seterrcall(func)
        seterrcall(func)
        return old

    return {"errstate": NumpyErrstate, "seterr": set_both, "seterrcall": set_call}

"""treadle.graph: a function's kernels, recorded once for each kind of input and replayed."""

from functools import update_wrapper

from .. import _core
from .._core import asarray, ndarray

_KINDS, _STRUCTURES = 8, 32  # recordings kept for each structure of arguments; structures kept

_ARRAY = object()  # stands for an array in a structure of arguments


def _flatten(x, arrays):
    """x with _ARRAY in place of each array; the arrays are appended to the list. The result is hashable."""
    kind = type(x)
    if isinstance(x, ndarray):
        arrays.append(x)
        return _ARRAY
    if kind is tuple or kind is list:
        return kind, tuple(_flatten(y, arrays) for y in x)
    if kind is dict:
        return dict, tuple((k, _flatten(y, arrays)) for k, y in x.items())
    if hasattr(kind, "__array_interface__") or hasattr(kind, "__dlpack__"):
        arrays.append(asarray(x))
        return _ARRAY
    try:
        hash(x)
    except TypeError:
        raise TypeError(f"graph: an argument of type {kind.__name__} is neither an array nor hashable") from None
    return kind, x


def _unflatten(form, arrays):
    """Undo _flatten. arrays is an iterator."""
    if form is _ARRAY:
        return next(arrays)
    kind, x = form
    if kind is tuple or kind is list:
        return kind(_unflatten(y, arrays) for y in x)
    if kind is dict:
        return {k: _unflatten(y, arrays) for k, y in x}
    return x


class _Recorded:
    """A recording: the core's capture and the structure of the results."""

    def __init__(self, capture, form):
        self.capture, self.form = capture, form

    def play(self, inputs):
        results = self.capture.play(inputs)
        if results is None:
            return False, None
        if self.form is _ARRAY:
            return True, results[0]
        return True, _unflatten(self.form, iter(results))


class graph:
    """Record what a function of arrays does, and launch it without the function's Python code.

    For each kind of arguments the first call runs f once and records its work; every call launches the record. The kind
    is the arrays' shapes, dtypes, strides and device, and the values of all other arguments. On a GPU what the inputs
    do not touch is a CUDA graph.

    NumPy arrays among the arguments are copied to the default device at each call. Inputs are read-only in f. Arrays
    that f uses without being given them stay alive; each call reads what they hold then. Random draws go on in their
    generator's sequence.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or tuples, lists and dicts of them; other arguments are constants. ``@graph`` works
        too.
    static_outputs : bool, default False
        Each call fills the same results again, in place of new ones.

    Raises
    ------
    ValueError
        f does what cannot be recorded: reads values on the host (print, float, ``if x > 0``, a[mask]), copies, waits,
        or uses other streams or graphs. The text names the line.

    Examples
    --------
    >>> step = np.graph(lambda x: x * 2 + 1)
    >>> step(np.ones(2))
    array([3., 3.])
    """

    def __init__(self, f, *, static_outputs=False):
        if not callable(f):
            raise TypeError(f"graph: {f!r} is not a function")
        update_wrapper(self, f)
        self._f = f
        self._static = static_outputs
        self._recorded = {}  # structure: recordings, the last used first
        self._last = None

    def __get__(self, obj, kind=None):
        """Each object has a graph of its own for a method."""
        if obj is None:
            return self
        bound = graph(self._f.__get__(obj, kind), static_outputs=self._static)
        name = self.__name__
        if hasattr(obj, "__dict__"):
            obj.__dict__[name] = bound
        return bound

    def __call__(self, *args, **kwargs):
        inputs = []
        if kwargs:
            key = _flatten((args, kwargs), inputs)
        elif len(args) == 1 and isinstance(args[0], ndarray):
            key, inputs = _ARRAY, args
        else:
            key = _flatten(args, inputs)
        inputs = tuple(inputs)
        known = self._recorded.get(key, ())
        for i, r in enumerate(known):
            done, result = r.play(inputs)
            if done:
                if i:
                    known.insert(0, known.pop(i))
                self._last = r
                return result
        return self._record(key, inputs, args, kwargs)

    def _record(self, key, inputs, args, kwargs):
        where = inputs[0].device if inputs else _core.device()
        capture, places = _core._capture(where, inputs)
        results = []
        try:
            it = iter(places)
            if key is _ARRAY:
                value = self._f(*places)
            elif kwargs:
                a, k = _unflatten(key, it)
                value = self._f(*a, **k)
            else:
                value = self._f(*_unflatten(key, it))
            form = _flatten(value, results)
            capture.end(tuple(results), self._static)
        except BaseException:
            capture.drop()
            raise
        recorded = _Recorded(capture, form)
        done, result = recorded.play(inputs)
        if not done:
            raise ValueError(
                "graph: an array that the function changes in place shares its memory with another; copy it first"
            )
        known = self._recorded.setdefault(key, [])
        known.insert(0, recorded)
        del known[_KINDS:]  # drop the least recently used: inputs that never come again must not keep memory
        if len(self._recorded) > _STRUCTURES:
            del self._recorded[next(iter(self._recorded))]
        self._last = recorded
        return result

    def _info(self, name):
        return self._last.capture.info[name] if self._last else 0

    def _work(self):
        """(kind, name, bytes, line) of what the last call launched, in order."""
        return self._last.capture.work if self._last else []

    def _repr_html_(self):
        from .._observe import _html

        return _html.graph(self)

    @property
    def kernels(self):
        """Kernels that the last call launched, as recorded."""
        return self._info("kernels")

    @property
    def nbytes(self):
        """Bytes of device memory that the last call's recording keeps for temporaries."""
        return self._info("nbytes")

    @property
    def recordings(self):
        """How many kinds of arguments have been recorded and are kept."""
        return sum(map(len, self._recorded.values()))

    def clear(self):
        """Forget all recordings and give their memory back.

        Examples
        --------
        >>> np.graph(lambda x: x + 1).clear()
        """
        self._recorded.clear()
        self._last = None

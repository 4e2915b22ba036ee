"""Lists and dicts with elements of one type, which compiled functions (``treadle.jit``) and Python share.

    from treadle import njit, typed, types
    words = typed.Dict.empty(key_type=types.unicode_type, value_type=types.int64)

A ``List()`` or ``Dict()`` without types gets them from what is put in first. Compiled functions make and take both.
Elements are numbers, strings, arrays, tuples of these, and other typed lists and dicts.
"""

from collections.abc import MutableMapping, MutableSequence

from . import _core, types
from ._public import dir_of as _dir_of

__all__ = ["Dict", "List"]

_LIST, _DICT = 0, 1


def _type_of(box):
    """The type as typeof tells it; before anything was put in, the kind alone."""
    try:
        return types.typeof(box)
    except TypeError:
        return "ListType[undefined]" if isinstance(box, List) else "DictType[undefined,undefined]"


class _Known(type):
    """Gives the compiler the class's name, which instances do not have."""

    @property
    def _td_name(cls):
        return f"treadle.typed.{cls.__name__}"


class List(_core.Box, metaclass=_Known):
    """List(iterable=(), lsttype=None): a list of values of one type, which the first value decides.

    lsttype: treadle.types.ListType(…). Indexing and slicing are list's, a slice is a new List. TypeError: a value is
    of another type; IndexError: there is no such place."""

    def __init__(self, iterable=(), *, lsttype=None):
        if lsttype is not None:
            self._make(_LIST, (lsttype.item_type,))
        self.extend(iterable)

    @staticmethod
    def empty_list(item_type, allocated=0):
        """An empty list for values of a type of treadle.types. allocated is accepted and has no effect."""
        made = List()
        made._make(_LIST, (item_type,))
        return made

    def _typed(self, value):
        try:
            self._typename()
        except TypeError:
            self._like(_LIST, (value,))

    def insert(self, index, value):
        """Insert the value before index. An index beyond an end means that end."""
        self._typed(value)
        n = len(self)
        self._insert(max(0, index + n) if index < 0 else min(index, n), value)

    def append(self, value):
        """Append the value. Raises TypeError for a value of another type."""
        self._typed(value)
        self._insert(len(self), value)

    def extend(self, iterable):
        """Append each value of an iterable."""
        for value in list(iterable):
            self.append(value)

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return super().__getitem__(index)
        made = List()
        for i in range(*index.indices(len(self))):
            made.append(super().__getitem__(i))
        return made

    def __setitem__(self, index, value):
        if not isinstance(index, slice):
            super().__setitem__(index, value)
            return
        now = list(self)
        now[index] = list(value)
        self.clear()
        self.extend(now)

    def __delitem__(self, index):
        if not isinstance(index, slice):
            super().__delitem__(index)
            return
        for i in sorted(range(*index.indices(len(self))), reverse=True):
            super().__delitem__(i)

    def __iter__(self):
        for i in range(len(self)):  # what is appended meanwhile is no part of it, as in Numba
            yield super().__getitem__(i)

    def __contains__(self, value):
        return any(x is value or x == value for x in self)

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, (List, list)) else NotImplemented

    __hash__ = None

    def __lt__(self, other):
        return list(self) < list(other)

    def __le__(self, other):
        return list(self) <= list(other)

    def __gt__(self, other):
        return list(self) > list(other)

    def __ge__(self, other):
        return list(self) >= list(other)

    def copy(self):
        """A new list with the same values."""
        return self[:]

    def sort(self, key=None, reverse=False):
        """Sort the list in place."""
        now = sorted(self, key=key, reverse=reverse)
        for i, value in enumerate(now):
            super().__setitem__(i, value)

    def __repr__(self):
        return f"{_type_of(self)}({self})"

    def __str__(self):
        return f"[{', '.join(map(str, self))}]"

    def __reduce__(self):
        return List, (list(self),)

    index, count, remove, reverse = (getattr(MutableSequence, n) for n in ("index", "count", "remove", "reverse"))
    pop, __iadd__, __reversed__ = (getattr(MutableSequence, n) for n in ("pop", "__iadd__", "__reversed__"))


class Dict(_core.Box, metaclass=_Known):
    """Dict(other=(), dcttype=None): a dict whose keys have one type and whose values have one, which the first decide.

    dcttype: treadle.types.DictType(…, …). Its order is that in which keys came. TypeError: a key or value is of
    another type; KeyError: there is no such key."""

    def __init__(self, other=(), *, dcttype=None):
        if dcttype is not None:
            self._make(_DICT, (dcttype.key_type, dcttype.value_type))
        self.update(other)

    @staticmethod
    def empty(key_type, value_type, n_keys=0):
        """An empty dict for keys and values of types of treadle.types. n_keys is accepted and has no effect."""
        made = Dict()
        made._make(_DICT, (key_type, value_type))
        return made

    def __setitem__(self, key, value):
        try:
            self._typename()
        except TypeError:
            self._like(_DICT, (key, value))
        super().__setitem__(key, value)

    def __iter__(self):
        return iter(self._shown() if len(self) else ())

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items()) if isinstance(other, (Dict, dict)) else NotImplemented

    __hash__ = None

    def copy(self):
        """A new dict with the same items."""
        made = Dict()
        made.update(self)
        return made

    def popitem(self):
        """Remove and return the item that was added last. Raises KeyError for an empty dict."""
        if not len(self):
            raise KeyError("popitem(): dictionary is empty")
        key = list(self)[-1]
        return key, self.pop(key)

    def __repr__(self):
        return f"{_type_of(self)}({self})"

    def __str__(self):
        return f"{{{', '.join(f'{k}: {v}' for k, v in self.items())}}}"

    def __reduce__(self):
        return Dict, (dict(self.items()),)

    def setdefault(self, key, default):
        """The value of the key. Where there is none, default, which the key has from now on."""
        if not len(self) or key not in self:
            self[key] = default
        return self[key]

    get, keys, items, values = (getattr(MutableMapping, n) for n in ("get", "keys", "items", "values"))
    pop, update = (getattr(MutableMapping, n) for n in ("pop", "update"))
    _MutableMapping__marker = MutableMapping._MutableMapping__marker


List.empty_list._td_name = "treadle.typed.List.empty_list"
Dict.empty._td_name = "treadle.typed.Dict.empty"
MutableSequence.register(List)
MutableMapping.register(Dict)
_core.Box()._register(_LIST, List)
_core.Box()._register(_DICT, Dict)

__dir__ = _dir_of(__name__)

"""Unpickles files of untrusted origin.

A pickle is a program: it calls what it names, and sets attributes. A subclass limits the names by find_class. This
class limits the rest: which objects are made without a call, which take state, and how much memory its numbers may ask
for. Damaged bytes always end in an UnpicklingError.
"""

import collections
import pickle
import struct

# The exceptions that damaged bytes cause in an unpickler and in the functions that a pickle may call.
_DAMAGED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)


class Unpickler(pickle._Unpickler):
    """Python's unpickler in pure Python. The memo of the one in C is an array as long as a pickle asks for; here it is
    a dict.

    A subclass defines find_class(), and stateful() and makes() where it allows more than ordered dictionaries."""

    dispatch = dict(pickle._Unpickler.dispatch)

    def stateful(self, thing, state):
        """Whether a pickle may set the state of this object."""
        return type(thing) is collections.OrderedDict and isinstance(state, dict)

    def makes(self, kind):
        """Whether a pickle may make an instance by the class's __new__ alone."""
        return kind in (collections.OrderedDict, collections.Counter, set, frozenset, complex)

    def load_build(self):
        thing, state = self.stack[-2:]
        if not self.stateful(thing, state):
            raise pickle.UnpicklingError(f"the pickle sets the state of {type(thing).__name__}, which is not allowed")
        super().load_build()

    def load_newobj(self):
        self._made(self.stack[-2])
        super().load_newobj()

    def load_newobj_ex(self):
        self._made(self.stack[-3])
        super().load_newobj_ex()

    def load_bytearray8(self):
        """Read as many bytes as there are. Python's own method first makes as many zeros as the pickle says."""
        want = int.from_bytes(self.read(8), "little")
        data = self.read(want)
        if len(data) != want:
            raise pickle.UnpicklingError(f"the pickle ends in a bytearray of {want} bytes")
        self.append(bytearray(data))

    def _made(self, kind):
        if not (isinstance(kind, type) and self.makes(kind)):
            raise pickle.UnpicklingError(f"the pickle makes {kind!r} without calling it, which is not allowed")

    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex
    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8

    def load(self):
        """Return what the pickle holds. Raises UnpicklingError where it is damaged or does something that is not
        allowed."""
        try:
            return super().load()
        except _DAMAGED as error:
            raise pickle.UnpicklingError(f"the pickle is damaged ({type(error).__name__}: {error})") from error


def some_bytes(*args):
    """bytearray(), without the form that makes n zeros for a number n; that form raises TypeError."""
    if args and isinstance(args[0], int):
        raise TypeError("a bytearray of a number of zeros")
    return bytearray(*args)

"""Pickles of strangers.

A pickle is a program: it calls what it names, and sets attributes. find_class says which names there are. Here the rest
is bounded too: what a pickle makes without a call, what takes state, and how much memory its numbers ask for. Whatever
damaged bytes come to is an UnpicklingError."""

import collections
import pickle
import struct

# What damaged bytes lead to in an unpickler and in the functions that a pickle may call.
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
    """Python's own, in Python: its memo is a dictionary, where the one in C makes an array as long as a pickle asks.

    A subclass has find_class(); stateful() and makes() where it takes more than ordered dictionaries."""

    dispatch = dict(pickle._Unpickler.dispatch)

    def stateful(self, thing, state):
        """May a pickle set the state of what it has made?"""
        return type(thing) is collections.OrderedDict and isinstance(state, dict)

    def makes(self, kind):
        """May a pickle make an instance by the class's __new__ alone?"""
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
        """As many bytes as there are, where Python's own makes as many zeros as the pickle says."""
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
        """What the pickle holds. UnpicklingError: it is damaged, or does what is not allowed."""
        try:
            return super().load()
        except _DAMAGED as error:
            raise pickle.UnpicklingError(f"the pickle is damaged ({type(error).__name__}: {error})") from error


def some_bytes(*args):
    """bytearray(), without the form that makes as many zeros as a number says. TypeError: that form."""
    if args and isinstance(args[0], int):
        raise TypeError("a bytearray of a number of zeros")
    return bytearray(*args)

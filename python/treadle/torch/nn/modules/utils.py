"""Helpers for state dictionaries, and for parameters of which one number may stand for all dimensions."""

import collections.abc

from ...._public import dir_of as _dir_of


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Remove the prefix ("module.") from the names of a state dictionary, in place."""
    for name in [n for n in state_dict if n.startswith(prefix)]:
        state_dict[name[len(prefix) :]] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", None)
    for name in list(metadata or ()):
        if name == prefix.rstrip(".") or name.startswith(prefix):
            metadata[name[len(prefix) :]] = metadata.pop(name)


def _ntuple(n, name="parse"):
    """A function that makes a tuple: of the items of an iterable, or of n times any other value."""

    def parse(x):
        return tuple(x) if isinstance(x, collections.abc.Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = map(_ntuple, (1, 2, 3, 4), ("_single", "_pair", "_triple", "_quadruple"))


def _reverse_repeat_tuple(t, n):
    """t backwards, each item n times."""
    return tuple(x for x in reversed(t) for _ in range(n))


__dir__ = _dir_of(__name__)

"""A parameter's state whose counts are numbers for the steps, and tensors for a program, as PyTorch keeps them."""

from ... import torch

COUNTS = ("step", "eta", "mu", "mu_product")


class Count(float):
    """A number that an optimizer wrote. What a program's own step writes stays as it is."""

    __slots__ = ()


def shown(value):
    """A value of a state as PyTorch keeps it."""
    return torch.tensor(float(value)) if type(value) is Count else value


class Counted(dict):
    """A state. A count that a program reads becomes a tensor in it, so that the program's writes to it count. The
    optimizers read with dict's own methods, and write numbers."""

    __slots__ = ()

    def __getitem__(self, key):
        value = dict.__getitem__(self, key)
        made = shown(value)
        if made is not value:
            self[key] = made
        return made

    def get(self, key, default=None):
        """The value of the key, or default."""
        return self[key] if key in self else default

    def values(self):
        """The values, counts as tensors."""
        return [self[k] for k in self]

    def items(self):
        """(key, value), counts as tensors."""
        return [(k, self[k]) for k in self]

    def pop(self, key, *default):
        """Remove the key and give its value, or default."""
        return shown(dict.pop(self, key, *default))

    def copy(self):
        """Another state of the same values."""
        return Counted(self.items())

    def __reduce__(self):
        return dict, (dict(self.items()),)


def put(state, key, value):
    """Write a number to a state. A program may have put a dict of its own in the place of a Counted."""
    state[key] = Count(value) if isinstance(state, Counted) else value

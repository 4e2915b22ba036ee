"""Modules and parameters in lists and dicts."""

import operator
from collections import OrderedDict
from collections.abc import Iterable

from .... import torch
from ... import _modules
from ..parameter import Parameter
from .module import Module, _indented


class _List:
    """The base of lists of modules and lists of parameters. _held() is their dict of names and values, and _put(name,
    value) adds one."""

    def _key(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self._held())[index % len(self)]

    def __len__(self):
        return len(self._held())

    def __iter__(self):
        return iter(list(self._held().values()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._of(list(self._held().values())[index])
        return self._held()[self._key(index)]

    def __setitem__(self, index, value):
        setattr(self, self._key(index), value)

    def __delitem__(self, index):
        values = list(self._held().values())
        del values[index]
        self._refill(values)

    def _of(self, values):
        return type(self)(values)

    def _refill(self, values):
        for key in list(self._held()):
            delattr(self, key)
        self._emptied()
        for i, value in enumerate(values):
            self._put(str(i), value)

    def _put(self, name, value):
        self.add_module(name, value)

    def _emptied(self):
        """Delete all that _held() has."""

    def append(self, module):
        self._put(str(len(self)), module)
        return self

    def extend(self, modules):
        if isinstance(modules, torch.Tensor) or not isinstance(modules, Iterable):
            name = type(self).__name__
            raise TypeError(f"{name}.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index, module):
        held = self._held()
        at = range(len(held) + 1)[index] if index >= 0 else range(len(held))[index]
        later = list(held.items())[at:]
        for key, _ in later:
            delattr(self, key)
        for i, value in enumerate([module, *(v for _, v in later)], at):
            self._put(str(i), value)

    def pop(self, key=-1):
        value = self[key]
        del self[key]
        return value

    def __iadd__(self, other):
        return self.extend(other)

    def __add__(self, other):
        return self._of([*self, *other])

    def __dir__(self):
        return [k for k in super().__dir__() if not k.isdigit()]


class Sequential(_List, Module):
    """Modules that run one after another: each gets what the one before returned.

    Sequential(a, b, …) or Sequential(OrderedDict of names and modules).
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def _held(self):
        return self._modules

    def _of(self, values):
        if isinstance(values, list):
            names = {id(m): k for k, m in self._modules.items()}
            if all(id(m) in names for m in values):
                return type(self)(OrderedDict((names[id(m)], m) for m in values))
        return type(self)(*values)

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __mul__(self, n):
        return Sequential(*[m for _ in range(n) for m in self])

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_List, Module):
    """A list of modules. They are submodules of it; it has no forward()."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:  # a class may define an extend() of its own
            self.extend(modules)

    def _held(self):
        return self._modules

    def __repr__(self):
        groups = []  # equal neighbours share a line
        for i, text in enumerate(map(repr, self)):
            if groups and groups[-1][2] == text:
                groups[-1][1] = i
            else:
                groups.append([i, i, text])
        if not groups:
            return f"{self._get_name()}()"
        lines = [
            f"({a}): {_indented(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {_indented(text)}"
            for a, b, text in groups
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ParameterList(_List, Module):
    """A list whose tensors become parameters. It may also hold modules, other parameter lists, and any object."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def append(self, value):
        return super().append(value)

    def extend(self, values):
        return super().extend(values)

    def _held(self):
        return {str(i): getattr(self, str(i)) for i in range(self._size)}

    def _put(self, name, value):
        setattr(self, name, value)
        self._size += 1

    def _emptied(self):
        self._size = 0

    def __setattr__(self, name, value):
        if name.isdigit() and isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        super().__setattr__(name, value)

    def extra_repr(self):
        return "\n".join(f"  ({k}): {_told(p, lambda p: p.dtype)}" for k, p in self._held().items())


class _Dict:
    """The base of dicts of modules and dicts of parameters."""

    def __getitem__(self, key):
        return self._held()[key]

    def __setitem__(self, key, value):
        self._put(key, value)

    def __delitem__(self, key):
        del self._held()[key]

    def __len__(self):
        return len(self._held())

    def __iter__(self):
        return iter(self._held())

    def __contains__(self, key):
        return key in self._held()

    def clear(self):
        self._held().clear()

    def pop(self, key):
        return self._held().pop(key)

    def keys(self):
        return self._held().keys()

    def items(self):
        return self._held().items()

    def values(self):
        return self._held().values()

    def get(self, key, default=None):
        return self._held().get(key, default)

    def update(self, modules):
        for key, value in modules.items() if hasattr(modules, "items") else modules:
            self._put(key, value)


class ModuleDict(_Dict, Module):
    """A dict of modules. They are submodules of it; it has no forward()."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:  # a class may define an update() of its own
            self.update(modules)

    def _held(self):
        return self._modules

    def _put(self, key, value):
        self.add_module(key, value)


class ParameterDict(_Dict, Module):
    """A dict by text whose tensors become parameters. It may also hold any object."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _held(self):
        return {key: getattr(self, key) for key in self._keys}

    def _put(self, key, value):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        self._keys[key] = None
        setattr(self, key, Parameter(value) if isinstance(value, torch.Tensor) else value)

    def __setattr__(self, name, value):
        if name in self.__dict__.get("_keys", ()) and isinstance(value, torch.Tensor):
            value = value if isinstance(value, Parameter) else Parameter(value)
        super().__setattr__(name, value)

    def __getitem__(self, key):
        return getattr(self, key)

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        made = ParameterDict(other)
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def setdefault(self, key, default=None):
        if key not in self._keys:
            self[key] = default
        return self[key]

    def fromkeys(self, keys, default=None):
        return ParameterDict((key, default) for key in keys)

    def copy(self):
        return ParameterDict(OrderedDict(self.items()))

    def update(self, parameters):
        """Add the pairs of a mapping, or of an iterable of pairs. Pairs of a mapping without an order are sorted by
        key."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        plain = hasattr(parameters, "items") and not isinstance(parameters, (OrderedDict, ParameterDict))
        for key, value in sorted(pairs, key=lambda pair: pair[0]) if plain else pairs:
            self[key] = value

    def extra_repr(self):
        return "\n".join(f"  ({k}): {_told(p, torch.typename)}" for k, p in self._held().items())


def _told(value, kind):
    """A line of repr() about an entry. kind: the words for a tensor."""
    if not isinstance(value, torch.Tensor):
        return f"Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{what} containing: [{kind(value.data)} of size {'x'.join(map(str, value.shape))}]"


__getattr__, __dir__ = _modules.refusing("torch.nn.modules.container")

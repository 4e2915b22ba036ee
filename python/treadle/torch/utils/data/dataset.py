"""Data sets, whose items are read by index or one after another.

A set may define ``__getitems__(indices)``, which returns all items of a batch. A set whose batches are slices of whole
tensors may define ``__batch__(indices)``, which returns the collated batch. The loader calls it if it collates as
usual.
"""

import bisect
import itertools
import math

from .... import torch
from ...._public import dir_of as _dir_of


class Dataset:
    """Items by index. A subclass defines ``__getitem__`` and usually ``__len__``."""

    def __class_getitem__(cls, item):
        return cls

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Items one after another. A subclass defines ``__iter__``."""

    def __add__(self, other):
        return ChainDataset([self, other])

    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class IterDataPipe(IterableDataset):
    """An iterable that others are made of. functional_datapipe(name) turns a class into a method of all of them."""


class MapDataPipe(Dataset):
    """A mapping that others are made of."""


def functional_datapipe(name, enable_df_api_tracing=False):
    """A decorator for a subclass of IterDataPipe or MapDataPipe: source.name(...) is class(source, ...)."""

    def enter(cls):
        base = IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe

        def method(self, *args, **kwargs):
            return cls(self, *args, **kwargs)

        method.__name__, method.__doc__ = name, cls.__doc__
        setattr(base, name, method)
        return cls

    return enter


class TensorDataset(Dataset):
    """Item i is the tuple of element i of every tensor."""

    def __init__(self, *tensors):
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)

    def __batch__(self, numbers):
        """The batch by one gather for each tensor, instead of one for each item."""
        index = torch.tensor(numbers, dtype=torch.int64)
        return [t[index.to(t.device)] for t in self.tensors]


class StackDataset(Dataset):
    """Item i is the tuple, or the dict, of item i of every set."""

    def __init__(self, *args, **kwargs):
        if bool(args) == bool(kwargs):
            raise ValueError(
                "Supported either `tuple`- (via `args`) or `dict`- (via `kwargs`) like input/output, but both "
                "types are given."
                if args
                else "At least one dataset should be passed"
            )
        self.datasets = args or kwargs
        sizes = {len(d) for d in (args or kwargs.values())}
        if len(sizes) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = sizes.pop()

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {k: d[index] for k, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __len__(self):
        return self._length


class ConcatDataset(Dataset):
    """Several sets, one after another."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < -len(self):
            raise ValueError("absolute value of index should not exceed dataset length")
        index = index if index >= 0 else index + len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """Several iterable sets, one after another."""

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self):
        return sum(len(d) for d in self.datasets)


class Subset(Dataset):
    """Some of the items of a set."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)

    def __getattr__(self, name):  # attributes of the set itself
        if name == "__batch__" and hasattr(self.dataset, name):
            return lambda numbers: self.dataset.__batch__([self.indices[i] for i in numbers])
        if name == "__getitems__" and hasattr(self.dataset, name):
            return lambda numbers: self.dataset.__getitems__([self.indices[i] for i in numbers])
        raise AttributeError(f"'Subset' object has no attribute '{name}'")


def random_split(dataset, lengths, generator=None):
    """Subsets with these lengths, or with these shares if they sum to 1. Items are drawn at random and belong to one
    subset."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for i, share in enumerate(lengths):
            if not 0 <= share <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        shares = [math.floor(len(dataset) * share) for share in lengths]
        for i in range(len(dataset) - sum(shares)):
            shares[i % len(shares)] += 1
        lengths = shares
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = torch.randperm(len(dataset), generator=generator).tolist()
    ends = list(itertools.accumulate(lengths))
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths)]


__dir__ = _dir_of(__name__)

"""Turns lists of items into batches."""

import collections.abc
import copy

import numpy

from ..... import torch


def default_convert(data):
    """data with NumPy's arrays and numbers, at any depth, as tensors. Anything else stays."""
    if isinstance(data, torch.Tensor):
        return data
    if isinstance(data, (numpy.ndarray, numpy.generic)):
        return data if data.dtype.kind in "SaUO" else torch.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return {k: default_convert(v) for k, v in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, (tuple, list)):
        return [default_convert(v) for v in data]
    return data


def _as_mapping(first, made):
    """The dict `made` as a mapping of first's class, with its attributes; a dict if that class takes none."""
    try:
        if not isinstance(first, collections.abc.MutableMapping):
            return type(first)(made)
        r = copy.copy(first)
        r.update(made)
        return r
    except TypeError:
        return made


def collate(batch, *, collate_fn_map=None):
    """default_collate, except that function(batch, collate_fn_map=...) makes batches of items of the types (or tuples
    of types) in collate_fn_map."""
    first = batch[0]
    for types, function in (collate_fn_map or {}).items():
        if isinstance(first, types):
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, collections.abc.Mapping):
        made = {k: collate([item[k] for item in batch], collate_fn_map=collate_fn_map) for k in first}
        return _as_mapping(first, made)
    if isinstance(first, (tuple, list)):
        parts = [collate(values, collate_fn_map=collate_fn_map) for values in zip(*batch)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    return default_collate(batch)


def default_collate(batch):
    """A list of items as one batch. Tensors are stacked, numbers become a tensor, tuples and dicts are collated member
    by member."""
    first = batch[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(batch, 0)
    if isinstance(first, numpy.ndarray):
        if first.dtype.kind in "SaUO":
            raise TypeError(
                "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
                f"{first.dtype}"
            )
        return torch.as_tensor(numpy.stack(batch))
    if isinstance(first, numpy.generic) and first.dtype.kind not in "SaUO":
        return torch.as_tensor(numpy.array(batch))
    if isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(first, int):
        return torch.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return _as_mapping(first, {k: default_collate([item[k] for item in batch]) for k in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(values) for values in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(values) for values in zip(*batch)]
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )

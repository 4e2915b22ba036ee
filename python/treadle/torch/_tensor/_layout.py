"""The order of elements in memory: torch.layout and torch.memory_format."""

from ... import _core


class layout:
    """How elements lie in memory: torch.strided, or torch.sparse_coo of sparse tensors."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return "torch." + self._name


class memory_format:
    """An order of dimensions in memory. _rank: the rank of the tensors that channels_last orders; 0: the order of the
    dimensions; -1: the tensor's own."""

    def __init__(self, name, rank):
        self._name, self._rank = name, rank

    def __repr__(self):
        return "torch." + self._name


strided_layout = layout("strided")
_RANKS = {"contiguous_format": 0, "preserve_format": -1, "channels_last": 4, "channels_last_3d": 5}
FORMATS = {k: memory_format(k, rank) for k, rank in _RANKS.items()}


def laid_out(x, memory_format):
    """x in that memory format, None for its own: x itself if its strides say that it is."""
    if memory_format is None or memory_format._rank < 0 or not _lies(x):
        return x
    has = x.ndim if _core._grad_channels_last(x) else 0
    return x if has == memory_format._rank else x.clone(memory_format=memory_format)


def laid_like(r, *operands):
    """r, which is new, as an elementwise operation on these tensors, at most four, lays its result out. One tensor of
    r's shape stands for a copy of it (torch.preserve_format)."""
    return _core._grad_laid(r, *operands) if all(map(_lies, (r, *operands))) else r


def _lies(x):
    """Has x memory of its own? Items of vmap have none."""
    return issubclass(type(x), _core.Tensor)

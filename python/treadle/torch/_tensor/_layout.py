"""The order of elements in memory: torch.layout and torch.memory_format."""


class layout:
    """How elements lie in memory: torch.strided, or torch.sparse_coo of sparse tensors."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return "torch." + self._name


class memory_format:
    """An order of dimensions in memory. _rank: the rank of the tensors that channels_last orders; 0: the order of the
    dimensions."""

    def __init__(self, name, rank):
        self._name, self._rank = name, rank

    def __repr__(self):
        return "torch." + self._name


strided_layout = layout("strided")
_RANKS = {"contiguous_format": 0, "preserve_format": 0, "channels_last": 4, "channels_last_3d": 5}
FORMATS = {k: memory_format(k, rank) for k, rank in _RANKS.items()}


def laid_out(x, memory_format):
    """x with its channels last if memory_format says so, else x."""
    return x if memory_format is None or not memory_format._rank else x.contiguous(memory_format=memory_format)

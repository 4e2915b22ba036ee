"""``torch.nn.utils.rnn``: sequences of different lengths, padded into one tensor or packed step by step."""

from collections import namedtuple

import numpy

from .... import torch
from ...._public import dir_of as _dir_of

_Packed = namedtuple("PackedSequence", "data batch_sizes sorted_indices unsorted_indices")


class PackedSequence(_Packed):
    """Sequences without padding. data holds the first steps of all of them, the longest sequence first, then the second
    steps, and so on. batch_sizes (int64, on the CPU): the number of sequences at each step. sorted_indices: the order
    of the sequences in data; unsorted_indices: its inverse. Both may be None."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn."
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The sequences in another dtype or on another device. Returns itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        where = (None if i is None else i.to(data.device) for i in (self.sorted_indices, self.unsorted_indices))
        return type(self)(data, self.batch_sizes, *where)

    def cuda(self, *args, **kwargs):
        """The sequences on a GPU."""
        return self.to("cuda" if not args and "device" not in kwargs else args[0] if args else kwargs["device"])

    def cpu(self):
        """The sequences on the CPU."""
        return self.to("cpu")

    def pin_memory(self):
        """Returns itself: see Tensor.pin_memory."""
        return self

    def is_pinned(self):
        """False: see Tensor.pin_memory."""
        return False

    @property
    def is_cuda(self):
        """Do the values lie on a GPU?"""
        return self.data.is_cuda


def _as(name, dtype):
    def method(self):
        return self.to(getattr(torch, dtype))

    method.__name__, method.__doc__ = name, f"The sequences as {dtype}."
    setattr(PackedSequence, name, method)


for _row in "double:float64 float:float32 half:float16 long:int64 int:int32 short:int16 char:int8 byte:uint8".split():
    _as(*_row.split(":"))


def invert_permutation(permutation):
    """The inverse of a permutation. None gives None."""
    if permutation is None:
        return None
    return torch.empty_like(permutation).scatter_(
        0, permutation, torch.arange(permutation.numel(), device=permutation.device)
    )


def _checked(lengths, batch, enforce_sorted):
    """lengths as a NumPy array, after a check that they can be those of a batch."""
    if len(lengths) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={batch})"
        )
    if batch == 0 or lengths.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if enforce_sorted and (numpy.diff(lengths) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    return lengths


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """A PackedSequence of input (longest, batch, …), or with the batch first, whose sequences have these lengths.

    enforce_sorted: the lengths are descending already, so nothing is reordered. Raises RuntimeError if they are not.
    """
    lengths = numpy.asarray(lengths.cpu().numpy() if isinstance(lengths, torch.Tensor) else lengths, "int64")
    input = input.transpose(0, 1) if batch_first else input
    lengths = _checked(lengths, input.size(1), enforce_sorted)
    order = numpy.arange(len(lengths)) if enforce_sorted else numpy.argsort(-lengths, kind="stable")
    steps = numpy.arange(lengths.max())[:, None]
    if len(steps) > input.size(0):
        raise RuntimeError(
            f"pack_padded_sequence: a length of {len(steps)}, where the padded input has {input.size(0)} steps"
        )
    there = steps < lengths[order]  # (step, sequence)
    places = (steps * input.size(1) + order)[there]
    data = input.flatten(0, 1)[torch.from_numpy(places).to(input.device)]
    sorted_indices = None if enforce_sorted else torch.from_numpy(order).to(input.device)
    return PackedSequence(data, torch.from_numpy(there.sum(1)), sorted_indices)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(the sequences padded to (longest, batch, …) or batch first, their lengths as int64 on the CPU).

    total_length: pad to that many steps. Raises ValueError if a sequence is longer.
    """
    sizes = sequence.batch_sizes.numpy()
    longest = len(sizes) if total_length is None else total_length
    if longest < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    there = numpy.zeros((longest, sizes[0]), bool)
    there[: len(sizes)] = numpy.arange(sizes[0]) < sizes[:, None]
    data, places = sequence.data, numpy.full(there.shape, len(sequence.data))  # one more row, for the padding
    places[there] = numpy.arange(len(data))
    lengths = there.sum(0)
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices.cpu().numpy()
        places, lengths = places[:, back], lengths[back]
    fill = torch.full((1, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    places = torch.from_numpy(numpy.ascontiguousarray(places.T if batch_first else places))
    return torch.cat([data, fill])[places.to(data.device)], torch.from_numpy(lengths)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors (length, …) stacked into (longest, batch, …), or batch first, and filled up with padding_value."""
    sequences = list(sequences)
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        more = longest - s.size(0)
        fill = torch.full((more, *s.shape[1:]), padding_value, dtype=s.dtype, device=s.device)
        rows.append(torch.cat([s, fill] if padding_side == "right" else [fill, s]) if more else s)
    return torch.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors that pad_sequence was given."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """A PackedSequence of tensors (length, …)."""
    lengths = [s.size(0) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The tensors that pack_sequence was given."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


__dir__ = _dir_of(__name__)

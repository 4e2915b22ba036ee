"""``torch.nn.utils.rnn``: sequences of different lengths in one tensor."""

from .... import torch


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors (length, …) stacked into (longest, batch, …), or batch first; the rest is padding_value."""
    sequences = list(sequences)
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        more = longest - s.size(0)
        fill = torch.full((more, *s.shape[1:]), padding_value, dtype=s.dtype, device=s.device)
        rows.append(torch.cat([s, fill] if padding_side == "right" else [fill, s]) if more else s)
    return torch.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors that pad_sequence took."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows, lengths)]

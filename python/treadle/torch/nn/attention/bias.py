"""``torch.nn.attention.bias``: masks that hide later positions from each position."""

import enum

from .... import torch
from ...._public import dir_of as _dir_of


class CausalVariant(enum.IntEnum):
    """The corner from which the diagonal of a mask that is not square starts."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias:
    """A mask (seq_len_q, seq_len_kv) for scaled_dot_product_attention. It is made when it is needed."""

    def __init__(self, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise TypeError(f"CausalBias: variant is a CausalVariant; {variant!r} given")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv

    shape = property(lambda self: torch.Size((self.seq_len_q, self.seq_len_kv)), doc="Its rows and columns.")

    def _materialize(self, device=None):
        """True where the position of a row sees that of a column."""
        offset = self.seq_len_kv - self.seq_len_q if self.variant == CausalVariant.LOWER_RIGHT else 0
        return torch.ones(self.seq_len_q, self.seq_len_kv, dtype=torch.bool, device=device).tril(offset)

    def __repr__(self):
        return repr(self._materialize())


def causal_upper_left(*size):
    """Row i sees the columns up to i."""
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size):
    """The last row sees all columns, and each row before it one less."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)


__dir__ = _dir_of(__name__)

"""Modules of embeddings and embedding bags, which look up rows of a table."""

from .... import torch
from ...._public import dir_of as _dir_of
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


class _Table(Module):
    """The base of both: weight (num_embeddings, embedding_dim), drawn or given."""

    _padding = "padding_idx"

    def __init__(self, num_embeddings, embedding_dim, padding_idx, _weight, trained, device, dtype):
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(f"{self._padding} must be within num_embeddings")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx if padding_idx is None or padding_idx >= 0 else num_embeddings + padding_idx
        if _weight is None:
            self.weight = Parameter(torch.empty(num_embeddings, embedding_dim, device=device, dtype=dtype), trained)
            self.reset_parameters()
        elif list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(_weight, trained)

    def reset_parameters(self):
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with torch.no_grad():
                self.weight[self.padding_idx] = 0

    def _words(self):
        """The text about a table: its size, its padding, how rows are scaled."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        scaled = "" if self.max_norm is None else f", max_norm={self.max_norm}"
        scaled += f", norm_type={self.norm_type}" * (self.norm_type != 2)
        scaled += ", scale_grad_by_freq=True" * self.scale_grad_by_freq
        return f"{self.num_embeddings}, {self.embedding_dim}", padding, scaled


def _two_dims(embeddings):
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    return embeddings.shape


class Embedding(_Table):
    """The rows of weight (num_embeddings, embedding_dim) that integers name."""

    _padding = "Padding_idx"

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, not _freeze, device, dtype)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse

    @classmethod
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
    ):
        """An Embedding with these rows. freeze: training does not change them."""
        shape = _two_dims(embeddings)
        return cls(*shape, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)

    def extra_repr(self):
        size, padding, scaled = self._words()
        return size + padding + scaled + ", sparse=True" * self.sparse


class EmbeddingBag(_Table):
    """Sums, means or maxima of rows of weight, one for each bag of integers."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        _weight=None,
        include_last_offset=False,
        padding_idx=None,
        device=None,
        dtype=None,
    ):
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, True, device, dtype)
        self.max_norm, self.norm_type, self.mode = max_norm, norm_type, mode
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.include_last_offset = include_last_offset

    @classmethod
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        include_last_offset=False,
        padding_idx=None,
    ):
        """An EmbeddingBag with these rows. freeze: training does not change them."""
        options = (max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx)
        bag = cls(*_two_dims(embeddings), *options)
        bag.weight.requires_grad_(not freeze)
        return bag

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self):
        size, padding, scaled = self._words()
        return size + scaled + f", mode={self.mode!r}" + padding


__dir__ = _dir_of(__name__)

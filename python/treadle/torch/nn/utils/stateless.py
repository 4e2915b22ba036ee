"""``torch.nn.utils.stateless``: torch.func.functional_call by its older place."""

from ...func import functional_call

__all__ = ["functional_call"]

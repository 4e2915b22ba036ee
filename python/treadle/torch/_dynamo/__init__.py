"""torch._dynamo: settings of PyTorch's compiler. Programs may set them; they have no effect here."""

import types

from .. import _modules
from ..compiler import disable as disable
from ..compiler import is_compiling as is_compiling
from ..compiler import reset as reset
from ..nn.modules.optimized import OptimizedModule as OptimizedModule


def assume_constant_result(fn):
    """fn, unchanged, because nothing is traced."""
    return fn


allow_in_graph = disallow_in_graph = forbid_in_graph = assume_constant_result


def graph_break(msg=""):
    """Does nothing."""


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Does nothing: kernels are not compiled for a size."""


def mark_static(t, index=None):
    """Does nothing: kernels are not compiled for a size."""


def mark_static_address(t, guard=True):
    """Does nothing: tensors keep their addresses."""


maybe_mark_dynamic = mark_unbacked = mark_dynamic

config = types.SimpleNamespace()

__getattr__, __dir__ = _modules.refusing("torch._dynamo")

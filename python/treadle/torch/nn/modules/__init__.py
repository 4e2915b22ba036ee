"""The modules of ``torch.nn``."""

from ... import _modules as _absent
from . import activation
from .activation import *  # noqa: F403  (what its __all__ lists)
from .activation import __all__ as _activations
from .adaptive import AdaptiveLogSoftmaxWithLoss
from .attention import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .conv import *  # noqa: F403  (what its __all__ lists)
from .conv import __all__ as _convolutions
from .fractional import FractionalMaxPool2d, FractionalMaxPool3d
from .lazy import *  # noqa: F403  (what its __all__ lists)
from .lazy import __all__ as _lazy
from .linear import Bilinear, Flatten, Identity, Linear, Unflatten
from .module import Module
from .norm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
)
from .rnn import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell, RNNCellBase
from .sparse import Embedding, EmbeddingBag
from .sync import SyncBatchNorm
from .variants import *  # noqa: F403  (what its __all__ lists)
from .variants import __all__ as _variants

activation.MultiheadAttention = MultiheadAttention  # where PyTorch has it

__all__ = [
    *_activations,
    *_convolutions,
    *_variants,
    *(name for name in _lazy if name != "LazyModuleMixin"),
    "AdaptiveLogSoftmaxWithLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Embedding",
    "EmbeddingBag",
    "Flatten",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GRU",
    "GRUCell",
    "GroupNorm",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "LocalResponseNorm",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "RNN",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "Sequential",
    "SyncBatchNorm",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "Unflatten",
]

__getattr__, __dir__ = _absent.refusing("torch.nn.modules")

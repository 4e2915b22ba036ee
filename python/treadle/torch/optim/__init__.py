"""``torch.optim``: optimizers, and schedules of their learning rates."""

from .. import _modules
from . import lr_scheduler, swa_utils
from .adaptive import Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop
from .lbfgs import LBFGS
from .matrices import Adafactor, Muon, SparseAdam
from .optimizer import Optimizer
from .sgd import ASGD, SGD, Rprop

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]

__getattr__, __dir__ = _modules.refusing("torch.optim")

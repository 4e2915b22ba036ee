"""``torch.optim``: optimizers, and schedules of their learning rates."""

from . import lr_scheduler
from .adaptive import Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .sgd import ASGD, SGD, Rprop

__all__ = [
    "ASGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "lr_scheduler",
]

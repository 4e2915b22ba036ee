# Written by tools/stubs/write.py from the package itself.
from treadle.torch.optim.optimizer import Optimizer as _Optimizer
from typing import Any

class ASGD(_Optimizer):
    def __init__(self, params: Any, lr: Any = 0.01, lambd: Any = 0.0001, alpha: Any = 0.75, t0: Any = 1000000.0, weight_decay: Any = 0, foreach: Any = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False) -> None: ...
class Rprop(_Optimizer):
    def __init__(self, params: Any, lr: Any = 0.01, etas: Any = ..., step_sizes: Any = ..., *, capturable: bool = False, foreach: Any = None, maximize: bool = False, differentiable: bool = False) -> None: ...
class SGD(_Optimizer):
    def __init__(self, params: Any, lr: Any = 0.001, momentum: Any = 0, dampening: Any = 0, weight_decay: Any = 0, nesterov: bool = False, *, maximize: bool = False, foreach: Any = None, differentiable: bool = False, fused: Any = None) -> None: ...

# Written by tools/stubs/write.py from the package itself.
from treadle.torch import Tensor as _Tensor
from treadle.torch.optim.optimizer import Optimizer as _Optimizer
from typing import Any

class ASGD(_Optimizer):
    def __init__(self, params: Any, lr: float | _Tensor = 0.01, lambd: float | _Tensor = 0.0001, alpha: float | _Tensor = 0.75, t0: float | _Tensor = 1000000.0, weight_decay: float | _Tensor = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False) -> None: ...
class Rprop(_Optimizer):
    def __init__(self, params: Any, lr: float | _Tensor = 0.01, etas: Any = ..., step_sizes: Any = ..., *, capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None: ...
class SGD(_Optimizer):
    def __init__(self, params: Any, lr: float | _Tensor = 0.001, momentum: float | _Tensor = 0, dampening: Any = 0, weight_decay: float | _Tensor = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None) -> None: ...

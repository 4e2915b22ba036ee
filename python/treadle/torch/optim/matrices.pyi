# Written by tools/stubs/write.py from the package itself.
from treadle.torch.optim.optimizer import Optimizer as _Optimizer
from typing import Any

class Adafactor(_Optimizer):
    def __init__(self, params: Any, lr: Any = 0.01, beta2_decay: Any = -0.8, eps: Any = ..., d: Any = 1.0, weight_decay: Any = 0.0, *, foreach: Any = None, maximize: bool = False) -> None: ...
class Muon(_Optimizer):
    def __init__(self, params: Any, lr: Any = 0.001, weight_decay: Any = 0.1, momentum: Any = 0.95, nesterov: bool = True, ns_coefficients: Any = ..., eps: Any = 1e-07, ns_steps: Any = 5, adjust_lr_fn: Any = None) -> None: ...
class SparseAdam(_Optimizer):
    def __init__(self, params: Any, lr: Any = 0.001, betas: Any = ..., eps: Any = 1e-08, maximize: bool = False) -> None: ...

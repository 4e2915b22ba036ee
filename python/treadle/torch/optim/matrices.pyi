# Written by tools/stubs/write.py from the package itself.
from treadle.torch import Tensor as _Tensor
from treadle.torch.optim.optimizer import Optimizer as _Optimizer
from typing import Any

class Adafactor(_Optimizer):
    def __init__(self, params: Any, lr: float | _Tensor = 0.01, beta2_decay: float | _Tensor = -0.8, eps: Any = ..., d: float | _Tensor = 1.0, weight_decay: float | _Tensor = 0.0, *, foreach: bool | None = None, maximize: bool = False) -> None: ...
class Muon(_Optimizer):
    def __init__(self, params: Any, lr: float | _Tensor = 0.001, weight_decay: float | _Tensor = 0.1, momentum: float | _Tensor = 0.95, nesterov: bool = True, ns_coefficients: Any = ..., eps: float | _Tensor = 1e-07, ns_steps: Any = 5, adjust_lr_fn: Any = None) -> None: ...
class SparseAdam(_Optimizer):
    def __init__(self, params: Any, lr: float | _Tensor = 0.001, betas: tuple[float | _Tensor, float | _Tensor] = ..., eps: float | _Tensor = 1e-08, maximize: bool = False) -> None: ...

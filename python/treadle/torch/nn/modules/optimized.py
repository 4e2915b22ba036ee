"""What torch.compile gives for a module: a module that has the given one as its child `_orig_mod`."""

from ...._public import dir_of as _dir_of
from .module import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """Computes what its child `_orig_mod` computes. Names of state_dict() and parameters() begin with `_orig_mod.`, as
    in files that PyTorch saved; all other attributes are the child's."""

    def __init__(self, mod):
        super().__init__()
        self._modules["_orig_mod"] = mod

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, mode):
        if "_modules" in self.__dict__:  # Module.__init__ comes here first
            self._orig_mod.training = mode

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name):
        own = self.__dict__.get("_modules", {}).get("_orig_mod")
        if own is None:
            raise AttributeError(name)
        return own if name == "_orig_mod" else getattr(own, name)

    def __setattr__(self, name, value):
        own = self.__dict__.get("_modules", {}).get("_orig_mod")
        if own is None or name in self.__dict__:
            object.__setattr__(self, name, value)
        elif name == "_orig_mod":
            self._modules[name] = value
        else:
            setattr(own, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __dir__(self):
        return [*super().__dir__(), *dir(self._orig_mod)]


__dir__ = _dir_of(__name__)

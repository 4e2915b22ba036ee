"""torch.distributed.fsdp.wrap: which modules PyTorch would shard by themselves; here none is."""

import contextlib

from ...._public import dir_of as _dir_of


def size_based_auto_wrap_policy(module, recurse, nonwrapped_numel, min_num_params=int(1e8), **unused):
    """Has the module as many parameters?"""
    return nonwrapped_numel >= min_num_params


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls):
    """Is the module one of these classes?"""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def always_wrap_policy(*args, **kwargs):
    """True."""
    return True


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn):
    """What the function says of the module."""
    return recurse or lambda_fn(module)


class ModuleWrapPolicy:
    """The modules of some classes."""

    def __init__(self, module_classes):
        self._module_classes = set(module_classes)

    def __call__(self, module, recurse, *args, **kwargs):
        return recurse or isinstance(module, tuple(self._module_classes))


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    """A with statement in which wrap() gives modules back."""
    yield


def wrap(module, **wrap_overrides):
    """The module itself: the whole model is wrapped at once."""
    return module


__dir__ = _dir_of(__name__)

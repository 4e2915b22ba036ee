"""torch.distributed.fsdp.wrap: which modules PyTorch would shard separately. None is here."""

import contextlib

from ...._public import dir_of as _dir_of


def size_based_auto_wrap_policy(module, recurse, nonwrapped_numel, min_num_params=int(1e8), **unused):
    """Does the module have this many parameters?"""
    return nonwrapped_numel >= min_num_params


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls):
    """Is the module one of these classes?"""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def always_wrap_policy(*args, **kwargs):
    """True."""
    return True


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn):
    """The function's answer for the module."""
    return recurse or lambda_fn(module)


class ModuleWrapPolicy:
    """A policy that selects the modules of some classes."""

    def __init__(self, module_classes):
        self._module_classes = set(module_classes)

    def __call__(self, module, recurse, *args, **kwargs):
        return recurse or isinstance(module, tuple(self._module_classes))


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    """A context manager in which wrap() returns its module."""
    yield


def wrap(module, **wrap_overrides):
    """The module itself: the model as a whole is wrapped."""
    return module


__dir__ = _dir_of(__name__)

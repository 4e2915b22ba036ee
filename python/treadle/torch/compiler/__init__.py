"""torch.compiler: settings of torch.compile. treadle compiles everything it records, so compile returns functions
as they are, wraps modules as PyTorch does, and the settings have no effect."""

import contextlib

from .. import _modules
from .._register import FUNCTIONS

compile = FUNCTIONS["compile"]


def is_compiling():
    """False: Python's code runs as it is."""
    return False


def is_dynamo_compiling():
    """False."""
    return False


def is_exporting():
    """False."""
    return False


def reset():
    """Does nothing: kernels that were compiled stay valid."""


def list_backends(exclude_tags=("debug", "experimental")):
    """["treadle"]."""
    return ["treadle"]


def get_default_backend():
    """ "treadle"."""
    return "treadle"


def set_default_backend(backend):
    """Does nothing, for "treadle". ValueError: another one."""
    if backend != "treadle":
        raise ValueError(f"set_default_backend: {backend!r}: torch.compile has the backend 'treadle'")


def _decorator(fn=None, *args, **kwargs):
    """fn itself, or a decorator that returns its function if fn is None."""
    return (lambda f: f) if fn is None else fn


disable = allow_in_graph = assume_constant_result = nested_compile_region = nonstrict_trace = wrap_numpy = _decorator


def substitute_in_graph(original_fn, **kwargs):
    """A decorator that leaves the function as it is."""
    return lambda f: f


class set_stance(contextlib.ContextDecorator):
    """Does nothing, as a call, as a context manager and as a decorator."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        self.stance = stance

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return None


def cudagraph_mark_step_begin():
    """Does nothing."""


def set_enable_guard_collectives(enabled):
    """Does nothing, since there are no guards. Returns False, the setting before."""
    return False


__getattr__, __dir__ = _modules.refusing("torch.compiler")

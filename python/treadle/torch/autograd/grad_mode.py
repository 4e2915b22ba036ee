"""Modes of the calling thread: whether operations are recorded. For with statements, and as decorators."""

import functools
import inspect

from ... import _core
from .. import _modules


class _Mode:
    """What a mode does as a with statement and round a function (a generator's steps run in it one by one)."""

    _on = False

    def __enter__(self):
        self._before = _core._grad_set_mode(self._on)

    def __exit__(self, *_):
        _core._grad_set_mode(self._before)

    def __call__(self, f):
        if inspect.isclass(f):
            f.__init__ = self(f.__init__)
            return f
        if inspect.isgeneratorfunction(f):
            return self._of_generator(f)

        @functools.wraps(f)
        def within(*args, **kwargs):
            with self.clone():
                return f(*args, **kwargs)

        return within

    def _of_generator(self, f):
        @functools.wraps(f)
        def within(*args, **kwargs):
            steps, sent = f(*args, **kwargs), None
            while True:
                try:
                    with self.clone():
                        value = steps.send(sent)
                except StopIteration as stop:
                    return stop.value
                sent = yield value

        return within

    def clone(self):
        """Another mode of the same kind."""
        return type(self)()


class no_grad(_Mode):
    """Nothing is recorded: results require no gradients."""

    def __new__(cls, orig_func=None):
        self = super().__new__(cls)
        return self if orig_func is None else self(orig_func)


class enable_grad(no_grad):
    """Operations are recorded, in no_grad too."""

    _on = True


class set_grad_enabled(_Mode):
    """Whether operations are recorded, from now on or for a with statement."""

    def __init__(self, mode):
        self._on = bool(mode)
        self._before = _core._grad_set_mode(self._on)

    def __enter__(self):
        _core._grad_set_mode(self._on)

    def __call__(self, f):
        _core._grad_set_mode(self._before)
        return super().__call__(f)

    def clone(self):
        """Another mode of the same kind, in which the calling thread is from now on."""
        return type(self)(self._on)


class inference_mode(_Mode):
    """no_grad; inference_mode(False) records."""

    def __new__(cls, mode=True):
        if callable(mode):
            return cls()(mode)
        self = super().__new__(cls)
        self._on = not mode
        return self

    def __enter__(self):
        self._before = _core._grad_set_mode(self._on and _core._grad_mode())

    def clone(self):
        """Another mode of the same kind."""
        return type(self)(not self._on)


def is_grad_enabled():
    """Are operations recorded in this thread?"""
    return _core._grad_mode()


def is_inference_mode_enabled():
    """No: tensors made in inference_mode are ordinary ones."""
    return False


__getattr__, __dir__ = _modules.refusing("torch.autograd.grad_mode")

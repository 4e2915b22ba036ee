"""Modes of the calling thread that say whether operations are recorded. They are context managers and decorators."""

import functools
import inspect

from ... import _core
from .. import _modules


class _Mode:
    """What the modes share: a mode as a context manager, and as a decorator. Each step of a decorated generator runs in
    the mode."""

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
    """A mode in which nothing is recorded: results require no gradient."""

    def __new__(cls, orig_func=None):
        self = super().__new__(cls)
        return self if orig_func is None else self(orig_func)


class enable_grad(no_grad):
    """A mode in which operations are recorded, even inside of no_grad."""

    _on = True


class set_grad_enabled(_Mode):
    """Set whether operations are recorded, from now on or as a context manager."""

    def __init__(self, mode):
        self._on = bool(mode)
        self._before = _core._grad_set_mode(self._on)

    def __enter__(self):
        _core._grad_set_mode(self._on)

    def __call__(self, f):
        _core._grad_set_mode(self._before)
        return super().__call__(f)

    def clone(self):
        """Another mode of the same kind. It holds in the calling thread from now on."""
        return type(self)(self._on)


class inference_mode(_Mode):
    """A mode in which nothing is recorded, and whose tensors take no part in what is recorded later: no function may
    save them for its derivative, and nothing may write to them outside. inference_mode(False) is a mode that records.
    """

    def __new__(cls, mode=True):
        if callable(mode):
            return cls()(mode)
        self = super().__new__(cls)
        self._on = not mode
        return self

    def __enter__(self):
        self._before = _core._grad_set_mode(self._on), _core._grad_inference(not self._on)

    def __exit__(self, *_):
        _core._grad_set_mode(self._before[0])
        _core._grad_inference(self._before[1])

    def clone(self):
        """Another mode of the same kind."""
        return type(self)(not self._on)


def is_grad_enabled():
    """Are operations recorded in this thread?"""
    return _core._grad_enabled()


def is_inference_mode_enabled():
    """Is this thread in inference_mode?"""
    return _core._grad_inference()


__getattr__, __dir__ = _modules.refusing("torch.autograd.grad_mode")

"""Shared memory: share_memory_, and tensors that are sent to other processes.

A shared tensor lies in an anonymous file that the processes map. A pickle for another process holds the file's
descriptor. Forked processes have the mapping already.
"""

import mmap
import multiprocessing.reduction as reduction
import os
import weakref

import numpy

from .. import _device
from .._prim import Tensor, array
from .._register import method
from ._convert import make_subclass
from ._create import from_numpy


class _Memory(mmap.mmap):
    """A mapped file and its descriptor. The descriptor is closed with it."""

    def __new__(cls, fd, nbytes):
        self = super().__new__(cls, fd, nbytes)
        self.fd, self.nbytes = fd, nbytes
        self.address = numpy.frombuffer(self, "u1").ctypes.data
        weakref.finalize(self, os.close, fd)
        return self


_memories = weakref.WeakValueDictionary()  # by address


def _mapped(fd, nbytes):
    m = _Memory(fd, nbytes)
    _memories[m.address] = m
    return m


def _of(t):
    """(memory, byte offset of t's first element), or None if t's memory is not shared."""
    at = t.data_ptr() if _memories and t.numel() else 0
    return next(((m, at - a) for a, m in list(_memories.items()) if a <= at < a + m.nbytes), None)


def _on(memory, offset, shape, strides, dtype):
    """A tensor on this memory. strides are in bytes."""
    plain = "int16" if dtype._name == "bfloat16" else dtype._numpy
    t = from_numpy(numpy.ndarray(shape, plain, memory, offset, strides))
    return t.view(dtype) if dtype._name == "bfloat16" else t


@method()
def share_memory_(self):
    """Move the elements to shared memory, and return the tensor. What one process writes there, the others read.

    Tensors on a GPU stay where they are. Views that exist already stay on the old memory. Raises RuntimeError unless
    the tensor is a leaf.
    """
    _register()
    if not _device.theirs(self.device).host or not self.numel() or _of(self):
        return self
    if not self.is_leaf:
        raise RuntimeError("share_memory_: the tensor has a history; share what it was made of, or detach() it first")
    fd = os.memfd_create("treadle")
    nbytes = self.numel() * self.itemsize
    os.ftruncate(fd, nbytes)
    steps = numpy.ndarray(tuple(self.shape), self.dtype._numpy if self.dtype._name != "bfloat16" else "int16").strides
    there = _on(_mapped(fd, nbytes), 0, tuple(self.shape), steps, self.dtype)
    there.copy_(self.detach())
    self.data = there
    return self


@method()
def is_shared(self):
    """Does the tensor lie in shared memory? True for every tensor on a GPU."""
    return not _device.theirs(self.device).host or bool(_of(self))


# ---- on the way to another process ----


def _reduced(t):
    """How to pickle a tensor for another process. A tensor on the CPU is shared first."""
    if t.device.type != "cpu" or not t.is_leaf or not t.numel():
        return t.__reduce_ex__(2)
    memory, offset = _of(t.share_memory_())
    kind = None if type(t) is Tensor else type(t)
    facts = (memory.nbytes, offset, tuple(t.shape), array(t.detach()).strides, t.dtype, t.requires_grad, kind)
    return _arrived, (reduction.DupFd(memory.fd), *facts, dict(t.__dict__))


def _arrived(handle, nbytes, offset, shape, strides, dtype, requires_grad, kind, attributes):
    t = _on(_mapped(handle.detach(), nbytes), offset, shape, strides, dtype)
    t = t if kind is None else make_subclass(kind, t, requires_grad)
    t.__dict__.update(attributes)
    return t.requires_grad_() if requires_grad and not t.requires_grad else t


def _register():
    """Register how tensors are pickled for other processes. Subclasses are registered when one of them is first shared.
    """
    for kind in (Tensor, *Tensor.__subclasses__()):
        reduction.ForkingPickler.register(kind, _reduced)

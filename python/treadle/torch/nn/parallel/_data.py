"""``DataParallel``: cuts a batch along one dim. Each device has a replica of the module, which a thread runs.

A replica's parameters are recorded copies of the module's, so the backward pass adds up the gradients of all replicas.
"""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

from .... import torch
from ... import _autocast
from ..modules.module import Module


def _pieces(data, devices, dim):
    def cut(t):
        return [part.to(d) for part, d in zip(t.chunk(len(devices), dim), devices)]

    def each(data):
        if isinstance(data, torch.Tensor):
            return cut(data)
        if isinstance(data, tuple) and hasattr(data, "_fields"):
            return [type(data)(*values) for values in zip(*map(each, data))]
        if isinstance(data, (tuple, list)) and data:
            return [type(data)(values) for values in zip(*map(each, data))]
        if isinstance(data, dict) and data:
            return [dict(zip(data, values)) for values in zip(*map(each, data.values()))]
        return [data for _ in devices]

    return each(data)


def scatter(inputs, target_gpus, dim=0):
    """inputs, with their tensors cut along dim: one for each device, or fewer if a tensor is shorter."""
    return _pieces(
        inputs, [torch.device(d) if not isinstance(d, int) else torch.device("cuda", d) for d in target_gpus], dim
    )


def gather(outputs, target_device, dim=0):
    """The pieces of a result, joined on one device."""
    first = outputs[0]
    if isinstance(first, torch.Tensor):
        if first.dim() == 0:
            return torch.stack([o.to(target_device) for o in outputs])
        return torch.cat([o.to(target_device) for o in outputs], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)((k, gather([o[k] for o in outputs], target_device, dim)) for k in first)
    values = [gather(list(v), target_device, dim) for v in zip(*outputs)]
    return type(first)(*values) if hasattr(first, "_fields") else type(first)(values)


def replicate(network, devices, detach=False):
    """The module's replicas, one on each device."""
    return [_replica(network, torch.device(d), detach, {}) for d in devices]


def _replica(module, device, detach, done):
    """A module whose parameters are copies of this one's on the device. Shared submodules and parameters stay shared.
    """
    if id(module) in done:
        return done[id(module)]
    new = done[id(module)] = module.__new__(type(module))
    new.__dict__.update(module.__dict__)

    def copy(t, keep):
        if t is None:
            return None
        if id(t) not in done:
            done[id(t)] = t.to(device) if keep else t.detach().to(device)
        return done[id(t)]

    new.__dict__["_parameters"] = {k: copy(p, not detach) for k, p in module._parameters.items()}
    new.__dict__["_buffers"] = {k: copy(b, False) for k, b in module._buffers.items()}
    children = module._modules.items()
    new.__dict__["_modules"] = {k: m and _replica(m, device, detach, done) for k, m in children}
    return new


_HEAD_START = 0.002  # seconds; threads that record at the same time compete for the interpreter
_pools = {}  # by the number of threads


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """Each module's result for its inputs. Raises the first exception.

    The caller runs the modules one after another, because devices work on while the next one is recorded. If one takes
    long, or waits for the others, threads take over those that have not begun.
    """
    results, grad = [None] * len(modules), torch.is_grad_enabled()
    kwargs_tup = kwargs_tup or [{}] * len(modules)
    ahead, done = itertools.count(), threading.Event()

    modes = [_autocast.again() for _ in modules]  # each thread enters the caller's mode

    def run(i):
        try:
            with torch.set_grad_enabled(grad), modes[i]:
                given = inputs[i] if isinstance(inputs[i], (tuple, list)) else (inputs[i],)
                results[i] = True, modules[i](*given, **kwargs_tup[i])
        except BaseException as error:
            results[i] = False, error

    def work():
        while (i := next(ahead)) < len(modules):
            run(i)

    def help_out():
        if not done.wait(_HEAD_START):
            work()

    helpers = len(modules) - 1
    if helpers and helpers not in _pools:
        _pools[helpers] = ThreadPoolExecutor(helpers, thread_name_prefix="treadle-replica")
    waiting = [_pools[helpers].submit(help_out) for _ in range(helpers)]
    work()
    done.set()
    for helper in waiting:
        if not helper.cancel():  # a thread has begun it
            helper.result()
    for good, value in results:
        if not good:
            raise value
    return [value for _, value in results]


class DataParallel(Module):
    """module on several devices. The batch is cut along dim 0, and the results are joined on the first device.

    device_ids: numbers or devices; by default all visible GPUs. If there are none, the module runs where it is.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids is None:
            device_ids = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
        self.module, self.dim = module, dim
        self.device_ids = device_ids
        self._devices = [torch.device("cuda", d) if isinstance(d, int) else torch.device(d) for d in device_ids]
        self.output_device = output_device if output_device is not None or not device_ids else device_ids[0]
        if len(self._devices) == 1:
            module.to(self._devices[0])

    def forward(self, *inputs, **kwargs):
        if not self._devices:
            return self.module(*inputs, **kwargs)
        first = self._devices[0]
        for t in (*self.module.parameters(), *self.module.buffers()):
            if t.device != first:
                raise RuntimeError(
                    f"module must have its parameters and buffers on device {first} (device_ids[0]) but found "
                    f"one of them on device: {t.device}"
                )
        given = scatter((inputs, kwargs), self._devices, self.dim)
        if len(given) == 1:
            return self.module(*given[0][0], **given[0][1])
        replicas = replicate(self.module, self._devices[: len(given)], not torch.is_grad_enabled())
        results = parallel_apply(replicas, [g[0] for g in given], [g[1] for g in given])
        place = self.output_device
        return gather(results, torch.device("cuda", place) if isinstance(place, int) else torch.device(place), self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """One forward pass of DataParallel."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*inputs, **(module_kwargs or {}))

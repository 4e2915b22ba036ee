"""``DistributedDataParallel``: the same module in each process. Gradients are averaged while the backward pass runs.

Parameters are put into buckets, the last ones first, because their gradients come first. When all gradients of a bucket
have come, one launch averages them where they lie. The last bucket is averaged in the order of the device's other work,
the others concurrently with the rest of the pass.
"""

import contextlib

from .... import _core, torch
from ..._prim import AccumulateGrad
from ..modules.module import Module


def _tensors(data):
    if isinstance(data, torch.Tensor):
        return [data]
    if isinstance(data, dict):
        data = data.values()
    return [t for v in data for t in _tensors(v)] if isinstance(data, (list, tuple, type({}.values()))) else []


_FIRST = 2**20  # bytes of the bucket that is sent first: early, so that the rest of the pass hides it


def _buckets(params, limit, first=None):
    """Lists of parameters with one dtype and device, of about `limit` bytes each, in the order in which their gradients
    come. first: the bytes of the first list."""
    open_, done = {}, []
    for p in reversed(params):
        key = p.dtype, p.device
        held, size = open_.get(key, ([], 0))
        held.append(p)
        size += p.numel() * p.element_size()
        open_[key] = (held, size)
        if size >= (limit if done or first is None else min(limit, first)):
            done.append(held)
            del open_[key]
    return [*done, *(held for held, _ in open_.values())]


class _Reducer:
    """The buckets of a module's parameters, and the progress of a backward pass. This is a class of its own because a
    Module's attributes are several times slower to read."""

    def __init__(self, groups, process_group):
        self.groups = groups
        self.reduce = process_group.all_reduce_
        self.buckets = [_core._grad_bucket(params, self._full) for params in groups]
        self._whole = [(bucket, len(params)) for bucket, params in zip(self.buckets, groups)]
        self._works, self._next = [], 0

    def _full(self, bucket):
        """The backward pass calls this when all gradients of the bucket have come. All processes send buckets in the
        same order, whatever the order in which their gradients come."""
        while self._next < len(self.buckets) and not self.buckets[self._next].missing:
            arrays = self.buckets[self._next].arrays()
            self._next += 1
            if self._next < len(self.buckets):
                self._works.append(self.reduce(arrays, "mean", wait=False))
            else:
                self._finish(arrays)

    def _finish(self, arrays):
        for work in self._works:
            work.wait()
        self.reduce(arrays, "mean")
        self._works, self._next = [], 0
        for bucket in self.buckets:
            bucket.begin()

    def is_open(self):
        """Have some gradients come, but not all?"""
        for bucket, count in self._whole:
            if bucket.missing != count:
                return True
        return False


class DistributedDataParallel(Module):
    """module with gradients that are means over all processes of the group. Its parameters start from process 0's
    values.

    Every trained parameter must get a gradient in each backward pass. find_unused_parameters lifts that: after the
    forward pass it finds the parameters on which the output does not depend, and their gradients count as zero.
    """

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=True,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=25,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
    ):
        super().__init__()
        self.module, self.dim, self.broadcast_buffers = module, dim, broadcast_buffers
        self.device_ids, self.process_group = device_ids, process_group
        self.find_unused_parameters = find_unused_parameters
        self._trained = [p for p in module.parameters() if p.requires_grad]
        if not self._trained:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self._size = torch.distributed.get_world_size(process_group)
        if init_sync:
            self._from_first([*module.parameters(), *module.buffers()])
        groups = _buckets(self._trained, (bucket_cap_mb or 25) * 2**20, _FIRST)
        self._reducer = _Reducer(groups, process_group or torch.distributed.group.WORLD)
        self._has_buffers = next(module.buffers(), None) is not None
        self.require_backward_grad_sync = True

    def _from_first(self, tensors):
        """Copy process 0's values to all processes. Tensors are joined, so that small ones share a collective."""
        with torch.no_grad():
            for some in _buckets([t.detach() for t in tensors], 250 * 2**20):
                flat = torch.cat([t.reshape(-1) for t in some])
                torch.distributed.broadcast(flat, 0, group=self.process_group)
                at = 0
                for t in some:
                    t.copy_(flat[at : at + t.numel()].reshape(tuple(t.shape)))
                    at += t.numel()

    def _not_ended(self):
        both = zip(self._reducer.buckets, self._reducer.groups)
        got = {id(p) for bucket, params in both for p, came in zip(params, bucket.got) if came}
        names = [n for n, p in self.module.named_parameters() if p.requires_grad and id(p) not in got]
        return RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one. Parameters "
            f"that got no gradient: {', '.join(names)}. Pass `find_unused_parameters=True` to "
            "`torch.nn.parallel.DistributedDataParallel`"
        )

    def _skip_unused(self, result):
        """Count parameters on which no output depends as ready. Those without a gradient get zeros."""
        reached, ahead = set(), [t.grad_fn for t in _tensors(result) if t.grad_fn is not None]
        seen = set(ahead)
        while ahead:
            for node, _ in ahead.pop().next_functions:
                if isinstance(node, AccumulateGrad):
                    reached.add(id(node.variable))
                elif node is not None and node not in seen:
                    seen.add(node)
                    ahead.append(node)
        if reached:
            for bucket, params in zip(self._reducer.buckets, self._reducer.groups):
                for i, p in enumerate(params):
                    if id(p) not in reached:
                        bucket.skip(i)

    # ---- the interface of the module ----

    @property
    def require_backward_grad_sync(self):
        return self._synced

    @require_backward_grad_sync.setter
    def require_backward_grad_sync(self, value):
        self._synced = value
        for bucket in self._reducer.buckets:
            bucket.on = value

    def forward(self, *inputs, **kwargs):
        synced = torch.is_grad_enabled() and self._synced
        if synced:
            if self._reducer.is_open():
                raise self._not_ended()
            if self._has_buffers and self.broadcast_buffers and self.training and self._size > 1:
                self._from_first(list(self.module.buffers()))
        result = self.module(*inputs, **kwargs)
        if synced and self.find_unused_parameters:
            self._skip_unused(result)
        return result

    @contextlib.contextmanager
    def no_sync(self):
        """Backward passes inside of this context accumulate gradients without averaging them."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

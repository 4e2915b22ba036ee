"""``DistributedDataParallel``: the same module in each process; gradients are averaged while the backward pass runs.

Parameters are put into buckets, the last ones first, since their gradients come first. When a bucket's last gradient
has come, its gradients are joined to one flat tensor and reduced by one collective; behind the last bucket the
gradients are cut out of the flat tensors."""

import contextlib

from .... import torch
from ..modules.module import Module


class _Bucket:
    def __init__(self, params):
        self.params = params
        self.missing = len(params)
        self.flat = self.work = None


def _tensors(data):
    if isinstance(data, torch.Tensor):
        return [data]
    if isinstance(data, dict):
        data = data.values()
    return [t for v in data for t in _tensors(v)] if isinstance(data, (list, tuple, type({}.values()))) else []


def _buckets(params, limit):
    """Lists of parameters of one dtype and device, in the order in which gradients come, of about limit bytes each."""
    open_, done = {}, []
    for p in reversed(params):
        key = p.dtype, p.device
        held, size = open_.get(key, ([], 0))
        held.append(p)
        size += p.numel() * p.element_size()
        open_[key] = (held, size)
        if size >= limit:
            done.append(held)
            del open_[key]
    return [_Bucket(held) for held in (*done, *(held for held, _ in open_.values()))]


class DistributedDataParallel(Module):
    """module whose gradients are the means over all processes of the group; they begin with process 0's values.

    Every trained parameter must get a gradient in each backward pass; with find_unused_parameters those that the output
    does not depend on are found after the forward pass and count as zero."""

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
        self.find_unused_parameters, self.require_backward_grad_sync = find_unused_parameters, True
        self._trained = [p for p in module.parameters() if p.requires_grad]
        if not self._trained:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self._size = torch.distributed.get_world_size(process_group)
        if init_sync:
            self._from_first([*module.parameters(), *module.buffers()])
        self._groups = _buckets(self._trained, (bucket_cap_mb or 25) * 2**20)
        self._bucket_of = {id(p): bucket for bucket in self._groups for p in bucket.params}
        self._begin()
        self._hooks = [p.register_post_accumulate_grad_hook(self._ready) for p in self._trained]

    def _from_first(self, tensors):
        """Process 0's values in all; joined, so that small tensors cost one collective."""
        with torch.no_grad():
            for bucket in _buckets([t.detach() for t in tensors], 250 * 2**20):
                flat = torch.cat([t.reshape(-1) for t in bucket.params])
                torch.distributed.broadcast(flat, 0, group=self.process_group)
                self._cut(flat, bucket.params, lambda t, part: t.copy_(part))

    @staticmethod
    def _cut(flat, tensors, put):
        at = 0
        for t in tensors:
            put(t, flat[at : at + t.numel()].reshape(tuple(t.shape)))
            at += t.numel()

    # ---- the backward pass ----

    def _ready(self, param):
        """A parameter's gradient has been accumulated, or will not come."""
        if not self.require_backward_grad_sync:
            return
        if id(param) in self._got:
            raise RuntimeError(
                "Expected to mark a variable ready only once. A parameter got its gradient twice between two "
                "forward passes: use no_sync() to accumulate gradients"
            )
        self._got.add(id(param))
        self._bucket_of[id(param)].missing -= 1
        while self._next < len(self._groups) and self._groups[self._next].missing == 0:
            self._launch(self._groups[self._next])  # in the same order in all processes
            self._next += 1
        if self._next == len(self._groups):
            self._finish()

    def _launch(self, bucket):
        with torch.no_grad():
            grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in bucket.params]
            bucket.flat = torch.cat([g.reshape(-1) for g in grads])
            bucket.work = torch.distributed.all_reduce(bucket.flat, group=self.process_group, async_op=True)

    def _finish(self):
        with torch.no_grad():
            for bucket in self._groups:
                bucket.work.wait()
                self._cut(bucket.flat * (1 / self._size), bucket.params, self._put)
                bucket.flat, bucket.work, bucket.missing = None, None, len(bucket.params)
        self._begin()

    @staticmethod
    def _put(param, part):
        param.grad = part

    def _begin(self):
        self._got, self._next = set(), 0

    def _check_ended(self):
        if not self._got:
            return
        names = [n for n, p in self.module.named_parameters() if p.requires_grad and id(p) not in self._got]
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one. Parameters "
            f"that got no gradient: {', '.join(names)}. Pass `find_unused_parameters=True` to "
            "`torch.nn.parallel.DistributedDataParallel`"
        )

    def _skip_unused(self, result):
        """Parameters that no output depends on count as ready, with zeros for those that have no gradient."""
        reached, ahead = set(), [t.grad_fn for t in _tensors(result) if t.grad_fn is not None]
        seen = set(ahead)
        while ahead:
            for node, _ in ahead.pop().next_functions:
                if isinstance(node, torch.Tensor):
                    reached.add(id(node))
                elif node is not None and node not in seen:
                    seen.add(node)
                    ahead.append(node)
        if reached:
            for p in self._trained:
                if id(p) not in reached:
                    self._ready(p)

    # ---- the module's face ----

    def forward(self, *inputs, **kwargs):
        synced = torch.is_grad_enabled() and self.require_backward_grad_sync
        if synced:
            self._check_ended()
            if self.broadcast_buffers and self.training and self._size > 1:
                buffers = list(self.module.buffers())
                if buffers:
                    self._from_first(buffers)
        result = self.module(*inputs, **kwargs)
        if synced and self.find_unused_parameters:
            self._skip_unused(result)
        return result

    @contextlib.contextmanager
    def no_sync(self):
        """Backward passes within accumulate gradients without reducing them."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

"""``SyncBatchNorm``: a batch norm over the batches of all processes of a group."""

from .... import torch
from ...._public import dir_of as _dir_of
from .norm import _BatchNorm

__all__ = ["SyncBatchNorm"]


class _Summed(torch.autograd.Function):
    """The sum over the processes of a group. Its gradient is such a sum, too."""

    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        total = tensor.clone()
        torch.distributed.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        torch.distributed.all_reduce(grad, group=ctx.group)
        return None, grad


class SyncBatchNorm(_BatchNorm):
    """Normalises each channel of (N, C, ...) by the mean and variance over the batches of all processes of
    process_group. In a program of one process it is a BatchNorm."""

    dims = (2, 3, 4, 5)

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
        device=None, dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _normalised(self, input, momentum):
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        own = self.training or self.running_mean is None
        if not own or not distributed or torch.distributed.get_world_size(self.process_group) == 1:
            return super()._normalised(input, momentum)
        dims = tuple(d for d in range(input.dim()) if d != 1)
        count = input.new_full((1,), input.numel() // input.size(1))
        sums = torch.cat([input.sum(dims), input.square().sum(dims), count])
        total = _Summed.apply(self.process_group, sums)
        n = total[-1]
        mean, square = (total[:-1] / n).chunk(2)
        var = square - mean * mean
        if self.training and self.track_running_stats:
            self._remember(mean.detach(), (var * n / (n - 1)).detach(), momentum)
        shape = [1, -1, *[1] * (input.dim() - 2)]
        out = (input - mean.reshape(shape)) * torch.rsqrt(var + self.eps).reshape(shape)
        return out if self.weight is None else out * self.weight.reshape(shape) + self.bias.reshape(shape)

    def _remember(self, mean, var, momentum):
        self.num_batches_tracked.add_(1)
        momentum = 1.0 / self.num_batches_tracked.item() if self.momentum is None else momentum
        with torch.no_grad():
            self.running_mean.mul_(1 - momentum).add_(mean * momentum)
            self.running_var.mul_(1 - momentum).add_(var * momentum)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """module with SyncBatchNorms in place of its batch norms. They take over the parameters and values."""
        result = module
        if isinstance(module, _BatchNorm) and not isinstance(module, cls):
            result = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                         process_group)  # fmt: skip
            result._parameters.update(module._parameters)
            result._buffers.update(module._buffers)
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


__dir__ = _dir_of(__name__)

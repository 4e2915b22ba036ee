"""``AdaptiveLogSoftmaxWithLoss``: a softmax over many classes. Rare classes are in clusters, which use fewer features.
"""

from collections import namedtuple

from .... import torch
from ...._public import dir_of as _dir_of
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probabilities of targets and their mean loss: forward(input (N, in_features), target (N,)).

    Classes are sorted by frequency, the most frequent first; cutoffs says where clusters begin. Each cluster has
    div_value times fewer features than the one before. head_bias: the first part has a bias. Raises ValueError unless
    the cutoffs rise and stay below n_classes.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        made = {"device": device, "dtype": dtype}
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = cutoffs == sorted(set(cutoffs)) and min(cutoffs) > 0 and max(cutoffs) <= n_classes - 1
        if not rising or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(Linear(in_features, width, bias=False, **made), Linear(width, size, bias=False, **made))
            )

    def reset_parameters(self):
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_, target_):
        single = target_.dim() == 0
        if (input_.dim(), target_.dim()) not in ((2, 1), (1, 0)):
            raise RuntimeError(
                f"Input and target have {input_.dim()} and {target_.dim()} dims; 2 and 1, or 1 and 0, go"
            )
        if not single and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        input_, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        if target.numel() and (target.min() < 0 or target.max() >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{int(target.min())}, "
                f"{int(target.max())}] were found. "
            )
        head = F.log_softmax(self.head(input_), dim=1)
        output = head.gather(1, target.clamp(max=self.shortlist_size - 1).unsqueeze(1)).squeeze(1)
        for i, tail in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            place = (target - low).clamp(0, high - low - 1).unsqueeze(1)
            value = F.log_softmax(tail(input_), dim=1).gather(1, place).squeeze(1) + head[:, self.shortlist_size + i]
            output = torch.where((target >= low) & (target < high), value, output)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def log_prob(self, input):
        """The log probabilities (N, n_classes) of all classes."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return torch.cat(parts, 1)

    def predict(self, input):
        """The likeliest class of each row."""
        return torch.argmax(self.log_prob(input), dim=1)


__dir__ = _dir_of(__name__)

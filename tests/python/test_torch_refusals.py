"""What PyTorch refuses is refused, by an exception that a handler for PyTorch's catches, and that says what is wrong."""

import builtins

import pytest
from torch_refusals import rows, scope

from treadle import torch


@pytest.mark.parametrize("expression, kind", rows())
def test_refuses(expression, kind):
    with pytest.raises(getattr(builtins, kind)) as caught:
        r = eval(expression, scope(torch))
        repr(r)  # what is computed late
    assert len(str(caught.value)) > 20 and "object has no attribute" not in str(caught.value)


def test_a_loss_of_ignored_classes_has_no_gradient():
    """Its mean is NaN; a NaN gradient would end the training."""
    for weight in (None, torch.ones(3)):
        x = torch.zeros(2, 3, requires_grad=True)
        loss = torch.nn.functional.cross_entropy(x, torch.tensor([-100, -100]), weight, label_smoothing=0.1)
        loss.backward()
        assert loss.isnan() and x.grad.tolist() == [[0.0] * 3] * 2


def test_an_empty_batch_leaves_running_statistics():
    norm = torch.nn.BatchNorm2d(2)
    norm.running_mean.fill_(5.0)
    norm(torch.zeros(0, 2, 3, 3))
    assert norm.running_mean.tolist() == [5.0, 5.0] and norm.running_var.tolist() == [1.0, 1.0]

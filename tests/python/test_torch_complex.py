"""Complex tensors: views of their parts, and optimizers, which take the parts as parameters of their own. Values are
PyTorch's."""

import numpy as np
import pytest

import treadle.torch as torch

LOSSES = {
    "Adam": [18.788257631239, 14.121588760027, 10.447012856548, 7.667098713586],
    "AdamW": [18.788257631239, 14.055941227971, 10.34640239738, 7.552935562895],
    "Adamax": [18.788257631239, 14.121588760027, 10.738514171921, 8.292322662637],
    "NAdam": [18.788257631239, 13.887469740287, 11.225978353293, 9.247301219971],
    "RAdam": [18.788257631239, 4.585168915355, 51.580789781195, 2.630155263309],
    "RMSprop": [18.788257631239, 9.430843775617, 1.420570232847, 1.170176339607],
    "Adagrad": [18.788257631239, 14.121588756816, 11.682621605388, 10.065015913085],
    "Adadelta": [18.788257631239, 18.77189681853, 18.755127006316, 18.738084158447],
    "ASGD": [18.788257631239, 4.585334228165, 2.753764665989, 2.594459803539],
    "Rprop": [18.788257631239, 14.121588756783, 9.775705102118, 6.057852609022],
    "SGD": [18.788257631239, 4.585168915355, 2.753743643745, 2.594448066093],
    "LBFGS": [18.788257631239, 1.354487021473, 0.012070041468, 0.045252300591],
}


@pytest.mark.parametrize("name", LOSSES)
def test_optimizers_step_along_the_parts(name):
    p = torch.nn.Parameter(torch.tensor([1 + 2j, -0.5 + 0.25j], dtype=torch.complex128))
    optimizer = getattr(torch.optim, name)([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p * p.conj() - 1).abs().pow(2).sum() + (p - 1j).abs().sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(4)]
    np.testing.assert_allclose(losses, LOSSES[name], rtol=1e-9, atol=1e-11)
    if name == "Adam":
        assert optimizer.state[p]["exp_avg_sq"].dtype is torch.complex128


def test_an_optimizer_steps_a_complex_number():
    p = torch.nn.Parameter(torch.tensor(3 + 4j))
    optimizer = torch.optim.Adam([p], lr=0.5)
    p.abs().backward()
    optimizer.step()
    np.testing.assert_allclose(p.item(), 2.5 + 3.5j, rtol=1e-6)


def test_adafactor_refuses_complex_parameters():
    p = torch.nn.Parameter(torch.ones(2, 2, dtype=torch.cfloat))
    p.abs().sum().backward()
    with pytest.raises(RuntimeError, match="Adafactor does not support complex parameters"):
        torch.optim.Adafactor([p]).step()


def test_parts_are_views():
    c = torch.tensor([1 + 2j, 3 + 4j])
    c.real.mul_(10)
    c.imag[0] = 7
    assert c.tolist() == [10 + 7j, 30 + 4j]
    pairs = torch.view_as_real(c)
    pairs[..., 1] = 0
    assert pairs.tolist() == [[10, 0], [30, 0]] and c.tolist() == [10, 30]
    assert torch.view_as_real(torch.tensor(1 + 2j)).tolist() == [1, 2]
    rows = torch.zeros(2, 3, dtype=torch.cfloat)
    rows.T[1].imag.copy_(torch.tensor([1.0, 2.0]))
    assert rows[:, 1].tolist() == [1j, 2j]


def test_view_as_complex_is_a_view():
    pairs = torch.zeros(3, 2)
    z = torch.view_as_complex(pairs)
    z[0] = 5 + 6j
    z *= 1j
    assert pairs[0].tolist() == [-6, 5]


def test_parts_take_gradients():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.zeros(2, dtype=torch.cfloat)
    c.real = w * 2
    c.imag = w**2
    (c.abs() ** 2).sum().backward()
    np.testing.assert_allclose(w.grad.tolist(), [12, 48])


def test_a_complex_loss_has_no_gradient_of_its_own():
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        (torch.ones(2, dtype=torch.cfloat, requires_grad=True) * 2).sum().backward()


def test_stft_asks_for_return_complex():
    with pytest.raises(RuntimeError, match="return_complex"):
        torch.stft(torch.ones(64), 8)


@pytest.mark.parametrize("n", [10, 300_000])
def test_draws_in_a_kernel_of_complex_numbers(n):
    z = torch.randn(n, dtype=torch.cfloat)
    values = z.numpy()
    assert values.shape == (n,) and 0.3 < abs(values).mean() < 1.5
    assert abs(z.sum().item() - values.sum()) < 1e-3 * n

"""Tensors: a small network learns, and memory is shared with NumPy."""

import treadle.torch as torch
from treadle.torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
x = torch.rand(256, 2)
y = (x[:, :1] * x[:, 1:]).sqrt()
for _ in range(200):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.item() < 0.01, loss.item()
t = torch.ones(3)
t.numpy()[1] = 5
assert t.tolist() == [1, 5, 1]

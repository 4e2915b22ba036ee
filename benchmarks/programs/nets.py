"""Training steps of two networks, timed: `python nets.py lstm|convolutions [--device cuda] [--batch 32]`.

PyTorch runs it as it stands, treadle with `python -m treadle nets.py`. Prints one JSON object: seconds of the first
step, "best" of the others (the median), and the last loss. Data are random numbers.
"""

import argparse
import json
import statistics
import time

import torch
from torch import nn


class Language(nn.Module):
    """Two layers of LSTM, 200 wide, over words of a thousand."""

    def __init__(self, words=1000, width=200):
        super().__init__()
        self.embed, self.layers = nn.Embedding(words, width), nn.LSTM(width, width, 2)
        self.words = nn.Linear(width, words)

    def forward(self, x):
        return self.words(self.layers(self.embed(x))[0]).flatten(0, 1)


def lstm(batch):
    x = torch.randint(0, 1000, (35, batch))
    return Language(), x, torch.randint(0, 1000, (35 * batch,))


def convolutions(batch):
    widths, layers = [3, 32, 32, 64, 64, 128, 128], []
    for i, (n, m) in enumerate(zip(widths, widths[1:])):
        layers += [nn.Conv2d(n, m, 3, padding=1), nn.BatchNorm2d(m), nn.ReLU()] + [nn.MaxPool2d(2)] * (i % 2)
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 16, 10))
    return net, torch.randn(batch, 3, 32, 32), torch.randint(0, 10, (batch,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("net", choices=["lstm", "convolutions"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--compile", action="store_true", help="the network by torch.compile")
    options = parser.parse_args()
    torch.manual_seed(0)
    net, x, y = {"lstm": lstm, "convolutions": convolutions}[options.net](options.batch)
    net, x, y = net.to(options.device), x.to(options.device), y.to(options.device)
    net = torch.compile(net) if options.compile else net
    loss_of, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    times = []
    for _ in range(options.steps + 4):
        start = time.perf_counter()
        last = step()
        times.append(time.perf_counter() - start)
    found = {"first": times[0], "best": statistics.median(times[4:]), "sums": [last], "torch": torch.__version__}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

"""Training steps of the classifier of digits, timed: `python digits.py [--device cuda] [--steps 200]`.

PyTorch runs it as it stands, treadle with `python -m treadle digits.py`. Prints one JSON object: seconds of the first
step, "best" of a step whose batch is there (the median), of a step with its loader, and the last loss. Input is drawn
by NumPy: no data set is needed.
"""

import argparse
import json
import statistics
import time

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def model(hidden):
    return nn.Sequential(
        nn.Linear(64, hidden), nn.ReLU(), nn.Dropout(0.3), nn.Linear(hidden, hidden // 2), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(hidden // 2, 10),
    )  # fmt: skip


def data(samples, device):
    """Classes around ten centres."""
    rng = numpy.random.default_rng(0)
    labels = rng.integers(0, 10, samples)
    pixels = rng.standard_normal((10, 64))[labels] + 0.8 * rng.standard_normal((samples, 64))
    place = {"device": device}
    return torch.tensor(pixels.tolist(), dtype=torch.float32, **place), torch.tensor(labels.tolist(), **place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--samples", type=int, default=1437)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--compile", action="store_true", help="the network by torch.compile")
    options = parser.parse_args()
    torch.manual_seed(0)
    net = model(options.hidden).to(options.device)
    net = torch.compile(net) if options.compile else net
    loss_of, optimizer = nn.CrossEntropyLoss(), torch.optim.Adam(net.parameters(), lr=2e-3)
    pixels, labels = data(max(options.samples, options.batch), options.device)

    def step(x, y):
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    x, y = pixels[: options.batch], labels[: options.batch]
    start = time.perf_counter()
    step(x, y)
    first = time.perf_counter() - start
    for _ in range(19):
        step(x, y)
    times = []
    for _ in range(options.steps):
        start = time.perf_counter()
        last = step(x, y)
        times.append(time.perf_counter() - start)
    loader = DataLoader(TensorDataset(pixels, labels), batch_size=options.batch, shuffle=True, drop_last=True)
    rounds = []
    for _ in range(4):
        start = time.perf_counter()
        for batch in loader:
            last = step(*batch)
        rounds.append((time.perf_counter() - start) / len(loader))
    found = {"first": first, "best": statistics.median(times), "loader": min(rounds), "sums": [last],
             "torch": torch.__version__}  # fmt: skip
    print(json.dumps(found))


if __name__ == "__main__":
    main()

"""A classifier of handwritten digits

An ordinary PyTorch program: modules, a loss, Adam, a loader that shuffles. `python -m treadle` runs the same text with
treadle's tensors, whose operations, forward and backward, are recorded and fused. The curve is the mean loss of
each epoch over 1437 scans of 8 by 8 pixels; the other 360 say how many digits it recognises.
"""

import argparse
import json
import time

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, hidden=256, dropout=0.3):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(64, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden // 2),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden // 2, 10),
        )

    def forward(self, x):
        return self.layers(x)


def digits(device):
    """(pixels between 0 and 1, labels) for training and for testing."""
    data = load_digits()
    parts = train_test_split(data.data / 16, data.target, test_size=360, stratify=data.target, random_state=0)
    pixels, test_pixels = (torch.tensor(p, dtype=torch.float32, device=device) for p in parts[:2])
    labels, test_labels = (torch.tensor(p, dtype=torch.int64, device=device) for p in parts[2:])
    return TensorDataset(pixels, labels), TensorDataset(test_pixels, test_labels)


def train(model, loader, epochs):
    """The mean loss of each epoch."""
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    history = []
    for _ in range(epochs):
        total = 0.0
        for pixels, labels in loader:
            optimizer.zero_grad()
            loss = loss_of(model(pixels), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        history.append(total / len(loader.dataset))
    return history


@torch.no_grad()
def accuracy(model, testing):
    pixels, labels = testing.tensors
    model.eval()
    return (model(pixels).argmax(dim=1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description="Train a classifier of handwritten digits.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--history", metavar="FILE", help="write losses, accuracy and time as JSON")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    training, testing = digits(options.device)
    model = Classifier().to(options.device)
    start = time.perf_counter()
    history = train(model, DataLoader(training, batch_size=options.batch, shuffle=True), options.epochs)
    seconds = time.perf_counter() - start
    share = accuracy(model, testing)
    for epoch in range(0, options.epochs, 5):
        print(f"epoch {epoch:2}: loss {history[epoch]:.4f}")
    print(f"{options.epochs} epochs in {seconds:.2f} s, {share:.1%} of the test digits are recognised")
    if options.history:
        with open(options.history, "w", encoding="utf-8") as file:
            json.dump({"loss": history, "accuracy": share, "seconds": seconds, "torch": torch.__version__}, file)


if __name__ == "__main__":
    main()

"""A convolutional net on pictures of bars, with the accelerator's names, loaders in forked processes, and files."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data.dataset import Dataset


class Bars(Dataset):
    """Upright bars and lying ones."""

    def __init__(self, count):
        generator = torch.Generator().manual_seed(count)
        self.labels = torch.randint(2, (count,), generator=generator)
        self.images = 0.1 * torch.randn(count, 1, 12, 12, generator=generator)
        for image, label in zip(self.images, self.labels):
            at = int(torch.randint(12, (1,), generator=generator))
            if label:
                image[0, :, at] += 1
            else:
                image[0, at] += 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 8, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(8 * 16, 16)
        self.fc2 = nn.Linear(16, 2)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = torch.flatten(self.dropout1(F.max_pool2d(x, 2)), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 4 == 0:
            done = 100.0 * batch_idx / len(loader)
            print(
                f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(loader.dataset)} ({done:.0f}%)]\t{loss.item():.4f}"
            )


def test(model, device, loader):
    model.eval()
    test_loss = correct = 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    print(f"\nTest set: Average loss: {test_loss / len(loader.dataset):.4f}, {correct}/{len(loader.dataset)}\n")
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--no-accel", action="store_true")
    args = parser.parse_args()
    use_accel = not args.no_accel and torch.accelerator.is_available()
    torch.manual_seed(1)
    device = torch.accelerator.current_accelerator() if use_accel else torch.device("cpu")
    options = {"num_workers": 2, "persistent_workers": True, "pin_memory": True} if use_accel else {"num_workers": 2}
    options["collate_fn"] = lambda items: (torch.stack([x for x, _ in items]), torch.tensor([y for _, y in items]))
    train_loader = torch.utils.data.DataLoader(Bars(256), batch_size=32, shuffle=True, **options)
    test_loader = torch.utils.data.DataLoader(Bars(64), batch_size=64, **options)
    model = Net().to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.9)
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        share = test(model, device, test_loader)
        scheduler.step()
    assert share > 0.9, share
    torch.save(model.state_dict(), "digits.pt")
    again = Net()
    again.load_state_dict(torch.load("digits.pt", weights_only=True))
    assert torch.equal(again.fc2.weight, model.fc2.weight.cpu())
    print("done")


if __name__ == "__main__":
    main()

"""parallel.py MODULE [--processes N] - training steps of the digits' classifier, data-parallel; prints a line of JSON.

MODULE is torch or treadle.torch: the same text. Every process has a device of its own and a batch of its own; gradients
are averaged by DistributedDataParallel. "best" is the seconds of a step with all processes, "floor" those of a step of
one process alone, without that: with two devices 2 * floor / best times as many samples are learned from in a second.
"""

import argparse
import importlib
import json
import multiprocessing
import os
import socket
import statistics
import sys
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def trained(torch, net, options, device):
    """Median seconds of a step; the last loss."""
    torch.manual_seed(1)
    x = torch.randn(options.batch, 64, device=device)
    y = torch.randint(0, 10, (options.batch,), device=device)
    loss_of, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.Adam(net.parameters(), lr=1e-3)
    times, last = [], 0.0
    for _ in range(20 + options.steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        last = loss.item()
        times.append(time.perf_counter() - start)
    return statistics.median(times[20:]), last


def network(torch, hidden, device):
    nn = torch.nn
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(64, hidden), nn.ReLU(), nn.Dropout(0.3), nn.Linear(hidden, hidden // 2), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(hidden // 2, 10),
    ).to(device)  # fmt: skip


def work(rank, count, port, options, told):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(port))  # fmt: skip
    torch = importlib.import_module(options.module)
    distributed = importlib.import_module(f"{options.module}.distributed")
    parallel = importlib.import_module(f"{options.module}.nn.parallel")
    on_gpu = options.device == "cuda"
    device = f"cuda:{rank}" if on_gpu else "cpu"
    if on_gpu:
        torch.cuda.set_device(rank)
    net = network(torch, options.hidden, device)
    if count > 1:
        distributed.init_process_group("nccl" if on_gpu else "gloo")
        net = parallel.DistributedDataParallel(net, device_ids=[rank] if on_gpu else None)
    seconds, last = trained(torch, net, options, device)
    if count > 1:
        distributed.destroy_process_group()
    if rank == 0:
        told.put((seconds, last))


def measured(count, options):
    context = multiprocessing.get_context("spawn")
    told, port = context.SimpleQueue(), free_port()
    team = [context.Process(target=work, args=(r, count, port, options, told)) for r in range(count)]
    for process in team:
        process.start()
    for process in team:
        process.join()
    if any(process.exitcode for process in team):
        sys.exit(f"a process ended with {[p.exitcode for p in team]}")
    return told.get()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    alone = measured(1, options)[0]
    together, last = measured(options.processes, options)
    print(json.dumps({"first": together, "best": together, "floor": alone, "sums": [last],
                      "speed-up": round(options.processes * alone / together, 3)}))  # fmt: skip


if __name__ == "__main__":
    main()

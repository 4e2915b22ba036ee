"""parallel.py MODULE [--processes N] - training steps of the digits' classifier, data-parallel; prints a line of JSON.

MODULE is torch or treadle.torch: the same text. Every process has a device of its own and a batch of its own; gradients
are averaged by DistributedDataParallel. "best" is the seconds of a step with all processes, "floor" those of a step of
one process alone, without that: with two devices 2 * floor / best times as many samples are learned from in a second.
--captured: besides "captured" and "captured floor", of steps that are recorded once as a graph and replayed.
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


def timed(step, steps):
    """Median seconds of a step whose loss is looked at; the last loss."""
    times, last = [], 0.0
    for _ in range(20 + steps):
        start = time.perf_counter()
        last = step().item()
        times.append(time.perf_counter() - start)
    return statistics.median(times[20:]), last


def recorded(torch, step):
    """The step as a graph's replay. PyTorch wants some steps on another stream before."""
    if torch.__name__ == "torch":
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(11):
                step()
        torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def trained(torch, net, options, device):
    """Median seconds of a step, of a replayed one (None: not asked for), and the last loss."""
    torch.manual_seed(1)
    x = torch.randn(options.batch, 64, device=device)
    y = torch.randint(0, 10, (options.batch,), device=device)
    loss_of = torch.nn.CrossEntropyLoss()

    def stepper(**more):
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, **more)

        def step():
            optimizer.zero_grad()
            loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return step

    seconds, last = timed(stepper(), options.steps)
    if not options.captured:
        return seconds, None, last
    step = stepper(capturable=True)
    for _ in range(3):
        step()
    return seconds, timed(recorded(torch, step), options.steps)[0], last


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
    on_gpu = options.device != "cpu"  # the null device is one that the host plays
    device = f"{options.device}:{rank}" if on_gpu else "cpu"
    if options.device == "cuda":
        torch.cuda.set_device(rank)
    elif on_gpu:
        importlib.import_module("treadle").use(device)
    net = network(torch, options.hidden, device)
    if count > 1:
        place = {"device_id": torch.device(device)} if on_gpu else {}
        distributed.init_process_group("nccl" if on_gpu else "gloo", **place)
        net = parallel.DistributedDataParallel(net, device_ids=[rank] if on_gpu else None)
    found = trained(torch, net, options, device)
    if rank == 0:
        told.put(found)
    if count > 1:
        distributed.destroy_process_group()


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
    parser.add_argument("--captured", action="store_true")
    options = parser.parse_args()
    alone, replayed_alone, _ = measured(1, options)
    together, replayed, last = measured(options.processes, options)
    found = {"first": together, "best": together, "floor": alone, "sums": [last],
             "speed-up": round(options.processes * alone / together, 3)}  # fmt: skip
    if options.captured:
        found.update({"captured": replayed, "captured floor": replayed_alone})
    print(json.dumps(found))


if __name__ == "__main__":
    main()

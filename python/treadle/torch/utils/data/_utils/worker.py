"""Processes that load batches. They are started by Python's start method (multiprocessing.set_start_method), or by that
of the loader's context. A forked process takes over the data set and the functions; a spawned one gets them pickled.

A task is (number, indices of items), and an answer (number, batch or Failed). Each process has its own queue of tasks.
All of them answer into the same queue. Tensors travel as NumPy arrays.
"""

import dataclasses
import multiprocessing
import os
import queue
import random
import sys
import traceback

import numpy

from ..... import torch

_POLL = 5.0  # seconds between checks whether the processes are alive


@dataclasses.dataclass
class WorkerInfo:
    """Which worker this process is."""

    id: int
    num_workers: int
    seed: int
    dataset: object


_info = None


def get_worker_info():
    """The WorkerInfo in a worker, and None in the main process."""
    return _info


class Failed:
    """An exception in a worker, with its traceback as text."""

    def __init__(self, where):
        kind, value, trace = sys.exc_info()
        self.where, self.kind = where, kind
        self.text = "".join(traceback.format_exception(kind, value, trace))

    def raise_(self):
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        try:
            error = self.kind(message)
        except Exception:  # its class takes other arguments
            error = RuntimeError(message)
        raise error from None


class _Array:
    """A tensor that is sent to another process."""

    def __init__(self, tensor):
        self.value = tensor.detach().cpu().numpy()


def _packed(data, into, out):
    """data, with instances of the class ``into`` replaced at any depth."""
    if isinstance(data, into):
        return out(data)
    if isinstance(data, dict):
        return {k: _packed(v, into, out) for k, v in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(_packed(v, into, out) for v in data))
    if isinstance(data, (tuple, list)):
        return type(data)(_packed(v, into, out) for v in data)
    return data


def unpacked(data):
    return _packed(data, _Array, lambda a: torch.from_numpy(a.value))


def work(id, count, seed, dataset, fetch, init, tasks, answers, parent):
    """What a worker runs: it answers tasks until one is None, or until its parent has ended."""
    global _info
    _info = WorkerInfo(id, count, seed + id, dataset)
    random.seed(seed + id)
    numpy.random.seed((seed + id) % 2**32)
    torch.manual_seed(seed + id)
    failed = None
    try:
        if init is not None:
            init(id)
        fetch.begin(dataset)
    except Exception:
        failed = Failed(f"in DataLoader worker process {id}")
    while True:
        try:
            task = tasks.get(timeout=_POLL)
        except queue.Empty:
            if os.getppid() != parent:
                answers.cancel_join_thread()  # nobody reads the remaining answers
                return
            continue
        if task is None:
            return
        number, items, again = task
        try:
            if again:
                fetch.begin(dataset)
            answer = failed or _packed(fetch(items), torch.Tensor, _Array)
        except StopIteration:
            answer = StopIteration
        except Exception:
            answer = Failed(f"in DataLoader worker process {id}")
        answers.put((id, number, answer))


class Pool:
    """The processes of one loader. Raises RuntimeError if one dies, or if none answers within the timeout. The
    generator, or the default one, gives the number from which they make their seeds."""

    def __init__(self, count, context, dataset, fetch, init, timeout, generator):
        context = context if hasattr(context, "Process") else multiprocessing.get_context(context)
        seed = int(torch.randint(2**62, (), generator=generator).item())
        self.timeout, self.answers = timeout, context.Queue()
        self.tasks = [context.Queue() for _ in range(count)]
        self.processes = []
        for i, tasks in enumerate(self.tasks):
            args = (i, count, seed, dataset, fetch, init, tasks, self.answers, os.getpid())
            process = context.Process(target=work, args=args, daemon=True)
            process.start()
            self.processes.append(process)

    def ask(self, worker, number, items, again):
        self.tasks[worker].put((number, items, again))

    def answer(self):
        """(worker, number, batch) of the first worker that is ready."""
        waited = 0.0
        while True:
            step = min(_POLL, self.timeout - waited) if self.timeout else _POLL
            try:
                return self.answers.get(timeout=step)
            except queue.Empty:
                waited += step
                dead = [str(p.pid) for p in self.processes if not p.is_alive()]
                if dead:
                    raise RuntimeError(f"DataLoader worker (pid(s) {', '.join(dead)}) exited unexpectedly") from None
                if self.timeout and waited >= self.timeout:
                    raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds") from None

    def close(self):
        for tasks, process in zip(self.tasks, self.processes):
            if process.is_alive():
                tasks.put(None)
        for process in self.processes:
            process.join(timeout=_POLL)
            if process.is_alive():
                process.terminate()
                process.join()
        for line in (*self.tasks, self.answers):
            line.cancel_join_thread()
            line.close()
        self.processes = []

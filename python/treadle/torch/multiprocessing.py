"""torch.multiprocessing: Python's multiprocessing. Tensors travel between processes as copies."""

import multiprocessing as _theirs
from multiprocessing import *  # noqa: F403

__all__ = [*_theirs.__all__, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn"]


def _started(fn, rank, args):
    fn(rank, *args)


class SpawnContext:
    """The processes of spawn: join waits for them. RuntimeError: one has failed."""

    def __init__(self, processes):
        self.processes = processes

    def join(self, timeout=None):
        """Waits for all; True when they have ended."""
        for rank, p in enumerate(self.processes):
            p.join(timeout)
            if p.exitcode is None:
                return False
            if p.exitcode:
                for other in self.processes:
                    other.terminate()
                raise RuntimeError(f"process {rank} terminated with exit code {p.exitcode}")
        return True

    def pids(self):
        """Their process ids."""
        return [p.pid for p in self.processes]


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """fn(rank, *args) in nprocs new processes; waits for them unless join=False."""
    context = _theirs.get_context(start_method)
    processes = [context.Process(target=_started, args=(fn, rank, args), daemon=daemon) for rank in range(nprocs)]
    for p in processes:
        p.start()
    all_of = SpawnContext(processes)
    if not join:
        return all_of
    while not all_of.join():
        pass
    return None


def set_sharing_strategy(new_strategy):
    """Nothing: tensors are copied."""


def get_sharing_strategy():
    """"copy"."""
    return "copy"


def get_all_sharing_strategies():
    """{"copy"}."""
    return {"copy"}

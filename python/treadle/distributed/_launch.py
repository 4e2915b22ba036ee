"""Finds this process's rank, the number of processes and the address of rank 0 in the launcher's environment
variables.
"""

import os
from dataclasses import dataclass

# The variables that MPI launchers set: rank, size, and rank among the processes of this machine.
_MPI = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
)


@dataclass
class Place:
    """This process's place among all. host is None for a single process and under MPI."""

    rank: int = 0
    size: int = 1
    local: int = 0  # rank among the processes of this machine
    host: str | None = None
    ports: tuple = ()
    serves: bool = True  # whether rank 0 runs the store; if not, the process that started it does
    mpi: bool = False


def _number(name, value):
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"{name}={value!r} in the environment is no number") from None


def _torchrun(env):
    missing = [n for n in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT") if n not in env]
    if missing:
        raise ValueError(f"the environment says that a launcher started this process, but lacks {', '.join(missing)}")
    rank, size, port = (_number(n, env[n]) for n in ("RANK", "WORLD_SIZE", "MASTER_PORT"))
    local = _number("LOCAL_RANK", env.get("LOCAL_RANK", str(rank)))
    ports = (port,)
    if env.get("TORCHELASTIC_USE_AGENT_STORE") == "True":  # torchrun itself listens at that port
        ports = tuple(range(port + 1, min(port + 17, 65536)))
    return Place(rank, size, local, env["MASTER_ADDR"], ports, env.get("TREADLE_STORE") != f"parent {port}")


def place(env=None):
    """The place that torchrun's variables describe, else mpirun's; without either a program of one process.

    Raises ValueError where only some of a launcher's variables are set."""
    env = os.environ if env is None else env
    if "RANK" in env or "WORLD_SIZE" in env:
        return _torchrun(env)
    for rank, size, local in _MPI:
        if rank in env and size in env:
            here = _number(local, env.get(local, env[rank]))
            return Place(_number(rank, env[rank]), _number(size, env[size]), here, mpi=True)
    return Place()


def explicit(rank, size, address):
    """The place that the arguments of init() describe. address is "host:port"."""
    host, _, port = (address or "").rpartition(":")
    if rank is None or size is None or not host or not port.isdigit():
        raise ValueError("init: rank, size and address='host:port' are given together")
    if not 0 <= rank < size:
        raise ValueError(f"init: rank {rank} of {size} processes")
    return Place(rank, size, rank, host, (int(port),))

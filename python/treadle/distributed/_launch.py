"""Who this process is among those that were started together, as its launcher says in the environment."""

import os
from dataclasses import dataclass

# What launchers of MPI programs set: rank, size, rank among those of this machine.
_MPI = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
)


@dataclass
class Place:
    """This process among all; host is None where it was started alone or by MPI."""

    rank: int = 0
    size: int = 1
    local: int = 0  # its number among those on this machine
    host: str | None = None
    ports: tuple = ()
    serves: bool = True  # the process of rank 0 runs the store; else the one that started it does
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
    if env.get("TORCHELASTIC_USE_AGENT_STORE") == "True":  # torchrun listens at that port itself
        ports = tuple(range(port + 1, min(port + 17, 65536)))
    return Place(rank, size, local, env["MASTER_ADDR"], ports, env.get("TREADLE_STORE") != f"parent {port}")


def place(env=None):
    """From torchrun's variables, else mpirun's, else a program of one process. ValueError: half of them are there."""
    env = os.environ if env is None else env
    if "RANK" in env or "WORLD_SIZE" in env:
        return _torchrun(env)
    for rank, size, local in _MPI:
        if rank in env and size in env:
            here = _number(local, env.get(local, env[rank]))
            return Place(_number(rank, env[rank]), _number(size, env[size]), here, mpi=True)
    return Place()


def explicit(rank, size, address):
    """As the arguments of init() say: address is "host:port"."""
    host, _, port = (address or "").rpartition(":")
    if rank is None or size is None or not host or not port.isdigit():
        raise ValueError("init: rank, size and address='host:port' are given together")
    if not 0 <= rank < size:
        raise ValueError(f"init: rank {rank} of {size} processes")
    return Place(rank, size, rank, host, (int(port),))

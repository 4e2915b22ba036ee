"""Finds this process's rank, the number of processes and the address of rank 0 in the launcher's environment
variables.
"""

import os
import re
from dataclasses import dataclass

# The variables that MPI launchers set: rank, size, and rank among the processes of this machine.
_MPI = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
)

_NO_STEP = 2**32 - 16  # numbers from here on are Slurm's own steps
_PORTS = 15_000  # Slurm's jobs use as many ports, from this one on


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


def first_host(nodes):
    """The first name of a list of hosts in Slurm's form: "gpu[07-09,12],login" begins with gpu07."""
    head, bracket, rest = nodes.partition("[")
    if not bracket or "," in head:
        return head.split(",")[0]
    inside, _, tail = rest.partition("]")
    tail = tail.split(",")[0]
    first = head + re.split("[-,]", inside, maxsplit=1)[0]
    return first_host(first + tail) if "[" in tail else first + tail


def _slurm(env):
    """The place of a task of srun. Rank 0 listens on the job's first machine; the port follows from the job's number
    unless MASTER_PORT says another."""
    tasks = "SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in env else "SLURM_NTASKS"
    rank, size = _number("SLURM_PROCID", env["SLURM_PROCID"]), _number(tasks, env.get(tasks, "1"))
    local = _number("SLURM_LOCALID", env.get("SLURM_LOCALID", str(rank)))
    nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST") or env.get("SLURM_NODELIST")
    host = env.get("MASTER_ADDR") or (nodes and first_host(nodes))
    if not host:
        raise ValueError("the environment says that srun started this process, but lacks SLURM_JOB_NODELIST")
    # apart from other jobs' and other steps' on the machine, and below the ports that the system gives away
    job, step = (_number(n, env.get(n, "0")) for n in ("SLURM_JOB_ID", "SLURM_STEP_ID"))
    port = _number("MASTER_PORT", env.get("MASTER_PORT", str(_PORTS + (job * 31 + step) % _PORTS)))
    return Place(rank, size, local, host, (port,))


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
    """The place that torchrun's variables describe, else mpirun's, else Slurm's; without any a program of one process.

    Raises ValueError where only some of a launcher's variables are set."""
    env = os.environ if env is None else env
    if "RANK" in env or "WORLD_SIZE" in env:
        return _torchrun(env)
    for rank, size, local in _MPI:
        if rank in env and size in env:
            here = _number(local, env.get(local, env[rank]))
            return Place(_number(rank, env[rank]), _number(size, env[size]), here, mpi=True)
    # A batch script's own process has SLURM_PROCID too, and so has what it starts without srun: they are in no step.
    if "SLURM_PROCID" in env and int(env.get("SLURM_STEP_ID") or _NO_STEP) < _NO_STEP:
        return _slurm(env)
    return Place()


def explicit(rank, size, address):
    """The place that the arguments of init() describe. address is "host:port"."""
    host, _, port = (address or "").rpartition(":")
    if rank is None or size is None or not host or not port.isdigit():
        raise ValueError("init: rank, size and address='host:port' are given together")
    if not 0 <= rank < size:
        raise ValueError(f"init: rank {rank} of {size} processes")
    return Place(rank, size, rank, host, (int(port),))

"""Groups of processes and of devices: every backend runs the same checks (distributed_side.py), against NumPy."""

import contextlib
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import distributed_side as side
import numpy as np
import pytest

import treadle as td
import treadle.distributed as dist
from treadle.distributed import _mesh, _proof
from treadle.distributed._launch import explicit, first_host, place
from treadle.distributed._store import Client, Server

HERE = Path(__file__).parent
PROGRAM = str(HERE / "distributed_side.py")


def clean_env(**more):
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "TREADLE_DEVICE")
    env = {k: v for k, v in os.environ.items() if k not in names and not k.startswith(("PMI", "OMPI", "MPI"))}
    return {**env, "TREADLE_DEVICE": "cpu", **more}


def free_port():
    """A port that nobody listens at, from below those that the system gives to connections on their own."""
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def launch(n, *args, device="cpu", timeout=240):
    """n processes of this program as torchrun starts them: exit codes and what they printed."""
    port = str(free_port())
    env = {"WORLD_SIZE": str(n), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TREADLE_DEVICE": device}
    processes = [
        subprocess.Popen(
            [sys.executable, PROGRAM, *args],
            env=clean_env(**env, RANK=str(r), LOCAL_RANK=str(r)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for r in range(n)
    ]
    try:
        texts = [p.communicate(timeout=timeout)[0] for p in processes]
    finally:
        for p in processes:
            p.kill()
    return [p.returncode for p in processes], texts


# ---- every backend ----


@pytest.mark.parametrize("n", [2, 3])
def test_sockets(n):
    assert dist.spawn(side.everything, n, devices="cpu", timeout=240) == [(r, n, "local") for r in range(n)]


def test_nccl_is_played_between_processes():
    devices = ["null", "null:1"]
    assert dist.spawn(side.everything, 2, devices=devices, timeout=240) == [(r, 2, "nccl") for r in range(2)]


def test_mpi():
    pytest.importorskip("mpi4py")
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("no mpiexec beside python: pip install mpich")
    command = [str(mpiexec), "-n", "2", sys.executable, PROGRAM]
    done = subprocess.run(command, env=clean_env(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "passed mpi 2" in done.stdout, done.stdout + done.stderr


def mpirun(*args):
    """Run this program by mpirun, two processes: the exit code, what it printed, and the seconds that it took."""
    pytest.importorskip("mpi4py")
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("no mpiexec beside python: pip install mpich")
    begin = time.monotonic()
    command = [str(mpiexec), "-n", "2", sys.executable, PROGRAM, *args]
    done = subprocess.run(command, env=clean_env(), capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - begin


ENDS = {  # what rank 1 does while rank 0 is in a loop of all_reduce, and what the program says
    "raise": "RuntimeError: on purpose",
    "exit": "PeerError: all_reduce: rank 1 has left",
    "finalize": "PeerError: all_reduce: rank 1 has left",
    "kill": "",
    "_exit": "",
    "shape": "another process of the group makes another call here, or gives another shape or dtype",
    "dtype": "another process of the group makes another call here, or gives another shape or dtype",
    "kind": "another process of the group makes another call here, or gives another shape or dtype",
    "message": "recv: rank 1 sent 24 bytes, 32 were expected",
    "sleep": "PeerError: all_reduce has not ended after 3.0 s: do all processes call it?",
}


@pytest.mark.parametrize("how", ENDS)
def test_mpi_ends_a_job_whose_process_goes(how):
    code, text, seconds = mpirun("parts", how)
    assert code != 0 and ENDS[how] in text and seconds < 30, text


def test_mpi_waits_as_long_as_it_is_told():
    code, text, _ = mpirun("parts", "late")
    assert code == 0 and "waited in time" in text, text


def test_started_as_torchrun_does():
    codes, texts = launch(2)
    assert codes == [0, 0] and "passed local 2" in texts[0], texts


def test_alone():
    """A program that nothing started is a group of one."""
    done = subprocess.run([sys.executable, PROGRAM], env=clean_env(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "passed local 1" in done.stdout, done.stdout + done.stderr


def test_beside_computation():
    assert dist.spawn(side.overlapping, 2, devices=["null", "null:1"], timeout=240) == [True, True]


def test_recorded_collectives():
    told = dist.spawn(side.replays_after_the_end, 2, devices=["null", "null:1"], timeout=240)
    assert all("the group was closed" in text for text in told)


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_example(device):
    command = [sys.executable, str(HERE.parents[1] / "examples/distributed/covariance.py")]
    command += ["--rows", "2000", "--device", device]
    done = subprocess.run(command, env=clean_env(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "covariances within" in done.stdout, done.stdout + done.stderr


# ---- PyTorch's face ----


def test_torch_program():
    assert dist.spawn(side.torch_program, 2, devices="cpu", timeout=240) == [True, True]


def test_torch_starts_its_own():
    from treadle.torch import multiprocessing

    multiprocessing.spawn(side.torch_started, args=(2, free_port()), nprocs=2)


# ---- what goes wrong ----


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize("how", ["kill", "exit"])
def test_a_process_dies(device, how):
    """The others are told, long before a call of theirs would have waited too long, and go on."""
    codes, texts = launch(3, "dies", "1", how, device=device)
    assert codes[0] == codes[2] == 0, texts
    for text in (texts[0], texts[2]):
        assert re.search(r"told: .*(rank \d|gone|broken)", text), texts


def test_what_a_process_raises_comes_back():
    with pytest.raises(KeyError, match="on purpose") as error:
        dist.spawn(side.fails, 2, 1, devices="cpu", timeout=240)
    assert "distributed_side.py" in str(error.value.__cause__)
    assert dist.spawn(side.add, 2, 1, 10.0, devices="cpu", timeout=240) == [19.0, 19.0]


def test_a_spawned_process_dies():
    with pytest.raises(dist.PeerError, match="rank 0 ended with exit code 3"):
        dist.spawn(side.dies, 2, 0, "_exit", devices="cpu", timeout=240)


@pytest.mark.parametrize("how, words", [("shape", "were expected: shapes and dtypes"), ("kind", "calls all_gather")])
def test_calls_that_do_not_belong_together(how, words):
    assert words in dist.spawn(side.disagree, 2, how, devices="cpu", timeout=240)[0]


def test_a_collective_that_one_process_never_calls():
    assert dist.spawn(side.alone, 2, devices="cpu", timeout=60)[0] == "a collective has not ended after 0.5 s"


def test_nobody_comes():
    port = free_port()
    with pytest.raises(TimeoutError):
        dist.init(device="cpu", rank=1, size=2, address=f"127.0.0.1:{port}", timeout=0.3)
    with pytest.raises(TimeoutError):
        dist.init(device="cpu", rank=0, size=2, address=f"127.0.0.1:{port}", timeout=0.3)
    assert not dist.is_initialized()


def test_addresses_of_other_machines_are_not_listened_at():
    with pytest.raises(dist.DistributedError, match=r"rank 0 cannot listen at 192\.0\.2\.1, port .*Set MASTER_ADDR"):
        dist.init(device="cpu", rank=0, size=2, address=f"192.0.2.1:{free_port()}", timeout=1)
    assert not dist.is_initialized()


def greeted(port):
    """A connection to a store, and the challenge that it sent."""
    s = socket.create_connection(("127.0.0.1", port), timeout=20)
    assert _proof.read(s, 8) == b"treadle2"
    return s, _proof.read(s, _proof.SIZE)


@pytest.mark.parametrize("name, said", [
    (struct.pack("!I", 0xFFFFFFFF), None), (struct.pack("!I", 1 << 20), None), (struct.pack("!I", 1) + b"9", None),
    (struct.pack("!I", 2) + b"-1", None),
    (struct.pack("!I", 1) + b"1", struct.pack("!BII", ord("S"), 0xFFFFFFFF, 0)),
    (struct.pack("!I", 1) + b"1", struct.pack("!BII", ord("S"), 1, 0xFFFFFFFF)),
    (struct.pack("!I", 1) + b"1", struct.pack("!BII", ord("x"), 1, 1)),
], ids=repr)  # fmt: skip
def test_the_store_does_not_believe_what_it_is_told(name, said):
    """The connection ends at once, instead of waiting for bytes and taking memory for them; others are served."""
    server = Server("127.0.0.1", 0, 2)
    try:
        s, challenged = greeted(server.port)
        with s:
            s.sendall(name)
            if said is not None:
                _proof.prove(s, challenged, b"store", name[4:], b"")
                s.sendall(said)
            assert s.recv(1) == b""
        client = Client("127.0.0.1", (server.port,), "1", 20)
        client.set("a", b"b")
        assert client.get("a") == b"b"
        client.close()
    finally:
        server.close()


@pytest.mark.parametrize("ours, theirs", [(b"a secret", b""), (b"a secret", b"another"), (b"", b"a secret")], ids=repr)
def test_other_tokens_are_refused(ours, theirs):
    """At once, with what to set; a guest that knows the token is served."""
    server = Server("127.0.0.1", 0, 2, ours)
    try:
        start = time.monotonic()
        with pytest.raises(dist.DistributedError, match="does not have this job's token .*set TREADLE_JOB_TOKEN"):
            Client("127.0.0.1", (server.port,), "1", 20, theirs)
        assert time.monotonic() - start < 10
        client = Client("127.0.0.1", (server.port,), "1", 20, ours)
        client.set("a", b"b")
        assert client.get("a") == b"b"
        client.close()
    finally:
        server.close()


def test_a_proof_is_of_one_connection():
    """What a guest has sent in one connection proves nothing in another, nor for another name or purpose."""
    key, mine, other = b"a secret", bytes(32), b"\1" * 32
    for change in [(other, b"store", b"1"), (mine, b"mesh", b"1"), (mine, b"store", b"0")]:
        guest, host = socket.socketpair()
        with guest, host:
            shown = _proof._proof(key, b"guest", b"store", mine, mine, b"1")
            guest.sendall(mine + shown)
            with pytest.raises(dist.DistributedError, match="does not know the job's token"):
                _proof.check(host, change[0], change[1], change[2], key)
    guest, host = socket.socketpair()
    with guest, host:  # a host that gives the guest's own proof back does not know the token
        host.sendall(mine)
        ends = threading.Thread(target=lambda: host.sendall(_proof.read(host, 64)[32:]))
        ends.start()
        with pytest.raises(dist.DistributedError, match="this process has one"):
            connected_prove(guest, key)
        ends.join()


def connected_prove(sock, key):
    """prove() on a socket whose other end has no address."""
    named = types.SimpleNamespace(sendall=sock.sendall, recv=sock.recv, getpeername=lambda: ("127.0.0.1", 1))
    _proof.prove(named, _proof.read(sock, 32), b"store", b"1", key)


def test_token_files_are_their_owners(tmp_path):
    path = tmp_path / "token"
    path.write_bytes(b"a secret\n")
    path.chmod(0o644)
    with pytest.raises(dist.DistributedError, match="chmod 600"):
        _proof.token({"TREADLE_JOB_TOKEN_FILE": str(path)})
    path.chmod(0o600)
    assert _proof.token({"TREADLE_JOB_TOKEN_FILE": str(path)}) == b"a secret"
    assert _proof.token({"TREADLE_JOB_TOKEN": "t"}) == b"t" and _proof.token({}) == b""


def test_the_mesh_does_not_believe_what_it_is_told(monkeypatch):
    """Strangers are sent away, and a message longer than the machine's memory ends the group."""
    server, made = Server("127.0.0.1", 0, 2), {}
    stores = [Client("127.0.0.1", (server.port,), str(r), 20) for r in range(2)]
    monkeypatch.setattr(_mesh, "_STRANGERS", 0.2)
    first = threading.Thread(target=lambda: made.update(mesh=_mesh.Mesh(0, 2, stores[0], 20)))
    first.start()
    host, port = stores[1].get("mesh/0").decode().split()
    try:
        strangers = [socket.create_connection((host, int(port)), timeout=20) for _ in range(4)]
        for s, said in zip(strangers, [b"", b"\xff" * 4, struct.pack("!I", 0), b"\0"], strict=True):
            s.sendall(said)
        for s in strangers:
            while s.recv(64):  # the challenge, and no proof
                pass
            s.close()
        with socket.create_connection((host, int(port)), timeout=20) as peer:
            challenged = _proof.read(peer, _proof.SIZE)
            peer.sendall(struct.pack("!I", 1))
            _proof.prove(peer, challenged, b"mesh", struct.pack("!I", 1), b"")
            first.join(20)
            peer.sendall(_mesh._HEAD.pack(1 << 62, b"t", b"w"))
            with pytest.raises(dist.PeerError, match="rank 1 announces 4611686018427387904 bytes"):
                made["mesh"].receive(1, b"other", b"w", bytearray(4)).wait(20)
    finally:
        made["mesh"].close()
        for store in stores:
            store.close()
        server.close()


def test_before_init():
    with pytest.raises(dist.DistributedError, match="init"):
        dist.all_reduce(td.zeros(3))
    dist.finalize()


def test_wrong_arguments():
    for error, call in (
        (ValueError, lambda: dist.spawn(side.add, 0)),
        (ValueError, lambda: dist.spawn(side.add, 2, devices=["cpu"])),
        (ValueError, lambda: dist.init("gloo", device="cpu")),
        (ValueError, lambda: dist.init("nccl", device="cpu")),
        (ValueError, lambda: dist.init("local", device="null")),
        (ValueError, lambda: dist.init(device="cpu", rank=0)),
        (ValueError, lambda: dist.local_group([])),
        (ValueError, lambda: dist.local_group(["null", "null"])),
        (ValueError, lambda: dist.local_group(["null", "cpu"])),
    ):
        with pytest.raises(error):
            call()
    assert not dist.is_initialized()


# ---- who am I? ----


def test_places():
    assert place({}).size == 1
    torchrun = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "host", "MASTER_PORT": "29500"}
    p = place(torchrun)
    assert (p.rank, p.size, p.local, p.host, p.ports, p.mpi) == (5, 8, 1, "host", (29500,), False)
    agent = place({**torchrun, "TORCHELASTIC_USE_AGENT_STORE": "True"})
    assert 29500 not in agent.ports and len(agent.ports) > 1
    for names in ("OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK",
                  "PMI_RANK PMI_SIZE MPI_LOCALRANKID"):  # fmt: skip
        p = place(dict(zip(names.split(), "324")))
        assert (p.rank, p.size, p.local, p.mpi) == (3, 2, 4, True)
    with pytest.raises(ValueError, match="lacks MASTER_ADDR, MASTER_PORT"):
        place({"RANK": "0", "WORLD_SIZE": "2"})
    with pytest.raises(ValueError, match="WORLD_SIZE='two'"):
        place({**torchrun, "WORLD_SIZE": "two"})
    with pytest.raises(ValueError, match="rank 2 of 2"):
        explicit(2, 2, "host:1")


SLURM = {"SLURM_PROCID": "3", "SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "1", "SLURM_STEP_ID": "2",
         "SLURM_JOB_ID": "4711", "SLURM_JOB_NODELIST": "gpu[07-09,12],login"}  # fmt: skip


def test_places_of_slurm():
    p = place(SLURM)
    assert (p.rank, p.size, p.local, p.host, p.mpi, p.serves) == (3, 4, 1, "gpu07", False, True)
    assert 15_000 <= p.ports[0] < 30_000 and p.ports != place({**SLURM, "SLURM_STEP_ID": "3"}).ports
    assert place({**SLURM, "PMI_RANK": "3", "PMI_SIZE": "4"}).mpi  # srun --mpi
    more = place({**SLURM, "MASTER_ADDR": "other", "MASTER_PORT": "1234"})
    assert (more.host, more.ports) == ("other", (1234,))
    for step in ({}, {"SLURM_STEP_ID": "4294967291"}):  # the batch script itself
        assert place({**{k: v for k, v in SLURM.items() if k != "SLURM_STEP_ID"}, **step}).size == 1
    with pytest.raises(ValueError, match="lacks SLURM_JOB_NODELIST"):
        place({k: v for k, v in SLURM.items() if k != "SLURM_JOB_NODELIST"})
    for nodes, first in (("a1", "a1"), ("a1,b2", "a1"), ("n[3,5]", "n3"), ("r[1-2]n[08-11]-ib,x", "r1n08-ib"),
                         ("login,gpu[1-2]", "login")):  # fmt: skip
        assert first_host(nodes) == first


def test_started_as_slurm_does():
    """Tasks of a step on this machine, which see only Slurm's variables."""
    step = {"SLURM_NTASKS": "2", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": str(random.randrange(10**6))}
    step["SLURM_JOB_NODELIST"] = "localhost"
    env = [clean_env(**step, SLURM_PROCID=str(r), SLURM_LOCALID=str(r)) for r in range(2)]
    tasks = [subprocess.Popen([sys.executable, PROGRAM], env=e, stdout=subprocess.PIPE, text=True) for e in env]
    try:
        texts = [t.communicate(timeout=240)[0] for t in tasks]
    finally:
        for t in tasks:
            t.kill()
    assert [t.returncode for t in tasks] == [0, 0] and "passed local 2" in texts[0]


# ---- devices of one process ----


@pytest.fixture
def devices():
    group = dist.local_group(["null", "null:1", "null:2"])
    yield group
    group.close()


@pytest.mark.parametrize("dtype", side.DTYPES)
def test_local_devices(devices, dtype):
    each = [side.values(r, (3, 5), dtype) for r in range(3)]
    arrays = [side.array(r, (3, 5), dtype).to_device(d) for r, d in enumerate(devices.devices)]
    for op, f in side.FOLD.items():
        if dtype == "complex64" and op != "sum":
            continue
        want = f(f(each[0], each[1]), each[2])
        for r, a in enumerate(devices.all_reduce(arrays, op)):
            assert a.device == devices.devices[r]
            side.same(a, want, (dtype, op))
        for r, a in enumerate(devices.reduce_scatter(arrays, op)):
            side.same(a, want[r], (dtype, op, "reduce_scatter"))
    for a in devices.all_gather(arrays, wait=False).wait():
        side.same(a, np.stack(each), (dtype, "all_gather"))
    for a in devices.broadcast(arrays[1], 1):
        side.same(a, each[1], (dtype, "broadcast"))


def test_local_devices_refuse(devices):
    x = [td.zeros(3, device=d) for d in devices.devices]
    for arrays in (x[:2], [x[1], x[0], x[2]], [x[0], x[1], td.zeros(4, device="null:2")]):
        with pytest.raises(ValueError):
            devices.all_reduce(arrays)
    devices.close()
    with pytest.raises(dist.DistributedError, match="closed"):
        devices.all_reduce(x)


def test_one_local_device_needs_no_library():
    group = dist.local_group(["cpu"])
    side.same(group.all_reduce([td.arange(3.0)])[0], np.arange(3.0), "alone")


# ---- copies between devices ----


@pytest.mark.parametrize("text", ["a", "a.T", "a[::2, 1:]", "(a + 1).T[1:]", "a[:0]", "a[1, 2]", "a[::-1]",
                                  "td.broadcast_to(a[0], (3, 4))", "a.astype('complex64')", "a > 3"])  # fmt: skip
def test_direct_copies(text):
    a = td.arange(12.0, device="null:1").reshape(3, 4)
    x = eval(text)
    want = x.get()
    got = x.to_device("null:2")
    assert got.device == "null:2" and got.dtype == x.dtype
    side.same(got, want, text)
    side.same((got + got).to_device("null") if text != "a > 3" else got, want + want if text != "a > 3" else want, text)


def test_null_devices_are_counted():
    assert td.device("null:0") == td.device("null") and td.device("null:7").name == "null:7"
    with pytest.raises(td.DeviceError, match="0 to 7"):
        td.device("null:8")
    with pytest.raises(ValueError, match="null and on null:1"):
        td.zeros(3, device="null") + td.zeros(3, device="null:1")

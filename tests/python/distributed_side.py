"""What the processes of test_distributed.py run; each function is called in every process of a group."""

import os
import signal
import sys
import time

import numpy as np

import treadle as td
import treadle.distributed as dist

DTYPES = ("bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "bfloat16")
FOLD = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def values(rank, shape, dtype):
    """Small whole numbers, so that sums and products are exact in any order."""
    n = int(np.prod(shape))
    x = ((np.arange(n) * 7 + rank * 3) % 5 + 1).reshape(shape)
    if dtype == "bool":
        return x > 2
    return (
        (x + 1j * (x % 2)).astype(dtype)
        if dtype == "complex64"
        else x.astype("float32" if dtype == "bfloat16" else dtype)
    )


def array(rank, shape, dtype):
    return td.array(values(rank, shape, dtype)).astype(td.bfloat16 if dtype == "bfloat16" else dtype)


def host(a):
    return a.astype("float32").get() if a.dtype.kind == "V" else a.get()


def same(a, want, what):
    got = host(a)
    assert got.shape == want.shape and np.array_equal(got, want), (what, got, want)


def reductions(group, shape=(3, 5)):
    """Every operation of every dtype, against NumPy."""
    r, n = group.rank, group.size
    for dtype in DTYPES:
        all_values = [values(k, shape, dtype) for k in range(n)]
        for op, f in FOLD.items():
            if dtype == "complex64" and op != "sum":
                continue
            want = all_values[0]
            for v in all_values[1:]:
                want = f(want, v)
            same(group.all_reduce(array(r, shape, dtype), op), want, (dtype, op))
            got = group.reduce(array(r, shape, dtype), op, root=n - 1)
            if r == n - 1:
                same(got, want, (dtype, op, "reduce"))
            rows = [values(k, (n, 4), dtype) for k in range(n)]
            want = rows[0]
            for v in rows[1:]:
                want = f(want, v)
            same(group.reduce_scatter(array(r, (n, 4), dtype), op), want[r], (dtype, op, "reduce_scatter"))
        if np.dtype("f4" if dtype == "bfloat16" else dtype).kind in "fc":
            want = sum(v.astype("complex128") for v in all_values) / n
            got = host(group.all_reduce(array(r, shape, dtype), "mean"))
            assert np.allclose(got, want, rtol=1e-2 if "16" in dtype else 1e-6), (dtype, got, want)


def movements(group, shape=(2, 3)):
    r, n = group.rank, group.size
    for dtype in DTYPES:
        each = [values(k, shape, dtype) for k in range(n)]
        a = array(r, shape, dtype)
        for root in range(n):
            same(group.broadcast(a, root), each[root], (dtype, "broadcast", root))
        same(group.all_gather(a), np.stack(each), (dtype, "all_gather"))
        rows = [values(k, (n, 3), dtype) for k in range(n)]
        same(group.all_to_all(array(r, (n, 3), dtype)), np.stack([rows[k][r] for k in range(n)]), (dtype, "all_to_all"))
        got = group.gather(a, root=n - 1)
        if r == n - 1:
            same(got, np.stack(each), (dtype, "gather"))
        else:
            assert got is None
        row = array(0, (n, 3), dtype)
        same(group.scatter(row if r == 0 else None, like=row[0]), rows[0][r], (dtype, "scatter"))
        if n > 1:
            right, left = (r + 1) % n, (r - 1) % n
            got = group.exchange([(a, right)], [(a, left)])
            same(got[0], each[left], (dtype, "exchange"))


def messages(group):
    """Sends and receives in any order, several under way."""
    if group.size == 1:
        return
    r, n = group.rank, group.size
    right, left = (r + 1) % n, (r - 1) % n
    first, second = td.full(1000, float(r)), td.arange(200000, dtype="float32") + r
    if group.backend == "nccl":  # whose streams keep the order: what waits for each other is one exchange
        got = group.exchange([(first, right), (second, right)], [(first, left), (second, left)], wait=False)
        got = got.wait()
    else:
        works = [group.recv(first, left, wait=False), group.recv(second, left, wait=False)]
        sent = [group.send(first, right, wait=False), group.send(second, right, wait=False)]
        got = [w.wait() for w in reversed(works)][::-1]
        for w in sent:
            w.wait()
    same(got[1], np.arange(200000, dtype="float32") + left, "second")
    same(got[0], np.full(1000, float(left)), "first")
    if r == 0:
        group.send(second, right)
    if r == 1:
        same(group.recv(second, left), np.arange(200000, dtype="float32"), "one way")
    group.barrier()


def in_place(group):
    """Lists of arrays that get the results: of all dtypes, lazy, views, strided, empty, shared with other values."""
    r, n = group.rank, group.size
    for wait in (True, False):
        arrays = [array(r, (3, 5), dtype) for dtype in DTYPES]
        work = group.all_reduce_(arrays, wait=wait)
        assert (work if wait else work.wait()) == arrays
        for a, dtype in zip(arrays, DTYPES):
            want = values(0, (3, 5), dtype)
            for k in range(1, n):
                want = want + values(k, (3, 5), dtype)
            same(a, want, (dtype, "in place"))
        base = td.arange(24, dtype="float32").reshape(4, 6)
        doubled, kept = base * 2, base[1]
        lazy, other = td.ones(5) * (r + 1), td.zeros((2, 0))
        before = kept + 1  # of the values from before
        work = group.all_reduce_([base[1], base[2:, ::2], lazy, other], "mean", wait=wait)
        if not wait:
            work.wait()
        same(base, np.arange(24.0).reshape(4, 6), "means of what is alike")
        same(lazy, np.full(5, (n + 1) / 2), "lazy")
        group.all_reduce_([base[1]], wait=True)
        same(kept, np.arange(6.0, 12) * n, "a view sees it")
        same(before, np.arange(7.0, 13), "recorded before")
        same(doubled, np.arange(24.0).reshape(4, 6) * 2, "recorded before")
    many = [td.full(1, float(k + r)) for k in range(300)]
    group.all_reduce_(many)
    assert [a.tolist()[0] for a in many] == [k * n + sum(range(n)) for k in range(300)]
    for bad, error in (("median", ValueError), ("mean", TypeError)):
        try:
            group.all_reduce_([td.arange(3)], bad)
        except error:
            continue
        raise AssertionError(bad)


def recorded(group):
    """Collectives in a graph: on inputs, on what it computes, in place on arrays from outside, random draws beside them."""
    r, n = group.rank, group.size
    total = td.zeros(4)

    @td.graph
    def f(x):
        y = group.all_reduce(x * 2)
        work = group.all_reduce_([total], wait=False)
        z = group.all_gather(x)
        work.wait()
        return y + 1, z, group.broadcast(x + td.random.rand(4) * 0, n - 1)

    begun = group.count
    for step in range(3):
        x = td.full(4, float(r + step))
        total[...] = x
        y, z, last = f(x)
        same(y, np.full(4, 2.0 * sum(k + step for k in range(n)) + 1), "sum")
        same(z, np.stack([np.full(4, float(k + step)) for k in range(n)]), "gathered")
        same(last, np.full(4, n - 1.0 + step), "broadcast")
        same(total, np.full(4, float(sum(k + step for k in range(n)))), "in place")
    assert f.recordings == 1 and group.count == begun + 4 * 3
    return f


def replays_after_the_end():
    f = recorded(dist.world())
    dist.finalize()
    try:
        f(td.zeros(4))
    except dist.PeerError as error:
        return str(error)
    return ""


def details(group):
    """Lazy values, views, out=, empty arrays, no dimensions, works under way, a larger array."""
    r, n = group.rank, group.size
    x = td.arange(12, dtype="float64").reshape(3, 4)
    same(
        group.all_reduce((x * 2 + r).T[1:]),
        ((np.arange(12.0).reshape(3, 4) * 2).T[1:] * n + sum(range(n))),
        "lazy view",
    )
    out = td.zeros((3, 4))
    assert group.all_reduce(x, out=out) is out
    same(out, np.arange(12.0).reshape(3, 4) * n, "out")
    part = td.zeros((3, 4))
    group.all_reduce(x[:, :2], out=part[:, 1:3])
    same(part[:, 1:3], np.arange(12.0).reshape(3, 4)[:, :2] * n, "out, a view")
    assert group.all_reduce(td.zeros((0, 3))).shape == (0, 3)
    same(group.all_reduce(td.array(2.0) + r), np.array(2.0 * n + sum(range(n))), "no dimensions")
    works = [group.all_reduce(td.full(5000 * (k + 1), float(k)), wait=False) for k in range(12)]
    for k in reversed(range(12)):
        same(works[k].wait(), np.full(5000 * (k + 1), float(k * n)), ("under way", k))
        assert works[k].done() and works[k].wait() is works[k].wait()
    in_place(group)
    big = td.arange(300001, dtype="int64") * (r + 1)
    same(group.all_reduce(big), np.arange(300001) * sum(range(1, n + 1)), "larger")


def refusals(group):
    x = td.zeros((group.size + 1, 2))
    for error, f in (
        (ValueError, lambda: group.all_reduce(x, "median")),
        (TypeError, lambda: group.all_reduce(x.astype("int32"), "mean")),
        (TypeError, lambda: group.all_reduce(x.astype("complex64"), "max")),
        (ValueError, lambda: group.broadcast(x, root=group.size)),
        (ValueError, lambda: group.reduce_scatter(x)),
        (ValueError, lambda: group.all_to_all(td.zeros(()))),
        (ValueError, lambda: group.all_reduce(x, out=td.zeros(3))),
        (TypeError, lambda: group.send(np.zeros(3), 0)),
    ):
        try:
            f()
        except error:
            continue
        raise AssertionError(f"{error} was not raised")


def subgroups(group):
    """Groups of some, numbered otherwise; two at once."""
    n = group.size
    last = dist.group([n - 1, 0] if n > 1 else [0])
    if last is not None:
        same(
            last.all_gather(td.full(2, float(group.rank))),
            np.array([[n - 1.0] * 2, [0.0] * 2][: last.size]),
            "subgroup",
        )
        assert last.rank == (0 if group.rank == n - 1 else 1)
    alone = dist.group([0])
    assert (alone is None) == (group.rank != 0)
    if alone is not None:
        reductions(alone)
        movements(alone)
    group.barrier()


def everything():
    group = dist.world()
    for f in (reductions, movements, messages, details, refusals, subgroups):
        f(group)
    reductions(group, (97, 113))  # more than one message
    return group.rank, group.size, group.backend


def overlapping():
    """A collective runs beside computation, and both are right."""
    n = dist.size()
    x, y = td.ones(1 << 18, "float32"), td.arange(1 << 18, dtype="float32")
    for k in range(20):
        work = dist.all_reduce(x * (k + 1), wait=False)
        for _ in range(5):
            y = y * 1.0 + 1.0
        z = work.wait()
        same(z[:5], np.full(5, n * (k + 1.0), "float32"), ("beside", k))
    same(y[:3], np.arange(3, dtype="float32") + 100, "computation")
    return True


def torch_program():
    """torch.distributed's face, within a group that is there already."""
    import treadle.torch as torch
    import treadle.torch.distributed as tdist

    r, n = tdist.get_rank(), tdist.get_world_size()
    place = str(dist.world().device)

    def tensor(values):
        return torch.tensor(values, dtype=torch.float32).to(place)

    t = tensor([1.0, 2.0, r])
    tdist.all_reduce(t)
    assert t.tolist() == [n, 2 * n, n * (n - 1) / 2], t
    work = tdist.all_reduce(t, op=tdist.ReduceOp.MAX, async_op=True)
    assert work.wait() and work.is_completed()
    rows = [torch.zeros(2).to(place) for _ in range(n)]
    tdist.all_gather(rows, tensor([r, r + 1]))
    assert [x.tolist() for x in rows] == [[k, k + 1] for k in range(n)]
    whole = torch.zeros(2 * n).to(place)
    tdist.all_gather_into_tensor(whole, tensor([r, r + 1]))
    assert whole.tolist() == [float(x) for k in range(n) for x in (k, k + 1)]
    part = torch.zeros(2).to(place)
    tdist.reduce_scatter_tensor(part, tensor(list(range(2 * n))))
    assert part.tolist() == [n * 2 * r, n * (2 * r + 1)]
    tdist.reduce_scatter(part, [tensor([k, 1]) for k in range(n)])
    assert part.tolist() == [n * r, n]
    tdist.broadcast(part, src=n - 1)
    assert part.tolist() == [n * (n - 1), n]
    out = torch.zeros(n).to(place)
    tdist.all_to_all_single(out, tensor([10 * r + k for k in range(n)]))
    assert out.tolist() == [10 * k + r for k in range(n)]
    tdist.scatter(part, [tensor([k, k]) for k in range(n)] if r == 0 else None, src=0)
    assert part.tolist() == [r, r]
    into = [torch.zeros(2).to(place) for _ in range(n)] if r == 0 else None
    tdist.gather(part, into, dst=0)
    assert r or [x.tolist() for x in into] == [[k, k] for k in range(n)]
    tdist.reduce(part, dst=0)
    assert part.tolist() == ([n * (n - 1) / 2] * 2 if r == 0 else [r, r])
    came = torch.zeros(2).to(place)
    ops = [tdist.P2POp(tdist.isend, tensor([r, r]), (r + 1) % n), tdist.P2POp(tdist.irecv, came, (r - 1) % n)]
    for w in tdist.batch_isend_irecv(ops):
        w.wait()
    assert came.tolist() == [(r - 1) % n] * 2
    if r == 0:
        tdist.send(tensor([5.0]), 1)
    elif r == 1:
        assert tdist.recv(came[:1], 0) == 0 and came.tolist() == [5.0, 0.0]
    things = [None] * n
    tdist.all_gather_object(things, {"rank": r, "text": "x" * r})
    assert things == [{"rank": k, "text": "x" * k} for k in range(n)]
    named = [("a", 1), None] if r == 0 else [None, None]
    tdist.broadcast_object_list(named, src=0)
    assert named == [("a", 1), None]
    some = tdist.new_group([0])
    one = tensor([1.0])
    tdist.all_reduce(one, group=some)
    assert one.tolist() == [1.0]
    assert (tdist.get_rank(some), tdist.get_world_size(some)) == ((0, 1) if r == 0 else (-1, -1))
    tdist.barrier()
    return True


def torch_started(rank, n, port):
    """As PyTorch's own examples begin: every process is told its number."""
    import treadle.torch.distributed as tdist

    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", str(port)
    tdist.init_process_group("gloo", rank=rank, world_size=n)
    assert tdist.is_initialized() and tdist.get_backend() == "gloo"
    torch_program()
    tdist.destroy_process_group()
    assert not tdist.is_initialized()


def add(x, y):
    return float(dist.all_reduce(td.full(3, float(dist.rank() + x))).sum()) + y


def fails(rank):
    if dist.rank() == rank:
        raise KeyError("on purpose")
    dist.barrier()


def dies(rank, how):
    """One process goes while the others wait for it; they tell what they were told, and go on."""
    x = kept = td.arange(1000.0) + 1
    kept = kept * 2
    float(kept.sum())
    try:
        dist.barrier()  # whoever leaves it first may be gone before the others have left it
        if dist.rank() == rank:
            os.kill(os.getpid(), signal.SIGKILL) if how == "kill" else os._exit(3) if how == "_exit" else sys.exit(0)
        while True:
            x = dist.all_reduce(x, "max")
            float(x.sum())
    except dist.PeerError as error:
        assert float(kept[-1]) == 2000 and float((td.arange(10.0) + 1).sum()) == 55.0  # the next call works
        try:
            dist.all_reduce(x)
        except dist.PeerError:
            print(f"told: {error}")
            return
    raise AssertionError("nobody said so")


def disagree(how):
    """Calls that do not belong together."""
    try:
        if how == "shape":
            dist.all_reduce(td.zeros(4 + dist.rank()))
        elif dist.rank() == 0:
            dist.all_reduce(td.zeros(4))
        else:
            dist.all_gather(td.zeros(4))
    except dist.DistributedError as error:
        return str(error)
    return ""


def alone():
    """Rank 0 calls a collective alone, with half a second for it."""
    if dist.rank() == 1:
        time.sleep(1.5)
        return ""
    dist.world().timeout = 0.5
    try:
        dist.all_reduce(td.ones(3))
    except dist.PeerError as error:
        return str(error).partition(":")[0]
    return "no error"


def parts(how):
    """Rank 1 leaves a loop of all_reduce in some way."""
    x, rank = td.ones(1000), dist.rank()
    x = dist.all_reduce(x, "mean")
    if how == "late" and rank == 0:
        begin = time.monotonic()
        work = dist.all_reduce(x, "mean", wait=False)
        try:
            work.wait(0.3)
        except TimeoutError:
            assert not work.done() and 0.3 <= time.monotonic() - begin < 1
        same(work.wait(), np.ones(1000), how)
        print("waited in time")
        return
    if how == "message":
        dist.send(x[:3], 0) if rank == 1 else dist.recv(x[:4], 1)
    if rank == 1:
        act = {"exit": lambda: sys.exit(3), "_exit": lambda: os._exit(4)}
        if how == "raise":
            raise RuntimeError("on purpose")
        if how == "finalize":
            dist.finalize()
            return
        x = {"shape": td.ones(1200), "dtype": td.ones(1000, "float32")}.get(how, x)
        act |= {"kill": lambda: os.kill(os.getpid(), signal.SIGKILL), "sleep": lambda: time.sleep(60)}
        act |= {"kind": lambda: dist.all_gather(x), "late": lambda: time.sleep(1)}
        act.get(how, lambda: None)()
    for _ in range(1 if how == "late" else 100):
        x = dist.all_reduce(x, "mean")


if __name__ == "__main__":  # started by mpirun, torchrun or the like
    dist.init(timeout=3.0 if "parts" in sys.argv else 600.0)
    if "parts" in sys.argv:
        parts(sys.argv[2])
        sys.exit(0)
    if len(sys.argv) > 1:
        dies(int(sys.argv[2]), sys.argv[3])
        dist.finalize()
        sys.exit(0)
    everything()
    if dist.rank() == 0:
        print("passed", dist.world().backend, dist.size())
    dist.finalize()

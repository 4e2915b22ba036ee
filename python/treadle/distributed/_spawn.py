"""Processes of this machine that start together, and what they return."""

import os
import pickle
import time
import traceback

from ._errors import PeerError

_GRACE = 5.0  # seconds that the others get to notice that one has failed


class _Trace(Exception):
    """The traceback of another process, as the cause of its exception here."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return f'\n"""\n{self.text}"""'


def _child(pipe, env, options, f, args):
    os.environ.update(env)
    import treadle.distributed as dist

    try:
        if options is not None:
            dist.init(**options)
        answer = (True, f(*args), None)
    except SystemExit as error:
        gone = dist.DistributedError(f"spawn: the process of rank {env['RANK']} called sys.exit({error.code!r})")
        answer = (False, gone, traceback.format_exc())
    except BaseException as error:  # told to the parent, whatever it is
        answer = (False, error, traceback.format_exc())
    try:
        data = pickle.dumps(answer, protocol=5)
    except Exception as error:  # what cannot be pickled is named instead
        data = pickle.dumps((False, TypeError(f"cannot be sent to the parent: {error}"), traceback.format_exc()))
    if answer[0]:
        dist.finalize()
    else:
        dist.abort("this process failed")
    pipe.send_bytes(data)
    pipe.close()


def _listen(processes, pipes, results, server, until):
    """Reads results until all are there: rank, error of the first that failed; None."""
    from multiprocessing.connection import wait

    while len(results) < len(processes):
        left = [r for r in range(len(processes)) if r not in results]
        ready = wait([pipes[r] for r in left], None if until is None else max(0, until - time.monotonic()))
        if not ready:
            return None, TimeoutError("spawn: not all processes ended in time")
        for r in left:
            if pipes[r] not in ready:
                continue
            try:
                good, value, trace = pickle.loads(pipes[r].recv_bytes())
            except EOFError:
                processes[r].join(_GRACE)
                server.lose(str(r))
                return r, PeerError(f"spawn: the process of rank {r} ended with exit code {processes[r].exitcode}")
            if not good:
                server.lose(str(r))
                value.__cause__ = _Trace(trace)
                return r, value
            results[r] = value
    return None


def _end(processes, grace):
    until = time.monotonic() + grace
    for stop in (None, "terminate", "kill"):
        for p in processes:
            if stop and p.is_alive():
                getattr(p, stop)()
        for p in processes:
            p.join(max(0.0, until - time.monotonic()))
        until = time.monotonic() + 2


def _start(f, n, args, ranks, options, server):
    from multiprocessing import get_context

    context = get_context("spawn")
    processes, pipes = [], []
    for r in range(n):
        env = {
            "RANK": str(r),
            "LOCAL_RANK": str(r),
            "WORLD_SIZE": str(n),
            "LOCAL_WORLD_SIZE": str(n),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(server.port),
            "TREADLE_STORE": "parent",
        }
        ours, theirs = context.Pipe(False)
        mine = options and {k: v[r] if isinstance(v, list) else v for k, v in options.items()}
        given = (theirs, env, mine, f, (r, *args) if ranks else args)
        p = context.Process(target=_child, args=given, name=f"treadle-{r}")
        processes.append(p)
        pipes.append(ours)
        p.start()
        theirs.close()
    return processes, pipes


def run(f, n, args, options, timeout, ranks=False):
    """What f(*args), or with ranks f(rank, *args), returns in each of n processes.

    options: those of init(), which is called first, lists have one for each process; None: f calls it.
    """
    from ._store import Server

    server = Server("127.0.0.1", 0)
    processes, results = [], {}
    try:
        processes, pipes = _start(f, n, args, ranks, options, server)
        failed = _listen(processes, pipes, results, server, None if timeout is None else time.monotonic() + timeout)
        _end(processes, 0.5 if failed and isinstance(failed[1], TimeoutError) else _GRACE)
        if failed:
            raise failed[1]
    finally:
        _end(processes, 0.0)
        server.close()
    return [results[r] for r in range(n)]

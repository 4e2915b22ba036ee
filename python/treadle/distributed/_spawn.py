"""Starts processes on this machine together, and collects what they return or raise."""

import os
import pickle
import time
import traceback

from . import _process, _proof
from ._errors import DistributedError, PeerError

_GRACE = 5.0  # seconds that the other processes get to notice that one has failed


class _Trace(Exception):
    """The cause of an exception from another process. It holds that process's traceback as text."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return f'\n"""\n{self.text}"""'


def _child(pipe, env, options, f, args):
    os.environ.update(env)
    try:
        if options is not None:
            _process.init(**options)
        answer = (True, f(*args), None)
    except SystemExit as error:
        gone = DistributedError(f"spawn: the process of rank {env['RANK']} called sys.exit({error.code!r})")
        answer = (False, gone, traceback.format_exc())
    except BaseException as error:  # every exception is sent to the parent
        answer = (False, error, traceback.format_exc())
    try:
        data = pickle.dumps(answer, protocol=5)
    except Exception as error:  # it cannot be pickled: send its text
        data = pickle.dumps((False, TypeError(f"cannot be sent to the parent: {error}"), traceback.format_exc()))
    if answer[0]:
        _process.finalize()
    else:
        _process.abort("this process failed")
    pipe.send_bytes(data)
    pipe.close()


class Processes:
    """Processes that run one function. join() returns their results."""

    def __init__(self, f, n, args, options, ranks, daemon):
        from ._store import Server

        self._token = _proof.new()  # a token for these processes alone
        self._server = Server("127.0.0.1", 0, token=self._token.encode())
        self.processes, self._pipes, self._results = [], [], {}
        try:
            for r in range(n):
                self._start(f, n, r, (r, *args) if ranks else args, options, daemon)
        except BaseException:
            self.end(0.0)
            raise

    def _start(self, f, n, r, args, options, daemon):
        from multiprocessing import get_context

        context, port = get_context("spawn"), self._server.port
        env = {"RANK": r, "LOCAL_RANK": r, "WORLD_SIZE": n, "LOCAL_WORLD_SIZE": n, "MASTER_ADDR": "127.0.0.1"}
        env |= {"MASTER_PORT": port, "TREADLE_STORE": f"parent {port}", _proof.TOKEN: self._token}
        env = {k: str(v) for k, v in env.items()}
        ours, theirs = context.Pipe(False)
        mine = options and {k: v[r] if isinstance(v, list) else v for k, v in options.items()}
        p = context.Process(target=_child, args=(theirs, env, mine, f, args), name=f"treadle-{r}", daemon=daemon)
        p.start()
        theirs.close()
        self.processes.append(p)
        self._pipes.append(ours)

    def pids(self):
        """The processes' ids."""
        return [p.pid for p in self.processes]

    def join(self, timeout=None):
        """Wait for all processes and return the list of their results.

        Raises what one of them raised, PeerError where one died, and TimeoutError where they do not finish in time;
        they are ended then.
        """
        try:
            failure = self._listen(None if timeout is None else time.monotonic() + timeout)
            self.end(0.5 if isinstance(failure, TimeoutError) else _GRACE)
        finally:
            self.end(0.0)
        if failure:
            raise failure
        return [self._results[r] for r in range(len(self.processes))]

    def _listen(self, until):
        """Read results until all processes have sent one. Return the first failure, or None."""
        from multiprocessing.connection import wait

        while len(self._results) < len(self.processes):
            waiting = {p: r for r, p in enumerate(self._pipes) if r not in self._results}
            ready = wait(list(waiting), None if until is None else max(0, until - time.monotonic()))
            if not ready:
                return TimeoutError("spawn: not all processes ended in time")
            for pipe in ready:
                failure = self._read(waiting[pipe])
                if failure is not None:
                    self._server.lose(str(waiting[pipe]))
                    return self._cause(failure, waiting[pipe])
        return None

    def _cause(self, failure, r):
        """The failure that rank r's exception goes back to.

        Where it only says that a peer has gone, return what became of that peer, if that arrives within the grace."""
        from multiprocessing.connection import wait

        others = {p: k for k, p in enumerate(self._pipes) if k != r and k not in self._results}
        until = time.monotonic() + _GRACE
        # a process that died has raised nothing: there is no other cause to wait for
        while isinstance(failure, PeerError) and failure.__cause__ and others:
            ready = wait(list(others), max(0, until - time.monotonic()))
            told = [t for pipe in ready if (t := self._read(others.pop(pipe))) is not None]
            raised = [t for t in told if not isinstance(t, PeerError)]
            # processes that died without sending an exception
            ended = [t for t in told if t.__cause__ is None] if failure.__cause__ else []
            failure = (*raised, *ended, failure)[0]
            if not ready:
                break
        return failure

    def _read(self, r):
        try:
            good, value, trace = pickle.loads(self._pipes[r].recv_bytes())
        except EOFError:
            self.processes[r].join(_GRACE)
            return PeerError(f"spawn: the process of rank {r} ended with exit code {self.processes[r].exitcode}")
        if good:
            self._results[r] = value
            return None
        value.__cause__ = _Trace(trace)
        return value

    def end(self, grace):
        """Wait up to `grace` seconds, then terminate and at last kill the processes that still run."""
        until = time.monotonic() + grace
        for stop in (None, "terminate", "kill"):
            for p in self.processes:
                if stop and p.is_alive():
                    getattr(p, stop)()
            for p in self.processes:
                p.join(max(0.0, until - time.monotonic()))
            until = time.monotonic() + 2
        self._server.close()


def start(f, n, args, options, ranks=False, daemon=False):
    """Start f(*args), or with ranks f(rank, *args), in each of n processes.

    options are the arguments of init(), which is called first; an argument that is a list has one item for each
    process. With None f must call init() itself.
    """
    return Processes(f, n, args, options, ranks, daemon)

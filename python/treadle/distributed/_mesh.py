"""Messages between processes: a socket for each pair of them, and one thread that reads and writes them all.

A message carries a tag and the name of its collective. If the receiver has already asked for that tag, the bytes go
straight into its memory; otherwise they are kept until it asks. So any number of sends and receives may be in
progress, in any order, and none blocks another.
"""

import os
import selectors
import socket
import struct
import threading
import time
from collections import deque

from . import _proof
from ._errors import DistributedError, PeerError

_HEAD = struct.Struct("!Q32s24s")  # bytes, tag, name of the collective
_PIECE = 1 << 20
_MOST = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")  # bytes up to which an unexpected message is buffered
_STRANGERS = 10  # seconds to wait for the first bytes of a new connection


class Pending:
    """A send or a receive in progress."""

    def __init__(self):
        self._done = threading.Event()
        self.error = None

    def finish(self, error=None):
        self.error = error
        self._done.set()

    def done(self):
        return self._done.is_set()

    def wait(self, timeout=None):
        """Wait for the transfer and raise its error, or TimeoutError after timeout seconds."""
        if not self._done.wait(timeout):
            raise TimeoutError(f"waited {timeout} s")
        if self.error is not None:
            raise self.error


class _Incoming:
    def __init__(self):
        self.head, self.got, self.into, self.pending, self.key, self.what = bytearray(), 0, None, None, None, b""


class Mesh:
    """One process's connections to all others. rank and size are those of the whole program."""

    def __init__(self, rank, size, store, timeout):
        self.rank, self.size, self.timeout = rank, size, timeout
        self._lock = threading.Lock()
        self._posted, self._kept, self._out = {}, {}, {}
        self._broken, self._gone, self._closing = None, set(), False
        self._socks = self._connect(store) if size > 1 else {}
        self._peer = {s: r for r, s in self._socks.items()}
        self._in = {r: _Incoming() for r in self._socks}
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_out.setblocking(False)
        self._select = selectors.DefaultSelector()
        self._select.register(self._wake_in, selectors.EVENT_READ)
        for r, s in self._socks.items():
            s.setblocking(False)
            self._out[r] = deque()
            self._select.register(s, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="treadle-mesh", daemon=True)
        self._thread.start()

    # ---- making ----

    def _connect(self, store):
        """Connect to all processes of lower rank, and accept connections from those of higher rank."""
        until, socks = time.monotonic() + self.timeout, {}
        listener = socket.create_server((store.address, 0), backlog=self.size)
        with listener:
            store.set(f"mesh/{self.rank}", f"{store.address} {listener.getsockname()[1]}".encode())
            for r in range(self.rank):
                host, port = store.get(f"mesh/{r}").decode().split()
                s = socket.create_connection((host, int(port)), timeout=self.timeout)
                challenged, name = _proof.read(s, _proof.SIZE), struct.pack("!I", self.rank)
                s.sendall(name)
                _proof.prove(s, challenged, b"mesh", name, store.token)
                socks[r] = s
            while len(socks) < self.size - 1:
                listener.settimeout(max(0.01, until - time.monotonic()))
                try:
                    s, _ = listener.accept()
                except TimeoutError:
                    missing = sorted(set(range(self.size)) - {self.rank, *socks})
                    raise TimeoutError(f"rank {self.rank}: no connection from ranks {missing}") from None
                r = self._rank_of(s, store.token)
                if r is not None and self.rank < r < self.size and r not in socks:
                    socks[r] = s
                else:  # not a process of this program
                    s.close()
        for s in socks.values():
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return socks

    def _rank_of(self, sock, token):
        """The rank that a new connection proves to be. None where the proof fails."""
        sock.settimeout(min(self.timeout, _STRANGERS))
        try:
            mine = _proof.challenge(sock)
            name = _proof.read(sock, 4)
            _proof.check(sock, mine, b"mesh", name, token)
        except (OSError, EOFError, DistributedError):
            return None
        sock.settimeout(self.timeout)
        return int.from_bytes(name, "big")

    # ---- what callers do ----

    def send(self, peer, tag, what, data):
        """Start to send data, a C-contiguous buffer that must not change until the Pending is done."""
        view = memoryview(data).cast("B") if memoryview(data).nbytes else memoryview(b"")
        pending, head = Pending(), _HEAD.pack(view.nbytes, tag, what)
        with self._lock:
            self._check(peer)
            self._out[peer].append([memoryview(head), None])
            self._out[peer].append([view, pending])
        self._wake()
        return pending

    def receive(self, peer, tag, what, into):
        """Start to receive into a writable C-contiguous buffer. The sender must send exactly as many bytes."""
        view = memoryview(into).cast("B") if memoryview(into).nbytes else memoryview(bytearray())
        pending, key = Pending(), (peer, tag.ljust(32, b"\0"))
        with self._lock:
            kept = self._kept.get(key)
            if kept:
                theirs, data = kept.popleft()
                if not kept:
                    del self._kept[key]
            else:
                self._check(peer)
                self._posted.setdefault(key, deque()).append((what, view, pending))
                return pending
        error = self._mismatch(peer, what, view.nbytes, theirs, len(data))
        if error is None:
            view[:] = data
        pending.finish(error)
        return pending

    def _check(self, peer):
        if self._broken is not None:
            raise PeerError(f"the group is broken: {self._broken}")
        if peer in self._gone:
            raise PeerError(f"rank {peer} has left")

    def fail(self, why):
        """Break the mesh: waiting threads raise, and the peers see the connections close."""
        with self._lock:
            if self._broken is None and not self._closing:
                self._broken = why
        self._wake()

    def close(self):
        """Finish the sends in progress, for 5 s at most, and close the connections without a word to the peers."""
        until = time.monotonic() + 5
        while time.monotonic() < until and self._broken is None and any(self._out.values()):
            time.sleep(0.001)
        with self._lock:
            self._closing = True
        self._wake()
        self._thread.join()

    def _wake(self):
        try:
            self._wake_out.send(b"x")
        except OSError:  # the pipe is full, so the thread will wake anyway; or the thread has ended
            pass

    # ---- the thread ----

    def _run(self):
        while self._broken is None and not self._closing:
            for r, s in self._socks.items():
                if r not in self._gone:
                    wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._out[r] else 0)
                    if self._select.get_key(s).events != wanted:
                        self._select.modify(s, wanted)
            for key, events in self._select.select():
                if key.fileobj is self._wake_in:
                    self._wake_in.recv(4096)
                    continue
                peer = self._peer[key.fileobj]
                try:
                    if events & selectors.EVENT_WRITE:
                        self._push(peer, key.fileobj)
                    if events & selectors.EVENT_READ:
                        self._pull(peer, key.fileobj)
                except BlockingIOError:
                    pass
                except (OSError, EOFError) as error:
                    self._lose(peer, key.fileobj, error)
                except (DistributedError, MemoryError) as error:
                    self.fail(str(error) or f"rank {peer} sends more than there is memory for")
        self._end()

    def _push(self, peer, sock):
        while self._out[peer]:
            view, pending = self._out[peer][0]
            while view.nbytes:
                view = view[sock.send(view[:_PIECE]) :]
                self._out[peer][0][0] = view
            self._out[peer].popleft()
            if pending is not None:
                pending.finish()

    def _pull(self, peer, sock):
        m = self._in[peer]
        while True:
            if m.into is None:
                data = sock.recv(_HEAD.size - len(m.head))
                if not data:
                    raise EOFError
                m.head += data
                if len(m.head) == _HEAD.size:
                    self._begin(peer, m)
            while m.into is not None and m.got < m.into.nbytes:
                n = sock.recv_into(m.into[m.got :], min(_PIECE, m.into.nbytes - m.got))
                if not n:
                    raise EOFError
                m.got += n
            if m.into is not None:
                self._arrived(peer, m)
                m = self._in[peer] = _Incoming()

    def _begin(self, peer, m):
        nbytes, tag, what = _HEAD.unpack(m.head)
        m.key, m.what = (peer, tag), what.rstrip(b"\0")
        with self._lock:
            posted = self._posted.get(m.key)
            if posted:
                ours, view, m.pending = posted.popleft()
                if not posted:
                    del self._posted[m.key]
        if m.pending is not None:
            error = self._mismatch(peer, ours, view.nbytes, m.what, nbytes)
            if error is None:
                m.into = view
                return
            m.pending.finish(error)
        if nbytes > _MOST:
            most = f"more than the {_MOST} of this machine's memory"
            raise DistributedError(f"rank {peer} announces {nbytes} bytes, {most}")
        m.into = memoryview(bytearray(nbytes))
        if m.pending is not None:  # the sender's call differs: read the bytes and drop them
            m.key = None

    def _arrived(self, peer, m):
        if m.key is not None and m.pending is None:
            with self._lock:
                posted = self._posted.get(m.key)  # the receiver may have asked while the bytes came
                if not posted:
                    self._kept.setdefault(m.key, deque()).append((m.what, m.into))
                    return
                ours, view, pending = posted.popleft()
                if not posted:
                    del self._posted[m.key]
            error = self._mismatch(peer, ours, view.nbytes, m.what, m.into.nbytes)
            if error is None:
                view[:] = m.into
            pending.finish(error)
        elif not m.pending.done():
            m.pending.finish()

    @staticmethod
    def _mismatch(peer, ours, nbytes, theirs, came):
        if ours != theirs:
            return DistributedError(
                f"this process calls {ours.decode()} where rank {peer} calls {theirs.decode(errors='replace')}: "
                "all processes of a group make the same calls in the same order"
            )
        if nbytes != came:
            return DistributedError(
                f"{ours.decode()}: {came} bytes came from rank {peer} where {nbytes} were expected: "
                "shapes and dtypes must agree"
            )
        return None

    def _lose(self, peer, sock, error):
        """A peer has closed its connection. That is an error only when a transfer with it is, or later becomes,
        pending."""
        self._select.unregister(sock)
        with self._lock:
            self._gone.add(peer)
            wanted = self._in[peer].pending is not None or bool(self._out[peer])
            wanted = wanted or any(k[0] == peer for k in self._posted)
        if wanted and not self._closing:
            self.fail(f"rank {peer} has gone ({str(error or '') or 'its connection was closed'})")

    def _end(self):
        why = self._broken or "the group was closed"
        with self._lock:
            left = [p for q in self._posted.values() for _, _, p in q]
            left += [p for q in self._out.values() for _, p in q if p is not None]
            left += [m.pending for m in self._in.values() if m.pending is not None]
            self._posted.clear()
        for s in [*self._socks.values(), self._wake_in, self._wake_out]:
            s.close()
        self._select.close()
        for p in left:
            if not p.done():
                p.finish(PeerError(f"the group is broken: {why}"))

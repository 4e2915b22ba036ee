"""A table of keys and values that the processes of a program share while they find each other, and news of who has
left.

One process serves the table; each of the others connects to it. A connection that ends without a farewell means that
its process died, and the server tells every process that watches. A farewell carries how many collectives the process
has called; the watchers get that too. A client proves that it knows the job's token before anything else of it is
read. The protocol is bytes with their length in front, and nothing in it is executed.
"""

import contextlib
import socket
import struct
import threading
import time

from . import _proof
from ._errors import DistributedError, PeerError
from ._proof import read

_HELLO = b"treadle2"
_SET, _GET, _WATCH, _BYE, _LEFT = _OPS = b"SGWBL"
_HEAD = struct.Struct("!BII")
_NAME, _MOST = 1 << 10, 1 << 24  # bytes of a key and of a value; larger ones are refused, and real ones are far smaller
_LONG = 128  # characters of a process's name
_STRANGERS = 10  # seconds in which a new connection must say who it is


def _write(sock, op, key=b"", value=b""):
    sock.sendall(_HEAD.pack(op, len(key), len(value)) + key + value)


def _receive(sock):
    op, nkey, nvalue = _HEAD.unpack(read(sock, _HEAD.size))
    if op not in _OPS or nkey > _NAME or nvalue > _MOST:
        raise DistributedError(
            f"the store was sent operation {op}, a name of {nkey} and a value of {nvalue} bytes, where it takes "
            f"{_NAME} and {_MOST}: who speaks there is no process of this program"
        )
    return op, read(sock, nkey), read(sock, nvalue)


def _name(sock, size):
    """The rank that a client names. It must be below size, where that is not None."""
    n = struct.unpack("!I", read(sock, 4))[0]
    if n > _LONG:
        raise DistributedError(f"the store was sent a name of {n} bytes, where it takes {_LONG}")
    who = read(sock, n).decode()
    if size is not None and not (who.isascii() and who.isdigit() and int(who) < size):
        raise DistributedError(f"the store was sent the name {who!r}, which is no rank below {size}")
    return who


class Server:
    """Serves the store at an address and a port (0: any free one) until close().

    size is the number of processes; with None clients need not be ranks. token is the job's; None takes the one of the
    environment. A client that does not know the token, or breaks the protocol, loses its connection."""

    def __init__(self, host, port, size=None, token=None):
        self._size, self._token = size, _proof.token() if token is None else token
        self._listener = socket.create_server((host, port), backlog=512)
        self.port = self._listener.getsockname()[1]
        self._changed = threading.Condition()
        self._values, self._watchers, self._told, self._closed = {}, [], [], False
        self._guests = 0
        threading.Thread(target=self._accept, name="treadle-store", daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:  # close() was called
                return
            threading.Thread(target=self._serve, args=(sock,), name="treadle-store", daemon=True).start()

    def _serve(self, sock):
        who, well = None, False
        with self._changed:
            self._guests += 1
        try:
            with sock:
                sock.sendall(_HELLO)
                mine = _proof.challenge(sock)
                sock.settimeout(_STRANGERS)
                name = _name(sock, self._size)
                _proof.check(sock, mine, b"store", name.encode(), self._token)
                sock.settimeout(None)
                who = name
                while not well:
                    well = self._answer(who, sock, *_receive(sock))
        except (OSError, EOFError, struct.error, UnicodeDecodeError, DistributedError):
            pass  # the process has gone; the watchers learn of it below
        with self._changed:
            self._guests -= 1
        if who and not well:
            self.lose(who)

    def _answer(self, who, sock, op, key, value):
        if op == _SET:
            with self._changed:
                self._values[key] = value
                self._changed.notify_all()
        elif op == _GET:
            with self._changed:
                self._changed.wait_for(lambda: key in self._values or self._closed)
                found = self._values.get(key, b"")
            _write(sock, _GET, key, found)
        elif op == _WATCH:
            with self._changed:
                self._watchers.append(sock)
                for news in self._told:
                    _write(sock, *news)
        elif op == _BYE and value:
            self._tell(_LEFT, who.encode(), value)
        return op == _BYE

    def guests(self):
        """How many connections there are."""
        return self._guests

    def lose(self, who):
        """Tell all watchers that `who` has died."""
        self._tell(_WATCH, who.encode(), b"")

    def _tell(self, *news):
        with self._changed:
            if self._closed or news in self._told:
                return
            self._told.append(news)
            for sock in self._watchers:
                try:
                    _write(sock, *news)
                except OSError:  # that process has gone too
                    pass

    def close(self):
        """Accept no more connections, and tell the watchers that this is no failure."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for sock in self._watchers:
                try:
                    _write(sock, _BYE)
                except OSError:
                    pass
        self._listener.close()


def connect(host, ports, who, until, token):
    """Connect to the store that listens at one of the ports.

    Raises TimeoutError where none answers in time, DistributedError where the store has another token."""
    while True:
        for port in ports:
            try:
                sock = socket.create_connection((host, port), timeout=max(0.1, min(30.0, until - time.monotonic())))
            except OSError:
                continue
            try:
                if read(sock, len(_HELLO)) == _HELLO:
                    challenged = read(sock, _proof.SIZE)
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    sock.sendall(struct.pack("!I", len(who)) + who.encode())
                    _proof.prove(sock, challenged, b"store", who.encode(), token)
                    return sock
            except (OSError, EOFError):
                pass
            except DistributedError:
                sock.close()
                raise
            sock.close()
        if time.monotonic() > until:
            where = ", ".join(map(str, ports))
            raise TimeoutError(f"{who}: no answer from {host}, port {where}: is the process of rank 0 running?")
        time.sleep(0.02)


class Client:
    """One process's connection to the store."""

    def __init__(self, host, ports, who, timeout, token=None):
        self._timeout, self.token = timeout, _proof.token() if token is None else token
        until = time.monotonic() + timeout
        self._lock = threading.Lock()
        self._sock = connect(host, ports, who, until, self.token)
        self.address = self._sock.getsockname()[0]
        self._watch = None
        self._where = host, ports, who

    def watch(self, on_lost, on_left):
        """Start a thread that calls on_lost(name) when a process dies, and on_left(name, message) when one leaves
        properly."""
        host, ports, who = self._where
        self._watch = connect(host, ports, who, time.monotonic() + self._timeout, self.token)
        self._watch.settimeout(None)
        _write(self._watch, _WATCH)
        threading.Thread(
            target=self._listen, args=(self._watch, on_lost, on_left), name="treadle-watch", daemon=True
        ).start()

    def _listen(self, sock, on_lost, on_left):
        while True:
            try:
                op, who, said = _receive(sock)
            except (OSError, EOFError, DistributedError):
                if self._watch is sock:
                    on_lost("")  # the process that serves the store has gone
                return
            if op == _BYE:
                return
            if op == _LEFT:
                on_left(who.decode(), said)
            else:
                on_lost(who.decode())

    def set(self, key, value):
        with self._lock:
            _write(self._sock, _SET, key.encode(), value)

    def get(self, key, timeout=None):
        """Wait until the key is set, and return its value. Raises TimeoutError where nobody sets it."""
        with self._lock:
            self._sock.settimeout(self._timeout if timeout is None else timeout)
            try:
                _write(self._sock, _GET, key.encode())
                value = _receive(self._sock)[2]
            except TimeoutError:
                raise TimeoutError(f"waited {self._timeout} s for {key!r}: not all processes have started") from None
            except (OSError, EOFError) as error:
                why = str(error) or "no connection"
                raise PeerError(f"the process that serves the store has gone ({why})") from None
        if not value:
            raise DistributedError(f"the store was closed while {key!r} was waited for")
        return value

    def farewell(self, last=b""):
        """Tell the watchers that this process leaves properly, with `last` as its message.

        After that only watch() and close() may be called."""
        with contextlib.suppress(OSError):  # the server may have gone first
            _write(self._sock, _BYE, value=last)

    def close(self, well=True):
        """Close the connections.

        well: farewell() was called. If not, the others learn that this process has gone."""
        sock, self._watch = self._watch, None
        for s in (sock, self._sock):
            if s is None:
                continue
            try:
                if well and s is sock:
                    _write(s, _BYE)
                s.shutdown(socket.SHUT_RDWR)
            except OSError:  # the server may have gone first
                pass
            s.close()

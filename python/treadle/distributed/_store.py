"""Names and values that the processes of a program share while they find each other, and who of them has gone.

One process serves; each other one has a connection to it. A connection that ends without a farewell is a process that
died: whoever watches is told. With a farewell a process says what it has done until then, which they are told too. A
guest proves that it knows the job's token before anything else is read. The protocol is bytes with lengths in front,
nothing in it is executed.
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
_NAME, _MOST = 1 << 10, 1 << 24  # bytes of a name, of a value: what a peer may announce; theirs are far below
_LONG = 128  # digits of a process's name
_STRANGERS = 10  # seconds in which a new connection says who it is


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
    """The rank that a guest names, checked against size where that is not None."""
    n = struct.unpack("!I", read(sock, 4))[0]
    if n > _LONG:
        raise DistributedError(f"the store was sent a name of {n} bytes, where it takes {_LONG}")
    who = read(sock, n).decode()
    if size is not None and not (who.isascii() and who.isdigit() and int(who) < size):
        raise DistributedError(f"the store was sent the name {who!r}, which is no rank below {size}")
    return who


class Server:
    """Serves the store at address and port (0: any) until close().

    size: how many processes there are; None: guests need not be ranks. token: the job's; None: that of the environment.
    A guest that does not know it, or says what no process of the program would say, loses its connection."""

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
            except OSError:  # closed
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
            pass  # the process has gone; the others are told below
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
        """Tells all who watch that `who` has died."""
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
        """No more connections; those who watch are told that this is no accident."""
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
    """A socket to the store that listens at one of the ports.

    TimeoutError: none answered until then. DistributedError: it has another token."""
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
    """A process's view of the store."""

    def __init__(self, host, ports, who, timeout, token=None):
        self._timeout, self.token = timeout, _proof.token() if token is None else token
        until = time.monotonic() + timeout
        self._lock = threading.Lock()
        self._sock = connect(host, ports, who, until, self.token)
        self.address = self._sock.getsockname()[0]
        self._watch = None
        self._where = host, ports, who

    def watch(self, on_lost, on_left):
        """From now on a thread calls on_lost(name) for each process that dies, on_left(name, what it said) for those
        that end well."""
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
                    on_lost("")  # the process that runs the store
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
        """The value, once somebody has set it. TimeoutError: nobody did."""
        with self._lock:
            self._sock.settimeout(self._timeout if timeout is None else timeout)
            try:
                _write(self._sock, _GET, key.encode())
                value = _receive(self._sock)[2]
            except TimeoutError:
                raise TimeoutError(f"waited {self._timeout} s for {key!r}: not all processes have started") from None
            except (OSError, EOFError) as error:
                raise PeerError(f"the process that serves the store has gone ({error or 'no connection'})") from None
        if not value:
            raise DistributedError(f"the store was closed while {key!r} was waited for")
        return value

    def farewell(self, last=b""):
        """Tells those who watch that this process ends well, and `last`. Left to do: to watch, and to close."""
        with contextlib.suppress(OSError):  # the server went first
            _write(self._sock, _BYE, value=last)

    def close(self, well=True):
        """well: farewell() has been said; else the others are told that this process has gone."""
        sock, self._watch = self._watch, None
        for s in (sock, self._sock):
            if s is None:
                continue
            try:
                if well and s is sock:
                    _write(s, _BYE)
                s.shutdown(socket.SHUT_RDWR)
            except OSError:  # the server went first
                pass
            s.close()

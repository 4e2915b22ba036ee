"""Stores of names and values that processes share: TCPStore, FileStore, HashStore, and PrefixStore on top of one of
them."""

import contextlib
import fcntl
import os
import socket
import struct
import threading
import time
from datetime import timedelta

from ...distributed import DistributedError as DistStoreError
from ...distributed import _proof
from ...distributed._proof import read

_HEAD = struct.Struct("!I")
_MOST = 1 << 28  # bytes of a request; a peer could announce any number
_STRANGERS = 10  # seconds that a new connection has to prove that it belongs to the job


class Store:
    """The base class. A subclass defines _do(operation, key, *values), which acts without waiting. It returns None for
    a missing value."""

    def __init__(self):
        self._seconds = 300.0

    timeout = property(lambda self: timedelta(seconds=self._seconds), doc="How long get() and wait() wait.")

    def set_timeout(self, timeout):
        """Set how long get() and wait() wait."""
        self._seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)

    def set(self, key, value):
        """Set key's value, a text or bytes."""
        self._do("set", key, _bytes(value))

    def get(self, key):
        """The value of key, as bytes. Waits until there is one. Raises DistStoreError after the timeout."""
        self.wait([key])
        return self._do("get", key)

    def add(self, key, amount):
        """Add amount to key's number, and return it."""
        return int(self._do("add", key, int(amount)))

    def append(self, key, value):
        """Append value to key's value."""
        self._do("append", key, _bytes(value))

    def compare_set(self, key, expected_value, desired_value):
        """Set key to the desired value if it has the expected one, or if it has none and "" is expected. Returns the
        value that it has then."""
        return self._do("compare_set", key, _bytes(expected_value), _bytes(desired_value))

    def check(self, keys):
        """Do all these keys exist?"""
        return all(self._do("has", k) for k in keys)

    def delete_key(self, key):
        """Remove the key. Returns whether it existed."""
        return self._do("delete", key)

    def num_keys(self):
        """The number of keys."""
        return self._do("count", "")

    def multi_get(self, keys):
        """The values of several keys."""
        return [self.get(k) for k in keys]

    def multi_set(self, keys, values):
        """Set the values of several keys."""
        for k, v in zip(keys, values, strict=True):
            self.set(k, v)

    def wait(self, keys, timeout=None):
        """Wait until all these keys exist. Raises DistStoreError after the timeout."""
        given = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        seconds = self._seconds if given is None else given
        until, pause = time.monotonic() + seconds, 0.0005
        while not self.check(keys):
            if time.monotonic() > until:
                missing = [k for k in keys if not self.check([k])]
                raise DistStoreError(f"wait timeout after {round(seconds * 1000)}ms, keys: {', '.join(missing)}")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def __getstate__(self):
        raise TypeError(f"{type(self).__name__} cannot be pickled: make one in each process")


def _bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def _done(values, operation, key, *given):
    """The operations of a store, on a dict of values."""
    if operation == "set":
        values[key] = given[0]
    elif operation == "get":
        return values.get(key)
    elif operation == "add":
        values[key] = str(int(values.get(key, b"0")) + given[0]).encode()
        return int(values[key])
    elif operation == "append":
        values[key] = values.get(key, b"") + given[0]
    elif operation == "compare_set":
        has = values.get(key)
        if has == given[0] or (has is None and not given[0]):
            values[key] = has = given[1]
        return given[0] if has is None else has
    elif operation == "has":
        return key in values
    elif operation == "delete":
        return values.pop(key, None) is not None
    elif operation == "count":
        return len(values)
    return None


class HashStore(Store):
    """A store for the threads of one process."""

    def __init__(self):
        super().__init__()
        self._values, self._lock = {}, threading.Lock()

    def _do(self, operation, key, *given):
        with self._lock:
            return _done(self._values, operation, key, *given)


class FileStore(Store):
    """A store in a file that all processes can read and write. It stays when the last of world_size processes leaves.
    """

    def __init__(self, file_name, world_size=-1):
        super().__init__()
        self.path = os.fspath(file_name)

    def _do(self, operation, key, *given):
        with open(self.path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            values = _parsed(file.read())
            result = _done(values, operation, key, *given)
            if operation not in ("get", "has", "count"):
                file.seek(0)
                file.truncate()
                file.write(b"".join(_framed(k.encode()) + _framed(v) for k, v in values.items()))
            return result


def _framed(data):
    return _HEAD.pack(len(data)) + data


def _parsed(data):
    """{key: value} of a file's bytes."""
    parts, at = [], 0
    while at < len(data):
        (n,) = _HEAD.unpack_from(data, at)
        parts.append(data[at + 4 : at + 4 + n])
        at += 4 + n
    return {k.decode(): v for k, v in zip(parts[::2], parts[1::2], strict=True)}


class PrefixStore(Store):
    """A store whose keys get a prefix in another store."""

    def __init__(self, prefix, store):
        super().__init__()
        self.prefix, self.underlying_store = prefix, store

    def _do(self, operation, key, *given):
        return self.underlying_store._do(operation, f"{self.prefix}/{key}", *given)


_OPERATIONS = ("set", "get", "add", "append", "compare_set", "has", "delete", "count")


def _sent(sock, parts):
    """Encode parts (texts, bytes, numbers or None), each with its kind. Reading them executes nothing."""
    data = b""
    for p in parts:
        kind = b"n" if p is None else b"s" if isinstance(p, str) else b"b" if isinstance(p, bytes) else b"i"
        part = {b"n": lambda p: b"", b"s": str.encode, b"b": bytes, b"i": lambda p: str(int(p)).encode()}[kind](p)
        data += kind + _framed(part)
    sock.sendall(_framed(data))


def _received(sock):
    (n,) = _HEAD.unpack(read(sock, 4))
    if n > _MOST:
        raise DistStoreError(f"the store was sent {n} bytes, where it takes {_MOST}")
    data, at, parts = read(sock, n), 0, []
    while at < n:
        kind, (size,) = data[at : at + 1], _HEAD.unpack_from(data, at + 1)
        part = data[at + 5 : at + 5 + size]
        parts.append({b"n": lambda p: None, b"s": bytes.decode, b"b": bytes, b"i": int}[kind](part))
        at += 5 + size
    return parts


class TCPStore(Store):
    """A store that one process (is_master=True) serves at host_name and port, or at any port for 0. The others connect
    to it.

    wait_for_workers: wait until world_size processes have connected. Raises DistStoreError without an answer within
    timeout.
    """

    def __init__(
        self, host_name, port=0, world_size=None, is_master=False, timeout=timedelta(seconds=300),
        wait_for_workers=True, multi_tenant=False, master_listen_fd=None, use_libuv=True,
    ):  # fmt: skip
        super().__init__()
        self.set_timeout(timeout)
        self.host, self.port, self._listener = host_name, port, None
        self._lock, self._token = threading.Lock(), _proof.token()
        if is_master:
            self._listener = socket.create_server((host_name, port), backlog=512)
            self.port = self._listener.getsockname()[1]
            self._held = HashStore()
            threading.Thread(target=self._accept, name="treadle-tcp-store", daemon=True).start()
        self._sock = self._connected()
        count = self.add("init/", 1)
        if wait_for_workers and world_size is not None and is_master:
            self._await(world_size, count)

    def _connected(self):
        until = time.monotonic() + self._seconds
        while True:
            try:
                sock = socket.create_connection((self.host, self.port), timeout=self._seconds)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _proof.prove(sock, read(sock, _proof.SIZE), b"tcp store", b"", self._token)
                return sock
            except (OSError, EOFError) as error:
                if time.monotonic() > until:
                    raise DistStoreError(
                        f"TCPStore: no answer from {self.host}, port {self.port}, in {self._seconds} seconds ({error})"
                    ) from None
            time.sleep(0.02)

    def _await(self, world_size, count):
        until = time.monotonic() + self._seconds
        while count < world_size:
            if time.monotonic() > until:
                raise DistStoreError(f"TCPStore: {count} of {world_size} processes came within {self._seconds} seconds")
            time.sleep(0.005)
            count = self.add("init/", 0)

    def _accept(self):
        with contextlib.suppress(OSError):  # the connection is closed
            while True:
                sock, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(sock,), name="treadle-tcp-store", daemon=True).start()

    def _serve(self, sock):
        with sock, contextlib.suppress(OSError, EOFError, ValueError, KeyError, struct.error, DistStoreError):
            sock.settimeout(_STRANGERS)
            _proof.check(sock, _proof.challenge(sock), b"tcp store", b"", self._token)
            sock.settimeout(None)
            while True:
                operation, key, *given = _received(sock)
                if operation not in _OPERATIONS:
                    return
                _sent(sock, [self._held._do(operation, key, *given)])

    def _do(self, operation, key, *given):
        with self._lock:
            _sent(self._sock, [operation, key, *given])
            (result,) = _received(self._sock)
        return bool(result) if operation in ("has", "delete") else result

    def num_keys(self):
        """The number of keys."""
        return super().num_keys() - 1  # without the key that counts the processes

    def __del__(self):
        for held in (getattr(self, "_sock", None), getattr(self, "_listener", None)):
            if held is not None:
                held.close()

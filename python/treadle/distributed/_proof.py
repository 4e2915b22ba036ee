"""Proof that both ends of a connection belong to one job.

The processes of a job share a token: bytes that its launcher hands them in the environment (TREADLE_JOB_TOKEN) or in a
file (TREADLE_JOB_TOKEN_FILE). Both ends of a new connection send a random challenge, and prove by an HMAC over both
challenges that they know the token; it is never sent. Without a token the same bytes are exchanged and prove nothing.
"""

import hmac
import os
import secrets
import stat

from ._errors import DistributedError

TOKEN, FILE = "TREADLE_JOB_TOKEN", "TREADLE_JOB_TOKEN_FILE"
SIZE = 32  # bytes of a challenge and of a proof (SHA-256)
_REFUSED = bytes(SIZE)


def read(sock, n):
    """Read n bytes from the socket. Raises EOFError where it ends before."""
    data = bytearray()
    while len(data) < n:
        piece = sock.recv(min(n - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _from_file(path):
    """The token in a file, without surrounding white space.

    Raises DistributedError where other users could read or write the file."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid not in (os.getuid(), 0) or stat.S_IMODE(found.st_mode) & 0o077:
            raise DistributedError(
                f"{FILE}={path}: others than its owner may read or change it; take their rights away (chmod 600)"
            )
        return file.read(1 << 12).strip()


def token(env=None):
    """The job's token, or b"" where it has none."""
    env = os.environ if env is None else env
    if env.get(TOKEN):
        return env[TOKEN].encode()
    return _from_file(env[FILE]) if env.get(FILE) else b""


def new():
    """A token for a job that this process starts."""
    return secrets.token_hex(SIZE)


def _proof(key, side, purpose, first, second, who):
    return hmac.digest(key, b"\0".join([b"treadle", side, purpose, who]) + first + second, "sha256")


def challenge(sock):
    """On the accepting side: send a random challenge and return it."""
    mine = secrets.token_bytes(SIZE)
    sock.sendall(mine)
    return mine


def check(sock, mine, purpose, who, key):
    """On the accepting side, after reading `who`: read the other side's challenge and proof, and answer with the own
    proof.

    mine is what challenge() returned. Raises DistributedError where the other side does not know the token."""
    theirs, shown = read(sock, SIZE), read(sock, SIZE)
    if not hmac.compare_digest(shown, _proof(key, b"guest", purpose, mine, theirs, who)):
        sock.sendall(_REFUSED)
        raise DistributedError("a connection whose other end does not know the job's token")
    sock.sendall(_proof(key, b"host", purpose, theirs, mine, who))


def prove(sock, challenged, purpose, who, key):
    """On the connecting side, after sending `who`: answer the challenge that was read, and check the other side's
    proof.

    Raises DistributedError where the two sides do not have the same token."""
    mine = secrets.token_bytes(SIZE)
    sock.sendall(mine + _proof(key, b"guest", purpose, challenged, mine, who))
    shown = read(sock, SIZE)
    if not hmac.compare_digest(shown, _proof(key, b"host", purpose, mine, challenged, who)):
        host, port = sock.getpeername()[:2]
        own = "this process has one" if key else "this process has none"
        raise DistributedError(
            f"the process at {host}, port {port}, does not have this job's token ({own}): set {TOKEN} or {FILE} to the "
            "same value in all processes"
        )

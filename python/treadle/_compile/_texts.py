"""Source texts that no file holds: ``python -c``, ``python -``, ``exec(text)``, doctests, an interactive session.

A text found here is only a guess. The caller checks that it compiles to the code that runs.
"""

import collections
import contextlib
import os
import stat
import sys
import textwrap
import threading

from .. import _core

OWN = "<treadle>"  # the file name under which texts are compiled for that check
_MOST = 4 << 20  # characters kept
_LAST_LINES = 200

_STATEMENTS = 8  # most of a tree that is kept: those of whole files are in the files

trees = collections.deque(maxlen=32)  # syntax trees that Python compiled, the latest last
_checking = []  # the threads that are in unkept()
_kept = collections.OrderedDict()  # (file, text): None, in the order in which Python compiled them
_size = 0


def keep(text, file):
    """Keep a text or a syntax tree that Python compiles, unless a file holds it. Of all texts together the latest 4 Mi
    characters are kept. Python tells no file of a tree."""
    global _size
    if file == OWN:
        return
    if file is None:
        body = getattr(text, "body", None)
        if type(body) is list and len(body) <= _STATEMENTS and threading.get_ident() not in _checking:
            trees.append(text)
        return
    if type(text) is bytes:
        text = text.decode("utf-8", "replace")
    if type(text) is not str or type(file) is not str or ("def " not in text and "lambda" not in text):
        return
    if (file, text) in _kept:
        _kept.move_to_end((file, text))
        return
    if len(text) > _MOST or not (file.startswith("<") or not os.path.exists(file)):
        return
    _kept[file, text] = None
    _size += len(text)
    while _size > _MOST:
        (_, old), _ = _kept.popitem(last=False)
        _size -= len(old)


@contextlib.contextmanager
def unkept():
    """What this thread compiles meanwhile is treadle's."""
    _checking.append(threading.get_ident())
    try:
        yield
    finally:
        _checking.remove(threading.get_ident())


def watch():
    """Make the core pass every text that Python compiles to keep()."""
    _core._keep_texts(keep)


def candidates(code):
    """Yield texts that the code object may come from, the likeliest first."""
    file, name = code.co_filename, code.co_name.strip("<>")
    for text in _all(file, code):
        if name in text:
            yield text
            if text[:1] in " \t\n":  # as in exec(textwrap.dedent(text).strip())
                yield textwrap.dedent(text)
                yield textwrap.dedent(text).lstrip()


def _all(file, code):
    yield from [text for f, text in reversed(list(_kept)) if f == file]
    if file == "<string>":
        yield from _of_command()
    if file == "<stdin>":
        yield from _of_stdin()
        yield from _typed(code)
    yield from _in_frames()


def _of_command():
    """The text of ``python -c``."""
    arguments = iter(sys.orig_argv[1:])
    for argument in arguments:
        if not argument.startswith("-") or argument.startswith("--"):
            return
        for at, letter in enumerate(argument[1:], 2):
            if letter in "cmWX":
                value = argument[at:] or next(arguments, "")
                if letter == "c":
                    yield value
                if letter in "cm":
                    return
                break


def _of_stdin():
    """The program that Python reads from standard input.

    A file is read again; of a pipe only Python's buffer is left."""
    try:
        about = os.fstat(0)
        if stat.S_ISREG(about.st_mode):
            yield os.pread(0, min(about.st_size, _MOST), 0).decode("utf-8", "replace")
            return
    except OSError:
        return
    yield from _beginnings(_core._stdin_buffer())


def _beginnings(buffer):
    """Yield texts that a buffer may begin with, the longest first.

    The program may end before the buffer does, and what follows is old memory. So each of the last lines may be the
    end."""
    text = buffer.split(b"\0")[0].decode("utf-8", "replace")
    yield text
    for _ in range(_LAST_LINES):
        text, newline, _ = text.rpartition("\n")
        if not newline:
            return
        yield text + newline


def _typed(code):
    """Yield texts typed in an interactive session. A statement there begins at line 1, so its first line identifies
    it."""
    history = sys.modules.get("readline")
    if history is None:
        return
    n = history.get_current_history_length()
    lines = [history.get_history_item(i) or "" for i in range(max(1, n - 2000), n + 1)]
    for i in range(len(lines) - 1, -1, -1):
        begin = lines[i].lstrip()
        if begin.startswith((f"def {code.co_name}", "@")) or (code.co_name == "<lambda>" and "lambda" in begin):
            yield "\n".join(lines[max(0, i - code.co_firstlineno + 1) :]) + "\n"


def _in_frames():
    """Yield strings in the variables and constants of running functions: the caller of exec() often holds the text
    there."""
    frame, seen = sys._getframe(), set()
    while frame is not None:
        for names in (frame.f_locals, frame.f_globals):
            if id(names) not in seen:
                seen.add(id(names))
                yield from _texts_among(list(names.values()))
        yield from _texts_among(frame.f_code.co_consts)
        frame = frame.f_back


def _texts_among(values):
    return [v for v in values if type(v) is str and len(v) <= _MOST and ("def " in v or "lambda" in v)]

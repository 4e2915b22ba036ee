"""The compiled code on disk: what is there, and files of it that other machines and images of containers take over."""

import os
import re
import tempfile
import zipfile
from pathlib import Path

from . import config as _config
from ._public import dir_of as _dir_of
from ._words import refusing as _refusing

_NAME = re.compile(r"[0-9a-f]{32}\.(o|cu|cubin|null)")
_MAGIC = b"treadle\0"
_LARGEST = 1 << 28  # bytes of an entry


def _folder():
    given = _config.cache_dir
    if given == "":
        raise RuntimeError("there is no cache on disk: TREADLE_CACHE_DIR, or treadle.config.cache_dir, is empty")
    return Path(given) if given else Path.home() / ".cache" / "treadle"


def _entries(folder):
    """(path, status) of each entry that is there."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if _NAME.fullmatch(path.name):
            try:
                yield path, path.stat()
            except FileNotFoundError:  # another process removed it
                continue


def info():
    """Tell where compiled code is kept and how much there is.

    Returns
    -------
    dict
        folder (str), entries (int), nbytes (int).

    Raises
    ------
    RuntimeError
        Compiled code is kept in memory only.

    Examples
    --------
    >>> sorted(np.cache.info())
    ['entries', 'folder', 'nbytes']
    """
    folder = _folder()
    sizes = [status.st_size for _, status in _entries(folder)]
    return {"folder": str(folder), "entries": len(sizes), "nbytes": sum(sizes)}


def save(file):
    """Write the entries of the cache into one file, for load() on another machine.

    An entry counts on machines with the same build of treadle and the same kind of processor, or the same GPU
    architecture and driver; elsewhere it lies unused. To have one program's entries alone, run it with an empty
    TREADLE_CACHE_DIR before.

    Parameters
    ----------
    file : str or path
        The file, a zip archive; one that is there is replaced once the new one is whole.

    Returns
    -------
    int
        How many entries were written.

    Raises
    ------
    RuntimeError
        Compiled code is kept in memory only.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> np.cache.save("kernels.zip")  # doctest: +SKIP
    118
    """
    file, count = Path(file), 0
    entries = [path for path, _ in _entries(_folder())]
    handle, made = tempfile.mkstemp(dir=file.absolute().parent, prefix=".treadle")
    try:
        with os.fdopen(handle, "wb") as f, zipfile.ZipFile(f, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in entries:
                try:
                    archive.writestr(path.name, path.read_bytes())
                except FileNotFoundError:
                    continue
                count += 1
        os.replace(made, file)
    except BaseException:
        os.unlink(made)
        raise
    return count


def load(file):
    """Add the entries of a file that save() wrote to the cache.

    The entries are machine code that this process will run: load only files whose makers you trust.

    Parameters
    ----------
    file : str or path
        The file.

    Returns
    -------
    int
        How many entries are new; those that were there stay.

    Raises
    ------
    ValueError
        The file is none of save()'s, or one of its entries is broken. Nothing has been added.
    PermissionError
        The folder of the cache belongs to somebody else, or others may write it.
    RuntimeError
        Compiled code is kept in memory only.

    Examples
    --------
    >>> np.cache.load("kernels.zip")  # doctest: +SKIP
    118
    """
    folder = _folder()
    found = _checked(file)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError(f"{folder} must belong to this user, and nobody else may write it")
    added = 0
    for name, code in found:
        if not (folder / name).exists():
            handle, made = tempfile.mkstemp(dir=folder, prefix=".load")
            with os.fdopen(handle, "wb") as f:
                f.write(code)
            os.replace(made, folder / name)
            added += 1
    return added


def _checked(file):
    """[(name, bytes)] of the file's entries."""
    found = []
    try:
        with zipfile.ZipFile(file) as archive:
            for item in archive.infolist():
                if not _NAME.fullmatch(item.filename) or item.file_size > _LARGEST:
                    what = f"{item.filename!r} of {item.file_size} bytes"
                    raise ValueError(f"{file}: {what} is no entry of a kernel cache")
                code = archive.read(item)
                if not code.startswith(_MAGIC):
                    raise ValueError(f"{file}: {item.filename} does not begin as an entry of a kernel cache")
                found.append((item.filename, code))
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError) as e:
        raise ValueError(f"{file}: no file of treadle.cache.save(): {e}") from e
    return found


def clear():
    """Remove all entries of the cache. Kernels that are in memory stay.

    Returns
    -------
    int
        How many there were.

    Raises
    ------
    RuntimeError
        Compiled code is kept in memory only.

    Examples
    --------
    >>> np.cache.clear() >= 0  # doctest: +SKIP
    True
    """
    count = 0
    for path, _ in list(_entries(_folder())):
        path.unlink(missing_ok=True)
        count += 1
    return count


__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)

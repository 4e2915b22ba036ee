"""nvcc.py OBJECT SOURCE HEADERS -- COMMAND - compiles SOURCE by `COMMAND -c source -o object`, to the same bytes
wherever the sources lie.

nvcc names what has no name, in NVIDIA's own headers too, by a hash of the folder that it works in, of the source's time
and of its own process. So it works in a folder whose name is that of the object: sources are copied there, and have no
time. A lock keeps two builds of one machine apart.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def own(folder):
    """Whether the folder, made where it is missing, is this user's alone."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o077 and not folder.is_symlink()


def workplace(name):
    """The folder for an object of that name; where another user has it, one with this user's number."""
    for end in ("", f"-{os.getuid()}"):
        folder = pathlib.Path(tempfile.gettempdir()) / f"treadle-nvcc-{name}{end}"
        if own(folder):
            return folder
    raise SystemExit(f"nvcc.py: {folder} is not a folder of this user's alone; remove it")


def main(arguments):
    at = arguments.index("--")
    given, command = arguments[:at], arguments[at + 1 :]
    out, *sources = map(pathlib.Path, given)
    folder = workplace(out.stem)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for source in sources:
            shutil.copyfile(source, folder / source.name)
            os.utime(folder / source.name, (0, 0))
        command += [f"--frandom-seed={out.stem}", "-c", sources[0].name, "-o", "object.o"]
        status = subprocess.run(command, cwd=folder, check=False).returncode
        if status == 0:
            shutil.copyfile(folder / "object.o", out)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What readelf says of a shared library: the libraries that it needs, its symbols and their versions."""

import re
import subprocess
from typing import NamedTuple

MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}
NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.*)\]")


class Symbol(NamedTuple):
    name: str
    version: str  # as "GLIBC_2.34"; "" without one
    kind: str  # FUNC, IFUNC, OBJECT, TLS, NOTYPE
    weak: bool
    defined: bool
    size: int


def _readelf(*args):
    return subprocess.run(["readelf", "-W", *map(str, args)], check=True, capture_output=True, text=True).stdout


def machine(library):
    """What the kernel calls the machine that the library is for; readelf's name where that is not known."""
    name = re.search(r"Machine:\s+(.*)", _readelf("-h", library))[1].strip()
    return MACHINES.get(name, name)


def needed(library):
    """The names of the libraries that the loader brings with this one."""
    return NEEDED.findall(_readelf("-d", library))


def symbols(library):
    """The library's dynamic symbols, those that it defines for others and those that it wants of others."""
    for line in _readelf("--dyn-syms", library).splitlines():
        match line.split():
            case [_, _, _, _, "LOCAL", *_] | [_, _, _, _, _, _, "ABS", *_]:
                continue
            case [number, _, size, kind, bind, _, index, name, *_] if number[:-1].isdigit():
                name, _, version = name.partition("@")
                yield Symbol(name, version.lstrip("@"), kind, bind == "WEAK", index != "UND", int(size, 0))


def release(version):
    """(2, 34) of "GLIBC_2.34"; None where the version is not a number, as in GLIBC_PRIVATE."""
    numbers = version.rpartition("_")[2].split(".")
    return tuple(map(int, numbers)) if all(n.isdigit() for n in numbers) else None

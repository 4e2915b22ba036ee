"""Fail where a wheel is not what strangers can install; print the platform tag that its libraries have been proved for.

Usage: wheel_check.py WHEEL

The wheel has to hold its licence files, named by its metadata, and nothing that only tests load, and to be no bigger
than MOST_BYTES.  Its libraries may ask of the system what the manylinux standard of PLATFORM allows: symbols up to the
standard's versions, and the libraries that it lists.
"""

import email
import pathlib
import sys
import tempfile
import tomllib
import zipfile

import elf
import notices
import old_glibc

PLATFORM = "manylinux_{}_{}_x86_64".format(*old_glibc.RELEASE)
PYTHON = "cp311-abi3"
MOST_BYTES = 22_000_000
NEWEST = {"GLIBC": old_glibc.RELEASE, "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
# Of the libraries that the standard lists, those of the C library: what every system has.
SYSTEM = {"ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
TESTS = ["libtreadle_null"]


def licence_complaints(wheel, table):
    """What the wheel, an open archive, lacks of its licences."""
    names = wheel.namelist()
    info = next(name for name in names if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(info))
    if metadata["License-Expression"] != notices.expression(table):
        yield f"License-Expression is {metadata['License-Expression']}"
    if metadata.get_all("License-File", []) != table["wheel"]["files"]:
        yield f"License-File is {metadata.get_all('License-File')}"
    for file in table["wheel"]["files"]:
        want = (notices.TOP / file).read_bytes()
        for place in (f"{info.rpartition('/')[0]}/licenses/{file}", f"treadle/licenses/{file}"):
            if place not in names or wheel.read(place) != want:
                yield f"{place} is missing or is not the repository's"


def python_complaints(wheel):
    """Whether the wheel is for every CPython from the oldest that treadle supports."""
    text = next(wheel.read(name) for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
    for tag in email.message_from_bytes(text).get_all("Tag", []):
        if not tag.startswith(PYTHON + "-"):
            yield f"is for {tag}, not for {PYTHON}"


def newer(symbol):
    """Whether the standard's systems may lack the symbol."""
    family, _, _ = symbol.version.partition("_")
    release = elf.release(symbol.version)
    return family not in NEWEST or release is None or release > NEWEST[family]


def library_complaints(library, siblings):
    """What a library asks of a system that it may not have; siblings are the names of the wheel's libraries."""
    for name in elf.needed(library):
        if name not in SYSTEM and name not in siblings:
            yield f"needs {name}, which systems may lack"
    for symbol in elf.symbols(library):
        if not symbol.defined and symbol.version and newer(symbol):
            yield f"needs {symbol.name} of {symbol.version}, newer than {PLATFORM} allows"


def complaints(path, table):
    size = path.stat().st_size
    if size > MOST_BYTES:
        yield f"has {size:,} bytes, {size - MOST_BYTES:,} more than it may"
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        tests = [name for name in wheel.namelist() if any(test in name for test in TESTS)]
        yield from (f"{name} is the tests'" for name in tests)
        yield from licence_complaints(wheel, table)
        yield from python_complaints(wheel)
        libraries = {name: wheel.extract(name, folder) for name in wheel.namelist() if name.endswith(".so")}
        siblings = {pathlib.Path(name).name for name in libraries}
        for name in libraries.keys() - set(tests):
            yield from (f"{name} {line}" for line in library_complaints(libraries[name], siblings))


def main(path):
    path = pathlib.Path(path)
    found = list(complaints(path, tomllib.loads(notices.TABLE.read_text(encoding="utf-8"))))
    for line in found:
        print(f"{path.name}: {line}", file=sys.stderr)
    if not found:
        print(PLATFORM)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

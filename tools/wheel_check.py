"""Fail where a wheel is not what strangers can install; print the platform tag that its libraries have been proved for.

Usage: wheel_check.py WHEEL

The wheel has to hold the package's files as they are here, its licence files, named by its metadata, and nothing else
but what FOLDERS names, and to be no bigger than MOST_BYTES.  Its libraries have to be for the machine of its name, and
may ask of the system what the manylinux standard of old_glibc.RELEASE allows: symbols up to the standard's versions,
and the libraries that it lists.  They show the loader no name but treadle's own, so that another package's LLVM is
never taken for theirs.
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

PLATFORM = "manylinux_{}_{}_".format(*old_glibc.RELEASE)  # the machine follows
PYTHON = "cp311-abi3"
MOST_BYTES = 22_500_000
NEWEST = {"GLIBC": old_glibc.RELEASE, "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
# Of the libraries that the standard lists, those of the C library: what every system has.
SYSTEM = {*old_glibc.LOADERS.values(), "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
PACKAGE = notices.TOP / "python"
LEFT_OUT = {".pyc"}
FOLDERS = ("treadle/examples/", "treadle/include/", "treadle/licenses/")  # whose files come from elsewhere
# The wheel's libraries, and how the names begin that they may show; the device that tests load is not among them.
LIBRARIES = {
    "treadle/_core.abi3.so": ("PyInit__core",),
    "treadle/libtreadle.so": ("td_", "treadle_"),
    "treadle/libtreadle_jit.so": ("td_lower_open",),
    "treadle/libtreadle_cub.so": ("td_cub_open",),
    "treadle/libtreadle_fft.so": ("td_ducc_base", "td_ducc_avx2"),
}
OPTIONAL = {"treadle/libtreadle_cub.so"}  # left out where no nvcc was there to compile it


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


def content_complaints(wheel):
    """Files of the package that are missing or other than here, and files that have no business in it."""
    names = {name for name in wheel.namelist() if not name.endswith("/")}
    own = {str(path.relative_to(PACKAGE)): path for path in (PACKAGE / "treadle").rglob("*")}
    own = {name: path for name, path in own.items() if path.is_file() and path.suffix not in LEFT_OUT}
    for name, path in own.items():
        if name not in names or wheel.read(name) != path.read_bytes():
            yield f"{name} is missing or is not the repository's"
    yield from (f"{name} is missing" for name in LIBRARIES.keys() - OPTIONAL - names)
    for name in sorted(names - own.keys() - LIBRARIES.keys()):
        if not name.startswith(FOLDERS) and not name.partition("/")[0].endswith(".dist-info"):
            yield f"{name} is no part of the package"


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
            yield f"needs {symbol.name} of {symbol.version}, newer than {PLATFORM[:-1]} allows"


def machine_complaints(library, machine):
    """Whether a library is for the machine that the wheel's name tells."""
    found = elf.machine(library)
    if found != machine:
        yield f"is for {found}, and the wheel for {machine}"


def shown_complaints(library, begins):
    """Names that a library shows the loader and that do not begin as they should."""
    for symbol in elf.symbols(library):
        if symbol.defined and symbol.name and not symbol.name.startswith(begins):
            yield f"shows the loader {symbol.name}, which is not treadle's"


def machine_of(path):
    """The machine that a wheel's name tells."""
    return next((machine for machine in old_glibc.LOADERS if path.stem.endswith(f"_{machine}")), "another machine")


def complaints(path, table):
    size = path.stat().st_size
    if size > MOST_BYTES:
        yield f"has {size:,} bytes, {size - MOST_BYTES:,} more than it may"
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        yield from content_complaints(wheel)
        yield from licence_complaints(wheel, table)
        yield from python_complaints(wheel)
        libraries = {name: wheel.extract(name, folder) for name in LIBRARIES.keys() & set(wheel.namelist())}
        siblings = {pathlib.Path(name).name for name in libraries}
        for name, library in libraries.items():
            yield from (f"{name} {line}" for line in machine_complaints(library, machine_of(path)))
            yield from (f"{name} {line}" for line in library_complaints(library, siblings))
            yield from (f"{name} {line}" for line in shown_complaints(library, LIBRARIES[name]))


def main(path):
    path = pathlib.Path(path)
    found = list(complaints(path, tomllib.loads(notices.TABLE.read_text(encoding="utf-8"))))
    for line in found:
        print(f"{path.name}: {line}", file=sys.stderr)
    if not found:
        print(PLATFORM + machine_of(path))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

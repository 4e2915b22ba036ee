"""What strangers' systems are asked for: the checks of a wheel can fail, and what is linked for an old C library runs."""

import ctypes
import os
import pathlib
import platform
import subprocess
import sys
import types
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import elf  # noqa: E402
import find_libdevice  # noqa: E402
import old_glibc  # noqa: E402
import wheel_check  # noqa: E402

import matrix  # noqa: E402
import treadle as td  # noqa: E402

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of GNU's C library")
MERGED = pytest.mark.skipif(
    tuple(map(int, (platform.libc_ver()[1] or "0").split("."))) < (2, 34), reason="this C library is hardly newer"
)
MAIN = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

static void *
twice(void *p)
{
    *(double *)p *= 2;
    return NULL;
}

double
threaded(double x)
{
    pthread_t t;
    double y = exp(log(pow(x, 1.5))) + hypot(3, 4);

    if (pthread_create(&t, NULL, twice, &y) || pthread_join(t, NULL))
        return -1;
    return y;
}

long
size_of(const char *path, int dir, const char *name, int fd)
{
    struct stat a, b, c, d;

    if (stat(path, &a) || lstat(path, &b) || fstatat(dir, name, &c, 0) || fstat(fd, &d))
        return -1;
    return a.st_size == b.st_size && b.st_size == c.st_size && c.st_size == d.st_size ? (long)a.st_size : -2;
}

int fifo(const char *path) { return mknod(path, S_IFIFO | 0600, 0); }
void *loaded(const char *name) { return dlsym(dlopen(NULL, RTLD_NOW), name); }
unsigned drawn(void) { return arc4random(); }
size_t arena(void) { return mallinfo2().arena; }
"""
THROWS = r"""
#include <stdexcept>
#include <string>

static int
thrown(int n)
{
    if (n == 0)
        throw std::runtime_error("from below");
    return thrown(n - 1) + 1;
}

extern "C" int
caught(int n)
{
    std::string text;

    try {
        return thrown(n);
    } catch (const std::runtime_error &e) {
        text = e.what();
    }
    return (int)text.size();
}
"""


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """The linker's arguments for an old C library, as meson.build has them."""
    folder = tmp_path_factory.mktemp("stubs")
    old_glibc.write(folder, ["cc"])
    return [f"-L{folder}", "-Wl,--push-state,--no-as-needed,-lpthread,-ldl,-lrt,--pop-state"]


def link(folder, text, *arguments, compiler="cc", kind="c"):
    source, library = folder / f"source.{kind}", folder / f"library{len(list(folder.iterdir()))}.so"
    source.write_text(text)
    subprocess.run(
        [compiler, "-O1", "-fPIC", "-shared", "-Wl,--no-undefined", source, *arguments, "-lm", "-o", library],
        check=True,
    )
    return library


def complaints(library, *siblings):
    return list(wheel_check.library_complaints(library, set(siblings)))


# ---- libraries linked for an old C library ----


@MERGED
def test_a_library_for_this_machine_is_found_too_new(tmp_path):
    found = complaints(link(tmp_path, MAIN))
    assert any("pthread_create of GLIBC_2.34" in line for line in found), found
    assert any("stat of GLIBC_2.33" in line for line in found), found


def test_a_library_for_an_old_system_asks_for_nothing_newer_and_works(stubs, tmp_path):
    path = link(tmp_path, MAIN, *stubs)
    assert complaints(path) == []
    assert not {"stat", "arc4random", "mallinfo2"} & {symbol.name for symbol in elf.symbols(path)}  # hidden
    library = ctypes.CDLL(str(path))
    library.threaded.restype, library.threaded.argtypes = ctypes.c_double, [ctypes.c_double]
    assert library.threaded(4.0) == pytest.approx(26.0, rel=1e-15)
    (tmp_path / "text").write_bytes(b"x" * 4321)
    folder, file = os.open(tmp_path, os.O_RDONLY), os.open(tmp_path / "text", os.O_RDONLY)
    library.size_of.restype = ctypes.c_long
    assert library.size_of(bytes(tmp_path / "text"), folder, b"text", file) == 4321
    assert library.size_of(bytes(tmp_path / "none"), folder, b"none", file) == -1
    os.close(folder), os.close(file)
    assert library.fifo(bytes(tmp_path / "fifo")) == 0 and (tmp_path / "fifo").is_fifo()
    library.loaded.restype = library.arena.restype = ctypes.c_size_t
    assert library.loaded(b"malloc") and not library.loaded(b"no such name")
    assert library.arena() > 0
    assert len({library.drawn() for _ in range(8)}) > 1


def test_exceptions_are_caught_on_an_old_system(stubs, tmp_path):
    path = link(tmp_path, THROWS, *stubs, "-static-libgcc", "-static-libstdc++", compiler="g++", kind="cc")
    assert complaints(path) == []
    assert ctypes.CDLL(str(path)).caught(5) == len("from below")


@MERGED
def test_functions_that_the_old_system_lacks_are_named(tmp_path, capsys):
    path = link(tmp_path, "#define _GNU_SOURCE\n#include <unistd.h>\nvoid shut(void) { closefrom(100); }\n")
    assert old_glibc.main(["--check", str(path)])
    assert "closefrom (GLIBC_2.34)" in capsys.readouterr().err
    assert not old_glibc.main(["--check", str(link(tmp_path, MAIN))])


# ---- the wheel's check ----


def test_libraries_that_systems_may_lack_are_found(tmp_path):
    other = link(tmp_path, "int other(void) { return 3; }\n", "-Wl,-soname,libother.so")
    path = link(tmp_path, "int other(void);\nint mine(void) { return other(); }\n", other)
    assert any("needs libother.so" in line for line in complaints(path))
    assert not any("libother.so" in line for line in complaints(path, "libother.so"))


def test_a_wheel_too_big_or_of_one_python_is_found(tmp_path, capsys, monkeypatch):
    path = tmp_path / "treadle-1.whl"
    with zipfile.ZipFile(path, "w") as w:
        w.writestr("treadle-1.dist-info/METADATA", "Metadata-Version: 2.4\n\n")
        w.writestr("treadle-1.dist-info/WHEEL", "Tag: cp311-cp311-linux_x86_64\n")
    assert wheel_check.main(path)
    said = capsys.readouterr()
    assert "is for cp311-cp311-linux_x86_64" in said.err and "more than it may" not in said.err and not said.out
    monkeypatch.setattr(wheel_check, "MOST_BYTES", path.stat().st_size - 1)
    assert wheel_check.main(path)
    assert "1 more than it may" in capsys.readouterr().err


def test_a_library_for_another_machine_than_the_wheel_is_found(tmp_path):
    path, here = link(tmp_path, MAIN), platform.machine()
    assert elf.machine(path) == here and not list(wheel_check.machine_complaints(path, here))
    assert list(wheel_check.machine_complaints(path, "riscv64")) == [f"is for {here}, and the wheel for riscv64"]
    for machine in old_glibc.LOADERS:
        assert wheel_check.machine_of(pathlib.Path(f"treadle-1-cp311-abi3-manylinux_2_28_{machine}.whl")) == machine
    assert wheel_check.machine_of(pathlib.Path("treadle-1.whl")) == "another machine"


def test_a_compiler_for_an_unknown_machine_is_refused(tmp_path):
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\necho riscv64-linux-gnu\n")
    cc.chmod(0o755)
    with pytest.raises(SystemExit, match="compiles for riscv64"):
        old_glibc.loader([str(cc)])
    assert old_glibc.loader(["cc"]) == old_glibc.LOADERS[platform.machine()]


def test_what_a_wheel_holds_is_compared_with_the_package(tmp_path, monkeypatch):
    package = tmp_path / "python"
    for name, data in {"treadle/a.py": b"a", "treadle/b.pyi": b"b", "treadle/__pycache__/a.pyc": b""}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_bytes(data)
    monkeypatch.setattr(wheel_check, "PACKAGE", package)

    def found(more=types.MappingProxyType({})):
        files = {"treadle/a.py": b"a", "treadle/b.pyi": b"b", "treadle/include/x.h": b"", "treadle-1.dist-info/WHEEL": b""}
        files |= dict.fromkeys(wheel_check.LIBRARIES, b"") | more
        path = tmp_path / "treadle-1.whl"
        with zipfile.ZipFile(path, "w") as w:
            for name, data in files.items():
                if data is not None:
                    w.writestr(name, data)
        with zipfile.ZipFile(path) as w:
            return list(wheel_check.content_complaints(w))

    assert found() == []
    assert found({"treadle/a.py": b"other"}) == ["treadle/a.py is missing or is not the repository's"]
    assert found({"treadle/b.pyi": None}) == ["treadle/b.pyi is missing or is not the repository's"]
    assert found({"treadle/libtreadle.so": None}) == ["treadle/libtreadle.so is missing"]
    assert found({"treadle/libtreadle_cub.so": None}) == []
    for name in ("treadle/libtreadle_null.so", "tests/t.py", "treadle/gone.py"):
        assert found({name: b""}) == [f"{name} is no part of the package"]


def test_names_that_a_library_shows_are_found(tmp_path):
    path = link(tmp_path, "int LLVMNothing(void) { return 1; }\nint td_mine(void) { return LLVMNothing(); }\n")
    assert list(wheel_check.shown_complaints(path, ("td_",))) == ["shows the loader LLVMNothing, which is not treadle's"]


# ---- the build ----


def test_libdevice_of_a_build_apart_is_found(tmp_path, monkeypatch):
    file = tmp_path / "overlay/site-packages/nvidia/cu13" / find_libdevice.FILE
    file.parent.mkdir(parents=True)
    file.touch()
    assert file not in find_libdevice.candidates()
    monkeypatch.syspath_prepend(tmp_path / "overlay/site-packages")
    assert file in find_libdevice.candidates()


# ---- other systems ----


@pytest.mark.parametrize("name", matrix.PROGRAMS)
def test_the_programs_for_other_systems_run_here(name, tmp_path):
    if name == "driver" and len(td.devices()) > 1:
        pytest.skip("it is about a machine without a GPU")
    for path in [*(ROOT / "tests/matrix").glob("*.py"), ROOT / "tests/python/doc_pages.py", ROOT / "README.md"]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    arguments = [a.replace("/matrix/", f"{tmp_path}/") for a in matrix.PROGRAMS[name]]
    env = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": str(pathlib.Path(td.__file__).resolve().parents[1])}
    done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_table_of_systems_is_written_between_its_marks():
    rows = [matrix.Row("Debian 12", "2.36", "3.11.2", numpy, failed) for numpy, failed in [("1.24.0", {}), ("2.4.6", {"kernels": "no"})]]
    text = "".join(matrix.table(rows, pathlib.Path("treadle-1-cp311-abi3-linux.whl"), "2030-01-02"))
    assert "| Debian 12 | 2.36 | 3.11.2 | 1.24.0: all | 2.4.6: all but kernels |\n" in text
    page = matrix.PAGE.read_text(encoding="utf-8")
    assert page.count(matrix.BEGIN) == page.count(matrix.END) == 1
    other = matrix.filled(page, text)
    assert text in other and matrix.filled(other, "") == matrix.filled(page, "")
    for version, release in matrix.OLDEST_NUMPY.items():
        assert version in matrix.HOME and release.count(".") == 2

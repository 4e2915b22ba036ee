"""C programs: the examples and the documentation's program, compiled against installed files alone."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import zlib

import pytest

import treadle as td

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(td.__file__).parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror"]

pytestmark = pytest.mark.skipif(
    not (BUILD / "treadle_tables.h").exists() or not shutil.which("cc") or not shutil.which("strip"),
    reason="needs a build folder and a C compiler",
)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    to = tmp_path_factory.mktemp("install") / "usr local"
    subprocess.run([ROOT / "tools" / "install.sh", BUILD, to], check=True, capture_output=True)
    return to


def pc(prefix, name):
    """A variable or field of treadle.pc, its ${…} filled in."""
    values = dict(re.findall(r"^(\w+)\s*[=:]\s*(.*)$", (prefix / "lib/pkgconfig/treadle.pc").read_text(), re.M))
    text = values[name]
    while "${" in text:
        text = re.sub(r"\$\{(\w+)\}", lambda m: values[m[1]], text)
    return text


def compiled(prefix, source, program):
    flags = [f"-I{pc(prefix, 'includedir')}", f"-L{pc(prefix, 'libdir')}", "-ltreadle"]
    rpath = f"-Wl,-rpath,{pc(prefix, 'libdir')}"
    subprocess.run(["cc", "-std=c11", "-O2", *WARNINGS, source, "-o", program, *flags, rpath], check=True)
    return program


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def test_what_is_installed(prefix):
    files = sorted(p.relative_to(prefix).as_posix() for p in prefix.rglob("*") if p.is_file())
    assert [f for f in files if f != "lib/libtreadle_cub.so"] == [  # which needs nvcc
        "include/treadle.h", "include/treadle_tables.h", "lib/libtreadle.so", "lib/libtreadle_jit.so",
        "lib/pkgconfig/treadle.pc", "share/doc/treadle/LICENSE", "share/doc/treadle/NOTICE",
        "share/doc/treadle/THIRD_PARTY_NOTICES.txt",
    ]
    exported = run("nm", "-D", "--defined-only", prefix / "lib/libtreadle.so")
    declared = re.findall(r"^TREADLE_API .*?(treadle_\w+)\(", (prefix / "include/treadle.h").read_text(), re.M)
    assert len(declared) > 70
    assert {n for n in exported.split() if n.startswith("treadle_")} == set(declared)


def test_versions_agree(prefix):
    said = {
        "pkg-config": pc(prefix, "Version"),
        "meson": json.loads((BUILD / "meson-info/intro-projectinfo.json").read_text())["version"],
        "python": td.__version__,
        "header": re.search(r'TREADLE_VERSION "(.*?)"', (prefix / "include/treadle.h").read_text())[1],
    }
    assert len(set(said.values())) == 1, said


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="needs pkg-config")
def test_pkg_config(tmp_path):
    subprocess.run([ROOT / "tools" / "install.sh", BUILD, "/opt/treadle"], check=True, capture_output=True,
                   env={**os.environ, "DESTDIR": str(tmp_path)})
    env = {**os.environ, "PKG_CONFIG_PATH": str(tmp_path / "opt/treadle/lib/pkgconfig")}
    said = subprocess.run(["pkg-config", "--cflags", "--libs", "treadle"], env=env, check=True,
                          capture_output=True, text=True).stdout.split()
    assert said == ["-I/opt/treadle/include", "-L/opt/treadle/lib", "-ltreadle"]


def test_relative_prefix_is_refused():
    r = subprocess.run([ROOT / "tools" / "install.sh", BUILD, "here"], capture_output=True, text=True)
    assert r.returncode == 1 and "absolute" in r.stderr


@pytest.mark.parametrize("compiler", [["cc", "-std=c11", "-xc"], ["c++", "-std=c++11", "-xc++"]], ids=["c", "c++"])
def test_header_stands_alone(prefix, compiler):
    if not shutil.which(compiler[0]):
        pytest.skip(f"no {compiler[0]}")
    text = "#include <treadle.h>\nint main(void) { return treadle_a(NULL).kind; }\n"
    flags = WARNINGS if compiler[0] == "cc" else [w for w in WARNINGS if w != "-Wstrict-prototypes"]
    subprocess.run([*compiler, *flags, "-fsyntax-only", f"-I{prefix}/include", "-"], input=text, text=True, check=True)


def test_saxpy(prefix, tmp_path):
    program = compiled(prefix, ROOT / "examples/c/saxpy.c", tmp_path / "saxpy")
    assert run(program, "300000").startswith("cpu: sum of squares 1.3e+06, exactly 1.3e+06")


def test_matmul(prefix, tmp_path):
    program = compiled(prefix, ROOT / "examples/c/matmul.c", tmp_path / "matmul")
    assert run(program, "129").startswith("129 x 129: ")


def test_heat_writes_a_png(prefix, tmp_path):
    program = compiled(prefix, ROOT / "examples/c/heat.c", tmp_path / "heat")
    assert "after 20 steps" in run(program, tmp_path / "heat.png", "40", "20")
    data = (tmp_path / "heat.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        n, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + n]
        assert struct.unpack_from(">I", data, at + 8 + n)[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + n
    assert struct.unpack(">IIBB", chunks[b"IHDR"][:10]) == (40, 40, 8, 0)
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert len(pixels) == 40 * 41 and min(pixels[1:]) < 80 and pixels[-1] == 255


def test_errors_reach_the_program(prefix, tmp_path):
    program = compiled(prefix, ROOT / "examples/c/saxpy.c", tmp_path / "saxpy")
    r = subprocess.run([program, "10", "gpu"], capture_output=True, text=True)
    assert r.returncode == 1 and r.stderr.startswith("device: TREADLE_ERR_VALUE: ") and "gpu" in r.stderr


def test_documentation(prefix, tmp_path):
    """The C programs of docs/c.md run and print what the text says."""
    text = (ROOT / "docs/c.md").read_text()
    found = re.findall(r"```c\n(.*?)```\s*prints `(.*?)`", text, re.S)
    assert found and len(found) == text.count("```c\n")
    for i, (source, printed) in enumerate(found):
        (tmp_path / f"{i}.c").write_text(source)
        assert run(compiled(prefix, tmp_path / f"{i}.c", tmp_path / str(i))).strip() == printed


def test_beside_the_interpreter():
    """In a Python process the interpreter's lock is the graph's: calls that hold it work."""
    lib = ctypes.PyDLL(str(pathlib.Path(td.__file__).parent / "libtreadle.so"))
    numbers = (ctypes.c_double * 4)(1, 2, 3, 4)
    out, value = ctypes.c_void_p(), ctypes.c_double()
    float64 = ctypes.c_int()
    assert lib.treadle_dtype_find(b"float64", ctypes.byref(float64)) == 0
    dims = (ctypes.c_int64 * 1)(4)
    assert lib.treadle_from_host(None, float64, 1, dims, numbers, ctypes.byref(out)) == 0
    total = ctypes.c_void_p()
    assert lib.treadle_reduce(0, out, None, ctypes.byref(total)) == 0
    assert lib.treadle_array_item(total, ctypes.byref(value)) == 0 and value.value == 10
    lib.treadle_array_unref(total)
    lib.treadle_array_unref(out)
    assert float(td.arange(5).sum()) == 10

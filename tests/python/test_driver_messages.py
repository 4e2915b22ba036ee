"""What is told about drivers and NVIDIA's libraries, by a driver that is made here: each message says what to do.

tools/gpu_messages.py asks a real driver the same, with packages for CUDA 12 and for CUDA 13.
"""

import os
import pathlib
import subprocess
import sys

import fake_driver
import numpy
import pytest

import treadle as td

PACKAGE = pathlib.Path(td.__file__).resolve().parents[1]
LOADER = "/lib64/ld-linux-x86-64.so.2"
RAW = """
import treadle as td
x = td.ones(3, dtype="f4", device="cuda:0")
try:
    td.RawKernel('extern "C" __global__ void f(float *x) { x[0] = 1; }', "f")((1,), (1,), (x,))
except td.MissingLibraryError as e:
    print(e)
"""
HOST = """
import warnings
import treadle as td
a = td.asarray([[1.0, 2], [3, 4]], device="cuda:0")
for call in (td.linalg.qr, td.fft.fft):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(a)
    print(told[0].message)
"""

pytestmark = pytest.mark.skipif(not os.path.exists(LOADER), reason="another loader than GNU's on x86-64")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    return fake_driver.driver(tmp_path_factory.mktemp("driver"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of packages that has treadle and NumPy, and none of NVIDIA's."""
    folder = tmp_path_factory.mktemp("site")
    numpys = pathlib.Path(numpy.__file__).parent
    for path in (PACKAGE / "treadle", numpys, numpys.parent / "numpy.libs"):
        if path.exists():
            (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture
def said(driver, site, tmp_path):
    """Runs a program with no NVIDIA library but those of folders, and with the driver that the tests make."""

    def run(program, version=13000, init=0, path=driver, wheels=None):
        places = [str(site), *([str(wheels)] if wheels else [])]
        env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "TREADLE_CACHE_DIR": "", "PYTHONPATH": ":".join(places),
               "CUDA_HOME": str(tmp_path), "LD_LIBRARY_PATH": str(path), "FAKE_CUDA": str(version), "FAKE_INIT": str(init)}
        # The loader's cache would show a toolkit's libraries.
        python = [LOADER, "--inhibit-cache", os.path.realpath(sys.executable), "-S"]
        done = subprocess.run([*python, *program], env=env, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


# ---- the driver ----


def test_a_machine_without_a_driver_is_told_of(said, tmp_path):
    (tmp_path / "libcuda.so.1").write_text("no library")  # which hides the machine's own, if it has one
    text = said(["-m", "treadle", "info"], path=tmp_path)
    assert "no NVIDIA driver" in text and "libcuda.so.1" in text and 'use the device "cpu"' in text
    assert "default        cpu" in text


@pytest.mark.parametrize("code, advice", [
    (34, "stub: take its folder"),
    (100, "nvidia-smi and CUDA_VISIBLE_DEVICES"),
    (802, "start nvidia-fabricmanager"),
    (803, "restart the machine after an update of the driver"),
    (804, "cuda-compat"),
    (999, "modprobe nvidia_uvm"),
])  # fmt: skip
def test_a_driver_that_does_not_start_says_what_to_do(said, code, advice):
    text = said(["-m", "treadle", "info"], init=code)
    assert f"cuInit: CUDA_ERROR_{fake_driver.NAMES[code]}: " in text and advice in text
    assert "default        cpu" in text


def test_a_driver_that_is_too_old_is_named(said, tmp_path):
    folder = fake_driver.driver(tmp_path / "old", lacks=["cuMemcpyDtoDAsync_v2"])
    text = said(["-m", "treadle", "info"], path=folder)
    assert "too old: libcuda.so.1 has no cuMemcpyDtoDAsync_v2; update the driver" in text


# ---- libraries ----


@pytest.mark.parametrize("version, names", [
    (13000, {"libcublas.so": "nvidia-cublas", "libcusolver.so": "nvidia-cusolver", "libcufft.so": "nvidia-cufft",
             "libnvrtc.so": "nvidia-cuda-nvrtc", "libnccl.so": "nvidia-nccl-cu13"}),
    (12080, {"libcublas.so": "nvidia-cublas-cu12", "libcusolver.so": "nvidia-cusolver-cu12",
             "libcufft.so": "nvidia-cufft-cu12", "libnvrtc.so": "nvidia-cuda-nvrtc-cu12", "libnccl.so": "nvidia-nccl-cu12"}),
])  # fmt: skip
def test_info_names_the_packages_for_the_driver(said, version, names):
    lines = {line.split()[0]: line for line in said(["-m", "treadle", "info"], version=version).splitlines()}
    assert f"CUDA {version // 1000}.{version % 1000 // 10}" in lines["driver"]
    for library, package in names.items():
        assert lines[library].endswith(f": pip install {package}")


@pytest.mark.parametrize("version, want", [
    (13000, "libnvrtc.so.13 was not found: pip install nvidia-cuda-nvrtc (the driver is for CUDA 13.0)"),
    (13010, "libnvrtc.so.13 was not found: pip install nvidia-cuda-nvrtc (the driver is for CUDA 13.1)"),
    (12080, "libnvrtc.so.12 was not found: pip install nvidia-cuda-nvrtc-cu12 (the driver is for CUDA 12.8)"),
    (11080, "libnvrtc.so.11.2 was not found: pip install nvidia-cuda-nvrtc-cu11 (the driver is for CUDA 11.8)"),
])  # fmt: skip
def test_cuda_text_without_nvrtc_names_the_package(said, version, want):
    text = said(["-c", RAW], version=version)
    assert want in text and "nor is there an nvcc" in text


@pytest.mark.parametrize("version, cublas, cufft", [
    (13000, "libcublas.so.13 was not found: pip install nvidia-cublas (the driver is for CUDA 13.0)",
     "libcufft.so.12 was not found: pip install nvidia-cufft (the driver is for CUDA 13.0)"),
    (12040, "libcublas.so.12 was not found: pip install nvidia-cublas-cu12 (the driver is for CUDA 12.4)",
     "libcufft.so.11 was not found: pip install nvidia-cufft-cu12 (the driver is for CUDA 12.4)"),
    (11080, "libcublas.so.12 needs a driver for CUDA 12, this one is for 11.8: update the driver",
     "libcufft.so.11 needs a driver for CUDA 12, this one is for 11.8: update the driver"),
])  # fmt: skip
def test_what_the_host_computes_names_the_package(said, version, cublas, cufft):
    text = said(["-c", HOST], version=version)
    assert cublas in text and cufft in text


# ---- packages for CUDA 12 and for CUDA 13 ----


def wheels(folder, *cudas):
    """A folder as pip fills it, with libraries that have nothing in them: one that is chosen is named as lacking a function."""
    places = {13: ("nvidia/cu13/lib", "13", "12"), 12: ("nvidia/cuda_nvrtc/lib", "12", "11")}
    for cuda in cudas:
        place, nvrtc, cufft = places[cuda]
        fake_driver.library(folder / place / f"libnvrtc.so.{nvrtc}", "int nothing;")
        fake_driver.library(folder / place / f"libcublas.so.{nvrtc}", "int nothing;")
        fake_driver.library(folder / place / f"libcufft.so.{cufft}", "int nothing;")
    return folder


@pytest.mark.parametrize("version, cudas, chosen, cufft", [
    (13000, (12, 13), "cu13/lib/libnvrtc.so.13", "cu13/lib/libcufft.so.12"),
    (13000, (12,), "cuda_nvrtc/lib/libnvrtc.so.12", "cuda_nvrtc/lib/libcufft.so.11"),
    (12080, (12, 13), "cuda_nvrtc/lib/libnvrtc.so.12", "cuda_nvrtc/lib/libcufft.so.11"),
])  # fmt: skip
def test_the_newest_library_that_the_driver_serves_is_chosen(said, tmp_path, version, cudas, chosen, cufft):
    folder = wheels(tmp_path / "wheels", *cudas)
    assert f"{chosen} has no nvrtc" in said(["-c", RAW], version=version, wheels=folder)
    assert f"{cufft} has no cufft" in said(["-c", HOST], version=version, wheels=folder)
    assert chosen in said(["-m", "treadle", "info"], version=version, wheels=folder)


def test_packages_for_a_newer_driver_are_told_of(said, tmp_path):
    folder = wheels(tmp_path / "wheels", 13)
    text = said(["-c", RAW], version=12080, wheels=folder)
    assert "libnvrtc.so.12 was not found: pip install nvidia-cuda-nvrtc-cu12 (the driver is for CUDA 12.8)" in text
    assert "nvidia/cu13/lib/libnvrtc.so.13 needs a driver for CUDA 13" in text
    text = said(["-c", HOST], version=12080, wheels=folder)
    assert "libcublas.so.13 needs a driver for CUDA 13" in text and "libcufft.so.12 needs a driver for CUDA 13" in text
    assert "pip install nvidia-cuda-nvrtc-cu12" in said(["-m", "treadle", "info"], version=12080, wheels=folder)


NVRTC = r"""
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
int nvrtcCompileProgram(void *p, int n, const char *const *o) { return dlopen("libnvrtc-builtins.so.13.0", RTLD_NOW) ? 0 : 6; }
int nvrtcGetProgramLogSize(void *p, size_t *n) { *n = 12; return 0; }
int nvrtcGetProgramLog(void *p, char *s) { strcpy(s, "no builtins"); return 0; }
int nvrtcGetPTXSize(void *p, size_t *n) { *n = 4; return 0; }
int nvrtcGetPTX(void *p, char *s) { strcpy(s, "ptx"); return 0; }
int nvrtcGetCUBINSize(void *p, size_t *n) { *n = 4; return 0; }
int nvrtcGetCUBIN(void *p, char *s) { strcpy(s, "cub"); return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 1; return 0; }
int nvrtcGetSupportedArchs(int *a) { *a = 90; return 0; }
int nvrtcCreateProgram(void **p) { *p = &nvrtcCreateProgram; return 0; }
int nvrtcDestroyProgram(void **p) { return 0; }
int nvrtcAddNameExpression(void *p, const char *name) { return 0; }
int nvrtcGetLoweredName(void *p, const char *name, const char **s) { *s = name; return 0; }
const char *nvrtcGetErrorString(int r) { return "as asked"; }
"""


@pytest.mark.parametrize("place", ["wheels/nvidia/cu13/lib", "lib64"])
def test_nvrtc_finds_its_builtins(said, tmp_path, place):
    """NVRTC 13 of a wheel opens them by their name alone, and the loader does not look beside NVRTC."""
    fake_driver.library(tmp_path / place / "libnvrtc.so.13", NVRTC)
    wheels = tmp_path / "wheels" if place.startswith("wheels") else None
    with pytest.raises(AssertionError, match="no builtins"):
        said(["-c", RAW], wheels=wheels)
    fake_driver.library(tmp_path / place / "libnvrtc-builtins.so.13.0", "int nothing;")
    assert said(["-c", RAW], wheels=wheels) == ""


# ---- tools/gpu_messages.py ----


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
    import gpu_messages

    return gpu_messages


THIRTEEN = "libnvrtc.so.13 libnvrtc-builtins.so.13.0 libcublas.so.13 libcublasLt.so.13 libcusolver.so.12 libcufft.so.12"


@pytest.fixture
def nvidias(tmp_path):
    """Folders with the names of CUDA 13's libraries, and of CUDA 12's NVRTC."""
    for folder, names in (("a/nvidia/cu13/lib", THIRTEEN), ("b/nvidia/cuda_nvrtc/lib", "libnvrtc.so.12")):
        (tmp_path / folder).mkdir(parents=True)
        for name in names.split():
            (tmp_path / folder / name).touch()
    return [tmp_path / "a", tmp_path / "b"]


def test_the_cases_of_a_machine_without_a_network(asked, nvidias, tmp_path):
    cases = asked.cases_of(nvidias)
    assert {name: (case.cuda, len(case.lacks)) for name, case in cases.items()} == {
        "no packages": (None, 0), "CUDA 13's": (13, 0), "CUDA 13's as a toolkit": (13, 0), "CUDA 13's without NVRTC": (13, 1),
        "CUDA 12's": (12, 3), "CUDA 12's as a toolkit": (12, 3), "all folders": (12, 0),
    }  # fmt: skip
    laid = {}
    for k, (name, case) in enumerate(cases.items()):
        place = asked.assembled(tmp_path / f"place{k}", PACKAGE, case)
        assert (place / "treadle/__init__.py").exists() and (place / "numpy").exists()
        laid[name] = {str(path.relative_to(place)) for path in place.rglob("*.so.*") if "treadle" not in path.parts}
        laid[name] = {path for path in laid[name] if path.startswith(("nvidia", "lib64"))}
    assert laid["no packages"] == set() and len(laid["all folders"]) == 7
    assert laid["CUDA 13's without NVRTC"] == {f"nvidia/cu13/lib/{name}" for name in THIRTEEN.split()[2:]}
    assert laid["CUDA 12's as a toolkit"] == {"lib64/libnvrtc.so.12"}


def test_what_a_driver_says_is_judged(asked):
    text = "driver 13\ntext: pip install nvidia-cuda-nvrtc (the driver\nresults True\n"
    told = "told: pip install nvidia-cublas (the driver\ntold: pip install nvidia-cufft (the driver\n"
    bare, whole = asked.Case(None), asked.Case(13)
    assert asked.complaints(text + told, bare) == []
    assert "cufft" in asked.complaints(text + told.splitlines()[0], bare)[0]
    assert asked.complaints(text + told, whole) == ["something was computed on the host"]
    assert asked.complaints("driver 13\ntext True\nresults True", whole) == []
    assert asked.complaints("driver 13\ntext True\nresults False", whole) == ["nothing says: results True"]
    assert asked.complaints("driver 12\nresults True", whole)[-1] == "nothing says: needs a driver for CUDA 13"
    assert asked.complaints("Segmentation fault", whole) == ["the program did not start"]

"""Ask a machine with a GPU what treadle says of libraries that are and are not there.

Usage: gpu_messages.py WHEEL             where pip has a network: it installs NVIDIA's packages
       gpu_messages.py WHEEL FOLDER...   without: a FOLDER has `nvidia`, as site-packages; NVIDIA's wheels will do, too

Makes a place for each case, without and with NVIDIA's libraries, and runs PROGRAM there with no toolkit in sight but
the case's own.  Without a network each library lies there as a link, or does not; NumPy and Python are those that run
this.  Prints a line per case, and what was said; tells by its status whether all was as it should be.
The tests do the same with a driver of their own (tests/python/test_driver_messages.py).
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from typing import NamedTuple

LOADER = "/lib64/ld-linux-x86-64.so.2"  # whose cache would show a toolkit
PROGRAM = """
import warnings
import numpy as np
import treadle as td
warnings.simplefilter("always")
print("driver", td.devices()[0].driver // 1000)
x = td.ones(4, dtype="f4", device="cuda:0")
try:
    td.RawKernel('extern "C" __global__ void f(float *x) { x[threadIdx.x] = 7; }', "f")((1,), (4,), (x,))
    print("text", float(x.sum()) == 28)
except td.MissingLibraryError as e:
    print("text:", e)
a = np.array([[1.0, 2], [3, 4]])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    q, r = td.linalg.qr(td.asarray(a, device="cuda:0"))
    f = td.fft.fft(td.asarray(a, device="cuda:0"))
    p = td.asarray(a, device="cuda:0") @ td.asarray(a, device="cuda:0")
    ok = np.allclose(q.get() @ r.get(), a) and np.allclose(f.get(), np.fft.fft(a)) and np.allclose(p.get(), a @ a)
    s = td.sort(td.asarray(a[::-1].ravel().copy(), device="cuda:0"))
print("results", ok and bool((np.diff(s.get()) >= 0).all()))
for w in told:
    print("told:", w.message)
"""
PACKAGES = {
    12: [f"nvidia-{name}-cu12" for name in ("cublas", "cusolver", "cufft", "cuda-nvrtc")],
    13: ["nvidia-cublas", "nvidia-cusolver", "nvidia-cufft", "nvidia-cuda-nvrtc"],
}
SUFFIX = {12: "-cu12", 13: ""}


LIBRARIES = ("cuda-nvrtc", "cublas", "cusolver", "cufft")
STEMS = {name: "lib" + name.removeprefix("cuda-") for name in LIBRARIES}
NAMES = {stem: name for name, stem in STEMS.items()}


class Case(NamedTuple):
    cuda: int | None  # that the newest libraries are for
    lacks: tuple = ()  # of LIBRARIES
    packages: tuple = ()  # that pip installs
    folders: tuple = ()  # that have `nvidia`
    toolkit: bool = False  # the libraries lie in a toolkit, not in packages


# ---- places ----


def environment(folder, wheel, packages):
    """The command of a new environment's Python that has the wheel and the packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, *packages]
    subprocess.run([*map(str, pip)], check=True)
    return [str(python)]


def unpacked(path, to):
    """The folder that a path is, or that a wheel becomes."""
    if path.is_dir():
        return path
    with zipfile.ZipFile(path) as wheel:
        wheel.extractall(to)
    return to


def libraries(folder):
    """The libraries in a folder's `nvidia`."""
    return sorted(path for path in folder.glob("nvidia/*/lib/lib*.so*") if path.is_file())


def cuda_of(folder):
    """{name of LIBRARIES: the CUDA that it is for}; cuFFT's and cuSOLVER's own numbers are one less than CUDA's."""
    found = {}
    for path in libraries(folder):
        stem, _, number = path.name.partition(".so.")
        if stem in NAMES and number.isdigit():
            found[NAMES[stem]] = int(number) + (stem in ("libcusolver", "libcufft"))
    return found


def assembled(place, treadle, case):
    """Lays links to treadle, NumPy and the libraries of a case into a folder; returns what is to be on sys.path."""
    import numpy

    place.mkdir()
    home = pathlib.Path(numpy.__file__).resolve().parent
    for path in (treadle / "treadle", home, home.parent / "numpy.libs"):
        if path.exists():
            (place / path.name).symlink_to(path)
    hidden = tuple(STEMS[name] + suffix for name in case.lacks for suffix in (".", "-", "Lt."))
    for folder in case.folders:
        for path in libraries(folder):
            to = place / "lib64" if case.toolkit else place / path.parent.relative_to(folder)
            to.mkdir(parents=True, exist_ok=True)
            if not path.name.startswith(hidden) and not (to / path.name).exists():
                (to / path.name).symlink_to(path.resolve())
    return place


def driver_folder():
    """Where the driver's library lies."""
    ctypes.CDLL("libcuda.so.1")
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    return str(pathlib.Path(re.search(r"/\S*/libcuda\.so\S*", maps)[0]).parent)


# ---- what is said ----


def said(python, folder):
    """What the program prints where no toolkit but the folder's, no nvcc and no cache of the loader's is."""
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "CUDA_HOME": str(folder), "TREADLE_CACHE_DIR": ""}
    env["PYTHONPATH"] = str(folder)
    start = [LOADER, "--inhibit-cache", "--library-path", os.environ.get("DRIVER_PATH") or driver_folder()]
    done = subprocess.run(
        [*start, *python, "-u", "-c", PROGRAM], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout


def complaints(text, case):
    """What of the text is not as it should be."""
    found = re.search(r"^driver (\d+)$", text, re.M)
    if not found:
        return ["the program did not start"]
    driver = int(found[1])
    served = case.cuda is not None and case.cuda <= driver
    lacks = case.lacks if served else LIBRARIES
    told = [name for name in lacks if name != "cusolver"]  # what factorises says which of several it wants
    wanted = ["results True", *(f"pip install nvidia-{name}{SUFFIX[min(driver, 13)]} (the driver" for name in told)]
    if "cuda-nvrtc" not in lacks:
        wanted.append("text True")
    if not set(lacks) - {"cuda-nvrtc"} and "told:" in text:
        return ["something was computed on the host"]
    if case.cuda and not served:
        wanted.append(f"needs a driver for CUDA {case.cuda}")
    return [f"nothing says: {line}" for line in wanted if line not in text]


# ---- cases ----


def pip_cases():
    return {
        "no packages": Case(None),
        "CUDA 12's": Case(12, packages=tuple(PACKAGES[12])),
        "CUDA 13's": Case(13, packages=tuple(PACKAGES[13])),
        "both": Case(12, packages=(*PACKAGES[12], *PACKAGES[13])),
    }


def cases_of(folders):
    """Without libraries; with each folder's: all, without NVRTC, as a toolkit; with those of all folders."""
    cases, every = {"no packages": Case(None)}, {}
    for folder in folders:
        found = cuda_of(folder)
        cuda, lacks = max(found.values()), tuple(name for name in LIBRARIES if name not in found)
        every[folder] = found
        cases[f"CUDA {cuda}'s"] = Case(cuda, lacks, folders=(folder,))
        cases[f"CUDA {cuda}'s as a toolkit"] = Case(cuda, lacks, folders=(folder,), toolkit=True)
        if len(found) > 1:
            cases[f"CUDA {cuda}'s without NVRTC"] = Case(cuda, (*lacks, "cuda-nvrtc"), folders=(folder,))
    if len(folders) > 1:
        lacks = tuple(name for name in LIBRARIES if not any(name in found for found in every.values()))
        oldest = min(min(found.values()) for found in every.values())
        cases["all folders"] = Case(oldest, lacks, folders=tuple(folders))
    return cases


def main(wheel, folders):
    wheel, bad = pathlib.Path(wheel).resolve(), 0
    with tempfile.TemporaryDirectory() as temporary:
        top = pathlib.Path(temporary)
        folders = [unpacked(pathlib.Path(path).resolve(), top / f"wheel{k}") for k, path in enumerate(folders)]
        treadle = unpacked(wheel, top / "treadle") if folders else None
        for name, case in (cases_of(folders) if folders else pip_cases()).items():
            place = top / re.sub(r"\W+", "-", name)
            if folders:
                python = [os.path.realpath(sys.executable), "-S"]
                assembled(place, treadle, case)
            else:
                python = environment(place, wheel, case.packages)
            text = said(python, place)
            lines = complaints(text, case)
            bad += bool(lines)
            print(f"{name}: {'; '.join(lines) if lines else 'as it should be'}", flush=True)
            print("    " + text.replace("\n", "\n    "))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

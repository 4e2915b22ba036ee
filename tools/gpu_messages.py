"""Ask a machine with a GPU what treadle says of libraries that are and are not there. Usage: gpu_messages.py WHEEL

Makes an environment for each case, without and with NVIDIA's packages, installs the wheel there and runs PROGRAM with
no toolkit in sight.  Prints a line per case, and what was said.  Needs a network for pip; tells by its status whether
all was as it should be.
The tests do the same with a driver of their own (tests/python/test_driver_messages.py).
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

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


def environment(folder, wheel, packages):
    """The Python of a new environment that has the wheel and the packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, *packages]
    subprocess.run([*map(str, pip)], check=True)
    return python


def said(python, folder):
    """What the program prints where no toolkit, no nvcc and no cache of the loader's is."""
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "CUDA_HOME": str(folder), "TREADLE_CACHE_DIR": ""}
    start = [LOADER, "--inhibit-cache", "--library-path", os.environ.get("DRIVER_PATH", "/usr/lib/x86_64-linux-gnu")]
    done = subprocess.run(
        [*start, str(python), "-c", PROGRAM], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout


def complaints(text, packages):
    """What of the text is not as it should be; packages: the CUDA that they are for, or None."""
    found = re.search(r"^driver (\d+)$", text, re.M)
    if not found:
        return ["the program did not start"]
    driver = int(found[1])
    wanted = ["results True"]
    if packages is None or packages > driver:
        nearest = SUFFIX[min(driver, 13)]
        wanted += [f"pip install nvidia-{name}{nearest} (the driver" for name in ("cuda-nvrtc", "cublas", "cufft")]
    else:
        wanted += ["text True"]
        if "told:" in text:
            return ["something was computed on the host"]
    if packages and packages > driver:
        wanted += [f"needs a driver for CUDA {packages}"]
    return [f"nothing says: {line}" for line in wanted if line not in text]


def main(wheel):
    wheel, bad = pathlib.Path(wheel).resolve(), 0
    cases = {"no packages": (None, []), "CUDA 12's": (12, PACKAGES[12]), "CUDA 13's": (13, PACKAGES[13])}
    cases["both"] = (12, PACKAGES[12] + PACKAGES[13])
    with tempfile.TemporaryDirectory() as folder:
        for name, (cuda, packages) in cases.items():
            place = pathlib.Path(folder, name.replace(" ", "-").replace("'", ""))
            text = said(environment(place, wheel, packages), place)
            lines = complaints(text, cuda)
            bad += bool(lines)
            print(f"{name}: {'; '.join(lines) if lines else 'as it should be'}", flush=True)
            print("    " + text.replace("\n", "\n    "))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

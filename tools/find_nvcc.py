"""Print an nvcc that compiles CUB 3 and the folder of its libcudart_static.a, a line each, or nothing: from
the CUDA toolkit, else from the packages in tools/requirements/nvcc.txt.  TREADLE_NVCC, if set, names the one to
use; TREADLE_NVCC=none: none."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import find_libdevice

PROBE = """#include <cub/version.cuh>
#if CUB_MAJOR_VERSION != 3
#error "CUB 3 is wanted"
#endif
__global__ void probe(int *p) { *p = 1; }
"""


def candidates():
    asked = os.environ.get("TREADLE_NVCC")
    if asked:
        yield from [] if asked == "none" else [pathlib.Path(asked)]
        return
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    yield from (pathlib.Path(root) / "bin/nvcc" for root in roots if root)
    on_path = shutil.which("nvcc")
    yield from [pathlib.Path(on_path).resolve()] if on_path else []
    yield pathlib.Path("/usr/local/cuda/bin/nvcc")
    yield from sorted(pathlib.Path("/usr/local").glob("cuda-*/bin/nvcc"), reverse=True)
    for folder in find_libdevice.package_folders():
        yield from sorted(folder.glob("nvidia/cu*/bin/nvcc"), reverse=True)


def runtime(nvcc):
    """The folder of CUDA's static runtime that belongs to nvcc."""
    root = nvcc.parent.parent
    places = [root / "lib64", root / "lib", *root.glob("targets/*/lib")]
    return next((p for p in places if (p / "libcudart_static.a").is_file()), None)


def compiles(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "probe.cu"
        source.write_text(PROBE)
        done = subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-c", source, "-o", source.with_suffix(".o")],
                              capture_output=True, text=True)
    if done.returncode:
        print(f"{nvcc}: {(done.stdout + done.stderr).strip()}", file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    for nvcc in candidates():
        lib = runtime(nvcc) if nvcc.is_file() else None
        if lib and compiles(nvcc):
            print(nvcc, lib, sep="\n")
            break

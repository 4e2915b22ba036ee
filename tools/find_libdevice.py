"""Print the path of libdevice.10.bc, or nothing: in the CUDA toolkit, else in the package nvidia-nvvm."""
import os
import pathlib
import shutil
import sysconfig

FILE = "nvvm/libdevice/libdevice.10.bc"


def candidates():
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"),
             pathlib.Path(nvcc).resolve().parent.parent if nvcc else None, "/usr/local/cuda"]
    yield from (pathlib.Path(root) / FILE for root in roots if root)
    yield from sorted(pathlib.Path("/usr/local").glob(f"cuda-*/{FILE}"), reverse=True)
    yield pathlib.Path("/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc")
    yield from sorted(pathlib.Path(sysconfig.get_path("platlib")).glob(f"nvidia/*/{FILE}"), reverse=True)


if __name__ == "__main__":
    print(next((str(p) for p in candidates() if p.is_file()), ""))

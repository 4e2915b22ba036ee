"""Print the path of libdevice.10.bc, or nothing: in the CUDA toolkit, else in the package nvidia-nvvm."""
import os
import pathlib
import shutil
import sys
import sysconfig

FILE = "nvvm/libdevice/libdevice.10.bc"


def package_folders():
    """Where Python packages lie: this Python's, and those that pip brings for a build apart."""
    found = [sysconfig.get_path("platlib"), *(p for p in sys.path if p.endswith(("site-packages", "dist-packages")))]
    return [pathlib.Path(p) for p in dict.fromkeys(found)]


def candidates():
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"),
             pathlib.Path(nvcc).resolve().parent.parent if nvcc else None, "/usr/local/cuda"]
    yield from (pathlib.Path(root) / FILE for root in roots if root)
    yield from sorted(pathlib.Path("/usr/local").glob(f"cuda-*/{FILE}"), reverse=True)
    yield pathlib.Path("/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc")
    for folder in package_folders():
        yield from sorted(folder.glob(f"nvidia/*/{FILE}"), reverse=True)


if __name__ == "__main__":
    print(next((str(p) for p in candidates() if p.is_file()), ""))

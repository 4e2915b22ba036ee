"""A libcuda.so.1 for tests of what is said about drivers and libraries: it starts or refuses as asked, and computes nothing.

Its functions are those of driver.def that a driver must have. Environment: FAKE_CUDA, the version (12080 for 12.8);
FAKE_INIT, what cuInit returns.
"""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MUST = re.findall(r"^CU\(\w+, (\w+), MUST", (ROOT / "src/dev/foreign/driver.def").read_text("utf-8"), re.M)
NAMES = {34: "STUB_LIBRARY", 100: "NO_DEVICE", 802: "SYSTEM_NOT_READY", 803: "SYSTEM_DRIVER_MISMATCH",
         804: "COMPAT_NOT_SUPPORTED_ON_DEVICE", 999: "UNKNOWN"}  # fmt: skip
# Functions whose results are looked at; all others return 0.
OWN = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int asked(const char *name, int else_) { return getenv(name) ? atoi(getenv(name)) : else_; }
int cuInit(unsigned f) { (void)f; return asked("FAKE_INIT", 0); }
int cuDriverGetVersion(int *v) { *v = asked("FAKE_CUDA", 13000); return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int n) { *d = n; return 0; }
int cuDeviceGetName(char *s, int n, int d) { (void)d; snprintf(s, n, "a fake"); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { (void)d; *v = a == 75 ? 9 : a == 76 ? 0 : a == 10 ? 32 : a == 102 ? 0 : 1024; return 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = 1u << 30; return 0; }
int cuMemGetInfo_v2(size_t *a, size_t *b) { *a = *b = 1u << 30; return 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n) { *p = (uint64_t)aligned_alloc(512, (n + 511) / 512 * 512); return 0; }
int cuMemHostAlloc(void **p, size_t n, unsigned f) { (void)f; *p = malloc(n); return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)(intptr_t)(d + 1); return 0; }
int cuCtxGetCurrent(void **c) { *c = (void *)1; return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t d, const void *s, size_t n, void *q) { (void)q; memcpy((void *)d, s, n); return 0; }
int cuMemcpyDtoHAsync_v2(void *d, uint64_t s, size_t n, void *q) { (void)q; memcpy(d, (void *)s, n); return 0; }
int cuGetErrorString(int r, const char **s) { (void)r; *s = "as asked"; return 0; }
int cuGetErrorName(int r, const char **s)
{
    switch (r) {
%s
    default: *s = "CUDA_ERROR";
    }
    return 0;
}
"""


def library(path, text):
    """A shared library of C's text, which has its file's name; the test is skipped without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to make a driver with")
    source = path.with_suffix(".c")
    path.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    subprocess.run([compiler, "-w", "-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-o", path, source], check=True)
    return path


def driver(folder, lacks=()):
    """The folder with a libcuda.so.1 that has not the functions of lacks."""
    names = "\n".join(f'    case {code}: *s = "CUDA_ERROR_{name}"; break;' for code, name in NAMES.items())
    text = OWN.replace("%s", names)
    own = set(re.findall(r"^int (cu\w+)\(", text, re.M))
    text += "".join(f"int {name}() {{ return 0; }}\n" for name in MUST if name not in own)
    for name in lacks:
        text = re.sub(rf"\b{name}\b", f"absent_{name}", text)
    return library(folder / "libcuda.so.1", text).parent

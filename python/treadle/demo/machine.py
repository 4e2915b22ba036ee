"""Descriptions of the machine, for the demonstration's report."""

import importlib
import os
import pathlib
import platform
import sys

import numpy


def processor():
    """The processor's model from Linux, or else the architecture."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory():
    """Physical memory in GiB. None where the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError):
        return None


def cores():
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def devices(module):
    """Descriptions of the module's devices, the preferred one first."""
    if not hasattr(module, "devices"):  # NumPy in treadle's place
        return ["cpu"]
    return [str(device) for device in module.devices()]


def chosen_device(module):
    """The device on which the module computes: TREADLE_DEVICE if set, else the GPU if there is one."""
    asked = os.environ.get("TREADLE_DEVICE")
    found = devices(module)
    return asked or next((d for d in found if d.startswith("cuda")), found[0])


def describe(module_name="treadle"):
    """Pairs of a heading and a text."""
    module = importlib.import_module(module_name)
    size = memory()
    processor_text = f"{processor()}, {cores()} cores"
    return {
        "Processor": processor_text + (f", {size:.0f} GiB memory" if size else ""),
        "Devices": ", ".join(devices(module)),
        "Computed on": chosen_device(module),
        "System": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Versions": f"{module_name} {getattr(module, '__version__', '(unversioned)')}, "
        f"NumPy {numpy.__version__}, Python {sys.version.split()[0]}",
    }

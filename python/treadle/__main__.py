"""``python -m treadle script.py``: a program runs unchanged. ``python -m treadle info``: what was found, what is
missing, how to get it. ``python -m treadle licenses``: the terms of treadle and of what it contains."""

import importlib.util
import os
import platform
import sys
from pathlib import Path

from . import _core, cache, config
from ._exchange._libraries import folders
from ._words import near

USAGE = """usage: python -m treadle [--device NAME] [--profile[=FILE]] [--explain[=json|FILE]] [--doctor[=json|FILE]]
                         [--keep NAME] [--checks=bounds] [--lazy-clocks] script.py arguments…
       python -m treadle [options] -m module arguments…
       python -m treadle [options] -c code arguments…
       python -m treadle info
       python -m treadle --version
       python -m treadle licenses [--list]
       python -m treadle.demo"""

# What is opened when first needed: library, the number in its name for CUDA 13 and for CUDA 12, what it serves, and the
# package that brings it for each.
LIBRARIES = [
    ("libcublas.so", (13, 12), "matrix products on the GPU", ("nvidia-cublas", "nvidia-cublas-cu12")),
    ("libcusolver.so", (12, 11), "factorisations on the GPU", ("nvidia-cusolver", "nvidia-cusolver-cu12")),
    ("libcufft.so", (12, 11), "Fourier transforms on the GPU", ("nvidia-cufft", "nvidia-cufft-cu12")),
    ("libnvrtc.so", (13, 12), "CUDA C++ text on the GPU", ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")),
    ("libnccl.so", (2, 2), "collectives between GPUs", ("nvidia-nccl-cu13", "nvidia-nccl-cu12")),
]


def _size(nbytes):
    return f"{nbytes / 2**30:.1f} GiB"


def _devices():
    for d in _core.devices():
        stats = d.memory_stats()
        yield d.name, f"{d.model}, {d.arch}, {d.units} units, {_size(d.memory)}, {_size(stats['free'])} free"
    missing = _core.cuda_missing()
    if missing:
        yield "cuda", f"{missing} (a GPU needs NVIDIA's driver, and no toolkit)"
    else:
        driver = _core.devices()[0].driver
        yield "driver", f"CUDA {driver // 1000}.{driver % 1000 // 10}"
    for d in _core.devices():
        if d.kind == "cuda":
            yield f"sort, {d.name}", _core._sort_info(d)[0]
    yield "default", f"{_core.device().name} (TREADLE_DEVICE or treadle.use() change it)"


def _beside(name):
    path = Path(_core.__file__).parent / name
    return f"{path}, {path.stat().st_size / 2**20:.1f} MB" if path.exists() else "missing: the build is incomplete"


def _library(names):
    """Where the first of the names is that is anywhere; None: there is none."""
    toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    above = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    multiarch = f"/usr/lib/{platform.machine()}-linux-gnu"
    places = [*folders().split(":"), *above, f"{toolkit}/lib64", multiarch, "/usr/lib64"]
    return next((f"{place}/{name}" for name in names for place in places if place and Path(place, name).exists()), None)


def _libraries():
    yield "compiler", _beside("libtreadle_jit.so")
    old = not _core.cuda_missing() and _core.devices()[0].driver < 13000  # it cannot serve the libraries for CUDA 13
    for name, numbers, serves, packages in LIBRARIES:
        found = _library([f"{name}.{number}" for number in numbers[old:]])
        yield name, found or f"missing, for {serves}: pip install {packages[old]}"
    for name in ("numpy",):
        found = importlib.util.find_spec(name)
        yield name, str(Path(found.origin).parent) if found else f"missing: pip install {name}"


def _cache():
    try:
        found = cache.info()
    except RuntimeError:
        yield "cache", "kernels are kept in memory only (TREADLE_CACHE_DIR is empty)"
        return
    yield "cache", f"{found['folder']}, {found['entries']} kernels, {found['nbytes'] / 2**20:.1f} MB"


def info():
    """Prints what `python -m treadle info` prints."""
    print(f"treadle on Python {platform.python_version()}, {platform.platform()}")
    for section in (_devices(), _libraries(), _cache()):
        for name, text in section:
            print(f"  {name:<14} {text}")
    options = {k: getattr(config, k) for k in vars(config) if getattr(config, k)}
    print(f"  {'options':<14} {options or 'none set'}")


def _usage(status):
    print(USAGE, file=sys.stderr if status else sys.stdout)
    return status


# Options: does a value belong to them? None: it may.
OPTIONS = {"device": True, "keep": True, "checks": True, "profile": None, "explain": None, "doctor": None}
OPTIONS |= {"lazy-clocks": False, "help": False}


def _options(rest):
    """({option: value}, what follows them); ValueError with one line for what there is not."""
    options = {}
    while rest and rest[0].startswith("--"):
        option, equal, value = rest.pop(0).partition("=")
        name = option[2:]
        if name not in OPTIONS:
            known = ", ".join(f"--{n}" for n in OPTIONS)
            guess = near(name, OPTIONS).replace("'", "--", 1).replace("'", "")
            raise ValueError(f"there is no option {option}{guess}; options are {known}; usage: --help")
        if OPTIONS[name] and not equal and rest:
            value = rest.pop(0)
        if OPTIONS[name] and not value:
            raise ValueError(f"{option} needs a value: {option} NAME")
        if OPTIONS[name] is False and equal:
            raise ValueError(f"{option} takes no value, and got {value!r}")
        options[name] = value
    return options, rest


def main(arguments):
    if arguments == ["info"]:
        info()
        return 0
    if arguments == ["--version"]:
        print(f"treadle {_core.__version__}")
        return 0
    if arguments in (["licenses"], ["licenses", "--list"]):
        from ._licences import licences

        licences(brief=len(arguments) > 1)
        return 0
    try:
        options, rest = _options(list(arguments))
    except ValueError as e:
        print(f"python -m treadle: {e}", file=sys.stderr)
        return 2
    if "help" in options:
        return _usage(0)
    if not rest or rest == ["-h"]:
        return _usage(0 if not options else 2)
    kind = rest.pop(0) if rest[0] in ("-m", "-c") else "script"
    if not rest or (kind == "script" and rest[0].startswith("-")):
        return _usage(2)
    if "keep" in options:
        os.environ["TREADLE_KEEP"] = f"{os.environ.get('TREADLE_KEEP', '')} {options.pop('keep')}"
    if "device" in options:
        try:
            _core.use(options["device"])
        except (ValueError, RuntimeError) as e:
            print(f"python -m treadle --device: {e}", file=sys.stderr)
            return 2
        options.pop("device")
    if "checks" in options:
        try:
            config.checks = options.pop("checks")
        except ValueError as e:
            print(f"python -m treadle --checks: {e}", file=sys.stderr)
            return 2
    from .unchanged import _run

    return _run.run(kind, rest[0], rest[1:], **{k.replace("-", "_"): v for k, v in options.items()})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

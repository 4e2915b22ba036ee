"""cupyx.errstate, seterr, geterr: treadle's, and `linalg`; get_runtime_info."""

import contextlib

import treadle

_LINALG = {"mode": "raise"}


def _linalg(mode):
    """Set a mode and return the one before. Raises NotImplementedError for an unknown one."""
    if mode not in (None, "raise", "ignore"):
        raise NotImplementedError(f"seterr: linalg={mode!r} is neither 'ignore' nor 'raise'")
    before = _LINALG["mode"]
    if mode is not None:
        _LINALG["mode"] = mode
    return before


def seterr(*, divide=None, over=None, under=None, invalid=None, linalg=None):
    """treadle.seterr, and linalg: 'raise' or 'ignore', which is kept and changes nothing, as factorisations that fail
    raise LinAlgError in any case. Returns what was set before, as a dict."""
    before = _linalg(linalg)
    return {**treadle.seterr(divide=divide, over=over, under=under, invalid=invalid), "linalg": before}


def geterr():
    """What is set, as a dict of 'divide', 'over', 'under', 'invalid' and 'linalg'."""
    return {**treadle.geterr(), "linalg": _LINALG["mode"]}


@contextlib.contextmanager
def errstate(*, divide=None, over=None, under=None, invalid=None, linalg=None):
    """seterr for a block."""
    before = seterr(divide=divide, over=over, under=under, invalid=invalid, linalg=linalg)
    try:
        yield
    finally:
        seterr(**before)


class RuntimeInfo:
    """What get_runtime_info gives: attributes, and a text of a row for each."""

    def __init__(self, rows):
        self.__dict__.update(rows)

    def __str__(self):
        width = max(map(len, vars(self)))
        return "\n".join(f"{name:<{width}} : {value}" for name, value in vars(self).items())

    __repr__ = __str__


def _version(package):
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def get_runtime_info(*, full=True):
    """What runs here, with CuPy's names of attributes: cupy_version (treadle's), versions of NumPy and SciPy, of the
    driver and of the CUDA that it serves (None without a GPU), and with full the devices."""
    gpu = treadle.cuda.is_available()
    rows = {
        "cupy_version": treadle.__version__,
        "numpy_version": _version("numpy"),
        "scipy_version": _version("scipy"),
        "cuda_path": treadle.cuda.get_cuda_path(),
        "nvcc_path": treadle.cuda.get_nvcc_path(),
        "cuda_driver_version": treadle.cuda.runtime.driverGetVersion() if gpu else None,
        "cuda_runtime_version": treadle.cuda.runtime.runtimeGetVersion() if gpu else None,
    }
    if full:
        rows["devices"] = [f"{d}: {d.model}" for d in treadle.devices()]
    return RuntimeInfo(rows)

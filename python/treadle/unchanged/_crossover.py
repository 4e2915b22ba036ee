"""The crossover: the size from which an array's work goes to treadle.

It is measured once for each machine and device, and kept in the cache's folder. Both NumPy and treadle time ``a * a +
a``, typical work; the kernel is compiled before. For smaller arrays a call of treadle's costs more than all of NumPy's
work.
"""

import json
import os
import time
from pathlib import Path

import numpy

from treadle import _core, config
from treadle._observe._profile import aside

LEAST, MOST = 1 << 12, 1 << 18  # bounds, in case a busy machine distorts the measurement


def elements():
    """The crossover: from TREADLE_CROSSOVER, else from an earlier measurement on this machine, else measured now."""
    said = os.environ.get("TREADLE_CROSSOVER")
    if said:
        return int(float(said))
    device = _core.device()
    place, key = _place(), f"{device.kind} {device.model} {device.units} numpy {numpy.__version__}"
    kept = _read(place)
    if key not in kept:
        with aside():
            kept[key] = _measure(device)
        _write(place, kept)
    return kept[key]


def _place():
    folder = config.cache_dir
    if folder == "":
        return None
    return (Path(folder) if folder else Path.home() / ".cache" / "treadle") / ".crossover.json"


def _read(place):
    try:
        kept = json.loads(place.read_text()) if place else {}
        return {k: int(v) for k, v in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(place, kept):
    """Replace the file in one step, because another process may write it at the same time."""
    if place is None:
        return
    part = place.with_name(f".crossover.{os.getpid()}")
    try:
        part.write_text(json.dumps(kept))
        part.replace(place)
    except OSError:
        pass  # measured again by the next process


def _best(f):
    """Seconds that a call of f takes: the least of 40, since other programs disturb the clock."""
    least = 1.0
    for _ in range(40):
        begin = time.perf_counter()
        f()
        least = min(least, time.perf_counter() - begin)
    return least


def _line(f):
    """(seconds of a call for few elements, further seconds for each element) of f(n)."""
    small, large = 1 << 8, 1 << 18
    f(small), f(large)
    a, b = _best(lambda: f(small)), _best(lambda: f(large))
    return a, max(b - a, 0.0) / (large - small)


def _measure(device):
    """The number of elements for which both take as long."""
    if device.kind == "null":
        return 1 << 15
    numpys = {n: numpy.ones(n) for n in (1 << 8, 1 << 18)}
    ours = {n: _core.asarray(a, device=device) for n, a in numpys.items()}

    def ours_of(n):
        _core.evaluate(ours[n] * ours[n] + ours[n])
        _core.synchronize()

    call, element = _line(ours_of)
    numpys_call, numpys_element = _line(lambda n: numpys[n] * numpys[n] + numpys[n])
    if numpys_element <= element:
        return MOST
    return min(max(int((call - numpys_call) / (numpys_element - element)), LEAST), MOST)

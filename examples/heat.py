"""Heat equation

A plate with hot and cold spots, and edges held at zero, cools down. Each step adds to every inner
point the difference between its four neighbours and itself (explicit Euler, second-order
differences), all of it with slices of one array.
"""

import numpy
import treadle as np

SIZES = {
    "cpu": {"n": 768, "steps": 600},
    "cuda": {"n": 2048, "steps": 400},
    "small": {"n": 32, "steps": 5},
}
TOLERANCE = 1e-5
WHY = "float32; rounding is smoothed away with the heat, so it does not grow"

RATE = 0.24  # diffusivity · step / spacing²; at most 1/4, or the scheme explodes


def setup(n, steps):
    y, x = numpy.mgrid[0:1:1j * n, 0:1:1j * n]
    plate = numpy.zeros((n, n), dtype=numpy.float32)
    rng = numpy.random.default_rng(5)
    for _ in range(60):
        cx, cy = rng.uniform(0.1, 0.9, 2)
        plate[(x - cx) ** 2 + (y - cy) ** 2 < rng.uniform(0.005, 0.05) ** 2] = rng.uniform(-1, 1)
    return np.asarray(plate), steps


def main(start, steps):
    plate = start.copy()
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        inner += RATE * (around - 4 * inner)
    return {"start": start, "plate": plate}


def colours(plate):
    """Blue below zero, white at zero, red above; roots bring faint warmth out."""
    v = numpy.sign(plate) * numpy.sqrt(numpy.abs(plate).clip(0, 1))
    red = numpy.where(v > 0, 1 - 0.25 * v, 1 + 0.85 * v)
    green = 1 - 0.82 * numpy.abs(v)
    blue = numpy.where(v > 0, 1 - 0.85 * v, 1 + 0.30 * v)
    return (255 * numpy.stack([red, green, blue], axis=-1)).astype(numpy.uint8)


def pictures(result):
    step = max(1, len(result["plate"]) // 512)
    return {
        "the plate at first": colours(result["start"][::step, ::step]),
        "and at the end": colours(result["plate"][::step, ::step]),
    }


if __name__ == "__main__":
    from treadle.demo.png import write_png

    result = main(*setup(**SIZES["cpu"]))
    for name, picture in pictures({k: np.asnumpy(v) for k, v in result.items()}).items():
        write_png(f"heat {name}.png", picture)

"""Game of Life

A thread looks after one cell: it lives on with two or three neighbours and is born with three.
Each generation is a launch that reads one array and writes another; the edges are joined. Cells
keep count of how long they have lived, which gives the picture its colours.
"""

import numpy
import treadle as np
from treadle import cuda

SIZES = {
    "cpu": {"height": 480, "width": 640, "generations": 100},
    "cuda": {"height": 2160, "width": 3840, "generations": 500},
    "small": {"height": 30, "width": 41, "generations": 5},
}
TOLERANCE = 0.0
WHY = "whole numbers: no cell differs"

BLOCK = 32, 8
OLDEST = 255
SHOWN = 480, 640  # the part of the world in the picture


@cuda.jit
def generation(age, after):
    j, i = cuda.grid(2)
    h, w = age.shape
    if i < h and j < w:
        up = i - 1 if i > 0 else h - 1
        down = i + 1 if i < h - 1 else 0
        left = j - 1 if j > 0 else w - 1
        right = j + 1 if j < w - 1 else 0
        alive = 0  # of the nine cells here, this one among them
        for y in (up, i, down):
            for x in (left, j, right):
                if age[y, x] > 0:
                    alive += 1
        if alive == 3 or (alive == 4 and age[i, j] > 0):
            after[i, j] = min(age[i, j], OLDEST - 1) + 1
        else:
            after[i, j] = 0


def setup(height, width, generations):
    world = numpy.random.default_rng(4).random((height, width)) < 0.3
    return np.asarray(world.astype(numpy.uint8)), generations


def main(world, generations):
    h, w = world.shape
    now, after = cuda.device_array((h, w), numpy.uint8), cuda.device_array((h, w), numpy.uint8)
    now.copy_to_device(world)
    grid = -(-w // BLOCK[0]), -(-h // BLOCK[1])
    for _ in range(generations):
        generation[grid, BLOCK](now, after)
        now, after = after, now
    return {"age": now}


def reference(world, generations):
    age = world
    for _ in range(generations):
        alive = (age > 0).astype(numpy.uint8)
        rows = alive + numpy.roll(alive, 1, 0) + numpy.roll(alive, -1, 0)
        near = rows + numpy.roll(rows, 1, 1) + numpy.roll(rows, -1, 1) - alive
        lives = (near == 3) | ((near == 2) & (alive == 1))
        age = numpy.where(lives, numpy.minimum(age, OLDEST - 1) + 1, 0).astype(numpy.uint8)
    return {"age": age}


def pictures(result):
    """The last generation: the newborn are bright, the old are blue."""
    age = result["age"][: SHOWN[0], : SHOWN[1]].astype(numpy.float32)
    fresh = numpy.where(age > 0, numpy.exp((1 - age) / 12), 0)
    alive = age > 0
    rgb = numpy.stack([fresh, 0.25 * alive + 0.75 * fresh, 0.55 * alive + 0.3 * fresh], axis=-1)
    return {"the last generation": (255 * numpy.clip(rgb, 0, 1)).astype(numpy.uint8)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())

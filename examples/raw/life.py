"""Game of Life in CUDA C++

The rules and the picture of `kernels/life.py`, which is written in Python: a thread looks after one
cell, the edges are joined, and cells keep count of how long they have lived.
"""

import numpy
import treadle as np
from treadle import RawKernel

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

generation = RawKernel(
    """
extern "C" __global__ void generation(const unsigned char *age, unsigned char *after, int h, int w)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0; /* of the nine cells here, this one among them */

    if (i >= h || j >= w)
        return;
    for (int y = i - 1; y <= i + 1; y++)
        for (int x = j - 1; x <= j + 1; x++)
            alive += age[(y + h) % h * w + (x + w) % w] > 0;
    bool lives = alive == 3 || (alive == 4 && age[i * w + j]);
    after[i * w + j] = lives ? min(age[i * w + j], 254) + 1 : 0;
}
""",
    "generation",
)


def setup(height, width, generations):
    world = numpy.random.default_rng(4).random((height, width)) < 0.3
    return np.asarray(world.astype(numpy.uint8)), generations


def main(world, generations):
    h, w = world.shape
    now, after = np.array(world), np.empty_like(world)
    grid = -(-w // BLOCK[0]), -(-h // BLOCK[1])
    for _ in range(generations):
        generation(grid, BLOCK, (now, after, h, w))
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
    """The last generation: the newborn are bright."""
    age = result["age"][: SHOWN[0], : SHOWN[1]].astype(numpy.float32)
    fresh = numpy.where(age > 0, numpy.exp((1 - age) / 12), 0)
    alive = age > 0
    rgb = numpy.stack([0.55 * alive + 0.3 * fresh, 0.25 * alive + 0.75 * fresh, fresh], axis=-1)
    return {"the last generation": (255 * numpy.clip(rgb, 0, 1)).astype(numpy.uint8)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())

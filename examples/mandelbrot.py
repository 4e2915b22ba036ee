"""Mandelbrot zoom

Escape times of z ← z² + c, for all pixels at once: a pixel that has left the circle keeps its z
while the others go on. Each frame looks closer at the valley of the seahorses.
"""

import numpy
import treadle as np

SIZES = {
    "cpu": {"width": 320, "samples": 2, "frames": 20, "limit": 200},
    "cuda": {"width": 320, "samples": 4, "frames": 40, "limit": 240},
    "small": {"width": 40, "samples": 1, "frames": 2, "limit": 20},
}
TOLERANCE = 1e-4
WHY = "float32 products and sums agree to the bit; a fused multiply-add may move a few pixels"

CENTRE = (-0.77568377, 0.13646737)
FAR = 256.0  # |z|² of a pixel that has left; large, so that colours blend between counts


def setup(width, samples, frames, limit):
    """Where the samples lie in a view of width 1, and how wide the frames' views are."""
    w, h = width * samples, width * 3 // 4 * samples
    x = (numpy.arange(w, dtype=numpy.float32) + 0.5) / w - 0.5
    y = (numpy.arange(h, dtype=numpy.float32) + 0.5) / h - 0.5
    spans = 3.2 * 0.001 ** (numpy.arange(frames) / (frames - 1))  # width of the view
    return np.asarray(x), np.asarray(y), [float(s) for s in spans], limit, samples


def escape(cr, ci, limit):
    """How many steps each point of the grid stayed near, and |z|² when it left."""
    zr, zi = cr + 0 * ci, ci + 0 * cr
    count = np.zeros(zr.shape, dtype=np.float32)
    for _ in range(limit):
        rr, ii = zr * zr, zi * zi
        near = rr + ii < FAR
        count = count + near
        zi = np.where(near, 2 * zr * zi + ci, zi)
        zr = np.where(near, rr - ii + cr, zr)
    return count, zr * zr + zi * zi


def main(x, y, spans, limit, samples):
    counts, sizes = [], []
    for span in spans:
        # The view drifts from the whole set to the valley as it shrinks.
        drift = 1 - span / spans[0]
        cr = x * span + (CENTRE[0] * drift - 0.6 * (1 - drift))
        ci = y * (0.75 * span) + CENTRE[1] * drift
        count, size = escape(cr[np.newaxis, :], ci[:, np.newaxis], limit)
        counts.append(count)
        sizes.append(size)
    return {"count": np.stack(counts), "size": np.stack(sizes), "samples": samples}


def error(ours, numpys):
    """The share of samples whose count differs."""
    return float(numpy.mean(ours["count"] != numpys["count"]))


def colours(count, size, limit):
    """Red, green and blue in 0…1: bands that run through the palette, black inside the set."""
    inside = (count >= limit) | ~(size >= FAR)
    size = numpy.where(inside, FAR, size)
    smooth = count + 1 - numpy.log2(numpy.log2(size) / numpy.log2(FAR))
    phase = 0.9 * numpy.log(numpy.maximum(smooth, 1))
    waves = [0.5 - 0.5 * numpy.cos(2 * phase - shift) for shift in (0.2, 0.7, 1.5)]
    rgb = numpy.stack(waves, axis=-1)
    rgb[inside] = 0
    return rgb


def pictures(result):
    """An animated PNG of all frames, and the last frame by itself."""
    s = int(result["samples"])
    limit = result["count"].max()
    frames = []
    for count, size in zip(result["count"], result["size"], strict=True):
        h, w = count.shape
        rgb = colours(count, size, limit).reshape(h // s, s, w // s, s, 3).mean(axis=(1, 3))
        frames.append((255 * rgb).astype(numpy.uint8))
    return {"the zoom": frames, "its last frame": frames[-1]}


if __name__ == "__main__":
    from treadle.demo.png import write_png

    result = main(*setup(**SIZES["cpu"]))
    for name, picture in pictures({k: np.asnumpy(v) for k, v in result.items()}).items():
        write_png(f"mandelbrot {name}.png", picture)

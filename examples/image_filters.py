"""Filters on a photograph

A Gaussian blur of shifted copies, a sharpened picture (the photograph and what the blur took from
it), the edges by Sobel's two differences, and a tone curve with warm shadows: slices and arithmetic
only.
"""

import numpy
import treadle as np

SIZES = {"cpu": {"enlarge": 2}, "cuda": {"enlarge": 8}, "small": {"enlarge": 1}}
TOLERANCE = 1e-5
WHY = "float32 values in 0…1; sums of weighted pixels round in another order"

RADIUS = 6


def setup(enlarge):
    from skimage.data import astronaut

    photo = astronaut().astype(numpy.float32) / 255
    photo = photo.repeat(enlarge, axis=0).repeat(enlarge, axis=1)
    return (np.asarray(photo),)


def blur_rows(image, radius):
    """A Gaussian of sigma radius / 2.5 down the first axis; loses `radius` rows at either end."""
    shifts = numpy.arange(-radius, radius + 1)
    weights = numpy.exp(-0.5 * (shifts / (radius / 2.5)) ** 2)
    weights /= weights.sum()
    rows = image.shape[0] - 2 * radius
    total = 0
    for i, weight in enumerate(weights):
        total = total + float(weight) * image[i : i + rows]
    return total


def blur(image, radius):
    down = blur_rows(image, radius)
    return blur_rows(down.transpose(1, 0, 2), radius).transpose(1, 0, 2)


def edges(image):
    """The length of the gradient of the grey picture, by Sobel's 3 by 3 differences."""
    grey = 0.299 * image[:, :, 0] + 0.587 * image[:, :, 1] + 0.114 * image[:, :, 2]
    across = grey[:, 2:] - grey[:, :-2]
    across = across[:-2] + 2 * across[1:-1] + across[2:]
    down = grey[2:] - grey[:-2]
    down = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return np.minimum(np.sqrt(across * across + down * down), 1)


def tone(image):
    """A smooth S-curve for contrast, then each colour with a power of its own."""
    curve = image * image * (3 - 2 * image)
    powers = np.asarray(numpy.array([0.80, 0.95, 1.20], dtype=numpy.float32))
    return curve**powers


def main(photo):
    soft = blur(photo, RADIUS)
    inner = photo[RADIUS:-RADIUS, RADIUS:-RADIUS]
    sharp = np.minimum(np.maximum(inner + 1.2 * (inner - soft), 0), 1)
    return {"blur": soft, "sharp": sharp, "edges": edges(photo), "tone": tone(photo)}


def pictures(result):
    out = {}
    for name, image in result.items():
        step = max(1, image.shape[0] // 500)
        out[name] = (255 * image[::step, ::step]).astype(numpy.uint8)
    return out


if __name__ == "__main__":
    from treadle.demo.png import write_png

    result = main(*setup(**SIZES["cpu"]))
    for name, picture in pictures({k: np.asnumpy(v) for k, v in result.items()}).items():
        write_png(f"filter {name}.png", picture)

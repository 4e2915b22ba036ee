"""A layer of two-dimensional convolutions with bias, pixel by pixel of the output, as NumPy programs write it."""

import numpy as np

SIZES = {"small": (2, 3, 3, 8, 10), "large": (16, 3, 16, 128, 128)}  # images, in, out, height, width; window 5 x 5


def initialize(n, cin, cout, height, width):
    rng = np.random.default_rng(42)
    image = rng.random((n, height, width, cin), dtype=np.float32)
    weights = rng.random((5, 5, cin, cout), dtype=np.float32)
    return image, weights, rng.random((cout,), dtype=np.float32)


def convolve(image, weights):
    k = weights.shape[0]
    n, rows, columns = image.shape[0], image.shape[1] - k + 1, image.shape[2] - k + 1
    output = np.empty((n, rows, columns, weights.shape[3]), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            output[:, i, j, :] = np.sum(
                image[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )
    return output


def kernel(image, weights, bias):
    return convolve(image, weights) + bias

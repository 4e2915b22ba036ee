"""LeNet-5's inference in plain NumPy: convolutions, pooling and products."""

import numpy as np

SIZES = {"small": (2, 28), "large": (320, 44)}  # images, their height and width


def initialize(n, size):
    rng = np.random.default_rng(42)

    def draw(*shape):
        return rng.random(shape, dtype=np.float32) - np.float32(0.5)

    flat = 16 * (((size - 4) // 2 - 4) // 2) ** 2
    return (
        draw(n, size, size, 1),
        (draw(5, 5, 1, 6), draw(6)),
        (draw(5, 5, 6, 16), draw(16)),
        (draw(flat, 120), draw(120)),
        (draw(120, 84), draw(84)),
        (draw(84, 10), draw(10)),
    )


def relu(x):
    return np.maximum(x, 0)


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


def pool(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def kernel(x, conv1, conv2, fc1, fc2, fc3):
    x = pool(relu(convolve(x, conv1[0]) + conv1[1]))
    x = pool(relu(convolve(x, conv2[0]) + conv2[1]))
    x = np.reshape(x, (x.shape[0], -1))
    x = relu(x @ fc1[0] + fc1[1])
    x = relu(x @ fc2[0] + fc2[1])
    return x @ fc3[0] + fc3[1]

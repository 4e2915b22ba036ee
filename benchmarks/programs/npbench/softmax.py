"""Softmax over the last axis of a batch of attention scores."""

import numpy as np

SIZES = {"small": (2, 4, 32), "large": (16, 16, 512)}  # batch, heads, sequence


def initialize(n, heads, length):
    rng = np.random.default_rng(42)
    return (rng.random((n, heads, length, length), dtype=np.float32),)


def kernel(x):
    largest = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - largest)
    return e / np.sum(e, axis=-1, keepdims=True)

"""Random kernels of many threads on all engines, against CPython's account of them: kernel_generator.py."""

import random

from kernel_generator import compared


def test_kernels_of_known_seeds():
    assert compared(range(40)) == []


def test_kernels_of_new_seeds():
    seed = random.SystemRandom().randrange(10**9)
    print("seed", seed)
    assert compared(range(seed, seed + 40)) == []

"""Finds NVIDIA's libraries that pip installed. The core asks before it opens the first of them."""

import os
import sys


def folders():
    """The folders of libraries in NVIDIA's wheels on sys.path, joined by colons: ``nvidia/cu13/lib`` for
    CUDA 13, ``nvidia/cublas/lib`` and its like for CUDA 12."""
    found = []
    for entry in sys.path:
        root = os.path.join(entry or os.curdir, "nvidia")
        try:
            names = sorted(os.listdir(root))
        except OSError:  # most entries have no such folder, and some cannot be read
            continue
        found += (os.path.abspath(os.path.join(root, name, "lib")) for name in names)
    return ":".join(dict.fromkeys(f for f in found if os.path.isdir(f) and ":" not in f))

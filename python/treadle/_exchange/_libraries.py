"""Where pip puts NVIDIA's libraries; asked for before the first foreign library is opened."""

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
        except OSError:  # most entries have no such folder; an unreadable one is skipped
            continue
        found += (os.path.abspath(os.path.join(root, name, "lib")) for name in names)
    return ":".join(dict.fromkeys(f for f in found if os.path.isdir(f) and ":" not in f))

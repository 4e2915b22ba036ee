"""``cuda.vectorize`` and ``cuda.guvectorize``: treadle's, whose calls with NumPy arrays run on the current device."""

from .._compile import _guvectorize, _vectorize


def vectorize(ftylist_or_function=(), target="cuda", identity=None, **options):
    """As treadle.vectorize with target 'cuda'."""
    return _vectorize.vectorize(ftylist_or_function, target, identity, **options)


def guvectorize(ftylist, signature=None, target="cuda", **options):
    """As treadle.guvectorize with target 'cuda'."""
    return _guvectorize.guvectorize(ftylist, signature, target, **options)

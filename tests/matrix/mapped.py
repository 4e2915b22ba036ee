"""Functions mapped by an executor: compiled, with Python's results, and by worker processes where they cannot be."""

import warnings

from treadle.executor import DeviceExecutor


def escape(c):
    z, n = 0j, 0
    while abs(z) <= 2 and n < 100:
        z, n = z * z + c, n + 1
    return n


def square(n):
    return n * n


def words(n):
    return {"n": str(n)}


if __name__ == "__main__":
    with DeviceExecutor() as pool:
        points = [0, 1, -1 + 0.3j, 2j] * 50
        assert list(pool.map(escape, points)) == [escape(c) for c in points]
        assert list(pool.map(square, [3, 10**12])) == [9, 10**24]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert list(pool.map(words, [1, 2])) == [{"n": "1"}, {"n": "2"}]
        assert said, "what decided that workers run it"

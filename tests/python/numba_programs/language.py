"""What a compiled function may say, feature by feature: one line is printed for each."""

import heapq

import numpy as np
from numba import guvectorize, jit, njit, prange, stencil, types, vectorize


@njit
def limits(a):
    return np.iinfo(np.int32).max, np.finfo(np.float64).eps, np.iinfo(a.dtype).min, np.finfo(np.float32).max


@njit
def item_of_tuple(arrays, i):
    return arrays[i].sum() + arrays[-1][0]


@njit
def items_of_tuple(arrays):
    s = 0.0
    for i in range(len(arrays)):
        s += arrays[i][0] * (i + 1)
    for a in arrays:
        s += a.sum()
    return s


@njit
def unpacked(p, rows):
    x, y, z = p
    s = x * y + z
    for u, v in rows:
        s += u * v
    return s


@njit
def none_on_a_path(a, least):
    found = None
    for i in range(len(a)):
        if a[i] > least:
            found = a[i]
            break
    if found is None:
        return -1.0
    return found * 2


@njit
def none_returned(x):
    if x > 2:
        return x
    return None


@njit
def none_in_a_dict(k):
    d = {1: 2.5}
    x = d.get(k)
    if x is None:
        return -1.0
    return x


@njit
def optional_argument(a, x=None):
    if x is None:
        x = 3
    return a + x


@njit
def finally_and_return(x, log):
    try:
        if x > 1:
            return 1
        x += 5
    finally:
        log[0] += 1
        x += 1
    return x


@njit
def heap_of_pairs(a):
    h = [(a[0], 0)]
    for i in range(1, len(a)):
        heapq.heappush(h, (a[i], i))
    out = []
    while len(h) > 0:
        _, i = heapq.heappop(h)
        out.append(i)
    return out


@njit
def nested(x):
    k = x * 2

    def g(y):
        return y + k

    h = lambda y: y * y + k  # noqa: E731
    return g(3) + g(4) + h(2)


@njit
def indices(a):
    s = 0.0
    for at in np.ndindex(a.shape):
        s += a[at]
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * i
    for (i, _), v in np.ndenumerate(a):
        s += v * i
    for at, v in np.ndenumerate(a):
        s += v * at[1]
    return s


@jit(nopython=True, locals={"s": types.float32})
def declared(a):
    s = 0
    for x in a:
        s += x
    return s


@njit
def keyword_only(a, *, b):
    return a * b


@njit
def of_three(a, b, c):
    return a * b + c


@njit
def spread(t):
    return of_three(*t)


@njit
def square(x):
    return x * x


@njit
def function_as_argument(f, x):
    return f(x) + 1


@njit
def chosen(a, i, m):
    b = a[i]
    a[i] = 0
    a[a == 1] = 9
    a[m] += 1.5
    a[i] *= 2
    return b, a


@njit
def linear(a):
    w, v = np.linalg.eigh(a)
    _, s, _ = np.linalg.svd(a)
    q, r = np.linalg.qr(a)
    return np.abs(v @ np.diag(w) @ v.T - a).max() < 1e-12, s.sum(), np.abs(q @ r - a).max() < 1e-12, np.linalg.matrix_rank(a)


@stencil
def cross(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@njit
def stenciled(a):
    return cross(a)


@vectorize
def weighted(x, y):
    return x + 2 * y


@njit
def vectorized(a, b):
    return weighted(a, b), weighted(a, 1.0), weighted(2, 3)


@guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def shifted(x, y, r):
    for i in range(x.shape[0]):
        r[i] = x[i] + y


@njit
def generalised(a):
    out = np.empty_like(a)
    shifted(a, 3.0, out)
    return out


@njit
def slices(a):
    s = slice(1, 3)
    return a[s].sum() + a[..., 0] + a[slice(None, None, 2)].sum()


@njit
def one_name_of_two_types(a):
    x = (1, 2)
    s = x[0]
    for x in a:
        s += x
    x = a.sum()
    return s + x


@njit
def heavy(x):
    s = 0.0
    for k in range(50):
        s += np.sqrt(x + k)
    return s


@njit(parallel=True)
def in_parallel(a):
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = heavy(a[i])
    return round(out.sum(), 6)


def show(f, *args, **kwargs):
    print(f.__name__, f(*args, **kwargs))


v = np.arange(5.0)
m = np.arange(6.0).reshape(2, 3)
log = np.zeros(1)
show(limits, np.zeros(2, np.int16))
show(item_of_tuple, (np.ones(3), v), 1)
show(items_of_tuple, (np.ones(3), v + 1))
show(unpacked, v[1:4], m.T.copy())
show(none_on_a_path, v, 2.0)
show(none_on_a_path, v, 9.0)
show(none_returned, 3)
show(none_returned, 1)
show(none_in_a_dict, 1)
show(none_in_a_dict, 2)
show(optional_argument, 1)
show(optional_argument, 1, 2)
show(finally_and_return, 2, log)
show(finally_and_return, 0, log)
print(log)
show(heap_of_pairs, np.array([3.0, 1.0, 2.0]))
show(nested, 5)
show(indices, m)
show(declared, v + 0.1)
show(keyword_only, 3, b=5)
show(spread, (1, 2, 3))
show(function_as_argument, square, 3.0)
show(chosen, v.copy(), np.array([0, 2]), v > 2)
show(linear, np.array([[2.0, 1.0], [1.0, 3.0]]))
show(stenciled, np.arange(16.0).reshape(4, 4))
show(vectorized, v, v + 1)
show(generalised, v)
show(slices, v)
show(one_name_of_two_types, v)
show(in_parallel, np.ones(300))

import numpy as np, time
def work(n):
    x = np.arange(10.0); y = np.ones(10)
    s = 0.0
    for i in range(n):
        z = x + y * 2.0
        z -= x
        s += z[3]
        w = z[2:7]
        s += w.sum()
        v = np.sin(z)
        t = np.maximum(v, 0.5)
        u = t.reshape(2, 5)
        s += np.dot(z, v)
    return s
work(100)
t=time.perf_counter(); r=work(11000); print(r); import sys; print(time.perf_counter()-t, file=sys.stderr)

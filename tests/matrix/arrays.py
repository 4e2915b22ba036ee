"""Arrays: recorded, reduced, indexed, sorted, drawn, and what NumPy computes for them."""

import numpy

import treadle as np

n = numpy.random.default_rng(0).normal(size=(300, 200))
a = np.asarray(n)
numpy.testing.assert_allclose(np.asnumpy(np.sqrt(a * a + 1) * np.exp(-a)), numpy.sqrt(n * n + 1) * numpy.exp(-n), rtol=1e-13)
numpy.testing.assert_allclose(np.asnumpy((a - a.mean(0)) / a.std(0)), (n - n.mean(0)) / n.std(0), rtol=1e-9, atol=1e-12)
numpy.testing.assert_array_equal(np.asnumpy(np.sort(a, axis=1)[:, ::3]), numpy.sort(n, axis=1)[:, ::3])
numpy.testing.assert_array_equal(np.asnumpy(a[a > 0.5]), n[n > 0.5])
numpy.testing.assert_allclose(np.asnumpy(a.astype("f4") @ a.T.astype("f4")), n @ n.T, rtol=1e-3, atol=1e-3)
numpy.testing.assert_allclose(np.asnumpy(np.linalg.qr(a)[1]), numpy.linalg.qr(n)[1], rtol=1e-9, atol=1e-9)
numpy.testing.assert_allclose(np.asnumpy(np.fft.rfft(a)), numpy.fft.rfft(n), rtol=1e-9, atol=1e-9)
u = np.random.default_rng(7).random(1000, dtype=np.float32)
assert 0 <= float(u.min()) and float(u.max()) < 1
try:
    a @ a
except ValueError as e:
    assert "200" in str(e) and "300" in str(e), e
else:
    raise AssertionError("a product of shapes that do not fit")

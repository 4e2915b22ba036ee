"""treadle.testing: CuPy's decorators pass what agrees with NumPy, and fail what does not."""

import inspect
import unittest

import numpy as np
import pytest

import treadle as td
from treadle import testing


def test_assertions(dev):
    x = td.asarray([1.0, 2.0], device=dev)
    testing.assert_array_equal(x, [1, 2])
    testing.assert_allclose([x, x], np.array([[1, 2], [1, 2 + 1e-9]]))
    testing.assert_array_almost_equal(x, np.array([1, 2.0000001]))
    testing.assert_array_less(x, x + 1)
    testing.assert_array_max_ulp(x, x)
    testing.assert_array_almost_equal_nulp(x, x)
    testing.assert_array_list_equal([x, x], (x, np.array([1, 2])))
    testing.assert_array_equal(x, x, strides_check=True)
    for check in (
        lambda: testing.assert_array_equal(x, [1, 3]), lambda: testing.assert_allclose(x, x + 1e-3),
        lambda: testing.assert_array_almost_equal(x, x + 1), lambda: testing.assert_array_less(x, x),
        lambda: testing.assert_array_max_ulp(x, x + 1), lambda: testing.assert_array_almost_equal_nulp(x, x + 1),
        lambda: testing.assert_array_list_equal([x], [x, x]), lambda: testing.assert_array_list_equal(x, [x]),
        lambda: testing.assert_array_list_equal([x], [x + 1]), lambda: testing.assert_array_equal(x, x.get()[::-1][::-1].repeat(2)[::2], strides_check=True),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            check()
    assert testing.assert_raises is np.testing.assert_raises and "assert_raises" in dir(testing)
    with pytest.raises(AttributeError, match="nothing"):
        _ = testing.nothing


def test_equal_where_lists_hold_arrays(dev):
    x = td.asarray([1.0, 2.0], device=dev)
    for right, wrong in (([1, 2], [1, 3]), ((1, 2), (2, 2)), (np.array([1, 2]), np.array([1, 1])), (x * 1, x * 2)):
        for a, b in ((right, wrong), ([right], [wrong]), ({"a": right}, {"a": wrong}), ((right, 1), (wrong, 1))):
            ours = {list: lambda v: [v], dict: lambda v: {"a": v}, tuple: lambda v: (v, 1)}.get(type(a) if a is not right else None, lambda v: v)(x)
            for check in (testing.assert_equal, testing.assert_almost_equal if not isinstance(ours, dict) else testing.assert_equal):
                if isinstance(ours, (list, tuple)) and check is testing.assert_almost_equal:
                    continue
                check(ours, a)
                check(a, ours)
                with pytest.raises(AssertionError):
                    check(ours, b)
    testing.assert_equal(actual=x.sum(), desired=3)
    testing.assert_almost_equal(x.mean(), 1.5)
    testing.assert_approx_equal(x.sum() / 9, 1 / 3)
    with pytest.raises(AssertionError):
        testing.assert_approx_equal(x.sum() / 9, 0.4)


COMPARED = {
    "numpy_cupy_allclose": (lambda x: x, lambda x: x + 1e-3), "numpy_cupy_array_almost_equal": (lambda x: x + 1e-9, lambda x: x + 1e-3),
    "numpy_cupy_array_almost_equal_nulp": (lambda x: x, lambda x: x + 1e-9), "numpy_cupy_array_max_ulp": (lambda x: x, lambda x: x + 1e-9),
    "numpy_cupy_array_equal": (lambda x: x, lambda x: x + 1), "numpy_cupy_array_less": (lambda x: x - 1, lambda x: x),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARED)
def test_comparisons(name):
    decorator, (good, bad) = getattr(testing, name), COMPARED[name]

    def case(change):
        def run(xp, more):
            x = xp.arange(1.0, 4.0) * more
            return change(x) if xp is td else x

        return decorator()(run)

    case(good)(more=2)
    for wrong in (bad, lambda x: x[:2], lambda x: x.astype("float32"), lambda x: [x, x], lambda x: None):
        with pytest.raises((AssertionError, ValueError)):  # NumPy's answer to other shapes where units are counted
            case(wrong)(more=1)

    def unlike(xp):
        return xp.zeros(2, "float32") - 1 if xp is td else xp.zeros(2) - (0 if name.endswith("less") else 1)

    if "nulp" not in name:  # whose units are one dtype's
        decorator(type_check=False)(unlike)()
    with pytest.raises(AssertionError, match="float32"):
        decorator()(unlike)()


def test_comparisons_of_errors():
    def raising(ours, theirs):
        def run(xp):
            error = ours if xp is td else theirs
            if error:
                raise error("wrong")
            return xp.zeros(1)

        return run

    accepting = testing.numpy_cupy_allclose(accept_error=ValueError)
    accepting(raising(ValueError, ValueError))()
    testing.numpy_cupy_raises()(raising(ValueError, ValueError))()
    testing.numpy_cupy_array_equal(accept_error=True)(raising(IndexError, IndexError))()
    for decorator, ours, theirs in (
        (accepting, TypeError, TypeError), (accepting, ValueError, None), (accepting, None, ValueError), (accepting, TypeError, ValueError),
        (testing.numpy_cupy_allclose(), ValueError, ValueError), (testing.numpy_cupy_raises(), None, None), (testing.numpy_cupy_raises(), None, ValueError),
        (testing.numpy_cupy_raises(accept_error=IndexError), ValueError, ValueError),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            decorator(raising(ours, theirs))()
    testing.numpy_cupy_equal()(lambda xp: xp.zeros((2, 3)).shape)()
    with pytest.raises(AssertionError):
        testing.numpy_cupy_equal()(lambda xp: xp.__name__)()
    testing.numpy_cupy_array_list_equal()(lambda xp: [xp.ones(2), xp.zeros(3)])()


def test_tolerances_layouts_and_modules():
    def near(xp, dtype):
        return xp.ones(3, dtype) * xp.asarray(1 + (1e-4 if xp is td else 0), dtype)

    testing.numpy_cupy_allclose(rtol={np.float32: 1e-3, "default": 0})(near)(dtype="float32")
    with pytest.raises(AssertionError):
        testing.numpy_cupy_allclose(rtol={np.float32: 1e-3, "default": 0})(near)(dtype="float64")
    with pytest.raises(TypeError, match="tolerance"):
        testing.numpy_cupy_allclose(rtol={"float32": 1})

    def ordered(xp):
        return xp.asarray(np.zeros((2, 3)), order="C" if xp is np else "F")

    with pytest.raises(AssertionError, match="contiguous"):
        testing.numpy_cupy_allclose()(ordered)()
    testing.numpy_cupy_allclose(contiguous_check=False)(ordered)()

    @testing.numpy_cupy_allclose(sp_name="sp", scipy_name="scp")
    def sparse(xp, sp, scp):
        return sp.csr_matrix(xp.eye(3)), scp.special.erf(xp.ones(2))

    sparse()
    testing.numpy_cupy_allclose()(lambda xp: xp.poly1d(xp.asarray([1.0, 2.0])))()
    testing.numpy_cupy_allclose(name="module")(lambda module: module.float64(3))()


def _seen(decorator, **kwargs):
    found = []

    decorator(lambda dtype=None, **more: found.append((dtype, *more.values())))(**kwargs)
    return found


def test_loops():
    bits = {n: {d for (d,) in _seen(getattr(testing, f"for_{n}_dtypes")())} for n in ("all", "float", "signed", "unsigned", "int", "complex")}
    assert bits["float"] == {np.float16, np.float32, np.float64} and bits["complex"] == {np.complex64, np.complex128}
    assert {np.dtype(d).kind for d in bits["signed"]} == {"i"} and {np.dtype(d).itemsize for d in bits["unsigned"]} == {1, 2, 4, 8}
    assert bits["int"] == bits["signed"] | bits["unsigned"] | {np.bool_} and bits["all"] == bits["int"] | bits["float"] | bits["complex"]
    assert np.float16 not in {d for (d,) in _seen(testing.for_all_dtypes(no_float16=True))}
    assert {np.dtype(d).kind for (d,) in _seen(testing.for_all_dtypes(no_bool=True, no_complex=True))} == set("iuf")
    assert _seen(testing.for_dtypes("fd")) == [(np.float32,), (np.float64,)]
    orders = []
    testing.for_orders("CF", name="o")(lambda o: orders.append(o))()
    testing.for_CF_orders()(lambda order: orders.append(order))()
    assert orders == ["C", "F", None, "C", "F", "c", "f"]


def _rows(decorator, names):
    rows = []
    decorator(lambda **given: rows.append(tuple(given[n] for n in names)))()
    return rows


@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", "b", "c")])
def test_combinations(names):
    for full in (True, False, None):
        rows = _rows(testing.for_dtypes_combination("bhid", names, full), names)
        assert len(rows) == len(set(rows)) == (4 ** len(names) if full else 4)
        assert all({row[k] for row in rows} == set("bhid") for k in range(len(names)))
    for kind in ("all", "signed", "unsigned", "int"):
        rows = _rows(getattr(testing, f"for_{kind}_dtypes_combination")(names=names), names)
        assert len(rows) == len({row[0] for row in rows}) > 3


def test_signatures_hide_what_is_passed():
    @testing.for_all_dtypes()
    @testing.numpy_cupy_allclose()
    def test(self, xp, dtype, fixture):
        return xp.zeros(3, dtype)

    assert list(inspect.signature(test).parameters) == ["self", "fixture"]
    test(None, fixture=1)


def test_failing_dtypes_are_named(capsys):
    @testing.for_all_dtypes()
    def run(dtype):
        assert dtype is not np.int16

    with pytest.raises(AssertionError) as told:
        run()
    assert "int16" in capsys.readouterr().out + "".join(getattr(told.value, "__notes__", []))


def test_contiguous_axes():
    class Case:
        shape, order = (2, 3, 4), "C"

        @testing.for_contiguous_axes()
        def run(self, axis):
            found.append(axis)

    found = []
    Case().run()
    assert found == [(0, 1, 2), (1, 2), (2,)]
    Case.order, found = "F", []
    Case().run()
    assert found == [(0,), (0, 1), (0, 1, 2)]


@pytest.mark.parametrize("xp", [np, td])
def test_shaped(xp):
    for dtype in ("float32", "int8", "bool", "complex64"):
        up, down, line = testing.shaped_arange((2, 3), xp, dtype), testing.shaped_reverse_arange((2, 3), xp, dtype), testing.shaped_linspace(-1, 5, (2, 3), xp, dtype)
        assert isinstance(up, xp.ndarray) and up.dtype == down.dtype == line.dtype == dtype and up.shape == (2, 3)
        want = np.arange(1, 7) % 2 == 0 if dtype == "bool" else np.arange(1, 7) * (1 + 1j if dtype == "complex64" else 1)
        assert td.asnumpy(up).ravel().tolist() == td.asnumpy(down).ravel()[::-1].tolist() == want.astype(dtype).tolist()
        some = testing.shaped_random((4, 5), xp, dtype, seed=3)
        assert td.asnumpy(some).tolist() == testing.shaped_random((4, 5), np, dtype, seed=3).tolist() and abs(td.asnumpy(some)).max() < 15
    matrix = testing.generate_matrix((3, 4, 2), xp, "float64", singular_values=[3.0, 0.5])
    np.testing.assert_allclose(np.linalg.svd(td.asnumpy(matrix), compute_uv=False), [[3, 0.5]] * 3)
    for error, args, given in (
        (ValueError, (3,), {"singular_values": [1]}), (TypeError, (2, 2), {}), (TypeError, (2, 2), {"singular_values": [1, 1], "dtype": "int8"}),
        (ValueError, (2, 2), {"singular_values": [1, -1]}), (TypeError, (2, 2), {"singular_values": [1j, 1]}),
    ):  # fmt: skip
        with pytest.raises(error):
            testing.generate_matrix(args, xp, **given)


def test_sparse_random():
    import scipy.sparse

    ours, theirs = testing.shaped_sparse_random((20, 30), density=0.2, format="csr"), testing.shaped_sparse_random((20, 30), scipy.sparse, density=0.2)
    assert ours.format == "csr" and ours.toarray().get().tolist() == theirs.toarray().tolist()
    with pytest.raises(ValueError):
        testing.shaped_sparse_random((2, 2), np)


def test_parameters():
    rows = testing.product({"a": [1, 2], "b": [3]})
    assert rows == [{"a": 1, "b": 3}, {"a": 2, "b": 3}]
    assert testing.product([[{"a": 1}, {"a": 2}], [{"b": 3}]]) == rows
    assert testing.product_dict([{"a": 1}, {"a": 2}], [{"b": 3}]) == rows

    @testing.parameterize(*rows)
    class Case(unittest.TestCase):
        def test(self):
            seen.append((self.a, self.b))

    seen = []
    for name in ("Case_param_0", "Case_param_1"):
        unittest.TestLoader().loadTestsFromTestCase(globals().pop(name)).run(unittest.TestResult())
    assert seen == [(1, 3), (2, 3)] and Case.__test__ is False


def test_requirements():
    assert testing.installed("numpy>=1.0", "numpy<99,!=1.2") and testing.numpy_satisfies(">=2.0.0")
    assert not testing.installed("numpy<1.0") and not testing.installed("no_such_package_at_all") and not testing.numpy_satisfies("==1.0")
    with pytest.raises(ValueError, match="rule"):
        testing.installed("numpy=1")
    ran = []

    class Case(unittest.TestCase):
        @testing.with_requires("numpy>=99")
        def test_a(self):
            ran.append("a")

        @testing.with_requires("numpy>=2")
        def test_b(self):
            ran.append("b")

        @testing.multi_gpu(1000)
        def test_c(self):
            ran.append("c")

        @testing.slow
        def test_d(self):
            ran.append("d")

    result = unittest.TestResult()
    unittest.TestLoader().loadTestsFromTestCase(Case).run(result)
    assert ran == ["b", "d"] and len(result.skipped) == 2 and result.wasSuccessful()


def test_fixed_random_numbers():
    import random

    @testing.fix_random()
    def draw():
        return random.random(), np.random.rand(), td.random.rand().item(), testing.generate_seed()

    before = td.random.get_random_state()
    assert draw() == draw() and td.random.get_random_state() is before and 0 <= draw()[3] < 2**31

    @testing.fix_random()
    class Case:
        def test_one(self):
            return td.random.rand().item()

    assert Case().test_one() == Case().test_one() != td.random.rand().item()


def test_calls_warnings_and_aliases():
    import warnings

    with testing.assert_warns(UserWarning):
        warnings.warn("x", UserWarning, stacklevel=1)
    with pytest.raises(AssertionError, match="UserWarning"), testing.assert_warns(UserWarning):
        pass
    with testing.assert_function_is_called("treadle.testing.installed", times_called=2):
        testing.installed(), testing.installed()
    with pytest.raises(AssertionError, match="0 times"), testing.AssertFunctionIsCalled("treadle.testing.installed"):
        pass

    class Good(testing.NumpyAliasValuesTestBase):
        func, args = "broadcast_shapes", ((2, 1), (1, 3))

    class Bad(testing.NumpyAliasBasicTestBase):
        func = "get_array_module"

    for case, good in ((Good, True), (Bad, False)):
        result = unittest.TestResult()
        unittest.TestLoader().loadTestsFromTestCase(case).run(result)
        assert result.wasSuccessful() is good


def test_numpys_own_assertions_take_arrays():
    x = td.linspace(0, 1, 3)
    for name in ("assert_equal", "assert_almost_equal", "assert_array_equal", "assert_allclose", "assert_array_almost_equal"):
        check = getattr(np.testing, name)
        check(x, [0, 0.5, 1])
        check(x.sum(), 1.5)
        with pytest.raises(AssertionError):
            check(x, x + 1)
    np.testing.assert_equal({"a": [x, 1]}, {"a": [x, 1]})
    with pytest.raises(AssertionError):
        np.testing.assert_equal({"a": [x, 1]}, {"a": [x + 1, 1]})

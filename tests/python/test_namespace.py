"""What programs of the array API's standard ask of the module."""

import numpy as np
import pytest

import treadle as td


def test_namespace(dev):
    x = td.ones(3, "int8")
    assert x.__array_namespace__() is td and x.__array_namespace__(api_version="2024.12") is td
    info = td.__array_namespace_info__()
    assert info.default_device() == dev and all(isinstance(d, td.device) for d in info.devices())
    assert info.capabilities()["max dimensions"] == 16
    with pytest.raises(ValueError):
        td.zeros((1,) * 17)
    for name, dtype in info.dtypes(kind=("bool", "integral", "real floating")).items():
        assert td.zeros(2, dtype).dtype == np.dtype(name)
    for kind, dtype in info.default_dtypes().items():
        assert kind == "indexing" or dtype in info.dtypes(kind=kind).values()
    assert td.asarray(1.5).dtype == info.default_dtypes()["real floating"]
    with pytest.raises(ValueError, match="integral"):
        info.dtypes(kind="float")


def test_dtypes_of_arrays(dev):
    x = td.ones(3, "int8")
    assert td.result_type(x, np.float32) == np.float32 and td.can_cast(x, "int16")
    assert td.astype(x, "float32").dtype == np.float32 and td.astype(x, "int8", copy=False) is x
    assert td.astype(x, "int8") is not x


@pytest.mark.parametrize("f", ["empty_like", "zeros_like", "ones_like", "full_like"])
def test_like_functions_take_devices(f, dev):
    x, more = td.ones((2, 3), "int8"), (7,) if f == "full_like" else ()
    for device in (None, "cpu", "null"):
        r = getattr(td, f)(x, *more, device=device)
        assert r.device == (device or dev) and r.shape == x.shape and r.dtype == x.dtype
    assert getattr(td, f)([1.0, 2.0], *more, device="null").device == "null"

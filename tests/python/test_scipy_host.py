"""What SciPy computes on the host: functions, out=, classes, objects, user functions, and their counting."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import treadle as td
from treadle._exchange import _host


@pytest.fixture
def allowed():
    before = _host.mode
    td.config.fallback = "allow"
    td.fallbacks(clear=True)
    yield
    td.config.fallback = before


def test_a_function(dev, allowed):
    h = td.scipy.optimize.linear_sum_assignment(td.asarray(np.eye(3)), maximize=True)
    assert isinstance(h[0], td._core.ndarray) and h[1].get().tolist() == [0, 1, 2]
    assert td.fallbacks()[0][0] == "scipy.optimize.linear_sum_assignment" and td.fallbacks()[0][3] == 72


def test_it_warns():
    with pytest.warns(td.PerformanceWarning, match="scipy.special.wofz is computed"):
        td.scipy.special.wofz(td.ones(3))


def test_out(dev, allowed):
    x, out = td.asarray([1.0, 2.0]), td.zeros(2)
    assert td.scipy.special.kelvin is not None
    assert td.scipy.special.wrightomega(x, out=out) is out
    assert td.scipy.special.wrightomega(x, out).get().tolist() == out.get().tolist()
    assert out.get()[0] == 1.0


def test_an_object(allowed):
    x = np.linspace(0, 1, 9)
    solution = td.scipy.integrate.solve_ivp(lambda t, y: -td.asarray(y), (0, 1), td.asarray([1.0]), dense_output=True)
    assert isinstance(solution.y, td._core.ndarray) and solution["success"]
    assert abs(solution.sol(td.asarray(x)).get()[0] - np.exp(-x)).max() < 1e-2
    assert type(pickle.loads(pickle.dumps(solution))) is type(solution)


def test_a_class(allowed):
    sets = td.scipy.cluster.hierarchy.DisjointSet([1, 2, 3])
    assert isinstance(sets, td.scipy.cluster.hierarchy.DisjointSet) and len(sets) == 3 and 2 in sets
    sets.merge(1, 2)
    assert sets.connected(1, 2) and list(sets) == [1, 2, 3]
    system = td.scipy.signal.lti([1.0], [1.0, 2.0])
    assert isinstance(system, td.scipy.signal.TransferFunction) and isinstance(system, td.scipy.signal.lti)
    assert isinstance(system.to_zpk().poles, td._core.ndarray) and system.poles.get().tolist() == [-2]


def test_a_mistake_is_scipys():
    with pytest.raises(AttributeError, match="nothing"):
        _ = td.scipy.special.nothing
    with pytest.raises(AttributeError):
        _ = td.scipy.nothing


def test_without_scipy():
    text = """
import sys
sys.modules["scipy"] = None
import treadle as td
f = td.scipy.optimize.minimize
try:
    f(1)
except td.MissingLibraryError as error:
    assert "pip install scipy" in str(error)
else:
    raise SystemExit(1)
"""
    assert subprocess.run([sys.executable, "-c", text]).returncode == 0

"""DeviceExecutor whose work the workers of mpi4py.futures do: three processes, started by mpich's mpiexec."""

import os
import subprocess
import sys
import sysconfig

import pytest

pytest.importorskip("mpi4py.futures")

MPIEXEC = os.path.join(sysconfig.get_path("scripts"), "mpiexec")

PROGRAM = '''
import os

import treadle as td
from mpi4py.futures import MPIPoolExecutor


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def who(n):
    return f"{n} {os.getpid()}"


def inverse(x):
    return 1 / x


if __name__ == "__main__":
    with MPIPoolExecutor() as pool, td.executor.DeviceExecutor(engine=pool) as ex:
        assert list(ex.map(collatz, range(1, 500), chunksize=125)) == [collatz(n) for n in range(1, 500)]
        squares = ex.map(abs, td.arange(-50.0, 50.0), as_array=True, chunksize=50)
        assert isinstance(squares, td._core.ndarray) and squares.tolist() == [abs(n - 50.0) for n in range(100)]
        words = [w.split() for w in ex.map(who, map(str, range(200)), chunksize=20)]
        assert [w[0] for w in words] == [str(n) for n in range(200)]
        assert str(os.getpid()) not in {w[1] for w in words}
        got = []
        try:
            for value in ex.map(inverse, [4.0, 2.0, 0.0], chunksize=3):
                got.append(value)
        except ZeroDivisionError as error:
            assert "return 1 / x" in str(error.__cause__)
            got.append("failed")
        assert got == [0.25, 0.5, "failed"], got
        total = sum(f.result() for f in [ex.submit(pow, 2, n) for n in range(10)])
        assert total == 1023
        values = ex.submit(td.sum, td.arange(100)).result()  # arrays travel
        assert isinstance(values, td._core.ndarray) and int(values) == 4950
    print("all is well")
'''


@pytest.mark.skipif(not os.path.exists(MPIEXEC), reason="mpich's mpiexec is not beside this Python")
def test_pool_of_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(program)]
    r = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.strip() == "all is well", r.stdout + r.stderr

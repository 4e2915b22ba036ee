"""treadle.cuda's names: those that mean something inside kernels only, the page that lists them all, and random states."""

import inspect
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import treadle as td
import treadle.experimental
import treadle.typed
from treadle import cuda

# ---- what has a meaning inside kernels only ----


def _stand_ins():
    spaces = {"cuda": cuda, "cuda.fp16": cuda.fp16, "cuda.bf16": cuda.bf16, "cuda.cg": cuda.cg, "cuda.libdevice": cuda.libdevice}
    spaces |= {f"cuda.{n}": getattr(cuda, n) for n in ("shared", "local", "const", "atomic")}
    for home, space in spaces.items():
        for name, value in vars(space).items():
            if hasattr(value, "_td_name") and not inspect.ismodule(value) and type(value).__name__ != "SimpleNamespace":
                yield f"{home}.{name}", value


STAND_INS = dict(_stand_ins())


def test_stand_ins_are_named_and_documented():
    assert len(STAND_INS) > 500
    for name, value in STAND_INS.items():
        assert value._td_name == name and value.__doc__
        if callable(value):
            assert value.__doc__.startswith(value.__name__ + "(") and " -> " in value.__doc__ and "| " not in value.__doc__
            count = len(inspect.signature(value).parameters)
            with pytest.raises(TypeError, match=re.escape(name)):
                value(*range(count))
        else:
            with pytest.raises(TypeError, match="inside kernels"):
                int(value)
            assert pickle.loads(pickle.dumps(value)) is value
    assert not [w for w in ("ANY", "OLD", "INTS", "MASK") if any(re.search(rf"\b{w}\b", v.__doc__) for v in STAND_INS.values())]
    assert pickle.loads(pickle.dumps(cuda.grid)) is cuda.grid
    assert cuda.threadIdx.x._td_name == "cuda.threadIdx.x" and cuda.gridDim.z._td_name == "cuda.gridDim.z"


def test_names_of_the_table():
    names = """grid gridsize threadIdx blockIdx blockDim gridDim laneid warpsize shared.array local.array const.array_like syncthreads syncthreads_count
    syncthreads_and syncthreads_or syncwarp threadfence threadfence_block threadfence_system shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync all_sync
    any_sync eq_sync ballot_sync match_any_sync match_all_sync activemask lanemask_lt popc brev clz ffs fma cbrt selp nanosleep ldca ldcg ldcs ldlu ldcv stcg
    stcs stwb stwt atomic.add atomic.sub atomic.and_ atomic.or_ atomic.xor atomic.inc atomic.dec atomic.exch atomic.max atomic.min atomic.nanmax atomic.nanmin
    atomic.cas atomic.compare_and_swap cg.this_grid fp16.hadd fp16.hfma fp16.hlt fp16.htrunc fp16.hrsqrt bf16.hadd_sat bf16.bfloat16_as_int16 bf16.hfma_relu
    bf16.int64_to_bfloat16_rd bf16.bfloat16_to_uint8_rz libdevice.sincos libdevice.fast_cosf libdevice.frexp""".split()
    assert [n for n in names if f"cuda.{n}" not in STAND_INS] == []


def test_libdevice_has_types():
    f = cuda.libdevice.FUNCTIONS
    t = td.types
    assert len(f) == 317
    assert f["sin"] == t.float64(t.float64) and f["powif"] == t.float32(t.float32, t.int32) and f["clzll"] == t.int32(t.int64)
    assert f["sincosf"].return_type == t.UniTuple(t.float32, 2) and f["frexp"].return_type == t.Tuple((t.float64, t.int32))
    assert f["remquof"].args == (t.float32, t.float32) and f["modf"].return_type == t.UniTuple(t.float64, 2)


def test_hints():
    a = np.zeros(3)
    ways = {h: (h(a)._td_in, h(a)._td_out) for h in (cuda.In, cuda.Out, cuda.InOut)}
    assert ways == {cuda.In: (True, False), cuda.Out: (False, True), cuda.InOut: (True, True)}
    assert cuda.In(cuda.InOut(a)).value is a and "In(" in repr(cuda.In(a))


def test_unknown_names_are_told():
    with pytest.raises(AttributeError, match="docs/numba.md"):
        cuda.no_such_name  # noqa: B018
    assert {"libdevice", "grid", "to_device", "float32x4"} <= set(dir(cuda)) and cuda.float32 is td.types.float32


# ---- random ----

# What numba.cuda's init_xoroshiro128p_states_cpu(n, seed, subsequence_start) gives last.
STATES = [
    (5, 1, 0, 0x17E0E052C5094B78, 0x8341792FB49D7386),
    (3, 42, 7, 0xDD52C6FD06EB27E0, 0xD828BCF409906DF7),
    (4, 2**63 + 5, 130, 0xF94DFEFA3601E924, 0x847558EDB99E87AE),
    (1000, 123456, 0, 0xE27C9E9CB218F7E7, 0x1F356F99FFD6A7C6),
]


@pytest.mark.parametrize("n, seed, start, s0, s1", STATES)
def test_random_states_are_numbas(dev, n, seed, start, s0, s1):
    states = cuda.random.create_xoroshiro128p_states(n, seed, subsequence_start=start)
    assert states.shape == (n,) and states.dtype == cuda.random.xoroshiro128p_dtype
    assert tuple(map(int, states[n - 1])) == (s0, s1)


def test_random_functions_are_the_generators():
    """The kernels' functions, run by Python: the steps that a state takes, and numba's draws for seed 9."""
    r = cuda.random
    with np.errstate(over="ignore"):
        made = np.zeros(2, r.xoroshiro128p_dtype)
        r.init_xoroshiro128p_state(made, 0, 9)
        made[1] = made[0]
        r.xoroshiro128p_jump(made, 1)
        states = r.init_xoroshiro128p_states_cpu(np.zeros(2, r.xoroshiro128p_dtype), 9, 0)
        assert (made == states).all()
        draws = [float(r.xoroshiro128p_uniform_float64(states, 1)) for _ in range(3)]
        assert draws == [0.08811499389903765, 0.004081753890068263, 0.6819221528615818]
        assert float(r.xoroshiro128p_normal_float32(states, 0)) == pytest.approx(0.46726620215800607, rel=1e-6)
        assert float(r.xoroshiro128p_normal_float64(states, 0)) == pytest.approx(0.015993063873462558, rel=1e-14)
        assert r.xoroshiro128p_uniform_float32(states, 0) == np.float32(0.5460627)


def test_random_states_are_filled_in_place(dev):
    states = cuda.device_array(6, cuda.random.xoroshiro128p_dtype)
    s = cuda.stream()
    cuda.random.init_xoroshiro128p_states(states, 1, 2, stream=s)
    whole = cuda.random.create_xoroshiro128p_states(8, 1).copy_to_host()
    assert (states.copy_to_host(stream=s) == whole[2:]).all()
    assert cuda.random.create_xoroshiro128p_states(0, 1).shape == (0,)


def test_a_launch_imports_no_tables(tmp_path):
    """Modules of hundreds of stand-ins are made when a program names them, not by the first kernel."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport numpy\nfrom treadle import cuda\n"
        "@cuda.jit\ndef k(a):\n    a[cuda.grid(1)] = min(cuda.laneid, abs(-7))\n"
        "a = numpy.zeros(32)\nk[1, 32](a)\nassert a.max() == 7\n"
        "print([m for m in ('libdevice', 'fp16', 'bf16', 'cg') if f'treadle.cuda.{m}' in sys.modules])\n",
        encoding="utf-8",
    )
    env = {**os.environ, "TREADLE_DEVICE": "cpu", "PYTHONPATH": str(pathlib.Path(td.__file__).parents[1])}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ---- the page about it ----


def test_the_page_tells_the_truth():
    """Names that docs/numba.md has as here are here, and those that it has as missing are not."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "numba.md").read_text(encoding="utf-8")
    table = page.partition("| names | state |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.*) \| (.*) \|$", table, re.MULTILINE)
    told = {name: state for names, state in rows for name in re.findall(r"`([^`]*)`", names)}
    assert len(told) > 150

    def found(name):
        place = cuda.current_context() if name.startswith("current_context().") else cuda
        if name.startswith(("typed.", "experimental.")):  # of Numba itself
            place = td
        for part in name.removeprefix("current_context().").split("."):
            place = getattr(place, part, None)
        return place is not None

    assert [n for n, state in told.items() if found(n) == state.startswith("not here")] == []
    inside = {n for n, state in told.items() if state.startswith("inside kernels")}
    named = {n.removeprefix("cuda.") for n in STAND_INS if n.split(".")[1] not in ("fp16", "bf16", "libdevice")}
    assert named <= inside

"""The texts that ElementwiseKernel and ReductionKernel make for GPUs, compiled by NVRTC where it is; no GPU is needed.

What they compute is tested by test_raw_elementwise.py and test_raw_reduction.py on machines with a GPU.
"""

import numpy as np
import pytest

import treadle as td
from treadle import _core
from treadle._raw._kernel import _rawtext

F4, F8, C8, I1, F2 = (np.dtype(t) for t in ("f4", "f8", "c8", "i1", "f2"))


def compiled(text, *names):
    """The PTX that NVRTC makes of a text."""
    try:
        program = _core.program(
            text, device=False, arch="compute_90", options=(_rawtext.include_option(),), names=names
        )
    except td.MissingLibraryError as e:
        pytest.skip(str(e))
    return bytes(program.image).decode(errors="replace")


ELEMENTS = {  # parameters, operation, dtypes, raw arrays, what the PTX has
    "vectors": (("T x, T y", "T z", "z = x * y + (T)i"), {"T": F4}, (), "ld.global.v4"),
    "doubles": (("T x, float64 a", "T z", "z = x + a"), {"T": F8}, (), "ld.global.v2"),
    "bytes": (("T x, T y", "T z", "z = x - y"), {"T": I1}, (), "st.global.v2"),
    "half": (("T x, T y", "T z", "z = x * y"), {"T": F2}, (), "mul.f16"),
    "complex": (("T x, T y", "T z", "z = x * y + exp(x)"), {"T": C8}, (), "st.global"),
    "raw": (
        ("T x, raw T y", "T z", "z = x + y[n - i - 1] + y[{i, 0}] + _ind.get()[0]"),
        {"T": F4},
        ((2, False),),
        "ld.global",
    ),
    "continue": (("T x", "T z", "if (x < 0) continue; z = x"), {"T": F4}, (), "st.global.v4"),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elementwise(name):
    params, known, raws, holds = ELEMENTS[name]
    k = td.ElementwiseKernel(*params, name)
    dtypes = [known.get(p.ctype, p.dtype) for p in k.params]
    arrays = [p.ctype in known for p in k.params]
    text, vector = k._text(known, dtypes, arrays, raws, True, (1,), False)
    assert holds in compiled(text)
    assert vector == (1 if raws else min(16 // max(d.itemsize for d, a in zip(dtypes, arrays) if a), 8))
    for nd in (1, 3):
        lies = tuple("c0s"[m % 3] for m in range(sum(a and not p.raw for p, a in zip(k.params, arrays))))
        for short in (True, False):
            text, vector = k._text(known, dtypes, arrays, raws, False, (nd, lies, short), False)
            assert vector == 1
        compiled(text)


@pytest.mark.parametrize("identity", ["0", None])
@pytest.mark.parametrize("across", [True, False])
def test_reduction(identity, across):
    k = td.ReductionKernel(
        "T x, float64 q, raw T w", "T y, float32 z", "x * w[0] + q", "a + b", "y = a; z = 1", identity, "some"
    )
    dtypes = [F8, F8, F8, F8, F4]
    text, size = k._text(
        {"T": F8}, dtypes, (True, False, True), ((1, True),), across, (("c", "s") if across else ("s", "c"),), False
    )
    ptx = compiled(text)
    assert "some_parts" in ptx and "some_whole" in ptx and size == 8


def test_shared_generators():
    """What PyCUDA's kernels are made of besides."""
    text = _rawtext.elementwise("axpy", "float *x, const float *y, float a", "x[i] = a * y[i] + x[i]", host=False)
    assert "axpy" in compiled(text)
    with pytest.raises(TypeError):
        _rawtext.ctype("U3")


@pytest.mark.parametrize("nout,nred", [(1, 1), (1, 10**6), (3, 10**6), (10**6, 3), (1000, 1000), (1, 17), (5, 70001)])
@pytest.mark.parametrize("across", [True, False])
def test_reduce_dims_leave_no_segment_empty(dev, nout, nred, across):
    (blocks, rows), block, w, segments = _rawtext.reduce_dims(nout, nred, td.device(), across)
    assert rows == segments and blocks >= 1 and block >= 1 and w & (w - 1) == 0
    part = -(-nred // segments)
    assert (segments - 1) * part < nred
    again = _rawtext.reduce_dims(nout, segments, td.device(), True)
    assert segments == 1 or again[3] == 1

"""treadle.types: spellings of one type are one type, with the names, texts and answers that numba's have."""

import enum
import pickle
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
from treadle import types as t

f4, f8, i4, i8 = t.float32, t.float64, t.int32, t.int64
RECORD = np.dtype([("a", "f4"), ("b", "i8", (2,)), ("c", [("x", "u1")])], align=True)


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


class Mode(enum.Enum):
    SLOW = 1.5


Point = namedtuple("Point", "x y")
DTYPES = [np.dtype(n) for n in "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()]

# spelling -> (numba's str, numba's repr)
TEXTS = [
    (i4, "int32", "int32"),
    (f4[:], "array(float32, 1d, A)", "Array(float32, 1, 'A', False, aligned=True)"),
    (f4[::1], "array(float32, 1d, C)", "Array(float32, 1, 'C', False, aligned=True)"),
    (f4[:, ::1], "array(float32, 2d, C)", "Array(float32, 2, 'C', False, aligned=True)"),
    (f4[::1, :], "array(float32, 2d, F)", "Array(float32, 2, 'F', False, aligned=True)"),
    (t.Array(f4, 2, "F", readonly=True), "readonly array(float32, 2d, F)", "Array(float32, 2, 'F', True, aligned=True)"),
    (t.UniTuple(i4, 3), "UniTuple(int32 x 3)", "UniTuple(int32, 3)"),
    (t.Tuple((i4, f8)), "Tuple(int32, float64)", "Tuple((int32, float64))"),
    (t.Tuple((i4, i4)), "UniTuple(int32 x 2)", "UniTuple(int32, 2)"),
    (t.Tuple(()), "Tuple()", "Tuple(())"),
    (t.Optional(i4), "OptionalType(int32)", "OptionalType(int32)"),
    (t.CPointer(i4), "int32*", "int32*"),
    (t.none, "none", "none"),
    (t.boolean, "bool", "bool"),
    (t.IntegerLiteral(3), "Literal[int](3)", "Literal[int](3)"),
    (t.unicode_type, "unicode_type", "unicode_type"),
    (t.Omitted(3), "omitted(default=3)", "omitted(default=3)"),
    (t.voidptr, "void*", "void*"),
    (t.NPDatetime("s"), "datetime64[s]", "datetime64[s]"),
    (t.void(i4, f4[:]), "(int32, Array(float32, 1, 'A', False, aligned=True)) -> none",
     "(int32, Array(float32, 1, 'A', False, aligned=True)) -> none"),
    (i4(f8), "(float64,) -> int32", "(float64,) -> int32"),
]  # fmt: skip


@pytest.mark.parametrize("x, text, shown", TEXTS, ids=lambda x: str(x))
def test_texts(x, text, shown):
    assert (str(x), repr(x)) == (text, shown)


@pytest.mark.parametrize(
    "text, same",
    [
        ("float32", f4),
        ("f4", f4),
        ("types.float32", f4),
        ("numba.types.int64", i8),
        ("intp", i8),
        ("float", f8),
        ("int", i8),
        ("void", t.none),
        ("None", t.none),
        ("float32[:, ::1]", f4[:, ::1]),
        ("UniTuple(float32[:], 2)", t.UniTuple(f4[:], 2)),
        ("Tuple((int32, f8))", t.Tuple((i4, f8))),
        ("Optional(i4)", t.Optional(i4)),
        ("optional(i4)", t.Optional(i4)),
        ("Array(float32, 2, 'C', readonly=True)", t.Array(f4, 2, "C", readonly=True)),
        ("void(float32[:], int32)", t.void(f4[:], i4)),
        ("f4(i4, (i4, f8))", f4(i4, t.Tuple((i4, f8)))),
        ("UniTuple(int32, 2)(int32)", t.UniTuple(i4, 2)(i4)),
        ("(int32, float64)", t.Signature(None, (i4, f8))),
        ("void()", t.void()),
        ("Literal(4)", t.literal(4)),
        ("float32x4", t.float32x4),
    ],
)
def test_text_is_read(text, same):
    assert t.parse(text) == same and hash(t.parse(text)) == hash(same)


@pytest.mark.parametrize(
    "text, told",
    [
        ("void(float32[:], int33)", "there is no type int33"),
        ("float32[1]", "an axis is : or ::1"),
        ("float32[:, ::2]", "an axis is : or ::1"),
        ("float32[:, ::1, :]", "at most one ::1"),
        ("void(float32", "was never closed"),
        ("3 + 4", "a name, slices or a call was expected"),
        ("float32(x=int32)", "no keywords"),
        ("__import__('os').system('true')", "there is no type system"),
        ("UniTuple(int32, n)", "a constant was expected"),
    ],
)
def test_wrong_text_is_shown(text, told):
    with pytest.raises(TypeError, match="this is not a type") as e:
        t.parse(text)
    assert told in str(e.value) and text in str(e.value)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_has_a_type(dtype):
    x = t.from_dtype(dtype)
    assert x.dtype == dtype and x.bitwidth == 8 * dtype.itemsize and x.ndim == 0 and x.items == ()
    kind = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}[dtype.kind]
    assert x.kind == kind and str(x) == dtype.name
    assert t.parse(dtype) is t.parse(dtype.type) is t.parse(dtype.name) is x
    code = f"{dtype.kind}{dtype.itemsize}" if dtype.kind != "b" else "b1"
    assert getattr(t, code) is x
    assert np.zeros(2, x).dtype == dtype and td.zeros(2, x).dtype == dtype  # NumPy and treadle take it as a dtype


def test_what_python_has():
    assert [t.parse(x) for x in (int, float, complex, bool, None, str)] == [i8, f8, t.complex128, t.boolean, t.none, t.unicode_type]
    assert t.parse((int, "f4", np.int32)) == t.Tuple((i8, f4, i4))
    for bad in (3, object(), list, [int], np.dtype("O"), np.dtype(">i4"), "nothing", np.dtype("U3")):
        with pytest.raises(TypeError):
            t.parse(bad)


def test_values_are_converted():
    for x, value, result in [(f4, 3, np.float32(3)), (t.uint8, -1, np.uint8(255)), (i4, 3.7, np.int32(3)), (i4, 1 << 31, np.int32(-(1 << 31))),
                             (t.int8, np.int64(300), np.int8(44)), (t.complex64, 1, np.complex64(1))]:  # fmt: skip
        assert x(value) == result and type(x(value)) is type(result)
    assert t.boolean(3) is True
    assert isinstance(t.bfloat16(1.0), np.float32)


@given(st.floats(width=32))
def test_bfloat16_rounds_to_even(x):
    y = t.bfloat16(x)
    bits = int(np.float32(y).view(np.uint32))
    assert bits & 0xFFFF == 0 or np.isnan(x)
    assert np.isnan(y) == np.isnan(x)
    if np.isfinite(x) and np.isfinite(y):
        near = [np.uint32(max(0, b) << 16).view(np.float32) for b in (((bits >> 16) & 0x7FFF) - 1, ((bits >> 16) & 0x7FFF) + 1)]
        assert all(abs(abs(np.float64(x)) - abs(np.float64(y))) <= abs(abs(np.float64(x)) - np.float64(n)) for n in near if np.isfinite(n))


EVERY = [x for x, _, _ in TEXTS] + [
    t.from_dtype(RECORD), t.NestedArray(f4, (2, 3)), t.List(i4), t.Set(f4), t.float32x4, t.literal("a"), t.literal(True), t.NPTimedelta("ms"),
    t.NamedTuple((i4, f4), Point), t.NamedUniTuple(i4, 2, Point), t.parse(Colour), t.parse(Mode), t.bfloat16, t.undefined, t.GridGroup,
]  # fmt: skip


@pytest.mark.parametrize("x", EVERY, ids=str)
def test_types_are_values(x):
    again = pickle.loads(pickle.dumps(x))
    assert again == x and hash(again) == hash(x) and repr(again) == repr(x)
    assert [y for y in EVERY if y == x] == [x]  # all others differ
    with pytest.raises(AttributeError):
        x.name = "other"
    assert x != "int32" and x is not None


def test_literals_of_equal_values_differ():
    assert len({t.literal(1), t.literal(True), t.Omitted(1), t.Omitted(1.0), t.Omitted(True)}) == 5


def test_arrays_tell_their_layout():
    a = t.Array(f4, 2, "C")
    assert (a.kind, a.ndim, a.layout, a.dtype, a.element, a.items) == ("array", 2, "C", np.dtype("f4"), f4, (f4,))
    assert a.mutable and a.is_c_contig and not a.is_f_contig and a.is_contig
    assert a.copy(layout="F", readonly=True) == t.Array(f4, 2, "F", readonly=True)
    assert t.from_dtype(RECORD)[:].dtype == RECORD
    for bad in [lambda: t.Array(f4, 2, "K"), lambda: t.Array(f4, -1, "C"), lambda: t.Array(f4, True, "C")]:
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(TypeError):
        t.Array(t.none, 1, "C")


def test_records_are_dtypes():
    r = t.from_dtype(RECORD)
    assert r.dtype.fields.keys() == RECORD.fields.keys() and r.dtype.itemsize == r.size == RECORD.itemsize and r.aligned
    assert {n: o for n, (_, o) in r.fields.items()} == {n: RECORD.fields[n][1] for n in RECORD.names}
    assert r.typeof("a") == f4 and r.typeof("b") == t.NestedArray(i8, (2,)) and r.typeof("c").kind == "record" and len(r) == 3
    assert t.Record.make_c_struct([("a", f4), ("b", "int64")]) == t.from_dtype(np.dtype([("a", "f4"), ("b", "i8")], align=True))


def test_hierarchy():
    assert isinstance(i4, t.Integer) and isinstance(i4, t.Number) and isinstance(f4, t.Float) and isinstance(t.boolean, t.Boolean)
    assert i4.signed and not t.uint8.signed and (t.int8.minval, t.int8.maxval) == (-128, 127) and t.complex128.underlying_float == f8
    assert i4 in t.integer_domain and f4 in t.real_domain and t.uint8 in t.unsigned_domain and t.complex64 in t.number_domain
    assert t.short2 is t.int16x2 and t.float64x4.items == (f8,) * 4 and t.float64x4.fields == tuple("xyzw")
    with pytest.raises(TypeError, match="inside kernels"):
        t.float32x2(1, 2)


def test_signatures():
    args = ((f4[:], i4), t.none)
    assert t.normalize("void(float32[:], int32)") == t.normalize(t.void(f4[:], i4)) == args
    assert t.normalize((f4[:], "int32")) == t.normalize("(float32[:], int32)") == ((f4[:], i4), None)
    assert t.signature(i4, f8) == i4(f8) != f4(f8)
    with pytest.raises(TypeError, match="not a signature"):
        t.normalize(3)


def test_types_of_values():
    a = np.zeros((2, 3), "f4")
    locked = a[:, ::2]
    locked.flags.writeable = False
    rows = [(a, f4[:, ::1]), (a.T, f4[::1, :]), (locked, t.Array(f4, 2, "A", readonly=True)), (1, i8), (1.0, f8), (True, t.boolean), (1j, t.complex128),
            (np.float32(1), f4), (None, t.none), ((1, 2.0), t.Tuple((i8, f8))), (Point(1, 2), t.NamedTuple((i8, i8), Point)), (Colour.RED, t.parse(Colour)),
            (1 << 63, t.uint64), ("a", t.unicode_type), (td.zeros((2, 3), "f4"), f4[:, ::1]), (td.zeros((2, 3), "f4").T, f4[::1, :]),
            (np.zeros(2, RECORD), t.from_dtype(RECORD)[::1]), (a[0, 0], f4)]  # fmt: skip
    for value, x in rows:
        assert t.typeof(value) == x, value
    for bad in (object(), [1], 1 << 64, {}):
        with pytest.raises(TypeError):
            t.typeof(bad)

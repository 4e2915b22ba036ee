"""Names that have a meaning inside kernels only: a table, and the stand-ins that are made of it.

A row is ``name(parameters) -> result | meaning``; its further lines are indented. A row without parentheses is a
value. A stand-in has its dotted name in ``_td_name`` ("cuda.atomic.add"), by which the compiler recognises it. Calling
it on the host raises TypeError.
"""

import types as _python

_ANY = "int32, uint32, int64, uint64, float32, float64"
_OLD = "Returns the old value. idx: an integer, or a tuple of them for an array of several axes."
_MASK = "mask: the warp's lanes that take part, a uint32 with a bit for each; all of them must reach the call"

# Abbreviations in the rows' texts.
_WORDS = {"ANY": _ANY, "INTS": "int32, uint32, int64, uint64", "OLD": _OLD, "MASK": _MASK}

CORE = """
grid(ndim) -> int64 or a tuple of them | The thread's place in the grid, threadIdx + blockIdx * blockDim along each of
    ndim axes. ndim: the constant 1, 2 or 3.
gridsize(ndim) -> int64 or a tuple of them | The threads of the whole grid along each of ndim axes, blockDim *
    gridDim. ndim: the constant 1, 2 or 3.
threadIdx | The thread's place in its block: fields x, y, z, int32, from 0 to below blockDim's.
blockIdx | The block's place in the grid: fields x, y, z, int32, from 0 to below gridDim's.
blockDim | The block's threads along each axis: fields x, y, z, int32, as given at the launch.
gridDim | The grid's blocks along each axis: fields x, y, z, int32, as given at the launch.
laneid | The thread's place in its warp, int32, from 0 to 31.
warpsize | The threads of a warp, int32: 32.
syncthreads() -> None | Waits until all threads of the block are here; what they wrote to shared and global memory
    before is seen after it.
syncthreads_count(predicate) -> int32 | syncthreads(), and for how many threads of the block predicate is true.
syncthreads_and(predicate) -> int32 | syncthreads(), and 1 where predicate is true for all threads of the block, else
    0.
syncthreads_or(predicate) -> int32 | syncthreads(), and 1 where predicate is true for a thread of the block, else 0.
syncwarp(mask=0xffffffff) -> None | Waits until the warp's lanes of mask are here; what they wrote before is seen
    after it.
threadfence() -> None | What the thread wrote before is seen by all threads of the device before what it writes after.
threadfence_block() -> None | As threadfence(), for the threads of the block.
threadfence_system() -> None | As threadfence(), for the host and other devices too.
shfl_sync(mask, value, src_lane) -> value's dtype | value of the lane src_lane. value: int32, int64, float32, float64
    and their like. MASK.
shfl_up_sync(mask, value, delta) -> value's dtype | value of the lane delta below; its own where there is none. MASK.
shfl_down_sync(mask, value, delta) -> value's dtype | value of the lane delta above; its own where there is none.
    MASK.
shfl_xor_sync(mask, value, lane_mask) -> value's dtype | value of the lane whose number is this one's xor lane_mask.
    MASK.
all_sync(mask, predicate) -> bool | Is predicate true for all lanes? MASK.
any_sync(mask, predicate) -> bool | Is predicate true for a lane? MASK.
eq_sync(mask, predicate) -> bool | Is predicate the same for all lanes? MASK.
ballot_sync(mask, predicate) -> uint32 | The lanes for which predicate is true, a bit for each. MASK.
match_any_sync(mask, value) -> uint32 | The lanes that have the same value. value: 4 or 8 bytes. MASK.
match_all_sync(mask, value) -> (uint32, bool) | mask and True where all lanes have the same value, else 0 and False.
    MASK.
lanemask_lt() -> uint32 | A bit for each lane below this one, whether it is active or not.
popc(x) -> int32 | How many bits of x are set. x: an integer of 4 or 8 bytes.
brev(x) -> x's dtype | x's bits in reverse order. x: an integer of 4 or 8 bytes.
clz(x) -> int32 | The zeros above the highest set bit; x's width where x is 0. x: an integer of 4 or 8 bytes.
ffs(x) -> int32 | The place of the lowest set bit, counted from 1; 0 where x is 0. x: an integer of 4 or 8 bytes.
fma(a, b, c) -> the arguments' dtype | a * b + c, rounded once. float32, float64.
cbrt(x) -> x's dtype | The cube root. float32, float64.
selp(a, b, c) -> b's and c's dtype | b where a is true, else c; both have been computed.
ldca(array, i) -> the element | array[i], by a load that is kept at all levels of the caches.
ldcg(array, i) -> the element | array[i], by a load that is kept in the second-level cache only.
ldcs(array, i) -> the element | array[i], by a load of what is read once.
ldlu(array, i) -> the element | array[i], by a load of what is not read again.
ldcv(array, i) -> the element | array[i], by a load that no cache answers.
stcg(array, i, value) -> None | array[i] = value, kept in the second-level cache only.
stcs(array, i, value) -> None | array[i] = value, for data that are not read soon.
stwb(array, i, value) -> None | array[i] = value, written back from the caches later.
stwt(array, i, value) -> None | array[i] = value, written through the caches.
shared.array(shape, dtype, alignment=None, layout='C') -> array | An array that the threads of a block share,
    uninitialised. shape: a constant, an int or a tuple of them; 0 asks for the dynamic memory that the launch gives.
    dtype: a type of treadle.types or NumPy's.
shared.dynamic(name, shape, dtype) -> array | A part of the dynamic memory that the launch gives, its own:
    parts lie behind each other in the order in which the kernel asks for them, each from a multiple of 16
    bytes on. name: a constant; a name that was asked for before is that part again. shape: an int or a tuple
    of them, known when the kernel runs, the same for all threads. The launch says how many bytes there are,
    k[grid, block, stream, bytes]; with debug=True too few are an IndexError.
local.array(shape, dtype, alignment=None, layout='C') -> array | An array of the thread's own, uninitialised. shape: a
    constant, an int or a tuple of them. dtype: as in shared.array.
const.array_like(ndarray) -> array | A NumPy array of the program, read-only, as it is when the kernel is compiled.
atomic.add(ary, idx, val) -> ary's dtype | ary[idx] += val. float16, ANY. OLD
atomic.sub(ary, idx, val) -> ary's dtype | ary[idx] -= val. ANY. OLD
atomic.and_(ary, idx, val) -> ary's dtype | ary[idx] &= val. INTS. OLD
atomic.or_(ary, idx, val) -> ary's dtype | ary[idx] |= val. INTS. OLD
atomic.xor(ary, idx, val) -> ary's dtype | ary[idx] ^= val. INTS. OLD
atomic.inc(ary, idx, val) -> ary's dtype | ary[idx] = 0 where it is at least val, else one more. uint32, uint64. OLD
atomic.dec(ary, idx, val) -> ary's dtype | ary[idx] = val where it is 0 or above val, else one less. uint32, uint64.
    OLD
atomic.exch(ary, idx, val) -> ary's dtype | ary[idx] = val. INTS. OLD
atomic.max(ary, idx, val) -> ary's dtype | ary[idx] = max(ary[idx], val); a NaN stays. ANY. OLD
atomic.min(ary, idx, val) -> ary's dtype | ary[idx] = min(ary[idx], val); a NaN stays. ANY. OLD
atomic.nanmax(ary, idx, val) -> ary's dtype | ary[idx] = max(ary[idx], val); a NaN counts as missing. ANY. OLD
atomic.nanmin(ary, idx, val) -> ary's dtype | ary[idx] = min(ary[idx], val); a NaN counts as missing. ANY. OLD
atomic.cas(ary, idx, old, val) -> ary's dtype | ary[idx] = val where it equals old. INTS. OLD
atomic.compare_and_swap(ary, old, val) -> ary's dtype | ary[0] = val where it equals old; ary has one axis. INTS.
    Returns the old value.
"""

CG = """
this_grid() -> GridGroup | All threads of the grid; its sync() waits for them all. The kernel is launched
    cooperatively, so all blocks have to fit the device at once (max_cooperative_grid_blocks).
"""


def _half(t, more=""):
    """The rows that float16 and bfloat16 share."""
    binary = {"hadd": "a + b", "hsub": "a - b", "hmul": "a * b", "hdiv": "a / b",
              "hmax": "the larger; of NaN and a number the number",
              "hmin": "the smaller; of NaN and a number the number"}  # fmt: skip
    unary = {"hneg": "-a", "habs": "|a|", "hsin": "sin(a)", "hcos": "cos(a)", "hlog": "log(a)", "hlog2": "log2(a)",
             "hlog10": "log10(a)", "hexp": "exp(a)", "hexp2": "2 ** a", "hexp10": "10 ** a", "hsqrt": "sqrt(a)",
             "hrsqrt": "1 / sqrt(a)", "hrcp": "1 / a", "hfloor": "floor(a)", "hceil": "ceil(a)", "htrunc": "trunc(a)",
             "hrint": "a rounded to the nearest integer, ties to even"}  # fmt: skip
    compare = {"heq": "a == b", "hne": "a != b", "hlt": "a < b", "hle": "a <= b", "hgt": "a > b", "hge": "a >= b"}
    rows = [f"{n}(a, b) -> {t} | {m}. {t}." for n, m in binary.items()]
    rows += [f"{n}(a) -> {t} | {m}. {t}." for n, m in unary.items()]
    rows += [f"{n}(a, b) -> bool | {m}. {t}." for n, m in compare.items()]
    return "\n".join([f"hfma(a, b, c) -> {t} | a * b + c, rounded once. {t}.", *rows]) + "\n" + more


def _bfloat16():
    rows = ["htanh(a) -> bfloat16 | tanh(a).", "htanh_approx(a) -> bfloat16 | tanh(a) by the instruction for it.",
            "hisnan(a) -> bool | Is a NaN?", "hisinf(a) -> int32 | 1 for inf, -1 for -inf, else 0.",
            "hfma_sat(a, b, c) -> bfloat16 | a * b + c, cut to 0 … 1.",
            "hfma_relu(a, b, c) -> bfloat16 | a * b + c, 0 where that is negative.",
            "hmax_nan(a, b) -> bfloat16 | The larger; NaN where one is.",
            "hmin_nan(a, b) -> bfloat16 | The smaller; NaN where one is."]  # fmt: skip
    for n, sign in (("hadd", "+"), ("hsub", "-"), ("hmul", "*")):
        rows.append(f"{n}_rn(a, b) -> bfloat16 | a {sign} b, not contracted with what uses it.")
        rows.append(f"{n}_sat(a, b) -> bfloat16 | a {sign} b, cut to 0 … 1.")
    for n, m in {"equ": "==", "neu": "!=", "ltu": "<", "leu": "<=", "gtu": ">", "geu": ">="}.items():
        rows.append(f"h{n}(a, b) -> bool | a {m} b, or one is NaN.")
    how = {"rn": "to the nearest, ties to even", "rz": "towards 0", "rd": "down", "ru": "up"}
    whole = [f"{s}int{n}" for s in ("", "u") for n in (16, 32, 64)]
    for mode, text in how.items():
        rows += [f"bfloat16_to_{t}_{mode}(a) -> {t} | a rounded {text}." for t in whole]
        rows += [f"{t}_to_bfloat16_{mode}(a) -> bfloat16 | a rounded {text}." for t in (*whole, "float32")]
    rows += [f"bfloat16_to_{t}_rz(a) -> {t} | a rounded towards 0." for t in ("int8", "uint8")]
    rows += [f"{t}_to_bfloat16(a) -> bfloat16 | a rounded to the nearest." for t in ("float32", "float64")]
    rows += [f"bfloat16_as_{t}(a) -> {t} | a's bits." for t in ("int16", "uint16")]
    rows += [f"{t}_as_bfloat16(a) -> bfloat16 | The value with those bits." for t in ("int16", "uint16")]
    return "\n".join([*rows, "bfloat16_to_float32(a) -> float32 | a itself."])


class KernelValue:
    """A value that each thread of a kernel has, and the host does not."""

    def __init__(self, name, doc, fields=""):
        self._td_name, self.__doc__ = name, doc
        for f in fields:
            setattr(self, f, KernelValue(f"{name}.{f}", f"{name}'s field {f}, int32."))

    def __repr__(self):
        return f"<{self._td_name}>"

    def __reduce__(self):
        return _find, (self._td_name,)

    def _on_host(self, *args):
        raise TypeError(f"{self._td_name} has a value inside kernels only, functions under @cuda.jit")

    __int__ = __index__ = __float__ = __bool__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = _on_host


def _find(name):
    """The stand-in for that dotted name."""
    import treadle

    found = treadle
    for part in name.split("."):
        found = getattr(found, part)
    return found


def kernel_function(name, parameters, result, meaning):
    """Make a stand-in: a function of that dotted name that raises TypeError."""
    own, scope = name.rpartition(".")[2], {}
    text = f"{name}({parameters}) can be called inside kernels only, functions under @cuda.jit"
    exec(f"def {own}({parameters}): raise TypeError({text!r})", scope)  # the text comes from this module's tables only
    stand_in = scope[own]
    stand_in.__qualname__, stand_in.__module__ = name.partition(".")[2], "treadle.cuda"
    stand_in.__doc__ = f"{own}({parameters}) -> {result}\n\n{meaning}\n\nInside kernels only."
    stand_in._td_name = name
    return stand_in


def _row(line, prefix):
    """(dotted name, stand-in) for a row."""
    head, _, meaning = line.partition(" | ")
    for word, text in _WORDS.items():
        meaning = meaning.replace(word, text)
    shown, arrow, result = head.partition(" -> ")
    if not arrow:
        fields = "xyz" if "fields x, y, z" in meaning else ""
        return shown, KernelValue(f"{prefix}.{shown}", meaning, fields)
    own, _, parameters = shown.partition("(")
    return own, kernel_function(f"{prefix}.{own}", parameters[:-1], result, meaning)


def build(rows, prefix):
    """Stand-ins by name. The first part of a dotted name becomes a namespace."""
    made = {}
    for line in filter(None, rows.replace("\n    ", " ").split("\n")):
        own, stub = _row(line, prefix)
        home, _, last = own.rpartition(".")
        if home:
            space = made.setdefault(home, _python.SimpleNamespace(_td_name=f"{prefix}.{home}"))
            setattr(space, last, stub)
        else:
            made[own] = stub
    return made


def fp16():
    return build(_half("float16"), "cuda.fp16")


def bf16():
    return build(_half("bfloat16", _bfloat16()), "cuda.bf16")


def cg():
    return build(CG, "cuda.cg")

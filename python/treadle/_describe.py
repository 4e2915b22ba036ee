"""Docstrings in numpydoc form, generated: for a ufunc from its row of ops.def, for a distribution from its signature.
They are generated when they are first read, so that importing treadle stays fast.
"""

import re
import textwrap

WIDTH = 100
KINDS = {"b": "bool", "i": "signed integers", "u": "unsigned integers", "f": "floats", "c": "complex numbers"}
RESULTS = {
    "SAME": "of the dtype that the operands promote to",
    "BOOL": "of bool",
    "REAL": "of the operands' dtype, or of that of their parts where they are complex",
    "WIDE": "of the floating dtype that the operands promote to; integers become the floats that NumPy makes of them",
}
# The parameters of a ufunc after its operands: type and text.
KEYWORDS = {
    "out": ("ndarray, optional", "Takes the result and is returned; of the operands' broadcast shape."),
    "where": ("array_like of bool, default True", "Where to compute; elsewhere out keeps what it has, or 0 stands."),
    "casting": ("str, default 'same_kind'", "Which casts are allowed, by numpy.can_cast's names."),
    "order": ("{'C', 'F', 'A', 'K'}, default 'K'", "Accepted for NumPy's signature; the result lies in C order."),
    "dtype": ("dtype, optional", "Dtype to compute in."),
    "subok": ("bool, default True", "Accepted for NumPy's signature; treadle has no subclasses of its array."),
    "signature": ("str or tuple of dtypes, optional", 'Dtypes to cast the operands to, as "dd->d".'),
}
# Operands of examples. An example takes the first ones of the row's kinds that give finite numbers.
OPERANDS = {
    1: ("[0.25, 0.5]", "[1.5, 2.5]", "[3, 12]", "[True, False]"),
    2: ("[1.5, 4.0], [2.0, 0.5]", "[12, 7], [5, 3]", "[True, False], [True, True]"),
    3: ("[True, False], [1, 2], [3, 4]", "[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]"),
}
# A distribution's parameters: their text, and a number for an example.
DISTRIBUTED = {
    "a": ("Shape.", 2.0),
    "b": ("Second shape, above 0.", 3.0),
    "df": ("Degrees of freedom, above 0.", 4.0),
    "dfnum": ("Degrees of freedom of the numerator, above 0.", 4.0),
    "dfden": ("Degrees of freedom of the denominator, above 0.", 5.0),
    "kappa": ("Concentration, 0 or more.", 1.0),
    "lam": ("Expected number of events, 0 or more.", 2.0),
    "left": ("Least number.", 0.0),
    "loc": ("Centre.", 0.0),
    "mean": ("Mean.", 1.0),
    "mode": ("Most frequent number, from left to right.", 1.0),
    "mu": ("Mean angle in radians.", 0.0),
    "n": ("How many, 0 or more.", 10),
    "nbad": ("Bad things, from 0 to 10**9.", 5),
    "ngood": ("Good things, from 0 to 10**9.", 5),
    "nonc": ("Squared distance of the centre, 0 or more.", 1.0),
    "nsample": ("Things taken, at most ngood + nbad.", 4),
    "p": ("Probability.", 0.3),
    "right": ("Greatest number, above left.", 2.0),
    "scale": ("Width, 0 or more.", 1.0),
    "shape": ("Shape, 0 or more.", 2.0),
    "sigma": ("Deviation of the normal draw, 0 or more.", 1.0),
}
DRAWN = {
    "dtype": ("dtype, optional", "float32, float64, or integers to round to; None means as they are drawn."),
    "method": ("str, default 'zig'", "Accepted for NumPy's signature; draws are made by inversion."),
    "out": ("ndarray, optional", "Takes the draws and is returned; of size's shape and of dtype."),
    "size": ("int or tuple of ints, optional", "Shape of the result; None means the parameters' broadcast shape."),
}


def section(title, rows):
    """A section of terms (name and type, or a class) and their texts."""
    lines = [title, "-" * len(title)]
    for term, text in rows:
        short = len(text) <= WIDTH - 4
        lines += [term, f"    {text}" if short else textwrap.indent(textwrap.fill(text, WIDTH - 4), "    ")]
    return "\n".join(lines)


def examples(*lines):
    return "\n".join(["Examples", "--------", *lines])


def _names(nin):
    return ["x"] if nin == 1 else [f"x{k + 1}" for k in range(nin)]


def _renamed(meaning, nin):
    """A row's meaning, which is in x, y and z, with the parameters' names in it."""
    if nin == 1:
        return meaning
    return re.sub(r"\b[xyz]\b", lambda m: f"x{'xyz'.index(m[0]) + 1}", meaning)


class _Math:
    """The functions of Python's module math, applied to each element of an array."""

    def __getattr__(self, name):
        import math

        import numpy

        return numpy.vectorize(getattr(math, name), otypes=[float])


def _value(f, text):
    """NumPy's result for operands given as text. None where NumPy refuses them or the result is not finite."""
    import numpy

    with numpy.errstate(all="ignore"):
        try:
            results = f(*(numpy.asarray(v) for v in eval(f"({text},)", {})))
            results = results if isinstance(results, tuple) else (results,)
            return results if all(numpy.isfinite(r).all() for r in results) else None
        except (TypeError, ValueError):
            return None


def example(name, nin, f, kinds="biufc"):
    """The lines of an example: a call with operands of the kinds, and the result that NumPy's f gives."""
    import numpy

    for text in OPERANDS[nin]:
        kind = numpy.asarray(eval(f"({text},)", {})[-1]).dtype.kind
        results = _value(f, text) if kind in kinds else None
        if results is not None:
            shown = repr(results if len(results) > 1 else results[0])
            return examples(f">>> np.{name}({text})", shown)
    return ""  # only the compiler uses this row


def ufunc(name, nin, sentence, takes, result, refused, sample, nout=1):
    """The docstring of a function with a ufunc's signature."""
    operands, tuples = _names(nin), nout > 1
    keywords = dict(KEYWORDS)
    if tuples:
        keywords["out"] = ("tuple of ndarrays or None", "Take the results and are returned; of the broadcast shape.")
    shown = ", ".join(f"{k}={'(None, None)' if tuples and k == 'out' else d}" for k, d in _DEFAULTS.items())
    raised = [("ValueError", "The shapes do not broadcast, or out has another shape.")]
    if refused:
        raised.append(("TypeError", f"An operand holds {refused}."))
    return "\n\n".join(
        [
            f"{name}({', '.join(operands)}, /, {shown.replace('where=', '*, where=')})",
            sentence,
            section(
                "Parameters",
                [
                    (f"{', '.join(operands)} : array_like", f"{takes[0].upper()}{takes[1:]}; the shapes broadcast."),
                    *((f"{k} : {kind}", text) for k, (kind, text) in keywords.items()),
                ],
            ),
            section("Returns", [("tuple of ndarrays" if tuples else "ndarray", f"Of the broadcast shape, {result}.")]),
            section("Raises", raised),
            sample,
        ]
    ).rstrip()


_DEFAULTS = {"out": "None", "where": "True", "casting": "'same_kind'", "order": "'K'", "dtype": "None",
             "subok": "True", "signature": "None"}  # fmt: skip


def refused_kinds(kinds, flags):
    """The kinds of operands that a row of ops.def refuses. A row for floats only also takes integers, as floats."""
    if kinds == "b":  # truth is asked of every number
        return ""
    bad = [k for k in "fc" if k not in kinds and not (k == "f" and "c" in kinds)]
    return ("b" if "KEEP" in flags else "") + "".join(bad)


def _listed(words):
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def row(name, nin, kinds, result, flags, meaning):
    """The docstring of a row of ops.def."""
    import numpy

    def f(*args):
        return eval(meaning, {"np": numpy, "abs": numpy.abs, "math": _Math()}, dict(zip("xyz", args, strict=False)))

    bad = refused_kinds(kinds, flags)
    takes = _listed([KINDS[k] for k in "biufc" if k not in bad])
    sentence = f"{_renamed(meaning, nin)}, element by element."
    result = "BOOL" if kinds == "b" else result
    key = "WIDE" if "WIDE" in flags or (kinds in ("f", "fc") and result == "SAME") else result
    return ufunc(name, nin, sentence, takes, RESULTS[key], _listed([KINDS[k] for k in bad]) if bad else "",
                 example(name, nin, f, kinds if kinds != "u" else "iu"))  # fmt: skip


def _taken(f, nin):
    """The kinds of first operands that NumPy's f takes, with the others of the same kind or integers."""
    import numpy

    def runs(kind, other):
        operands = [numpy.ones(1, kind), *[numpy.ones(1, other)] * (nin - 1)]
        try:
            f(*operands)
        except TypeError:
            return False
        return True

    samples = {"b": "bool", "i": "int64", "u": "uint8", "f": "float64", "c": "complex128"}
    return [k for k, dtype in samples.items() if runs(dtype, dtype) or runs(dtype, "int64")]


def spelled(name, nin, nout, sentence, mine):
    """The docstring of a NumPy ufunc that treadle composes of others. mine: treadle's, for a NumPy that lacks it."""
    import numpy

    f = getattr(numpy, name, mine)
    summary, dot, rest = sentence.partition(". ")
    sentence = f"{summary}.\n\n{textwrap.fill(rest, WIDTH)}" if dot else sentence
    taken = _taken(f, nin)
    takes, refused = ([KINDS[k] for k in KINDS if (k in taken) is there] for there in (True, False))
    kinds = "".join(taken)
    return ufunc(name, nin, sentence, _listed(takes), "of NumPy's dtype", _listed(refused) if refused else "",
                 example(name, nin, f, kinds), nout)  # fmt: skip


def distribution(name, signature, sentence):
    """The docstring of a distribution of treadle.random. signature: its method's inspect.Signature."""
    rows, given = [], []
    for p in list(signature.parameters.values())[1:]:
        kind, text = DRAWN.get(p.name) or ("float or array_like", DISTRIBUTED[p.name][0])
        fixed = p.name in DRAWN or p.default is p.empty
        rows.append((f"{p.name} : {kind}" if fixed else f"{p.name} : {kind}, default {p.default}", text))
        if p.default is p.empty:
            given.append(repr(DISTRIBUTED[p.name][1]))
    result = "float64 or the dtype asked for, int64 for counts; a number has shape ()."
    raised = "A parameter lies outside of its range, or size does not fit the parameters' shape."
    call = f">>> np.random.default_rng(7).{name}({', '.join([*given, 'size=3'])}).shape"
    sections = [section("Parameters", rows), section("Returns", [("ndarray", result)])]
    if any(p in DISTRIBUTED for p in signature.parameters):
        sections.append(section("Raises", [("ValueError", raised)]))
    return "\n\n".join([sentence, *sections, examples(call, "(3,)")])

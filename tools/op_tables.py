"""Write what C needs of ops.def's and core.def's columns besides what the preprocessor reads, and check the columns.

Usage: op_tables.py LISTS_H FORMULAS_H ops.def core.def reduce.def intrinsic.def numbers.def typed.def

LISTS_H has the rows' names under each face, as lists for the preprocessor; FORMULAS_H has the derivatives of ops.def
and reduce.def as postfix code for src/grad/formula.c. A derivative or a name that cannot be read ends the build."""

import pathlib
import re
import sys

import def_tables
import formulas

FACES = {"numpy", "treadle", "math", "cmath", "cuda", "torch", "scipy", "libdevice", "half", "bf16", "grad"}
HALVES = {"half": (("cuda.fp16.", "e"), ("cuda.bf16.", "g")), "bf16": (("cuda.bf16.", "g"),)}


def listed(name, entries):
    """A macro that applies one of its parameters to each entry."""
    return f"#define {name} \\\n" + " \\\n".join(f"    {e}" for e in entries) + "\n\n"


def by_hand(intrinsic, numbers, typed):
    """The names that a function of the front's own answers to: more than the row."""
    found = set()
    for path in (intrinsic, numbers):
        for macro in ("FN", "PURE", "ELEM", "VALUE"):
            for row in def_tables.rows(path, macro):
                found |= set(row[-1].split())
    return found | {n for row in def_tables.rows(typed, "TYPED") for n in row[0].split()}


def functions(o, hand):
    """The rows of the front's table for a row's names in kernels."""
    for macro, function, faces in (
        ("ELEM", "fn_row", ("numpy", "treadle")),
        ("PURE", "fn_math", ("math",)),
        ("PURE", "fn_cmath", ("cmath",)),
        ("FN", "fn_row", ("cuda",)),
    ):
        names = [f"{face}.{n}" for face in faces for n in o.under(face)]
        if names and not hand & set(names):
            yield f'{macro}({function}, OP_{o.name}, "{" ".join(names)}")'


def fixed(o):
    """Those whose names fix the types of operands and result."""
    for face, forms in HALVES.items():
        for name in o.under(face):
            for prefix, letter in forms:
                yield typed(o, prefix + name, letter, "b")
    for name in o.names:
        face, _, short = name.partition(".")
        if face == "libdevice":
            yield typed(o, "cuda.libdevice." + short, "d", "i")
            yield typed(o, f"cuda.libdevice.{short}f", "f", "i")
        elif face.startswith("libdevice:"):
            yield typed(o, "cuda.libdevice." + short, face[-1], "i")


def typed(o, name, letter, truth):
    result = truth if o.result == "BOOL" else letter
    return f'TYPED("{name}", "{result}:{letter * o.arity}", spell_row, OP_{o.name})'


def methods(ops, arity, written):
    for o in ops:
        for n in o.under("torch"):
            if o.arity == arity and "." not in n and n.endswith("_") == written:
                yield f"M({n.removesuffix('_')}, {o.name})"


def instructions(rows):
    """The rows of the front's table for rows of core.def that are functions of treadle.cuda."""
    for name, *_, python in rows:
        if python:
            said = re.match(r"(\w+)\((?:[a-z]\w*(?:, [a-z]\w*)*)?\) -> [^|]+ \| .", python)
            if not said:
                raise SystemExit(f"core.def: {name}: '{python}' is not 'name(parameters) -> result | meaning'")
            yield f'FN(fn_instruction, OP_{name}, "cuda.{said[1]}")'


def lists(ops, core, hand):
    text = "/* op_lists.h - the rows of ops.def that have something, and their names under each face. */\n\n"
    text += "/* Rows over complex numbers. */\n"
    text += listed("TD_CX_ROWS(X)", [f"X({o.name})" for o in ops if "c" in o.kinds])
    text += "/* Rows as functions of kernels, as in src/front/infer/intrinsic.def. */\n"
    text += listed("TD_OP_FUNCTIONS(FN, PURE, ELEM)", [f for o in ops for f in functions(o, hand)])
    text += "/* Rows of core.def. */\n"
    text += listed("TD_CORE_FUNCTIONS(FN)", instructions(core))
    text += "/* The same as in src/front/infer/typed.def. */\n"
    text += listed("TD_OP_TYPED(TYPED)", [f for o in ops for f in fixed(o)])
    text += "/* Methods of tensors by their operands: those with a form that writes in place, and others. */\n"
    for arity, name in ((1, "ONE"), (2, "TWO")):
        text += listed(f"TD_TENSOR_{name}(M)", methods(ops, arity, True))
        text += listed(f"TD_TENSOR_PURE_{name}(M)", methods(ops, arity, False))
    text += "/* What PyTorch calls a row's derivative, where that is not the row's name. */\n"
    text += listed("TD_GRAD_NAMES(X)", [f'X({o.name}, "{n}")' for o in ops for n in o.under("grad")])
    text += "/* CUDA C++'s functions of float64 that are rows; their float32 forms end in f. */\n"
    text += listed("TD_CUDA_MATH", [f'"{n}",' for o in ops for n in o.under("libdevice")])
    return text


def check(ops):
    """Ends the build where a column cannot be read."""
    seen = {}
    for o in ops:
        for n in o.names:
            if re.split(r"[.:]", n)[0] not in FACES:
                raise SystemExit(f"ops.def: {o.name}: no face is called as in '{n}'; there are {sorted(FACES)}")
            if not n.startswith("grad.") and seen.setdefault(n.removesuffix("_"), o.name) != o.name:
                raise SystemExit(f"ops.def: {n} is the name of {seen[n.removesuffix('_')]} and of {o.name}")
        for column in ("exactness", "domain"):
            parts = getattr(o, column).split("|")
            if len(parts) > 2 or not all(re.fullmatch(r"[-+.\d ]*", p) for p in parts):
                raise SystemExit(f"ops.def: {o.name}: {column} '{getattr(o, column)}' is no numbers")
        if not re.fullmatch("[12i]?[nf]?", o.errors):
            raise SystemExit(f"ops.def: {o.name}: errors '{o.errors}' is not [12i][nf]")
        if ("c" in o.kinds) != ("|" in o.exactness):
            raise SystemExit(f"ops.def: {o.name}: exactness of complex numbers goes with 'c' in kinds")


def main(lists_h, formulas_h, ops_def, core_def, reduce_def, *front):
    ops = def_tables.ops(ops_def)
    check(ops)
    reductions = [(row[0], row[-1]) for m in ("RED", "INNER") for row in def_tables.rows(reduce_def, m)]
    pathlib.Path(lists_h).write_text(lists(ops, def_tables.rows(core_def, "CORE"), by_hand(*front)))
    pathlib.Path(formulas_h).write_text(formulas.code(ops, reductions))


if __name__ == "__main__":
    main(*sys.argv[1:])

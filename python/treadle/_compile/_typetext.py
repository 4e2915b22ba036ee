"""Types written as text: ``void(float32[:, ::1], UniTuple(int32, 2))``. Read as an expression, never evaluated."""

import ast

from .. import types

# Names that make a type of others, and how many of their arguments are not types but constants (from the end).
_MAKERS = {
    "Array": 2, "UniTuple": 1, "Tuple": 0, "Optional": 0, "CPointer": 0, "List": 0, "Set": 0, "NestedArray": 1,
    "IntegerLiteral": 1, "Literal": 1, "NPDatetime": 1, "NPTimedelta": 1,
}  # fmt: skip
_CONSTANTS = {"optional": "Optional", "literal": "Literal"}


def _wrong(text, node, why):
    where = " " * getattr(node, "col_offset", 0) + "^"
    return TypeError(f"this is not a type: {why}\n    {text}\n    {where}")


def read(text):
    """The Type or Signature that text spells; TypeError shows where it stops being one."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as e:
        raise TypeError(f"this is not a type: {e.msg}\n    {text.strip()}") from None
    if isinstance(node, ast.Tuple):  # a signature without a result
        return types.Signature(None, [_read(n, text.strip()) for n in node.elts])
    return _read(node, text.strip())


def _read(node, text):
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _named(node, text)
    if isinstance(node, ast.Constant) and node.value is None:
        return types.none
    if isinstance(node, ast.Subscript):
        return _array(node, text)
    if isinstance(node, ast.Call):
        return _call(node, text)
    if isinstance(node, ast.Tuple):
        return types.Tuple([_read(n, text) for n in node.elts])
    raise _wrong(text, node, "a name, slices or a call was expected")


def _name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _named(node, text):
    name = _name_of(node)  # of types.int32 and cuda.types.int32 the last word
    found = getattr(types, name, None)
    found = types._PYTHON.get(found, found) if isinstance(found, type) else found
    if name in ("int", "float", "complex", "str"):
        found = types._PYTHON[{"int": int, "float": float, "complex": complex, "str": str}[name]]
    if not isinstance(found, types.Type):
        raise _wrong(text, node, f"there is no type {name}")
    return found


def _array(node, text):
    element = _read(node.value, text)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    slices = []
    for part in parts:
        step = getattr(part, "step", None)
        plain = isinstance(part, ast.Slice) and part.lower is part.upper is None
        if not plain or not (step is None or (isinstance(step, ast.Constant) and step.value == 1)):
            raise _wrong(text, part, "an axis is : or ::1")
        slices.append(slice(None, None, 1 if step else None))
    try:
        return element[tuple(slices)]
    except TypeError as e:
        raise _wrong(text, node, str(e)) from None


def _constant(node, text):
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise _wrong(text, node, "a constant was expected") from None


def _call(node, text):
    name = _CONSTANTS.get(_name_of(node.func), _name_of(node.func))
    if name not in _MAKERS:
        if node.keywords:
            raise _wrong(text, node, "a signature has no keywords")
        return types.Signature(_read(node.func, text), [_read(n, text) for n in node.args])
    kw = {k.arg: _constant(k.value, text) for k in node.keywords if k.arg != "dtype"}
    given = [k.value for k in node.keywords if k.arg == "dtype"] + node.args
    if name == "Tuple":
        members = given[0].elts if given and isinstance(given[0], (ast.Tuple, ast.List)) else given
        return types.Tuple([_read(n, text) for n in members])
    first = 0 if name in ("IntegerLiteral", "Literal", "NPDatetime", "NPTimedelta") else 1
    args = [_read(n, text) for n in given[:first]] + [_constant(n, text) for n in given[first:]]
    make = types.literal if name in ("Literal", "IntegerLiteral") else getattr(types, name)
    try:
        return make(*args, **kw)
    except (TypeError, ValueError) as e:
        raise _wrong(text, node, str(e)) from None

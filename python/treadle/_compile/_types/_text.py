"""Parses types written as text: ``void(float32[:, ::1], UniTuple(int32, 2))``. The text is read as an expression but
never evaluated.
"""

import ast
import re

_CONSTANTS = {"optional": "Optional", "literal": "Literal"}
# how many of a maker's arguments are types, where it is not one
_TYPES_FIRST = {"IntegerLiteral": 0, "Literal": 0, "NPDatetime": 0, "NPTimedelta": 0, "DictType": 2, "dict": 2}
_BOXES = {"typed.list(": "ListType(", "typed.dict(": "DictType("}  # what the core calls them


def spelled(text):
    """The core's name of a type as text that Reader reads."""
    for core, name in _BOXES.items():
        text = text.replace(core, name)
    return re.sub(r"array\((\w+), (\d)d, (\w)\)", r"Array(\1, \2, '\3')", text)


class Reader:
    """Reads text. types: {name: Type}; makers: {name: what makes a type of others, or of constants}; signature:
    makes one of what is returned and the arguments."""

    def __init__(self, text, types, makers, signature):
        self._text, self._types, self._makers, self._of = text.strip(), types, makers, signature

    def read(self):
        """The Type or Signature that the text spells; TypeError shows where it stops being one."""
        try:
            node = ast.parse(self._text, mode="eval").body
        except SyntaxError as e:
            raise TypeError(f"this is not a type: {e.msg}\n    {self._text}") from None
        if isinstance(node, ast.Tuple):  # a signature without a return type
            return self._signature(None, node.elts)
        return self._type(node)

    def _wrong(self, node, why):
        where = " " * getattr(node, "col_offset", 0) + "^"
        return TypeError(f"this is not a type: {why}\n    {self._text}\n    {where}")

    def _type(self, node):
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(node)
        if isinstance(node, ast.Constant) and node.value is None:
            return self._types["none"]
        if isinstance(node, ast.Subscript):
            return self._array(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Tuple):
            return self._tuple(node.elts)
        raise self._wrong(node, "a name, slices or a call was expected")

    def _named(self, node):
        name = _name_of(node)  # only the last word counts: types.int32 and cuda.types.int32 are int32
        if name not in self._types:
            raise self._wrong(node, f"there is no type {name}")
        return self._types[name]

    def _tuple(self, members):
        return self._makers["Tuple"]([self._type(n) for n in members])

    def _signature(self, returned, args):
        return self._of(returned, [self._type(n) for n in args])

    def _array(self, node):
        element = self._type(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        slices = []
        for part in parts:
            step = getattr(part, "step", None)
            plain = isinstance(part, ast.Slice) and part.lower is part.upper is None
            if not plain or not (step is None or (isinstance(step, ast.Constant) and step.value == 1)):
                raise self._wrong(part, "an axis is : or ::1")
            slices.append(slice(None, None, 1 if step else None))
        try:
            return element[tuple(slices)]
        except TypeError as e:
            raise self._wrong(node, str(e)) from None

    def _constant(self, node):
        try:
            return ast.literal_eval(node)
        except ValueError:
            raise self._wrong(node, "a constant was expected") from None

    def _call(self, node):
        name = _CONSTANTS.get(_name_of(node.func), _name_of(node.func))
        if name not in self._makers:
            if node.keywords:
                raise self._wrong(node, "a signature has no keywords")
            return self._signature(self._type(node.func), node.args)
        kw = {k.arg: self._constant(k.value) for k in node.keywords if k.arg != "dtype"}
        given = [k.value for k in node.keywords if k.arg == "dtype"] + node.args
        if name == "Tuple":
            return self._tuple(given[0].elts if given and isinstance(given[0], (ast.Tuple, ast.List)) else given)
        first = _TYPES_FIRST.get(name, 1)
        args = [self._type(n) for n in given[:first]] + [self._constant(n) for n in given[first:]]
        try:
            return self._makers[name](*args, **kw)
        except (TypeError, ValueError) as e:
            raise self._wrong(node, str(e)) from None


def _name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None

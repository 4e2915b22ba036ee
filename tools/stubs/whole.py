"""Reads whole.pyi: definitions that stand in the stubs as they are written there.

A line `# module NAME` begins what belongs to that module. A function or a variable takes the place of the one that the
generator would write. Of a class, the header and the members that are there take the place of those generated; the rest
of its members are the generator's. Imports, type variables and names with an underscore come before all else.
"""

import ast
import pathlib
import re
import typing

FILE = pathlib.Path(__file__).with_name("whole.pyi")


class Taken(typing.NamedTuple):
    head: list  # lines
    names: dict  # {name: lines}
    headers: dict  # {class: lines of decorators and `class …:`}
    members: dict  # {class: {member: lines}}


NONE = Taken([], {}, {}, {})


def _source(lines, node):
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return [line[node.col_offset :] for line in lines[first - 1 : node.end_lineno]]


def _name(node):
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _class(lines, node, taken):
    head = _source(lines, node)[: node.body[0].lineno - node.lineno + len(node.decorator_list)]
    first = node.body[0]
    if first.lineno == node.lineno:  # class X: ...
        head = [head[0] if head else lines[node.lineno - 1]]
    else:
        start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
        top = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        head = _source(lines, node)[: start - top]
    taken.headers[node.name] = [line for line in head if line.strip()]
    members = taken.members.setdefault(node.name, {})
    for item in node.body:
        name = _name(item)
        if name:
            members.setdefault(name, []).extend(_source(lines, item))


def _read(text):
    lines, taken = text.splitlines(), Taken([], {}, {}, {})
    for node in ast.parse(text).body:
        name = _name(node)
        if name is None or name.startswith("_"):
            taken.head.extend(_source(lines, node))
        elif isinstance(node, ast.ClassDef):
            _class(lines, node, taken)
        else:
            taken.names.setdefault(name, []).extend(_source(lines, node))
    return taken


def _modules():
    parts = re.split(r"^# module (\S+)\n", FILE.read_text("utf-8"), flags=re.M)
    return {name: _read(text) for name, text in zip(parts[1::2], parts[2::2])}


MODULES = _modules()


def ufunc(value):
    """The type of a universal function, by its operands."""
    results = {t[-1] for t in value.types}
    kind = "_Tests" if results == {"?"} else "_Numbers"
    return f"ufunc[{'_One' if value.nin == 1 else '_Two'}, {kind}]"

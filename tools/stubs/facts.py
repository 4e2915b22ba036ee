"""Facts about the live package that the stubs are written from: its public modules, where each object is at home, and
what the sources of its functions tell of their results."""

import ast
import functools
import importlib
import inspect
import pkgutil
import sys
import textwrap
import types

PACKAGE = "treadle"
# Programs, and the tests' libraries: nothing in them is for a program to call.
SKIPPED = {"treadle.demo", "treadle.examples", "treadle.unchanged", "treadle.__main__"}


def private(name):
    return any(part.startswith("_") for part in name.split("."))


def _below(name):
    yield name
    for info in pkgutil.iter_modules(getattr(importlib.import_module(name), "__path__", ())):
        full = f"{name}.{info.name}"
        if not private(full) and full not in SKIPPED and not info.name.startswith("libtreadle"):
            yield from _below(full)


@functools.cache
def modules():
    """The public modules with files of their own, by name, each before those below it."""
    return tuple(_below(PACKAGE))


def public(module):
    """{name: value} of a module, as dir() shows them."""
    mod = sys.modules[module]
    found = {}
    for name in dir(mod):
        if name.startswith("_") or not name.isidentifier():
            continue
        try:
            found[name] = getattr(mod, name)
        except (AttributeError, ImportError):
            continue  # of a library that is not installed
    return found


def _movable(value):
    """Whether one definition serves every module that has the object."""
    return (isinstance(value, (type, types.FunctionType)) or hasattr(value, "_target")) and not private_only(value)


def private_only(value):
    return not (getattr(value, "__module__", None) or "").startswith(PACKAGE)


@functools.cache
def homes():
    """{id: (module, name)} of classes and functions: the module that says it is theirs, else the first one that has
    them."""
    found, first = {}, {}
    for module in modules():
        for name, value in public(module).items():
            if _movable(value):
                if value.__module__ == module and (id(value) not in found or name == value.__name__):
                    found[id(value)] = (module, name)
                elif id(value) not in first or name == value.__name__ and first[id(value)][1] != name:
                    first.setdefault(id(value), (module, name))
    return {**first, **found}


# ---- what a source tells ----


def _own(node):
    """The statements of a function, without those of functions inside."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield child
            yield from _own(child)


@functools.cache
def _tree(f):
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(f)))
    except (OSError, TypeError, SyntaxError, IndentationError):
        return None


def result(f):
    """What the source of a Python function tells of its result: "None", "Self", "bool", "str", a context; or None."""
    f = inspect.unwrap(f)
    f = getattr(f, "_target", f)  # of a function that is a built-in one in PyTorch
    tree = _tree(f) if isinstance(f, types.FunctionType) else None
    if tree is None or not tree.body or not isinstance(tree.body[0], ast.FunctionDef):
        return None
    node = tree.body[0]
    body = list(_own(node))
    decorators = {ast.unparse(d).rpartition(".")[2] for d in node.decorator_list}
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in body):
        return "AbstractContextManager[Any]" if "contextmanager" in decorators else "Iterator[Any]"
    if decorators - {"staticmethod", "classmethod", "both()", "function()", "method()", "setter"}:
        return None
    given = [n.value for n in body if isinstance(n, ast.Return)]
    if not any(v is not None and not (isinstance(v, ast.Constant) and v.value is None) for v in given):
        ends = isinstance(node.body[-1], ast.Raise)
        return None if ends else "None"
    kinds = {_kind(v, node) for v in given}
    return kinds.pop() if len(kinds) == 1 else None


def _kind(value, node):
    first = node.args.args[0].arg if node.args.args else None
    match value:
        case ast.Name(id=name) if name == first == "self":
            return "Self"
        case ast.Constant(value=bool()) | ast.UnaryOp(op=ast.Not()):
            return "bool"
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
            return "bool"
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "bool" | "any" | "all" | "callable" | "hasattr")):
            return "bool"
        case ast.Call(func=ast.Name(id="len" | "int")):
            return "int"
        case ast.Call(func=ast.Name(id="float")):
            return "float"
        case ast.JoinedStr() | ast.Constant(value=str()) | ast.Call(func=ast.Name(id="str" | "repr")):
            return "str"
    return None


def attributes(cls):
    """The public names that a class's methods give to self."""
    tree = _tree(cls)
    if tree is None:
        return []
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self" and not node.attr.startswith("_"):
                found[node.attr] = True
    return list(found)

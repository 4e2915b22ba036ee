"""Finds what surrounds a line of the program: its statement, loop and function, and which values it demands."""

import ast
import functools
import linecache
import os
import sysconfig

texts = {}  # file: the text of code that no file holds

# Functions, methods and reductions that need a value immediately. Reductions give an unchanged program a number.
_TAKES = set("float int bool complex str repr print format len round asnumpy".split())
_METHODS = set("item get tolist format copy_to_host asnumpy numpy cpu".split())
_REDUCES = set("sum max min mean std var any all prod dot norm argmax argmin median ptp trace".split())
_WAITS = set("synchronize wait sync".split())

_FOLDERS = tuple(os.path.join(sysconfig.get_paths()[k], "") for k in ("stdlib", "platstdlib", "purelib", "platlib"))


class Place:
    """A line of a program: `text` is the line; statement, loop and function are nodes of its tree, or None."""

    def __init__(self, file, line):
        self.file, self.line = file, line
        lines = texts[file].splitlines() if file in texts else linecache.getlines(file)
        self.text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        self.statement = self.loop = self.function = None
        self.guarded = False  # inside of a condition with %, so it runs only in some iterations
        for node in _nodes(file, "".join(f"{x.rstrip()}\n" for x in lines)):
            if not node.lineno <= line <= node.end_lineno:
                continue
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.function, self.loop = node, None
            elif isinstance(node, ast.For | ast.While) and line > node.lineno:
                self.loop, self.guarded = node, False
            elif isinstance(node, ast.If) and any(isinstance(n, ast.Mod) for n in ast.walk(node.test)):
                self.guarded = True
            self.statement = node

    @functools.cached_property
    def nodes(self):
        """The nodes of the statement's own line. Of a loop or a condition that is only its head."""
        if self.statement is None:
            return []
        heads = [getattr(self.statement, name, None) for name in ("test", "iter", "items")]
        parts = [h for h in heads if isinstance(h, ast.AST)] if hasattr(self.statement, "body") else [self.statement]
        return [n for part in parts for n in ast.walk(part)]

    @property
    def in_loop(self):
        """Whether a loop or a comprehension of this function repeats the line."""
        return self.loop is not None or any(isinstance(n, ast.comprehension) for n in self.nodes)

    def calls(self, names):
        """Whether the line calls one of these functions or methods."""
        return any(_called(n) in names for n in self.nodes if isinstance(n, ast.Call))

    @property
    def demands(self):
        """Whether the line needs a value: float(), print(), .item(), a condition, a reduction to a number."""
        if isinstance(self.statement, ast.If | ast.While | ast.Assert):
            return True
        if any(isinstance(n, ast.JoinedStr | ast.IfExp) for n in self.nodes) or self.calls(_TAKES | _METHODS):
            return True
        return any(_is_number(n) for n in self.nodes if isinstance(n, ast.Call))

    @property
    def waits(self):
        return self.calls(_WAITS)

    @property
    def indexes(self):
        """Whether the line reads an element of an array, by a subscript that is not a slice."""
        return any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load) and _is_element(n) for n in self.nodes)

    @property
    def stores(self):
        return any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and _is_element(n) for n in self.nodes)

    def is_fixed(self):
        """Whether the arrays that the line copies stay the same in every iteration, as far as the loop's text shows.

        A name may change if it is assigned, written to, passed to another call, or if another of its methods is
        called. False where nothing is known."""
        moved = [n for n in self.nodes if isinstance(n, ast.Call) and _called(n) in _MOVES]
        if self.loop is None or not moved:
            return False
        names = {name for call in moved for name in _operands(call)}
        return bool(names) and not names & _changed(self.loop)


def _operands(call):
    """The names of the objects that a call like asarray(x) or x.get() copies."""
    roots = {_root(a) for a in [*call.args, *(k.value for k in call.keywords)]}
    return (roots if call.args else {_root(call.func)}) - {None}


def _changed(loop):
    """Names whose values a loop may change."""
    found = set()
    for n in ast.walk(loop):
        if isinstance(n, ast.Name | ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store | ast.Del):
            found.add(_root(n))
        elif isinstance(n, ast.Call) and _called(n) not in _MOVES:
            found |= {_root(a) for a in [*n.args, *(k.value for k in n.keywords)]} | {_root(n.func)}
    return found


_MOVES = _METHODS | set("asarray array to_device to cuda from_numpy as_tensor tensor".split())


def _called(node):
    f = node.func
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else None


def _root(node):
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_number(call):
    """Whether the call is a reduction to a number: x.sum() or np.sum(x), without an axis."""
    if _called(call) not in _REDUCES or call.keywords:
        return False
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    module = isinstance(of, ast.Name) and of.id in ("np", "numpy", "td", "cp")
    return len(call.args) == (1 if module else 0)


def _is_element(node):
    index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    texts_or_none = [i for i in index if isinstance(i, ast.Constant) and type(i.value) is not int]
    return not texts_or_none and not any(isinstance(i, ast.Slice) for i in index)


@functools.lru_cache(64)
def _nodes(file, text):
    """The statements of a file, outer ones first. Empty where the text is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


@functools.lru_cache(4096)
def at(line):
    """The Place of "file.py:12"; None where the line is not known or belongs to a library."""
    file, _, number = line.rpartition(":")
    if not number.isdigit() or file.startswith("<frozen") or not is_own(file):
        return None
    return Place(file, int(number))


@functools.lru_cache(1024)
def is_own(file):
    """Whether a file is the program's own: not of Python's library, an installed package or treadle."""
    if file.startswith("<"):
        return True
    path = os.path.realpath(file)
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep
    return not path.startswith((*_FOLDERS, here)) and f"{os.sep}site-packages{os.sep}" not in path


def short(line):
    """A line's file relative to the current folder, where it lies there."""
    return line.removeprefix(os.getcwd() + os.sep)

"""The syntax tree of a Python function, from source that the file, an import hook or linecache has.

``find`` parses as little as it can: the function's own lines, where they can be told; else the whole file.
Which of several functions on a line is meant is told by where the code object's instructions stand.
"""

import sys
import weakref

from ._folded import folded, walk

_ONLY_AST = 0x400  # ast.PyCF_ONLY_AST; importing ast takes longer than parsing a kernel
_ANONYMOUS = "<lambda>"
_ATTEMPTS = 50

_found = {}  # id of a code object: its tree
_files = {}  # name: (text, tree), the file parsed last


class Found:
    """A function's node, what to add to its lines to get the file's, and the tree that the core makes of it."""

    __slots__ = ("file", "line", "node", "shift", "text", "tree")

    def __init__(self, node, shift, file, lines):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) + shift
        self.node, self.shift, self.file, self.line = node, shift, file, first
        self.text = "".join(lines[first - 1 : node.end_lineno + shift])
        self.tree = None


def find(fn):
    """The ``Found`` of a function; OSError: its source is not known, and why."""
    code = fn.__code__
    known = _found.get(id(code))
    if known is None:
        known = _search(fn, code)
        _found[id(code)] = known
        weakref.finalize(code, _found.pop, id(code), None)
    return known


def _search(fn, code):
    lines = _lines(code.co_filename, getattr(fn, "__globals__", None))
    if not lines:
        raise OSError(
            f"{fn.__name__}: its source is not known: {code.co_filename!r} is no file that can be read. Kernels are "
            "compiled from their source: put them into a file, or make their text known to linecache before exec()"
        )
    if code.co_firstlineno > len(lines):
        raise OSError(_stale(fn, code))
    node, shift = _own_lines(code, lines) if code.co_name != _ANONYMOUS else (None, 0)
    if node is None:
        node, shift = _whole_file(fn, code, lines), 0
    if node is None:
        raise OSError(_stale(fn, code))
    return Found(folded(node), shift, code.co_filename, lines)


def _stale(fn, code):
    return f"{fn.__name__}: {code.co_filename} does not hold it at line {code.co_firstlineno}: was the file changed?"


def _lines(file, names):
    cache = sys.modules.get("linecache")
    if cache is None or file not in cache.cache:
        try:
            with open(file, "rb") as f:
                raw = f.read()
            if b"coding" not in b"".join(raw.split(b"\n", 2)[:2]):
                return raw.decode("utf-8-sig").splitlines(keepends=True)
        except (OSError, UnicodeDecodeError, ValueError):
            pass
    import linecache

    linecache.checkcache(file)
    return linecache.getlines(file, names)


def _last_line(code):
    """The last line that an instruction of the function comes from."""
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    return max([last, *(_last_line(c) for c in code.co_consts if type(c) is type(code))])


def _indent(line):
    return len(line) - len(line.lstrip())


def _parsed(text, name):
    """compile() to a syntax tree.

    CPython before 3.11.5 counts the depth of all threads' trees as one: a thread that another one interrupted fails
    (SystemError, RecursionError), and tries again."""
    for attempt in range(_ATTEMPTS):
        try:
            return compile(text, name, "exec", _ONLY_AST, dont_inherit=True)
        except (SystemError, RecursionError):
            if attempt == _ATTEMPTS - 1:
                raise


def _own_lines(code, lines):
    """The def parsed by itself: its lines are those down to the last that has code and all deeper ones behind it."""
    begin = code.co_firstlineno - 1
    depth = _indent(lines[begin])
    end = max(_last_line(code), begin + 1)
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
        end += 1
    text = "".join(lines[begin:end])
    try:
        tree = _parsed(("if 1:\n" if depth else "") + text, code.co_filename)
    except (SyntaxError, ValueError):
        return None, 0
    body = tree.body[0].body if depth else tree.body
    if len(body) == 1 and getattr(body[0], "name", None) == code.co_name:
        return body[0], begin - (1 if depth else 0)
    return None, 0


def _whole_file(fn, code, lines):
    text = "".join(lines)
    known = _files.get(code.co_filename)
    if known is None or known[0] != text:
        try:
            known = text, _parsed(text, code.co_filename)
        except (SyntaxError, ValueError):
            raise OSError(_stale(fn, code)) from None
        _files.clear()
        _files[code.co_filename] = known
    wanted = "Lambda" if code.co_name == _ANONYMOUS else "FunctionDef"
    return _choose([n for n in walk(known[1]) if type(n).__name__ == wanted and _fits(n, code)], code)


def _parameters(a):
    plain = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    return [p.arg for p in [*plain, *(p for p in (a.vararg, a.kwarg) if p)]]


def _fits(node, code):
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    names = _parameters(node.args)
    return first == code.co_firstlineno and tuple(names) == code.co_varnames[: len(names)]


def _choose(nodes, code):
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    places = [p for p in code.co_positions() if None not in p and p[1] >= p[0] and (p[2], p[3]) != (0, 0)]
    if places:
        low = min((p[0], p[2]) for p in places)
        high = max((p[1], p[3]) for p in places)
        nodes = [n for n in nodes if _begin(n) <= low and high <= _end(n)] or nodes
        nodes.sort(key=lambda n: (_begin(n), [-x for x in _end(n)]))
        return nodes[-1]
    same = [n for n in nodes if _code_of(n).co_code == code.co_code and _code_of(n).co_consts == code.co_consts]
    return same[0] if same else nodes[0]


def _begin(node):
    return node.lineno, node.col_offset


def _end(node):
    return node.end_lineno, node.end_col_offset


def _code_of(node):
    """The code object of a lambda, compiled alone."""
    import ast

    outer = compile(ast.Expression(node), "", "eval")
    return next(c for c in outer.co_consts if type(c) is type(outer))

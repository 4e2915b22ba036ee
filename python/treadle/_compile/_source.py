"""Finds the syntax tree of a Python function: in its file, an import hook, linecache, or in the text or the tree that
Python compiled.

``find`` parses as little as it can: the function's own lines if they can be identified, else the whole file. Where
several functions share a line, the positions of the code object's instructions tell which one is meant. A text counts
as the function's source only when it compiles to the function's own instructions, so a file that was changed meanwhile
is noticed.
"""

import _ast
import contextlib
import copy
import keyword
import sys
import weakref

from . import _texts
from ._folded import folded, walk

_ONLY_AST = 0x400  # ast.PyCF_ONLY_AST; importing ast takes longer than parsing a kernel
_ANONYMOUS = "<lambda>"
_ATTEMPTS = 50
_DEEPER = 4  # times the recursion limit

_FUTURE = 0x1FE0000  # the flags of co_flags for the text's imports from __future__
_NESTED = 0x10
_REWRITERS = ("slipcover", "typeguard", "beartype")  # modules that add instructions to functions when they are loaded

_found = {}  # id of a code object: its Found
_files = {}  # name: (text, tree), the file parsed last
rewritten = {}  # code object of a rewritten function: that of the function as the program wrote it
stale = set()  # files that no longer hold the functions that run


class Found:
    """A function's node, the line offset of its text in the file, and the tree that the core makes of it."""

    __slots__ = ("file", "line", "node", "shift", "text", "tree")

    def __init__(self, node, shift, file, lines):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) + shift
        self.node, self.shift, self.file, self.line = node, shift, file, first
        self.text = "".join(lines[first - 1 : node.end_lineno + shift])
        self.tree = None


def find(fn):
    """The Found of a function. Raises OSError, with the reason, where its source is not known."""
    code = fn.__code__
    known = _found.get(id(code))
    if known is None:
        known = _search(fn, rewritten.get(code, code))
        _found[id(code)] = known
        weakref.finalize(code, _found.pop, id(code), None)
    return known


def remember(fn):
    """Look for the source early, for a function that no file holds: the frames that have its text may end soon."""
    with contextlib.suppress(OSError):
        find(fn)


def _search(fn, code):
    lines = _lines(code.co_filename, getattr(fn, "__globals__", None))
    found = _in_lines(code, lines) if lines else None
    if found is not None:
        return found
    if lines and not code.co_filename.startswith("<"):
        raise OSError(_stale(fn, code))
    for text in _texts.candidates(code):
        found = _in_lines(code, text.splitlines(keepends=True))
        if found is not None:
            _texts.keep(text, code.co_filename)
            return found
    found = _in_trees(code)
    if found is not None:
        return found
    raise OSError(
        f"{fn.__name__}: its source is not known: {code.co_filename!r} is no file that can be read. Kernels are "
        "compiled from their source: put them into a file, or make their text known to linecache before exec()"
    )


def _in_lines(code, lines):
    """The Found of a code object in the lines of a text. None where the text is not its source."""
    if code.co_firstlineno > len(lines):
        return None
    node, shift = _own_lines(code, lines) if code.co_name != _ANONYMOUS else (None, 0)
    if node is None or not _compiles_to(node, code):
        node, shift = _whole_text(code, lines), 0
    return None if node is None else Found(folded(node), shift, code.co_filename, lines)


def _in_trees(code):
    """The Found of a code object that a program compiled from a syntax tree, which has no text."""
    for tree in reversed(list(_texts.trees)):
        for node in walk(tree):
            if getattr(node, "name", None) == code.co_name and type(node).__name__ == "FunctionDef":
                own = copy.deepcopy(node)  # the tree is the program's
                if _compiles_to(own, code):
                    return Found(folded(own), 0, code.co_filename, [])
    return None


def _stale(fn, code):
    stale.add(code.co_filename)
    return (
        f"{fn.__name__}: {code.co_filename} does not hold it at line {code.co_firstlineno}, as it runs: was the file "
        "changed after it was imported? Kernels are compiled from their source: import it again"
    )


def is_stale(why):
    """Whether an error's text names a file that no longer holds the functions that run."""
    return any(file in why for file in stale)


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
    """The last line that an instruction of the function, or of one inside of it, comes from."""
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    return max([last, *(_last_line(c) for c in code.co_consts if type(c) is type(code))])


def _indent(line):
    return len(line) - len(line.lstrip())


def _parsed(text, flags=_ONLY_AST):
    """Compile a text to a syntax tree, or a tree to code.

    Before 3.11.5 CPython counts the tree depth of all threads together: a thread that is interrupted there may fail
    with SystemError or RecursionError, so this tries again. CPython accepts less deeply nested conditions in a tree
    than in a text that it has already compiled; the last attempt therefore raises the recursion limit."""
    for _ in range(_ATTEMPTS):
        try:
            return compile(text, _texts.OWN, "exec", flags, dont_inherit=True)
        except (SystemError, RecursionError):
            continue
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEPER * limit)
    try:
        return compile(text, _texts.OWN, "exec", flags, dont_inherit=True)
    finally:
        sys.setrecursionlimit(limit)


def _own_lines(code, lines):
    """Parse the def alone.

    Its lines reach to the last one with instructions, and on to the end of deeper indentation."""
    begin = code.co_firstlineno - 1
    depth = _indent(lines[begin])
    end = max(_last_line(code), begin + 1)
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
        end += 1
    text = "".join(lines[begin:end])
    try:
        tree = _parsed(("if 1:\n" if depth else "") + text)
    except (SyntaxError, ValueError):
        return None, 0
    body = tree.body[0].body if depth else tree.body
    if len(body) == 1 and getattr(body[0], "name", None) == code.co_name:
        return body[0], begin - (1 if depth else 0)
    return None, 0


def _whole_text(code, lines):
    text = "".join(lines)
    known = _files.get(code.co_filename)
    if known is None or known[0] != text:
        try:
            known = text, _parsed(text)
        except (SyntaxError, ValueError):
            return None
        _files.clear()
        _files[code.co_filename] = known
    wanted = "Lambda" if code.co_name == _ANONYMOUS else "FunctionDef"
    fitting = [n for n in walk(known[1]) if type(n).__name__ == wanted and _fits(n, code)]
    return _choose([n for n in fitting if _compiles_to(n, code)], code)


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
    return nodes[0]


def _begin(node):
    return node.lineno, node.col_offset


def _end(node):
    return node.end_lineno, node.end_col_offset


# ---- is it the text of what runs? ----


def _compiles_to(node, code):
    """Whether the node compiles to the code object, apart from positions."""
    names = _names(code)
    made = _compiled(node, code, names)
    if _same(made, code):
        return True
    names -= _with_methods(code)
    if _same(_compiled(node, code, names), code):
        return True
    if any(n.startswith("@py") for n in (*code.co_names, *code.co_varnames)):
        return _is_within(_compiled(node, code, names, _asserting), code)
    return any(m in sys.modules for m in _REWRITERS) and _is_within(_compiled(node, code, names), code)


def _names(code):
    """All names in the code except super.

    CPython 3.12 compiles super().f differently where the file imports super."""
    own = (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return {n for n in own if n.isidentifier() and n != "super"}.union(*map(_names, _inside(code)))


def _with_methods(code):
    """Names of objects whose methods are called.

    CPython compiles such a call differently where the file imports the name, even if the function's name is a local
    one."""
    import dis

    found, last = set(), None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_METHOD" or (step.opname == "LOAD_ATTR" and "NULL|self" in step.argrepr):
            found.add(last)
        name = step.argval[-1] if type(step.argval) is tuple and step.argval else step.argval
        last = None if step.opname in ("LOAD_ATTR", "LOAD_METHOD") else name
    return found.union(*map(_with_methods, _inside(code)))


def _inside(code):
    return [c for c in code.co_consts if type(c) is type(code)]


def _class_of(code):
    """The class that mangles the function's private names. None where there is none."""
    parts = code.co_qualname.split(".")
    classes = [p for p, then in zip(parts, parts[1:], strict=False) if "<locals>" not in (p, then)]
    return classes[-1] if classes and classes[-1].isidentifier() else None


def _bare(node):
    """The function's node without decorators, defaults and annotations, which are evaluated before it is made."""
    node, a = copy.copy(node), copy.copy(node.args)
    nothing = _ast.Constant(None, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    for group in ("posonlyargs", "args", "kwonlyargs"):
        setattr(a, group, [_ast.arg(p.arg, **_place(p)) for p in getattr(a, group)])
    for one in ("vararg", "kwarg"):
        p = getattr(a, one)
        setattr(a, one, p and _ast.arg(p.arg, **_place(p)))
    a.defaults, a.kw_defaults = [nothing] * len(a.defaults), [d and nothing for d in a.kw_defaults]
    node.args = a
    if hasattr(node, "decorator_list"):
        node.decorator_list, node.returns = [], None
        return node
    return _ast.Expr(node, **_place(node))


def _place(node):
    return {k: getattr(node, k) for k in ("lineno", "col_offset", "end_lineno", "end_col_offset")}


def _compiled(node, code, imported, change=None):
    """Compile the node with the code's free variables, and return its code object. None where that fails.

    imported: global names that are treated as imported by the file."""
    name, within = getattr(node, "name", _ANONYMOUS), _class_of(code)
    lines = [*(f"import {n}" for n in imported if not keyword.iskeyword(n)), "def outer():", " pass"]
    lines += [f" {n} = None" for n in code.co_freevars if n.isidentifier() and not n.startswith("__class")]
    lines += [f" global {n}" for n in (within or name,) if n.isidentifier() and n not in code.co_freevars]
    if within is not None:
        lines += [f" class {within}:", "  pass"]
    try:
        tree = _parsed("\n".join(lines))
        body = tree.body[-1].body
        node = _bare(node if change is None else copy.deepcopy(node))
        (body if within is None else body[-1].body).append(node)
        if change is not None:
            change(tree)
        with _texts.unkept():
            made = _inner(_inner(_parsed(tree, code.co_flags & _FUTURE)))
        made = made if within is None else _inner(made)
        while made.co_name != name:  # the scope of type parameters comes around the function
            made = _inner(made)
        return made
    except (SyntaxError, ValueError, TypeError, IndexError):
        return None


def _inner(code):
    return _inside(code)[0]


def _asserting(tree):
    """Rewrite assert statements as pytest does."""
    rewrite = sys.modules.get("_pytest.assertion.rewrite")
    if rewrite is not None:
        rewrite.rewrite_asserts(tree, b"")


_PARTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_code", "co_names", "co_varnames", "co_freevars",
          "co_cellvars", "co_exceptiontable")  # fmt: skip


def _same(x, y):
    """Whether two constants are equal: code objects apart from positions, numbers including type and sign."""
    if type(x) is not type(y):
        return False
    if hasattr(x, "co_code"):
        apart = (x.co_flags ^ y.co_flags) & ~_NESTED
        return not apart and all(getattr(x, p) == getattr(y, p) for p in _PARTS) and _same(x.co_consts, y.co_consts)
    if type(x) is tuple:
        return len(x) == len(y) and all(map(_same, x, y))
    if type(x) is str and "<locals>." in x:  # the qualified name of a class inside of a function
        return x.rpartition("<locals>.")[2] == y.rpartition("<locals>.")[2]
    return x == y if type(x) in (str, bytes, frozenset) else repr(x) == repr(y)


def _is_within(made, code):
    """Whether the code has all instructions that the text compiles to, in the same order.

    A tool may have added others between them, which moves the targets of jumps."""
    if made is None or made.co_argcount != code.co_argcount:
        return False
    have = iter(_steps(code))
    return all(any(_step_is(want, one) for one in have) for want in _steps(made))


def _steps(code):
    import dis

    jumps = {*dis.hasjrel, *dis.hasjabs}
    return [(s.opname, s.argval) for s in dis.get_instructions(code) if s.opcode not in jumps and s.opname != "NOP"]


def _step_is(x, y):
    if x[0] != y[0] or type(x[1]) is not type(y[1]):
        return False
    return _is_within(x[1], y[1]) if hasattr(x[1], "co_code") else _same(x[1], y[1])

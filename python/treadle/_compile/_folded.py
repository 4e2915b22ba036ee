"""Rewrites calls over generator expressions and comprehensions, such as ``sum(f(x) for x in xs if g(x))``, and
``yield from``, as loops, ``match`` as ``if``, and imports as assignments of what they find.

``folded`` replaces such a call in a function's tree by a node that holds the function called, the expression as
written, statements that loop over it, and the expression of the result. The compiler uses these statements if the name
means Python's builtin or math's function. Their variables have names of their own, so no other code sees them.
"""

import _ast
import contextlib
import copy
import importlib
import sys

from . import _matched

_LOAD, _STORE = _ast.Load(), _ast.Store()


class Folded(_ast.expr):
    _fields = ("func", "source", "body", "value")
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")


# ---- what a turn does: steps of a state, as functions that are compiled ----


def _add(total, x):
    return total + x


def _multiply(total, x):
    return total * x


def _count(total, x):
    return total + 1


def _least(state, x):
    if not state[0] or x < state[1]:
        return True, x
    return True, state[1]


def _most(state, x):
    if not state[0] or x > state[1]:
        return True, x
    return True, state[1]


def _second(state):
    if not state[0]:
        raise ValueError("of nothing")
    return state[1]


_INFINITY = float("inf")


def _compensated(state, x):
    """One step of sum() since Python 3.12. The state: (sum of the leading ints, sum of all, its rounding error,
    whether a float has come)."""
    whole, total, lost, floats = state
    if not isinstance(x, float):
        return (whole, total + x, lost, True) if floats else (whole + x, total, lost, False)
    if not floats:
        return whole, whole + x, 0.0, True
    after = total + x
    if abs(total) >= abs(x):
        return whole, after, lost + ((total - after) + x), True
    return whole, after, lost + ((x - after) + total), True


def _compensated_sum(state):
    whole, total, lost, floats = state
    if not floats:
        return whole
    return total + lost if lost != 0.0 and abs(lost) < _INFINITY else total


def _compensated_from(start):
    return (0, start, 0.0, True) if isinstance(start, float) else (start, 0.0, 0.0, False)


def _itself(x):
    return x


# name: (initial value, function that makes the state of a start value, step, function that makes the result of the
# state)
_FOLDS = {
    "sum": (0, _itself, _add, _itself),
    "prod": (1, _itself, _multiply, _itself),
    "len": (0, _itself, _count, _itself),
    "min": ((False, 0), None, _least, _second),
    "max": ((False, 0), None, _most, _second),
}
_DECIDED = {"any": True, "all": False}  # the value of an item that decides the result


# ---- nodes ----


def _name(id, ctx=_LOAD):
    return _ast.Name(id=id, ctx=ctx)


def _call(f, *args):
    return _ast.Call(func=_ast.Constant(value=f), args=list(args), keywords=[])


def _assign(name, value):
    return _ast.Assign(targets=[_name(name, _STORE)], value=value)


def walk(node):
    """Yield the nodes of a syntax tree, each before those below it."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        for field in node._fields:
            value = getattr(node, field, None)
            stack += [v for v in (value if type(value) is list else (value,)) if isinstance(v, _ast.AST)]


def _targets(node):
    """The names that a target assigns. None where it assigns to anything but names."""
    if isinstance(node, _ast.Name):
        return [node.id]
    if not isinstance(node, (_ast.Tuple, _ast.List)):
        return None
    found = [_targets(e) for e in node.elts]
    return None if None in found else [name for names in found for name in names]


def _is_plain(source):
    """Whether the expression's variables can be renamed apart from the function's."""
    if any(isinstance(n, (_ast.NamedExpr, _ast.Await, _ast.Yield)) for n in walk(source)):
        return False
    own = [_targets(g.target) for g in source.generators]
    if None in own or any(g.is_async for g in source.generators):
        return False
    # a lambda may read the variables; where a parameter has the name of one, its body means the parameter
    taken = {n.arg for n in walk(source) if isinstance(n, _ast.arg)}
    return not any(taken.intersection(names) for names in own)


def _renamed(source, suffix):
    """Rename the expression's own variables by a suffix. The first iterable is outside of their scope."""
    names = {name for g in source.generators for name in _targets(g.target)}
    first = set(walk(source.generators[0].iter))
    for n in walk(source):
        if isinstance(n, _ast.Name) and n.id in names and n not in first:
            n.id += suffix
    return source


def _loops(source, inner, behind):
    """Statements that run `inner` for each item. behind() gives the statements after each loop but the outermost."""
    for k, g in reversed(list(enumerate(source.generators))):
        for test in reversed(g.ifs):
            inner = [_ast.If(test=test, body=inner, orelse=[])]
        inner = [_ast.For(target=g.target, iter=g.iter, body=inner, orelse=[]), *(behind() if k else ())]
    return inner


def _decided(name, source, state):
    """The statements and the result of any() or all(). A list comprehension is evaluated to its end, a generator is
    not."""
    found = _DECIDED[name]
    wanted = source.elt if found else _ast.UnaryOp(op=_ast.Not(), operand=source.elt)
    ends = [_ast.Break()] if isinstance(source, _ast.GeneratorExp) else []

    def leave():
        is_so = _name(state) if found else _ast.UnaryOp(op=_ast.Not(), operand=_name(state))
        return [_ast.If(test=is_so, body=[_ast.Break()], orelse=[])] if ends else []

    inner = [_ast.If(test=wanted, body=[_assign(state, _ast.Constant(value=found)), *ends], orelse=[])]
    return [_assign(state, _ast.Constant(value=not found)), *_loops(source, inner, leave)], _name(state)


def _stepped(name, source, state, start):
    import sys

    before, begin, step, end = _FOLDS[name]
    if name == "sum" and sys.version_info >= (3, 12):
        begin, step, end = _compensated_from, _compensated, _compensated_sum
    first = _ast.Constant(value=before) if start is None else start
    inner = [_assign(state, _call(step, _name(state), source.elt))]
    body = [_assign(state, _call(begin, first) if begin else first), *_loops(source, inner, list)]
    return body, _call(end, _name(state))


def _start(name, call):
    """(whether the call has only arguments that are understood, the node of its start value or None)."""
    others = [*call.args[1:], *(k.value for k in call.keywords)]
    if name not in ("sum", "prod") or not others:
        return not others, None
    fits = len(others) == 1 and not isinstance(others[0], _ast.Starred) and all(k.arg == "start" for k in call.keywords)
    return fits and (name == "sum" or not call.args[1:]), others[0]


def _listed(source, state):
    add = _ast.Call(func=_ast.Attribute(value=_name(state), attr="append", ctx=_LOAD), args=[source.elt], keywords=[])
    return [_assign(state, _ast.List(elts=[], ctx=_LOAD)), *_loops(source, [_ast.Expr(value=add)], list)], _name(state)


def _collected(source, state):
    """The statements and the result of a set or dict comprehension."""
    if isinstance(source, _ast.SetComp):
        empty = _call(set)
        add = _ast.Call(func=_ast.Attribute(value=_name(state), attr="add", ctx=_LOAD), args=[source.elt], keywords=[])
        inner = _ast.Expr(value=add)
    else:
        empty = _ast.Dict(keys=[], values=[])
        place = _ast.Subscript(value=_name(state), slice=source.key, ctx=_STORE)
        inner = _ast.Assign(targets=[place], value=source.value)
    return [_assign(state, empty), *_loops(source, [inner], list)], _name(state)


_COLLECTED = {_ast.ListComp: _listed, _ast.SetComp: _collected, _ast.DictComp: _collected}


def _place(made, node):
    """Give the nodes of a tree that have no place in the text the place of node."""
    for n in walk(made):
        if getattr(n, "lineno", None) is None:
            for k in Folded._attributes:
                setattr(n, k, getattr(node, k))


_IMPORTS = _ast.Import, _ast.ImportFrom


def _imported(node):
    """Assignments of modules, and of their attributes, that are found now; the node itself where they are not."""
    try:
        if isinstance(node, _ast.ImportFrom):
            if node.level:
                return [node]
            module = importlib.import_module(node.module)
            values = [_ast.Attribute(value=_ast.Constant(value=module), attr=a.name, ctx=_LOAD) for a in node.names]
        else:
            found = [(importlib.import_module(a.name), a) for a in node.names]
            values = [_ast.Constant(value=m if a.asname else sys.modules[a.name.partition(".")[0]]) for m, a in found]
    except Exception:
        return [node]
    names = [a.asname or a.name.partition(".")[0] for a in node.names]
    return [_ast.Assign(targets=[_ast.Name(id=n, ctx=_STORE)], value=v) for n, v in zip(names, values, strict=True)]


class _Folder:
    def __init__(self):
        self.made = 0

    def visit(self, node):
        """Replace the foldable parts of a tree. A call comes before its argument, which then needs no list."""
        if isinstance(node, _ast.Call):
            node = self.call(node)
        if _is_long(node):
            made = _ast.Constant(value=_constant(node), kind=None)
            _place(made, node)
            return made
        if isinstance(node, _ast.Expr) and isinstance(node.value, _ast.YieldFrom):
            node = self.passed_on(node)
        if type(node) in _COLLECTED and _is_plain(node):
            node = self.fold(node, None, _COLLECTED[type(node)], node)
        for field in node._fields:
            value = getattr(node, field, None)
            if field == "source":
                continue
            if type(value) is list:
                value[:] = [self.visit(v) if isinstance(v, _ast.AST) else v for v in self.statements(value)]
            elif isinstance(value, _ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def statements(self, items):
        """The items of a list of nodes, with the statements that do what a match or an import does in its place."""
        made = []
        for node in items:
            own = [node]
            if isinstance(node, _ast.Match):
                self.made += 1
                with contextlib.suppress(_matched.Unknown):
                    own = _matched.matched(node, f"subject.{self.made}")
            elif isinstance(node, _IMPORTS):
                own = _imported(node)
            for top in own if own[0] is not node else ():
                _place(top, node)
            made += own
        return made

    def call(self, call):
        name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
        source = call.args[0] if call.args else None
        if name not in _FOLDS and name not in _DECIDED or not isinstance(source, (_ast.GeneratorExp, _ast.ListComp)):
            return call
        fits, start = _start(name, call)
        if not fits or not _is_plain(source) or (name == "len" and isinstance(source, _ast.GeneratorExp)):
            return call
        if name in _DECIDED:
            return self.fold(call, call.func, lambda own, state: _decided(name, own, state), source)
        return self.fold(call, call.func, lambda own, state: _stepped(name, own, state, start), source)

    def passed_on(self, node):
        """``yield from xs`` as ``for x in xs: yield x``."""
        self.made += 1
        own = f"yielded.{self.made}"
        body = [_ast.Expr(value=_ast.Yield(value=_name(own)))]
        made = _ast.For(target=_name(own, _STORE), iter=node.value.value, body=body, orelse=[])
        _place(made, node)
        return made

    def fold(self, node, func, how, source):
        """A Folded node in place of the node. how(expression, variable) makes its statements and its result."""
        self.made += 1
        shown = copy.deepcopy(source)
        body, value = how(_renamed(source, f".{self.made}"), f"state.{self.made}")
        made = Folded(func=func, source=shown, body=body, value=value)
        for top in (*body, value, made):
            _place(top, node)
        return made


def _constant(node):
    """The int that an expression of literals is, as Python computes it when it compiles; None: another expression."""
    if isinstance(node, _ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, _ast.UnaryOp) and isinstance(node.op, _ast.USub):
        x = _constant(node.operand)
        return None if x is None else -x
    if not isinstance(node, _ast.BinOp):
        return None
    x, y = _constant(node.left), _constant(node.right)
    if x is None or y is None:
        return None
    match type(node.op):
        case _ast.Add:
            return x + y
        case _ast.Sub:
            return x - y
        case _ast.Mult:
            return x * y
        case _ast.Pow if 0 <= y < 1024:
            return x**y
        case _ast.LShift if 0 <= y < 1024:
            return x << y
    return None


def _is_long(node):
    """Whether the node computes an int of literals that 64 bits do not hold: 10**30 is that int, no product that
    wraps."""
    if not isinstance(node, _ast.BinOp):
        return False
    value = _constant(node)
    return value is not None and value.bit_length() > 63


def folded(node):
    """The function's node, or a copy of it in which foldable calls and comprehensions are Folded, and long ints are
    literals."""
    rewritten = (_ast.GeneratorExp, _ast.YieldFrom, _ast.Match, *_IMPORTS, *_COLLECTED)
    if not any(isinstance(n, rewritten) or _is_long(n) for n in walk(node)):
        return node
    return _Folder().visit(copy.deepcopy(node))

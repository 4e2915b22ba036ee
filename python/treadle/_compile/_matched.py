"""Rewrites ``match`` statements as ``if`` and ``elif``.

A pattern becomes a test of the subject: values and constants are compared, ``a | b`` is ``or``, and a sequence of fixed
length is a test of the subject's kind and length and of its items. A name that a pattern gives is assigned in the test,
so a guard can read it. Statements with classes, mappings or starred names stay as they are, and the compiler refuses
them.
"""

import _ast

_LOAD, _STORE = _ast.Load(), _ast.Store()


class Unknown(Exception):
    """A pattern that has no such test."""


def _name(id):
    return _ast.Name(id=id, ctx=_LOAD)


def _constant(value):
    return _ast.Constant(value=value)


def _compared(left, op, right):
    return _ast.Compare(left=left, ops=[op], comparators=[right])


def _call(f, *args):
    return _ast.Call(func=_constant(f), args=list(args), keywords=[])


def _bound(name, subject):
    """A test that assigns the name and holds."""
    given = _ast.NamedExpr(target=_ast.Name(id=name, ctx=_STORE), value=subject())
    both = _ast.Tuple(elts=[given, _constant(True)], ctx=_LOAD)
    return _ast.Subscript(value=both, slice=_constant(1), ctx=_LOAD)


def _item(subject, at):
    return lambda: _ast.Subscript(value=subject(), slice=_constant(at), ctx=_LOAD)


def _tests(pattern, subject):
    """The tests of a pattern, all of which have to hold. subject() makes the expression that is looked at."""
    kind = type(pattern).__name__
    if kind == "MatchValue":
        return [_compared(subject(), _ast.Eq(), pattern.value)]
    if kind == "MatchSingleton":
        return [_compared(subject(), _ast.Is(), _constant(pattern.value))]
    if kind == "MatchOr":
        ways = [_tests(p, subject) for p in pattern.patterns]
        return [_ast.BoolOp(op=_ast.Or(), values=[_all(w) for w in ways])] if all(ways) else []
    if kind == "MatchAs":
        tests = [] if pattern.pattern is None else _tests(pattern.pattern, subject)
        return tests if pattern.name is None else [*tests, _bound(pattern.name, subject)]
    if kind != "MatchSequence":
        raise Unknown
    tests = [_call(isinstance, subject(), _constant((tuple, list)))]
    tests.append(_compared(_call(len, subject()), _ast.Eq(), _constant(len(pattern.patterns))))
    for at, p in enumerate(pattern.patterns):
        tests += _tests(p, _item(subject, at))
    return tests


def _all(tests):
    if not tests:
        return _constant(True)
    return tests[0] if len(tests) == 1 else _ast.BoolOp(op=_ast.And(), values=tests)


def matched(node, own):
    """The statements that do what a ``match`` does; own: the name of the variable that keeps the subject.

    Raises
    ------
    Unknown
        A pattern looks at classes, mappings or a number of items that is not told.
    """
    rest = []
    for case in reversed(node.cases):
        tests = _tests(case.pattern, lambda: _name(own))
        tests += [] if case.guard is None else [case.guard]
        rest = [_ast.If(test=_all(tests), body=case.body, orelse=rest)] if tests else case.body
    return [_ast.Assign(targets=[_ast.Name(id=own, ctx=_STORE)], value=node.subject), *rest]

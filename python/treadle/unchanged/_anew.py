"""Which variables a loop sets anew in each iteration before it reads them, so nobody sees what they held before."""

import ast


def needed(node):
    """The names whose values at the start of an iteration of a for or while loop may be read.

    Parameters
    ----------
    node : ast.For or ast.While
        The loop.

    Returns
    -------
    set of str
        In doubt a name is in it.

    Examples
    --------
    >>> import ast
    >>> sorted(needed(ast.parse("for i in x:\\n    s = 0\\n    t += s + i").body[0]))
    ['t']
    """
    found = set()
    if isinstance(node, ast.While):
        _read(node.test, set(), found)
        _block(node.body, set(), found)
    else:
        _block(node.body, _targets(node.target, set(), found), found)
    _block(node.orelse, set(), found)
    return found


def _read(node, known, found):
    """Note the names that the expression reads and that have no value of this iteration yet."""
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and n.id not in known:
            found.add(n.id)


def _targets(node, known, found):
    """The known names behind an assignment to the target."""
    if isinstance(node, ast.Name):
        return known | {node.id}
    if isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            known = _targets(element, known, found)
        return known
    _read(node, known, found)
    return known


def _block(statements, known, found):
    """The names that have a value of this iteration behind the statements."""
    for s in statements:
        known = _statement(s, known, found)
    return known


def _statement(s, known, found):
    if isinstance(s, ast.Assign):
        _read(s.value, known, found)
        for target in s.targets:
            known = _targets(target, known, found)
        return known
    if isinstance(s, ast.If):
        _read(s.test, known, found)
        return _block(s.body, known, found) & _block(s.orelse, known, found)
    if isinstance(s, ast.For):
        _read(s.iter, known, found)
        _block(s.body, _targets(s.target, known, found), found)
        _block(s.orelse, known, found)
        return known
    if isinstance(s, ast.While):
        _read(s.test, known, found)
        _block(s.body, known, found)
        _block(s.orelse, known, found)
        return known
    _read(s, known, found)  # other statements: what they set is not followed
    return known

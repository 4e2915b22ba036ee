"""Rewriting a program's loops, so that compiled code can take them over while they run.

A loop over numbers and elements, ``for i in items: body``, becomes the following. No program has names that begin with
``_.``, so they cannot clash.

    _.items = items
    try: _.turns = _.loop(key, _.items)            # Turns (_loops.py): pieces of the items, one after another
    except NameError: _.turns = ((False, _.items),)   # in a process without treadle
    for _.how, _.piece in _.turns:
        if _.how is None:                          # the rest of the loop has been run by compiled code,
            _.left = _.turns.run()
            if _.left is not None:                 # which says how it was left, and the values of its variables
                _, x, … = the variables that have one
                if it was left by `break` or `return f(x)`: that statement
        elif _.how: for i in _.piece: the body, whose inner loops are rewritten too
        else: for i in _.piece: the body
        [leave, if the piece's loop was left by break]
    else: the loop's own else

Only its first iterations cost more than before, and where compiled code gives up the loop goes on in Python.
A ``while`` loop's pieces are numbers of iterations; its last piece is the loop itself.
"""

import ast
import copy

from . import _anew

PREFIX = "_."
LOOP = PREFIX + "loop"  # a function in builtins: (key, items) -> Turns

_STATEMENTS = (ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Pass, ast.Break, ast.Continue, ast.Return,
               ast.Raise, ast.Assert)  # fmt: skip
_EXPRESSIONS = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript,
                ast.Attribute, ast.Call, ast.Tuple, ast.expr_context, ast.operator, ast.unaryop, ast.boolop,
                ast.cmpop)  # fmt: skip
_DOES = (ast.Assign, ast.AugAssign, ast.Break, ast.Return, ast.Raise)
_NEVER = (ast.In, ast.NotIn, ast.MatMult)
_EFFECTS = {"print", "input", "open", "exec", "eval", "locals", "globals", "vars", "next", "iter", "setattr", "delattr"}
# functions that do not write to their arguments
_READERS = {"len", "range", "abs", "min", "max", "int", "float", "bool", "round"}
_LOOKS = {"locals", "globals", "vars", "exec", "eval", "dir"}  # functions that see all variables of a frame
_CONSTANTS = (int, float, bool, type(None))
FEW = 8  # a loop over range(n) with n up to this is too short to compile


class Loop:
    """A loop of the program's text that may be compiled.

    Attributes
    ----------
    key : str
        "file:line:column" of the loop.
    node : ast.For or ast.While
        Its tree.
    loads, stores : list of str
        Names that it reads and names that it stores, in the order in which they first occur.
    attributes : set of str
        Names of attributes that it asks for, of whatever.
    members : dict
        {name: {attribute: None}}: the attributes that are read of each name.
    bare : set of str
        Names that also occur otherwise than before an attribute's dot.
    exits : list of ast.Return and ast.Raise
        The statements in it that leave the function.
    leaves : bool
        A break leaves the loop itself.
    inner : bool
        There are loops in it.
    private : set of str
        Names that it stores and that nothing outside of it reads.
    anew : set of str
        Names that each iteration stores before it reads them.
    outer : set of str
        Names that it stores and that other functions may read.
    """

    def __init__(self, node, key, private, outer):
        self.node, self.key, self.private = node, key, private
        nodes = list(_inside(node))
        self._take_names([n for n in nodes if isinstance(n, ast.Name)])
        self._take_members([n for n in nodes if isinstance(n, ast.Attribute)])
        self._take_writes(nodes)
        self.anew = set(self.stores) - _anew.needed(node)
        self.outer = outer.intersection(self.stores) if outer is not None else set(self.stores)
        self.exits = [n for n in nodes if isinstance(n, (ast.Return, ast.Raise))]
        self.leaves = any(True for _ in _breaks(node.body))
        self.inner = any(isinstance(n, (ast.For, ast.While)) for s in node.body for n in ast.walk(s))

    def _take_names(self, names):
        self._count = {}
        for n in names:
            self._count[n.id] = self._count.get(n.id, 0) + 1
        self.stores = list(dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Store)))
        self.loads = list(dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Load)))

    def _take_members(self, attributes):
        self.attributes = {n.attr for n in attributes}
        self.members, dotted = {}, {}
        for n in attributes:
            if isinstance(n.value, ast.Name):
                self.members.setdefault(n.value.id, {})[n.attr] = None
                dotted[n.value.id] = dotted.get(n.value.id, 0) + 1
        self.bare = {name for name, count in self._count.items() if count != dotted.get(name, 0)}

    def _take_writes(self, nodes):
        """Find what the loop writes to by subscripts, and what it passes to functions, which may write to it."""
        stored = [n.value for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
        self._targets = {getattr(v, "id", None) for v in stored}
        calls = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", None) not in _READERS]
        self._passed = {getattr(a, "id", None) for n in calls for a in n.args}

    def written(self, arrays):
        """The names among `arrays` that the loop may write to.

        These are all of them if the loop writes to something else or passes an array to a function: views and
        functions may then reach any array.
        """
        if not self._targets <= set(arrays) or self._targets & set(self.stores) or self._passed & set(arrays):
            return arrays if self._targets or self._passed else []
        return [n for n in arrays if n in self._targets]

    def text(self, params, fresh, bools, results, items, members):
        """The source of a function that runs the loop from where it stands.

        Parameters
        ----------
        params : list of str
            The function's parameters.
        fresh : list of str
            Variables that have no value so far.
        bools : list of str
            Parameters that are Python's bools, which compiled code gets as numbers.
        results : list of str
            Variables whose values the function returns. Before them it returns how the loop was left: 0 by its end,
            1 by break, 2 and more by that one of exits.
        items : str or None
            The key of ITEMS for what a for loop goes through; None for a while loop.
        members : dict
            {(name, attribute): the parameter that has its value}.
        """
        node = copy.deepcopy(self.node)
        codes = {
            id(n): i for i, n in enumerate((n for n in _inside(node) if isinstance(n, (ast.Return, ast.Raise))), 2)
        }
        _leave(node.body, codes, results, True)
        if items is not None:
            node.iter = ast.Name(items, ast.Load())
        node.orelse = []
        node = _Members(members).visit(node) if members else node
        lines = [f"def hot({', '.join(params)}):"]
        lines += [f"    {n} = None" for n in fresh]
        lines += [f"    {n} = {n} != 0" for n in bools]
        loop = ast.unparse(ast.fix_missing_locations(node))
        if items is not None:
            loop = loop.replace(f" in {items}:", f" in {ITEMS[items]}:", 1)
        lines += ["    " + line for line in loop.splitlines()]
        return "\n".join([*lines, f"    return {_tuple(0, results)}", ""])


ITEMS = {
    "_td_range": "range(_td_from, _td_to)",
    "_td_steps": "range(_td_from, _td_to, _td_by)",
    "_td_array": "_td_array",
}
LEAD = {"_td_range": ["_td_from", "_td_to"], "_td_steps": ["_td_from", "_td_to", "_td_by"], "_td_array": ["_td_array"],
        None: []}  # fmt: skip


def _tuple(code, results):
    return f"({', '.join([str(code), *results])},)"


class _Members(ast.NodeTransformer):
    """Replaces attributes by the arguments that hold their values."""

    def __init__(self, members):
        self.members = members

    def visit_Attribute(self, node):
        name = self.members.get((getattr(node.value, "id", None), node.attr))
        return ast.Name(name, node.ctx) if name else self.generic_visit(node)


def _leave(body, codes, results, own):
    """Replace each statement that leaves the loop by a return of its number.

    own: a break here leaves this loop, not one inside of it.
    """
    for i, s in enumerate(body):
        code = codes.get(id(s), 1 if own and isinstance(s, ast.Break) else None)
        if code is not None:
            body[i] = ast.parse(f"return {_tuple(code, results)}").body[0]
            continue
        is_loop = isinstance(s, (ast.For, ast.While))
        _leave(getattr(s, "body", []), codes, results, own and not is_loop)
        _leave(getattr(s, "orelse", []) if isinstance(s, (ast.If, ast.For, ast.While)) else [], codes, results, own)


def _inside(loop):
    """Yield the nodes of a loop's target or condition and of its body, but not of its items and its else."""
    for part in ([loop.target] if isinstance(loop, ast.For) else [loop.test]) + loop.body:
        yield from ast.walk(part)


def _breaks(body):
    """Yield the break statements that leave the loop with this body."""
    for s in body:
        if isinstance(s, ast.Break):
            yield s
        elif isinstance(s, (ast.For, ast.While)):
            yield from _breaks(s.orelse)
        elif isinstance(s, ast.If):
            yield from _breaks(s.body)
            yield from _breaks(s.orelse)


# ---- which loops ----


def _is_plain(node):
    """Whether this node may occur in a loop over numbers and array elements."""
    if isinstance(node, ast.Constant):
        return type(node.value) in _CONSTANTS
    if isinstance(node, ast.Call):
        return not node.keywords and isinstance(node.func, (ast.Name, ast.Attribute)) and (
            getattr(node.func, "id", None) not in _EFFECTS)  # fmt: skip
    if isinstance(node, _NEVER):
        return False
    if isinstance(node, ast.For):
        return not node.type_comment and isinstance(node.target, (ast.Name, ast.Tuple))
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load)
    return isinstance(node, (*_STATEMENTS, *_EXPRESSIONS))


def _pruned(body):
    """Yield the nodes of the statements, except those that Python evaluates: values returned or raised, messages of
    assertions."""
    todo = list(body)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.Assert):
            todo.append(node.test)
        elif not isinstance(node, (ast.Return, ast.Raise)):
            todo.extend(ast.iter_child_nodes(node))


def _may_compile(loop):
    if isinstance(loop, ast.While) and loop.orelse:
        return False
    parts = [loop.target] if isinstance(loop, ast.For) else [loop.test]
    does = (n for s in loop.body for n in ast.walk(s))
    return all(_is_plain(n) for n in _pruned([*parts, *loop.body])) and any(isinstance(n, _DOES) for n in does)


def _is_short(loop):
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call) or loop.iter.keywords:
        return False
    f, args = loop.iter.func, loop.iter.args
    return getattr(f, "id", None) == "range" and len(args) == 1 and (
        isinstance(args[0], ast.Constant) and isinstance(args[0].value, int) and args[0].value <= FEW
    )  # fmt: skip


# ---- rewriting ----


class _Scope:
    """The statements of one function or of a module.

    shared: names declared global or nonlocal, which other functions may read.
    """

    def __init__(self, node):
        self.node, self.is_module = node, isinstance(node, ast.Module)
        self.shared, self._counts, self._open = set(), None, False

    def is_open(self):
        """Whether a statement lists the local variables, as locals() does. It would also see those that rewriting
        adds."""
        if self._counts is None:
            self._look()
        return self._open

    def private(self, loop):
        """The names that the loop stores and nothing outside of it reads."""
        own = _reads(loop)
        stored = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        alone = (n for n in stored if self._counts.get(n, 0) == own.get(n, 0) and n not in self.shared)
        return frozenset(n for n in alone if _is_set_first(loop.body, n, own.get(n, 0)))

    def _look(self):
        """Count how often each name is read. This must run before the first loop is rewritten, since that changes the
        counts."""
        self._counts = _reads(self.node)
        for n in ast.walk(self.node):
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                self.shared.update(n.names)
            elif isinstance(n, ast.Call) and getattr(n.func, "id", None) in _LOOKS:
                self._open = True


def _is_set_first(body, name, reads):
    """Whether some block assigns the name and reads it only after that: `reads` counts all its reads."""
    for i, s in enumerate(body):
        if isinstance(s, ast.Assign) and any(getattr(t, "id", None) == name for t in s.targets):
            return sum(_reads(x).get(name, 0) for x in body[i + 1 :]) == reads
        deeper = [getattr(s, f, []) for f in ("body", "orelse")] if isinstance(s, (ast.For, ast.While, ast.If)) else []
        if any(_is_set_first(b, name, reads) for b in deeper):
            return True
    return False


def _reads(node):
    """{name: how often it is read or deleted below node}"""
    counts = {}
    for n in ast.walk(node):
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            counts[n.target.id] = counts.get(n.target.id, 0) + 1
        elif isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Load, ast.Del)):
            counts[n.id] = counts.get(n.id, 0) + 1
    return counts


class Rewriter:
    """Rewrites the loops of one file's tree in place. loops has the Loops by key."""

    def __init__(self, file):
        self.file, self.loops, self._number, self._whole, self._set_elsewhere = file, {}, 0, None, None

    def module(self, tree):
        self._whole = _Scope(tree)
        self._block(tree.body, self._whole)
        return self.loops

    def _block(self, body, scope):
        for i in range(len(body) - 1, -1, -1):
            new = self._statement(body[i], scope)
            if new is not None:
                body[i : i + 1] = new

    def _statement(self, s, scope):
        """The statements that replace this one. None: it stays, and its parts have been rewritten."""
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._block(s.body, _Scope(s))
        elif isinstance(s, ast.ClassDef):
            for inner in s.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    self._statement(inner, scope)
        elif isinstance(s, (ast.For, ast.While)) and not _is_short(s) and _may_compile(s) and not self._watched(s):
            return None if scope.is_open() else self._loop(s, scope)
        else:
            self._parts(s, scope)
        return None

    def _watched(self, s):
        """Whether the loop reads a global that a function of the file sets. A signal handler could set it while the
        loop runs."""
        if self._set_elsewhere is None:  # done before the first loop is rewritten, which would change the counts
            self._whole.is_open()
            globals_ = (n for n in ast.walk(self._whole.node) if isinstance(n, ast.Global))
            self._set_elsewhere = {name for n in globals_ for name in n.names}
        stored = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return any(n.id in self._set_elsewhere and n.id not in stored for n in ast.walk(s) if isinstance(n, ast.Name))

    def _parts(self, s, scope):
        for field in ("body", "orelse", "finalbody"):
            some = getattr(s, field, None)
            if isinstance(some, list) and some and isinstance(some[0], ast.stmt):
                self._block(some, scope)
        for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            self._block(part.body, scope)

    def _loop(self, s, scope):
        key = f"{self.file}:{s.lineno}:{s.col_offset}"
        private = scope.private(s)
        loop = Loop(copy.deepcopy(s), key, private, None if scope.is_module else scope.shared)
        self.loops[key] = loop
        self._number += 1
        names = {k: f"{PREFIX}{self._number}{k}" for k in ("items", "turns", "how", "piece", "left")}
        made = _Maker(loop, names, s)
        inner = None
        if loop.inner:
            inner = copy.deepcopy(s.body)
            self._block(inner, scope)
        new = made.statements(inner, scope.is_module)
        for one in new:
            for n in ast.walk(one):
                if not hasattr(n, "lineno"):
                    ast.copy_location(n, s)
        return new


class _Maker:
    """Makes the statements that replace a loop."""

    def __init__(self, loop, names, node):
        self.loop, self.names, self.node = loop, names, node

    def _load(self, k):
        return ast.Name(self.names[k], ast.Load())

    def _store(self, k):
        return ast.Name(self.names[k], ast.Store())

    def _turns(self):
        items = self._load("items") if isinstance(self.node, ast.For) else ast.Constant(None)
        call = ast.Call(ast.Name(LOOP, ast.Load()), [ast.Constant(self.loop.key), items], [])
        plain = ast.Tuple([ast.Tuple([ast.Constant(False), items], ast.Load())], ast.Load())
        other = ast.ExceptHandler(ast.Name("NameError", ast.Load()), None, [ast.Assign([self._store("turns")], plain)])
        return ast.Try([ast.Assign([self._store("turns")], call)], [other], [], [])

    def _value(self, i):
        return ast.Subscript(self._load("left"), ast.Constant(i), ast.Load())

    def _left(self):
        """Statements for the end of compiled code: assign the variables, then leave the loop as the compiled code did.
        """
        body = []
        for i, name in enumerate(self.loop.stores, 1):
            has = ast.Compare(self._value(i), [ast.IsNot()], [ast.Constant(...)])
            body.append(ast.If(has, [ast.Assign([ast.Name(name, ast.Store())], self._value(i))], []))
        ways = [ast.Break()] if self.loop.leaves else [None]
        for code, s in enumerate([*ways, *self.loop.exits], 1):
            if s is not None:
                body.append(
                    ast.If(ast.Compare(self._value(0), [ast.Eq()], [ast.Constant(code)]), [copy.deepcopy(s)], [])
                )
        run = ast.Call(ast.Attribute(self._load("turns"), "run", ast.Load()), [], [])
        none = ast.Compare(self._load("left"), [ast.IsNot()], [ast.Constant(None)])
        return [ast.Assign([self._store("left")], run), ast.If(none, body or [ast.Pass()], []), ast.Continue()]

    def _piece(self, body):
        """Statements that run one piece of the iterations. If it ends by itself, go on to the next piece; a break
        skips that."""
        if isinstance(self.node, ast.For):
            loop = ast.For(copy.deepcopy(self.node.target), self._load("piece"), body, [ast.Continue()])
        else:
            done = ast.If(ast.UnaryOp(ast.Not(), copy.deepcopy(self.node.test)), [ast.Break()], [])
            loop = ast.For(self._store("left"), self._load("piece"), [done, *body], [ast.Continue()])
        return [loop, ast.Break()]

    def _rest(self):
        """Statements that run all remaining iterations as the program wrote them."""
        if isinstance(self.node, ast.For):
            return self._piece(self.node.body)
        return [ast.While(self.node.test, self.node.body, []), ast.Break()]

    def statements(self, inner, in_module):
        none = ast.Compare(self._load("how"), [ast.Is()], [ast.Constant(None)])
        plain = self._rest()
        if inner is not None or isinstance(self.node, ast.While):
            looked = self._piece(inner if inner is not None else copy.deepcopy(self.node.body))
            plain = [ast.If(self._load("how"), looked, plain)]
        each = ast.Tuple([self._store("how"), self._store("piece")], ast.Store())
        loop = ast.For(each, self._load("turns"), [ast.If(none, self._left(), []), *plain], self.node.orelse)
        out = [self._turns(), loop]
        if isinstance(self.node, ast.For):
            out.insert(0, ast.Assign([self._store("items")], self.node.iter))
        if in_module:  # others see a module's variables, so ours are deleted at the end
            out.insert(0, ast.Assign([self._store(k) for k in self.names], ast.Constant(None)))
            out.append(ast.Delete([ast.Name(n, ast.Del()) for n in self.names.values()]))
        return out


def rewritten(text, file):
    """The rewritten tree of a file's text, and its Loops by key. None where no loop can be compiled."""
    if "for " not in text and "while " not in text:
        return None
    tree = ast.parse(text, file)
    loops = Rewriter(file).module(tree)
    return (tree, loops) if loops else None

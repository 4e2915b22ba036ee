"""The program's loops, rewritten so that they can be left to compiled code while they run.

A loop over numbers and elements, ``for i in items: body``, becomes (names that begin with ``_.`` are no program's):

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

so that a loop costs what it did but for its first iterations, and goes on in Python wherever compiled code gives up.
A ``while`` loop's pieces are numbers of iterations; the last piece is the loop itself.
"""

import ast
import copy

PREFIX = "_."
LOOP = PREFIX + "loop"  # in builtins: Turns of a key and the items

_STATEMENTS = (ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Pass, ast.Break, ast.Continue, ast.Return,
               ast.Raise, ast.Assert)  # fmt: skip
_EXPRESSIONS = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript,
                ast.Attribute, ast.Call, ast.Tuple, ast.expr_context, ast.operator, ast.unaryop, ast.boolop,
                ast.cmpop)  # fmt: skip
_DOES = (ast.Assign, ast.AugAssign, ast.Break, ast.Return, ast.Raise)
_NEVER = (ast.In, ast.NotIn, ast.MatMult)
_EFFECTS = {"print", "input", "open", "exec", "eval", "locals", "globals", "vars", "next", "iter", "setattr", "delattr"}
_READERS = {"len", "range", "abs", "min", "max", "int", "float", "bool", "round"}  # that write to no argument
_LOOKS = {"locals", "globals", "vars", "exec", "eval", "dir"}  # functions that see a function's variables
_CONSTANTS = (int, float, bool, type(None))
FEW = 8  # a loop over range(n) of at most so many is not worth looking at


class Loop:
    """A loop of the program's text that may be compiled.

    key; node: its tree; loads, stores: names, in order; attributes: names of attributes; members: {name: attributes
    that are read of it}; bare: names that are read otherwise, too; exits: the returns and raises
    in it; leaves: does break leave it? inner: are there loops in it? private: names that it stores and nothing outside
    of it reads; outer: those that it stores and functions may read."""

    def __init__(self, node, key, private, outer):
        self.node, self.key, self.private = node, key, private
        names = [n for n in _inside(node) if isinstance(n, ast.Name)]
        self.stores = list(dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Store)))
        self.loads = list(dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Load)))
        self.attributes = {n.attr for n in _inside(node) if isinstance(n, ast.Attribute)}
        owners = [n for n in _inside(node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
        self.members = {n.value.id: {} for n in owners}
        for n in owners:
            self.members[n.value.id][n.attr] = None
        self.bare = {n.id for n in names} - {
            name for name in self.members if sum(n.id == name for n in names) == sum(n.value.id == name for n in owners)
        }
        self.outer = outer.intersection(self.stores) if outer is not None else set(self.stores)
        self.exits = [n for n in _inside(node) if isinstance(n, (ast.Return, ast.Raise))]
        nodes = list(_inside(node))
        stored = [n.value for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
        self._targets = {getattr(v, "id", None) for v in stored}
        calls = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", None) not in _READERS]
        self._passed = {getattr(a, "id", None) for n in calls for a in n.args}
        self.leaves = any(True for _ in _breaks(node.body))
        self.inner = any(isinstance(n, (ast.For, ast.While)) for s in node.body for n in ast.walk(s))

    def written(self, arrays):
        """Those of the names of arrays that the loop may write to."""
        if not self._targets <= set(arrays) or self._targets & set(self.stores) or self._passed & set(arrays):
            return arrays if self._targets or self._passed else []  # through views, or by functions
        return [n for n in arrays if n in self._targets]

    def text(self, params, fresh, bools, results, items, members):
        """The source of a function that runs the loop from where it is. params: its arguments; members: {(name,
        attribute): the argument that is its value}; fresh: variables
        without a value so far; bools: arguments that are bools of Python's; results: variables that it returns behind
        how the loop was left (0: it ended, 1: break, 2…: by an exit); items: of ITEMS; None: a while loop's."""
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
    """Puts arguments in the places of attributes."""

    def __init__(self, members):
        self.members = members

    def visit_Attribute(self, node):
        name = self.members.get((getattr(node.value, "id", None), node.attr))
        return ast.Name(name, node.ctx) if name else self.generic_visit(node)


def _leave(body, codes, results, own):
    """Makes the statements that leave the loop returns of how it was left. own: break leaves the loop itself."""
    for i, s in enumerate(body):
        code = codes.get(id(s), 1 if own and isinstance(s, ast.Break) else None)
        if code is not None:
            body[i] = ast.parse(f"return {_tuple(code, results)}").body[0]
            continue
        is_loop = isinstance(s, (ast.For, ast.While))
        _leave(getattr(s, "body", []), codes, results, own and not is_loop)
        _leave(getattr(s, "orelse", []) if isinstance(s, (ast.If, ast.For, ast.While)) else [], codes, results, own)


def _inside(loop):
    """The nodes of a loop's target, condition and body; not what it goes through, and not its else."""
    for part in ([loop.target] if isinstance(loop, ast.For) else [loop.test]) + loop.body:
        yield from ast.walk(part)


def _breaks(body):
    """The break statements that leave the loop with this body."""
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
    """Can this part of a loop be of numbers and elements alone?"""
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
    """The nodes of statements. Python evaluates what is returned or raised, and an assertion's message."""
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
    """A function's or module's own statements; names that are declared global or that inner functions read are
    everybody's."""

    def __init__(self, node):
        self.node, self.is_module = node, isinstance(node, ast.Module)
        self.shared, self._counts, self._open = set(), None, False

    def is_open(self):
        """Does it look at its own variables? Then it must find no others."""
        if self._counts is None:
            self._look()
        return self._open

    def private(self, loop):
        """Names that the loop stores and nothing outside of it reads."""
        own = _reads(loop)
        stored = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        alone = (n for n in stored if self._counts.get(n, 0) == own.get(n, 0) and n not in self.shared)
        return frozenset(n for n in alone if _is_set_first(loop.body, n, own.get(n, 0)))

    def _look(self):
        """Counts what is read, before the first loop is rewritten."""
        self._counts = _reads(self.node)
        for n in ast.walk(self.node):
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                self.shared.update(n.names)
            elif isinstance(n, ast.Call) and getattr(n.func, "id", None) in _LOOKS:
                self._open = True


def _is_set_first(body, name, reads):
    """Is there a block that sets the name in a statement of its own, and has all `reads` of it behind that?"""
    for i, s in enumerate(body):
        if isinstance(s, ast.Assign) and any(getattr(t, "id", None) == name for t in s.targets):
            return sum(_reads(x).get(name, 0) for x in body[i + 1 :]) == reads
        deeper = [getattr(s, f, []) for f in ("body", "orelse")] if isinstance(s, (ast.For, ast.While, ast.If)) else []
        if any(_is_set_first(b, name, reads) for b in deeper):
            return True
    return False


def _reads(node):
    counts = {}
    for n in ast.walk(node):
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            counts[n.target.id] = counts.get(n.target.id, 0) + 1
        elif isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Load, ast.Del)):
            counts[n.id] = counts.get(n.id, 0) + 1
    return counts


class Rewriter:
    """Rewrites the loops of a file's tree in place; loops: those that were rewritten, by key."""

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
        """What the statement becomes; None: it stays."""
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
        """Does the loop read a global that some function of the file sets? A signal's handler may do so meanwhile."""
        if self._set_elsewhere is None:  # no loop has been rewritten so far: the names are counted as they stand
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
    """The statements that a loop becomes."""

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
        """What compiled code has left: the variables' values, then the statement that left the loop."""
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
        """One piece of the items, or so many iterations; then on to the next piece, but after break."""
        if isinstance(self.node, ast.For):
            loop = ast.For(copy.deepcopy(self.node.target), self._load("piece"), body, [ast.Continue()])
        else:
            done = ast.If(ast.UnaryOp(ast.Not(), copy.deepcopy(self.node.test)), [ast.Break()], [])
            loop = ast.For(self._store("left"), self._load("piece"), [done, *body], [ast.Continue()])
        return [loop, ast.Break()]

    def _rest(self):
        """All the rest, as it is written."""
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
        if in_module:  # its variables are seen by others
            out.insert(0, ast.Assign([self._store(k) for k in self.names], ast.Constant(None)))
            out.append(ast.Delete([ast.Name(n, ast.Del()) for n in self.names.values()]))
        return out


def rewritten(text, file):
    """(tree, Loops by key) of a file's text; None: it has no loop that may be compiled."""
    if "for " not in text and "while " not in text:
        return None
    tree = ast.parse(text, file)
    loops = Rewriter(file).module(tree)
    return (tree, loops) if loops else None

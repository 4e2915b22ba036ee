"""Writes the first inputs of tree.c, tests/fuzz/corpus/tree: Python functions as the bytes that make their trees.

Run it after tree.def or what tree.c does with bytes has changed: python tests/fuzz/trees.py. What the shapes lack is left
out of a function; the bytes are an input all the same."""

import ast
import pathlib
import re

_HERE = pathlib.Path(__file__).parent
_TEXT = (_HERE / "tree.def").read_text()
_SHAPES = re.findall(r'^SHAPE\((\w+), "(\w*)"\)', _TEXT, re.M)
_CONSTANTS = [ast.literal_eval(t) if t != "Ellipsis" else ... for t in re.findall(r'^CONST\(.*"(.*)"\)$', _TEXT, re.M)]
_NAMES = re.findall(r"^NAME\((\w+),", _TEXT, re.M)
_KINDS = [kind for kind, _ in _SHAPES]
_FIRST = _KINDS.index("Name")
_TARGETS = ["Name", "Subscript", "Tuple", "Attribute", "Starred"]
_OPS = {
    "b": "Add Sub Mult Div FloorDiv Mod Pow MatMult LShift RShift BitOr BitXor BitAnd".split(),
    "u": "Invert Not UAdd USub".split(),
    "l": "And Or".split(),
    "c": "Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn".split(),
}

# (flags, argument types as pairs of bytes, source)
_FUNCTIONS = {
    "map": (0, [(0, 4), (0, 4)], "def f(a, b):\n i = cuda.grid(1)\n if i < a.size:\n  b[i] = math.sqrt(a[i]) + 1"),
    "shared": (0, [(0, 4)], "def f(a):\n s = cuda.shared.array(64, numpy.float32)\n i = cuda.threadIdx.x\n"
               " s[i] = a[i]\n cuda.syncthreads()\n a[i] = s[i] * 2 + cuda.blockDim.x"),
    "loop": (1 | 64, [(2, 4)], "def f(a):\n s = 0.0\n for i in range(len(a)):\n  s += a[i] * a[i]\n return s"),
    "while": (1, [(1, 0)], "def f(n):\n i = 0\n while n != 1:\n  n = n // 2 if n % 2 == 0 else 3 * n + 1\n  i += 1\n return i"),
    "list": (1, [(1, 0)], "def f(n):\n s = []\n for i in range(n):\n  s.append(i * 2)\n return sum(s)"),
    "dict": (1, [(1, 0)], "def f(n):\n d = {}\n for i in range(n):\n  d[i] = d.get(i, 0) + 1\n return len(d)"),
    "text": (1, [(1, 0)], "def f(n):\n s = 'x'\n for i in range(n):\n  s = s + f'{i}'\n return s.upper()"),
    "try": (1, [(1, 0)], "def f(n):\n try:\n  if n > 3:\n   raise ValueError('x')\n  i = 1\n except ValueError:\n  i = 2\n return i"),
    "tuple": (1, [(1, 0)], "def f(n):\n a, b = n, 2\n a, b = b, a + 1\n return a, (b, a)"),
    "comp": (1, [(1, 0)], "def f(n):\n s = [i * i for i in range(n) if i % 2 == 0]\n return max(s)"),
    "any": (1, [(1, 0)], "def f(n):\n return any(i > 3 for i in range(n))"),
    "matrix": (1, [(2, 12), (2, 12)], "def f(a, b):\n s = a.T.copy()\n s[1:, 0] = b[0, :-1]\n return s.reshape(3, 7) @ b"),
    "fancy": (1, [(2, 4)], "def f(a):\n b = a[a > 0.5]\n b[::2] = 0.0\n return numpy.concatenate((a, b)), b.shape"),
    "recurse": (1, [(1, 0)], "def f(n):\n return n if n < 2 else me(n - 1) + me(n - 2)"),
    "calls": (1, [(0, 0)], "def f(a):\n return other(a, 1) + max(a, abs(a), 0.5)"),
    "element": (2, [(2, 0), (2, 0)], "def f(a, b):\n return math.sin(a) if a > b else math.log(b) ** 2"),
    "atomic": (0, [(1, 4)], "def f(a):\n i = cuda.grid(1)\n cuda.atomic.add(a, i % 3, 1)\n c = cuda.shfl_down_sync(-1, i, 1)\n a[i] = c"),
    "prange": (1 | 64 | 128, [(2, 4)], "def f(a):\n s = 0.0\n for i in prange(len(a)):\n  a[i] = i\n  s += i\n return s"),
    "print": (0, [(0, 4)], "def f(a):\n print('x', a[0], 1)\n assert a[0] > 0, 'x'\n breakpoint = 1"),
    "zip": (1, [(2, 4), (2, 4)], "def f(a, b):\n s = 0\n for i, (x, y) in enumerate(zip(a, b)):\n  if i == 3:\n   break\n  s += x * y\n else:\n  s = 1\n return s"),
    "second": (1, [(1, 0)], "def f(n):\n i = isinstance(n, int)\n while (s := n - 1) > 0:\n  n = s\n return -n if i and not s else +n"),
}  # fmt: skip


class _Writer:
    def __init__(self):
        self.out = bytearray()

    def put(self, *values):
        self.out += bytes(values)

    def name(self, name, maybe=False):
        at = _NAMES.index(name) if name in _NAMES else 0
        self.put(at + 1 if maybe and name else 0 if maybe else at)

    def items(self, values, most, one, least=0):
        values = values[: least + most - 1]
        self.put(len(values) - least)
        for v in values:
            one(v)

    def expression(self, node):
        kind = type(node).__name__
        if kind not in _KINDS:
            return self.put(0, 0)  # a name
        self.put(_KINDS.index(kind) - _FIRST)
        return self.fields(node)

    def statement(self, node):
        kind = type(node).__name__
        self.put(_KINDS.index(kind) if kind in _KINDS else 0)
        if kind in _KINDS:
            self.fields(node)

    def target(self, node):
        self.put(_TARGETS.index(type(node).__name__))
        self.fields(node)

    def generator(self, node):
        self.target(node.target)
        self.expression(node.iter)
        self.items(node.ifs, 3, self.expression)

    def keyword(self, node):
        self.name(node.arg, maybe=True)
        self.expression(node.value)

    def handler(self, node):
        self.put(node.type is not None)
        if node.type:
            self.expression(node.type)
        self.name(node.name, maybe=True)
        self.items(node.body, 4, self.statement, 1)

    def parameters(self, node):
        self.put(len(node.args))
        for arg in node.args:
            self.name(arg.arg)

    def operator(self, what, node):
        self.put(_OPS[what].index(type(node).__name__))

    def fields(self, node):
        from_class = [f for f in type(node)._fields if f not in ("ctx", "kind", "type_comment", "conversion", "type_params")]
        for what, name in zip(dict(_SHAPES)[type(node).__name__], from_class, strict=False):
            self.field(what, getattr(node, name))

    def field(self, what, v):
        match what:
            case "e":
                self.expression(v)
            case "E":
                self.put(v is not None)
                if v is not None:
                    self.expression(v)
            case "t":
                self.target(v)
            case "T":
                self.items(v, 2, self.target, 1)
            case "s":
                self.items(v, 4, self.statement, 1)
            case "S":
                self.items(v, 4, self.statement)
            case "x":
                self.items(v, 4, self.expression)
            case "y":
                self.items(v, 4, self.expression, 1)
            case "X":
                for item in v[:3]:
                    self.expression(item)
            case "i":
                self.name(v)
            case "N":
                self.items(v, 2, self.name, 1)
            case "o":
                same = [k for k, c in enumerate(_CONSTANTS) if type(c) is type(v) and c == v]
                self.put(same[0] if same else 4)
            case "b" | "u" | "l":
                self.operator(what, v)
            case "c":
                self.items(v, 2, lambda op: self.operator("c", op), 1)
            case "k":
                self.items(v, 3, self.keyword)
            case "g":
                self.items(v, 2, self.generator, 1)
            case "h":
                self.items(v, 3, self.handler)
            case "p":
                self.parameters(v)


def _bytes(how, types, source):
    function = ast.parse(source).body[0]
    head = bytes([how & 255, how >> 8, len(types), *(b for pair in types for b in pair)])
    w = _Writer()
    w.parameters(function.args)
    w.items(function.body, 8, w.statement, 1)
    second = _Writer()
    second.parameters(ast.parse("def f(a, b): pass").body[0].args)
    second.items(ast.parse("a[0]\nreturn_ = a\n").body, 8, second.statement, 1)
    body = max(len(w.out), 3 * len(second.out))
    return head + bytes(w.out).ljust(body - body % 3, b"\0") + bytes(second.out).ljust((body + 2) // 3, b"\0")


def main():
    folder = _HERE / "corpus" / "tree"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (how, types, source) in _FUNCTIONS.items():
        (folder / name).write_bytes(_bytes(how, types, source))


if __name__ == "__main__":
    main()

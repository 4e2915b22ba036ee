"""The rows of the core's tables (.def files) as Python sees them, for the programs that write code from them."""

import pathlib
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(),]|[^"(),\s]+')


def rows(path, macro):
    """The arguments of each row `macro(...)` of the file. Neighbouring strings are one, and lose their quotes."""
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(), flags=re.S)
    for start in re.finditer(rf"^{macro}\(", text, flags=re.M):
        yield _arguments(text[start.end() :])


def _arguments(text):
    arguments, words, depth = [], [], 1
    for token in _TOKEN.findall(text):
        depth += (token == "(") - (token == ")")
        if depth == 0 or (depth == 1 and token == ","):
            arguments.append(_joined(words))
            words = []
        else:
            words.append(token)
        if depth == 0:
            return arguments
    raise SystemExit(f"a row does not end: {text[:60]}")


def _joined(words):
    strings = [w[1:-1] for w in words if w.startswith('"')]
    if strings and len(strings) == len(words):
        return "".join(strings)
    return "".join(words).replace(",", ", ")


class Op:
    """A row of ops.def."""

    def __init__(self, row):
        self.name, arity, self.kinds, self.result, self.flags, self.meaning, self.lowering, self.slot = row[:8]
        self.derivative, self.exactness, self.domain, self.errors, self.identity, names = row[8:]
        self.arity = int(arity)
        self.names = names.split()

    def under(self, face):
        """Its names under a face, without the face: "torch.asin_" is "asin_" under "torch"."""
        return [n[len(face) + 1 :] for n in self.names if n.startswith(face + ".")]


def ops(path):
    return [Op(row) for row in rows(path, "OP")]

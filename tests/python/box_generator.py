"""Random programs over lists, dicts, sets and strings, as texts that CPython and treadle.jit run alike."""


class Program:
    """One function's text. rng: random.Random. Its arguments are a list of ints and an int."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []

    def pick(self, *choices):
        return self.rng.choice(choices)

    def small(self):
        return str(self.rng.randint(-4, 6))

    def number(self):
        return self.pick("n", self.small(), "len(a)", "len(b)", "len(d)", "k", "len(t)", "i")

    def the_list(self):
        return self.pick("a", "b")

    def index(self, x):
        return self.pick(f"{self.small()}", f"(n % (len({x}) + 1)) - 1", "0", "-1", "i")

    def slice(self):
        part = lambda: self.pick("", self.small(), "n")  # noqa: E731
        step = self.pick("", "", ":1", ":2", ":-1", ":-2", ":3")
        return f"{part()}:{part()}{step}"

    def words(self):
        return self.pick('"ab"', '"b"', '""', "t", "str(n)", '"xyz"', "t[1:]", 'f"{n}-{k}"')

    def change_list(self):
        x, y = self.the_list(), self.the_list()
        return self.pick(
            f"{x}.append({self.number()})",
            f"{x}.append({self.number()})",
            f"{x}.extend({y})",
            f"{x}.extend(range({self.rng.randint(0, 4)}))",
            f"{x}.insert({self.index(x)}, {self.number()})",
            f"k = {x}.pop()",
            f"k = {x}.pop({self.index(x)})",
            f"{x}.remove({self.number()})",
            f"{x}.reverse()",
            f"{x}.sort()",
            f"{x}.sort(reverse=True)",
            f"{x}.clear()",
            f"{x}[{self.index(x)}] = {self.number()}",
            f"{x}[{self.index(x)}] += {self.number()}",
            f"{x}[{self.slice()}] = {y}",
            f"del {x}[{self.index(x)}]",
            f"del {x}[{self.slice()}]",
            f"{x} += [{self.number()}, {self.number()}]",
            f"b = {x}[{self.slice()}]",
            f"b = {x} + [{self.number()}]",
            f"b = {x} * {self.rng.randint(0, 3)}",
            f"b = {x}.copy()",
            f"b = [v * 2 for v in {x} if v % 2 == {self.rng.randint(0, 1)}]",
            f"b = sorted({x})",
        )

    def change_map(self):
        key = self.number()
        return self.pick(
            f"d[{key}] = {self.number()}",
            f"d[{key}] = {self.number()}",
            f"d[{key}] += 1",
            f"del d[{key}]",
            f"k = d[{key}]",
            f"k = d.get({key}, {self.number()})",
            f"k = d.pop({key}, {self.number()})",
            f"k = d.pop({key})",
            f"k = d.setdefault({key}, {self.number()})",
            "d.update({1: n, n: 2})",
            "d = d.copy()",
            f"s.add({key})",
            f"s.discard({key})",
            f"s.remove({key})",
            "s |= {n, 3}",
            "s = s & set(a)",
            "s = s - {1, 2}",
            "s ^= set(b)",
            "s.update(a)",
            "d.clear()",
            f"w[{self.words()}] = {self.number()}",
            f"w[{self.words()}] = w.get({self.words()}, 0) + 1",
            f"k = w[{self.words()}]",
            "d = {v: v * v for v in a}",
            f"p[(n % 3, {self.small()})] = k",
            "g.setdefault(n % 3, [0]).append(k)",
        )

    def change_text(self):
        return self.pick(
            f"t = t + {self.words()}",
            f"t = t[{self.slice()}]",
            f"t = t[{self.index('t')}]",
            f"t = {self.words()} * {self.rng.randint(0, 2)}",
            f"k = t.find({self.words()})",
            f"k = t.index({self.words()})",
            f"k = t.count({self.words()})",
            f"t = t.replace({self.words()}, {self.words()})",
            f"k = int(t.startswith({self.words()})) + int({self.words()} in t)",
            "t = t.upper()",
            f"t = {self.words()}.join(t.split({self.pick('', chr(34) + 'b' + chr(34))}))",
            "for c in t:\n    k += ord(c)",
            f"k = int(t < {self.words()}) - int(t == {self.words()})",
            "t = t.strip()",
        )

    def look(self):
        x = self.the_list()
        return self.pick(
            f"k = {x}[{self.index(x)}]",
            f"k = {x}.index({self.number()})",
            f"k = {x}.count({self.number()})",
            f"k = int({self.number()} in {self.pick('a', 'b', 'd', 's')})",
            "k = int(a == b) + 2 * int(a < b) + 4 * int(a >= b)",
            "k = int(s <= set(a)) + 2 * int(s == set(b)) + 4 * int(s < {1, 2, 3, n})",
            "k = sum(a) + len(b)",
            "k = 0\nfor v in a:\n    k += v",
            "for x, y in d.items():\n    k += x * y",
            "for x in sorted(s):\n    k = k * 3 + x",
            "for x, y in enumerate(b):\n    k += x * y",
            "for x, y in zip(a, d.values()):\n    k += x - y",
            "for v in reversed(a):\n    k = k * 2 - v",
            "for x in g:\n    k += x + len(g[x])",
            "k = min(a) + max(b)",
            "k = k % 1000",
        )

    def simple(self):
        return self.pick(self.change_list, self.change_map, self.change_text, self.look)()

    def put(self, text, depth):
        self.lines += ["    " * depth + line for line in text.split("\n")]

    def block(self, depth, room):
        for _ in range(self.rng.randint(1, 4)):
            kind = self.rng.random()
            if kind < 0.72 or room == 0:
                self.put(self.simple(), depth)
            elif kind < 0.82:
                self.put(f"if {self.pick('len(a) > 2', 'n in d', 'k % 2 == 0', 'a and b', 't', 'not s')}:", depth)
                self.block(depth + 1, room - 1)
                if self.rng.random() < 0.5:
                    self.put("else:", depth)
                    self.block(depth + 1, room - 1)
            elif kind < 0.9:
                self.put(f"for i in range({self.rng.randint(0, 4)}):", depth)
                self.block(depth + 1, room - 1)
            else:
                self.put("try:", depth)
                self.block(depth + 1, room - 1)
                self.put("except Exception:\n    k += 100", depth)
                if self.rng.random() < 0.3:
                    self.put("else:", depth)
                    self.block(depth + 1, room - 1)

    def text(self):
        self.put("def f(a, n):", 0)
        self.put(
            "k = 0\ni = 1\nb = [n, 2]\nd = {0: n}\ns = {n}\nt = str(n)\nw = {t: n}\np = {(n, 1): k}\ng = {0: [1]}", 1
        )
        self.block(1, 2)
        self.block(1, 2)
        self.put("return a, b, d, s, t, w, p, g, k", 1)
        return "\n".join(self.lines) + "\n"

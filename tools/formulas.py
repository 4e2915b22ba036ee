"""Derivatives as text (ops.def's and reduce.def's column) made postfix code, and checked.

    expression   sum (< | > | <= | >= | == sum)
    sum          products joined by + and -;  product: factors joined by * and /;  factor: -factor, atom ** factor
    atom         a number (1j: imaginary), x y z (the operands), r (the result), g (its gradient), a row of ops.def
                 applied to expressions, conj(expression), a reduction of an expression, (expression)

src/grad/formula.h says what runs the code."""

import re

LETTERS = "xyzrg"
MOST = 32  # steps: TD_FORMULA_CODE
SIGNS = {"<=": "less_equal", ">=": "greater_equal", "==": "equal", "<": "less", ">": "greater"}
# What formula.c computes of numbers alone. A number may stand for an operand other than the one that is differentiated.
OF_NUMBERS = set("add subtract multiply divide power pow negative log isnan select".split()) | set(SIGNS.values())
_TOKEN = re.compile(r"\s*(\d+(?:\.\d*)?(?:e-?\d+)?j?|\w+|\*\*|<=|>=|==|[-+*/<>(),])")


class Formula:
    """One formula: `steps` are (kind, what), `uses` the letters in it."""

    def __init__(self, text, where, letters, own, arities, reductions):
        self.where, self.letters, self.own = where, letters, own
        self.arities, self.reductions = arities, reductions
        self.tokens, self.steps, self.uses = self._split(text), [], set()
        self.depth = []  # for each value on the stack: may it be a number?
        if self.tokens:
            self.expression()
            if self.tokens:
                self.fail(f"'{self.tokens[0]}' is left over")
        if len(self.steps) > MOST:
            self.fail(f"{len(self.steps)} steps are more than {MOST}")

    def fail(self, why):
        raise SystemExit(f"the derivative of {self.where}: {why}")

    def _split(self, text):
        tokens, at = [], 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if not found:
                self.fail(f"cannot be read from '{text[at:]}' on")
            tokens.append(found[1])
            at = found.end()
        return tokens

    def next(self, *signs):
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in signs else None

    def need(self, sign):
        if not self.next(sign):
            self.fail(f"'{sign}' is missing before '{' '.join(self.tokens)}'")

    def push(self, kind, what, number):
        self.steps.append((kind, what))
        self.depth.append(number)

    def call(self, row):
        n = self.arities[row]
        numbers = all(self.depth[-n:])
        if numbers and row not in OF_NUMBERS:
            self.fail(f"{row} may be applied to numbers alone, which formula.c does not compute")
        del self.depth[-n:]
        self.push("call", row, numbers)

    def expression(self):
        self.sum()
        sign = self.next(*SIGNS)
        if sign:
            self.sum()
            self.call(SIGNS[sign])

    def sum(self):
        self.product()
        while sign := self.next("+", "-"):
            self.product()
            self.call("add" if sign == "+" else "subtract")

    def product(self):
        self.factor()
        while sign := self.next("*", "/"):
            self.factor()
            self.call("multiply" if sign == "*" else "divide")

    def factor(self):
        if self.next("-"):
            self.factor()
            kind, what = self.steps[-1]
            if kind == "number":
                self.steps[-1] = (kind, "-" + what)
            else:
                self.call("negative")
            return
        self.atom()
        if self.next("**"):
            self.factor()
            self.call("power")

    def atom(self):
        token = self.tokens.pop(0) if self.tokens else self.fail("it ends where a value is missing")
        if token[0].isdigit():
            self.push("number", token, True)
        elif token == "(":
            self.expression()
            self.need(")")
        elif token in LETTERS:
            if token not in self.letters:
                self.fail(f"there is no {token}")
            self.uses.add(token)
            self.push("name", token, token in "xyz" and token != self.own)
        else:
            self.applied(token)

    def applied(self, function):
        self.need("(")
        n = 1
        self.expression()
        while self.next(","):
            self.expression()
            n += 1
        self.need(")")
        if function == "conj" or function in self.reductions:
            want = 1
        elif function in self.arities:
            want = self.arities[function]
        else:
            self.fail(f"'{function}' is no row of ops.def" + (" or of reduce.def" if self.reductions else ""))
        if n != want:
            self.fail(f"{function} takes {want} operands, not {n}")
        if function in self.reductions or function == "conj":
            self.steps.append(("reduce", function) if function != "conj" else ("conj", ""))
        else:
            self.call(function)

    @property
    def kind(self):
        if not self.steps:
            return "NONE"
        return "ZERO" if len(self.steps) == 1 and self.steps[0][0] == "number" else "CODED"


def _step(kind, what):
    if kind == "name":
        return f"{{.what = {LETTERS.index(what)}}}"
    if kind == "number":
        imaginary = what.endswith("j")
        value = float(what.removesuffix("j"))
        return f"{{.what = NUMBER, .imaginary = {str(imaginary).lower()}, .number = {value!r}}}"
    if kind == "conj":
        return "{.what = CONJ}"
    return f"{{.what = CALL, .op = OP_{what}}}" if kind == "call" else f"{{.what = REDUCE, .op = TD_RED_{what}}}"


def of_row(o, arities):
    """The formulas of a row of ops.def, one for each operand; none where it has none."""
    texts = o.derivative.split("|")
    if not o.derivative:
        return []
    if len(texts) != o.arity:
        raise SystemExit(f"the derivative of {o.name}: {len(texts)} formulas for {o.arity} operands")
    letters = LETTERS[: o.arity] + "rg"
    return [Formula(t, f"{o.name} by {LETTERS[i]}", letters, LETTERS[i], arities, ()) for i, t in enumerate(texts)]


def code(ops, reductions):
    """op_formulas.h; reductions: (name, derivative)."""
    arities = {o.name: o.arity for o in ops}
    names = {name for name, _ in reductions}
    steps, of_ops, of_reds = [], [], []

    def entry(f):
        first = len(steps)
        steps.extend(_step(*s) for s in f.steps)
        uses = sum(1 << LETTERS.index(c) for c in f.uses)
        return f"{{TD_FORMULA_{f.kind}, {uses}, {len(f.steps)}, code + {first}}}"

    for o in ops:
        entries = ", ".join(entry(f) for f in of_row(o, arities))
        if entries:
            of_ops.append(f"    [OP_{o.name}] = {{{entries}}},\n")
    for name, text in reductions:
        if text:
            f = Formula(text, name, LETTERS, "x", arities, names)
            of_reds.append(f"    [TD_RED_{name}] = {entry(f)},\n")
    return (
        "/* op_formulas.h - the derivatives of ops.def and reduce.def as postfix code: part of formula.c. */\n\n"
        "static const struct td_formula_step code[] = {\n"
        + "".join(f"    {s},\n" for s in steps)
        + "};\n\nstatic const td_formula of_ops[TD_OPS][TD_MAXSRC] = {\n"
        + "".join(of_ops)
        + "};\n\nstatic const td_formula of_reds[TD_RED_COUNT] = {\n"
        + "".join(of_reds)
        + "};\n"
    )

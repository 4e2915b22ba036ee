"""A name's signature and docstring as Markdown."""

import ast
import inspect
import itertools
import re
import textwrap
import types

import numpy

SECTION = re.compile(r"(Parameters|Returns|Yields|Raises|Examples)\n-+(?:\n|$)")
QUOTED = re.compile(r"(``.+?``|`[^`\n]*`)")
ROLE = re.compile(r":\w+:(`[^`]*`)")
MARKS = re.compile(r"([*_>\[\]\\|#])")
MANY = 120  # members of a class
LONG = 84  # columns of a signature on one line


def doc_of(value):
    doc = getattr(value, "__doc__", None)
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""


def signature(name, value):
    """`name(…)`, or None where Python does not know."""
    try:
        text = f"{name}{inspect.signature(value)}"
    except (TypeError, ValueError):
        first = doc_of(value).splitlines()[:1]
        return first[0].partition(":")[0] if first and first[0].startswith(f"{name}(") else None
    text = re.sub(r"<([\w.]+) object at 0x[0-9a-f]+>", r"…", text)
    text = re.sub(r"<(?:class|function|built-in function|ufunc) '?([\w.]+)'?[^>]*>", r"\1", text)
    if len(text) > LONG and text.count("(") == text.count(")"):
        inside = text[len(name) + 1 : text.rindex(")")]
        text = f"{name}(\n" + textwrap.fill(inside, LONG - 4, initial_indent="    ", subsequent_indent="    ") + "\n)"
    return text


def plain(text):
    """Prose with Markdown's marks escaped; what stands in backticks is code."""
    parts = QUOTED.split(ROLE.sub(r"\1", text))
    return "".join(p if i % 2 else MARKS.sub(r"\\\1", p).replace("<", "&lt;") for i, p in enumerate(parts))


def parses(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def fenced(text):
    return f"```{'python' if parses(text) else 'text'}\n{text.rstrip()}\n```"


def is_code(block):
    return block.startswith(">>>") or ("\n" in block and parses(block))


def terms(title, text):
    """A list of a numpydoc section's terms: a parameter with its type, or a type, and what is said of it."""
    yield f"**{title}**"
    lines = []
    for head, body in re.findall(r"^(\S.*)\n((?:[ \t]+.*(?:\n|$))*)", text + "\n", re.MULTILINE):
        name, colon, kind = head.partition(" : ")
        said = plain(" ".join(body.split()))
        shown = f"`{name}` : {plain(kind)}" if colon else f"`{name}`" if title == "Raises" else plain(name)
        lines.append(f"- {shown}" + (f"<br>{said}" if said else ""))
    yield "\n".join(lines)


def blocks(doc):
    """Paragraphs, lists, code and sections of a docstring, as Markdown."""
    for block in re.split(r"\n[ \t]*\n", inspect.cleandoc(doc)):
        if not block.strip():
            continue
        titled = SECTION.match(block)
        if titled and titled[1] != "Examples":
            yield from terms(titled[1], block[titled.end() :])
        elif titled:
            yield f"```pycon\n{block[titled.end() :].replace('<BLANKLINE>', '').rstrip()}\n```"
        elif is_code(block):
            yield f"```python\n{textwrap.dedent(block).rstrip()}\n```"
        elif re.match(r"[-*] ", block):
            yield "\n".join("- " + plain(line[2:]) if re.match(r"[-*] ", line) else "  " + plain(line.strip())
                            for line in block.splitlines())  # fmt: skip
        else:  # prose, and indented lines of code or of a list of terms between
            for indented, lines in itertools.groupby(block.splitlines(), lambda line: line.startswith("  ")):
                text = textwrap.dedent("\n".join(lines))
                yield fenced(text) if indented else plain(text)


def told(name, value):
    """The docstring without a first line that is the signature again."""
    if isinstance(value, (int, float, complex, str, tuple, frozenset)) or value is None:
        return None
    plain_object = not callable(value) and type(value).__module__ in ("builtins", "types")
    own = not plain_object or doc_of(value) != doc_of(type(value))  # an object of Python's has its class' docstring
    doc = doc_of(value) if own else ""
    if not doc.strip():
        return None
    repeated = re.match(rf"{re.escape(name)}\(.*?\): ", doc)  # the signature, which stands above already
    if repeated:
        doc = doc[repeated.end()].upper() + doc[repeated.end() + 1 :]
    lines = doc.split("\n")
    if re.match(rf"{re.escape(name)}\(.*\)\.?$", lines[0]) and len(lines) > 1:
        lines = lines[1:]
    return "\n".join(lines)


def row(name):
    """A sentence about a name of torch's that is a row of ops.def, an operation in place, or a member of both."""
    import treadle as td

    own = name.rstrip("_")
    place = " The tensor itself takes the result." if name.endswith("_") else ""
    rows = td.torch._elementwise.ROWS
    if own in rows or own in td._core.ufuncs() or own in td._ROWS:
        return f"`{rows.get(own, own)}`, element by element, with derivatives.{place}"
    base = getattr(td.torch, own, None)
    doc = doc_of(base) if callable(base) else ""
    return f"{plain(doc.splitlines()[0])}{place}" if doc else None


def numpys(name, value):
    """Whether the docstring is that of NumPy's function of this name, which NumPy's own pages have."""
    theirs = vars(numpy).get(name)
    return theirs is not None and doc_of(theirs) != "" and doc_of(theirs) == doc_of(value)


def foreign(value):
    return (getattr(value, "__module__", None) or "").split(".")[0] not in ("treadle", "", "builtins")


def ufunc(name, value):
    """A universal function of treadle's: how it is called, and its own sentence; the page says what holds for all."""
    operands = ", ".join("xyz"[: value.nin])
    parts = value.__doc__.split("\n\n")
    call = f"{name}({operands}, /, out=None, *, where=True, dtype=None, …)"
    lines = ["```text", call, "```", "", plain(parts[1]), ""]
    for part in parts:  # its own refusals, not the shapes that all refuse
        if part.startswith("Examples") or (part.startswith("Raises") and "TypeError" in part):
            lines += [line for block in blocks(part) for line in (block, "")]
    return lines


def entry(prefix, name, value):
    """Lines of Markdown about one name: no heading."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if foreign(value) and (isinstance(value, type) or callable(value)):
        where = f"{value.__module__}.{getattr(value, '__qualname__', name)}"
        return [f"`{where}` itself.", ""]
    if type(value).__name__ == "ufunc" and type(value).__module__ == "treadle":
        return ufunc(name, value)
    kind = "property" if isinstance(value, (property, types.GetSetDescriptorType, types.MemberDescriptorType)) else None
    head = None if kind or not callable(value) else signature(name, value)
    lines = ["```text", head, "```", ""] if head else []
    doc = told(name, value)
    if doc and numpys(name, value):
        lines += [f"As `numpy.{name}`.", ""]
    elif doc:
        for block in blocks(doc):
            lines += [block, ""]
    elif isinstance(value, (int, float, complex, str, tuple)) or value is None:
        lines += [f"`{value!r}`", ""]
    elif prefix.startswith("treadle.torch") and row(name):
        lines += [row(name), ""]
    elif isinstance(value, types.SimpleNamespace):
        lines += [f"Holds {', '.join(f'`{n}`' for n in vars(value))}.", ""]
    elif not isinstance(value, types.FunctionType) and " object at 0x" not in repr(value):
        lines += [f"`{textwrap.shorten(repr(value), LONG)}`", ""]
    if isinstance(value, type):
        lines += methods(name, value)
    return lines


def methods(name, cls):
    """A class' own public methods and properties, a line each; none of a class that has a page of its own."""
    lines = []
    if len(vars(cls)) > MANY:
        return []
    for member, value in vars(cls).items():
        doc = doc_of(value.__func__ if isinstance(value, (staticmethod, classmethod)) else value)
        callable_ = callable(value) or isinstance(value, (staticmethod, classmethod))
        described = doc and (callable_ or isinstance(value, (property, types.GetSetDescriptorType)))
        if member.startswith("_") or not described or isinstance(value, type):
            continue
        first = " ".join(doc.split("\n\n")[0].split())
        lines.append(f"- `{member}`: {plain(first)}")
    return [*lines, ""] if lines else []

"""The reference: pages of docs/reference, whose comments `<!-- names: … -->` become the names' signatures, docstrings
and examples, read from the package as it is imported. Examples are the first cases of the tests' tables, run here.

    names of MODULE: NAME …     these names of a module of treadle's (treadle.cuda, or treadle)
    names of MODULE             all public names of it
    homes HOME …                the names of treadle whose code stands there (treadle._HOME; `_observe.*`: all such)
    elementwise, reductions     rows of ops.def and reduce.def
    members of CLASS            a class' public members
    torch MODULE                what is there of the names of PyTorch's module
    numpys, hosts               NumPy's own objects; functions that NumPy computes on the host
"""

import fnmatch
import importlib
import inspect
import re
import types

import documented
import examples
import stage

MARK = re.compile(r"<!-- names: (.*?) -->", re.DOTALL)
FOLDER = stage.ROOT / "docs" / "reference"


def home(module):
    return importlib.import_module(module)


def public(module):
    """A module's own public names: those of __all__, or those that it does not import from elsewhere."""
    told = getattr(module, "__all__", None)
    names = [n for n in (told or dir(module)) if not n.startswith("_")]
    return [n for n in names if not isinstance(getattr(module, n, None), types.ModuleType)]


def matching(pattern, homes):
    """The homes that a pattern of the shell's stands for. LookupError: there is none."""
    found = fnmatch.filter(homes, pattern)
    if not found:
        raise LookupError(f"names: no home {pattern!r} in treadle._HOME")
    return found


def of_treadle(spec):
    """[(name, object)] of a marker about the main namespace; None: it is about something else."""
    import treadle as td
    from treadle._numpy import _names

    kind, _, rest = spec.partition(" ")
    if kind == "homes":
        homes = [h for pattern in rest.split() for h in matching(pattern, td._HOME)]
        names = [n for h in homes for n in td._HOME[h].split()]
    elif kind == "elementwise":
        names = sorted(td._ROWS)
    elif kind == "reductions":
        rows = {r[0] for r in td._core.reductions()}
        names = sorted(rows | {a for a, n in td.ALIASES.items() if n in rows})
    elif kind in ("numpys", "hosts"):
        names = sorted(_names.NUMPY if kind == "numpys" else set(_names.HOST) - set(td._FROM))
    else:
        return None
    return [(n, getattr(td, n)) for n in names if not isinstance(getattr(td, n), types.ModuleType)]


def named(spec):
    """(prefix, [(name, object)]) of any marker."""
    found = of_treadle(spec)
    if found is not None:
        return "treadle", found
    kind, _, rest = spec.partition(" ")
    if kind == "members":
        path = rest.removeprefix("of ")
        module, _, name = path.rpartition(".")
        cls = getattr(home(module), name)
        members = [n for n in dir(cls) if not n.startswith("_")]
        return path, [(n, inspect.getattr_static(cls, n)) for n in members]
    if kind == "torch":
        import torch_page

        module = torch_page.ours(rest)
        path = "treadle.torch" + ("" if rest == "torch" else f".{rest}")
        names = [n for n in torch_page.names()[rest] if torch_page.status(rest, n)[0] in ("native", "composed")]
        return path, [(n, getattr(module, n)) for n in names if not isinstance(getattr(module, n), types.ModuleType)]
    module, _, names = rest.removeprefix("of ").partition(":")
    there = home(module)
    return module, [(n, getattr(there, n)) for n in (names.split() or public(there))]


def anchor(full):
    """The name without pairs of underscores, which Markdown would read as marks."""
    return full.replace("__", "")


def section(spec, level, seen):
    """Markdown of a marker's names. seen: {id of an object: (its full name)} of this page, for second names."""
    prefix, pairs = named(" ".join(spec.split()))
    lines = []
    for name, value in pairs:  # an object stands at its own name, second names lead there
        if callable(value) and getattr(value, "__name__", None) == name:
            seen.setdefault(id(value), f"{prefix}.{name}")
    for name, value in pairs:
        full = f"{prefix}.{name}"
        lines += [f"{'#' * level} `{name}` {{ #{anchor(full)} }}", ""]
        first = seen.get(id(value)) if callable(value) else None
        if first and first != full:
            lines += [f"Another name of [`{first.rpartition('.')[2]}`](#{anchor(first)}).", ""]
            continue
        seen[id(value)] = full
        lines += documented.entry(prefix, name, value)
        lines += examples.of(prefix, name)
    return "\n".join(lines)


def page(text):
    """A page with its markers filled; names stand one level below the heading that is above them."""
    seen, done, last = {}, [], 0
    for match in MARK.finditer(text):
        above = re.findall(r"^(#+) ", stage.FENCE.sub("", text[: match.start()]), re.MULTILINE)
        done += [text[last : match.start()], section(match[1], len(above[-1]) + 1, seen)]
        last = match.end()
    return "".join(done) + text[last:]


def order():
    """The pages as docs/reference/index.md lists them: files."""
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    return ["index.md", *re.findall(r"\]\((\w[\w-]*\.md)\)", text)]


def write(out):
    """All pages; entries for the site's nav."""
    out.mkdir(parents=True, exist_ok=True)
    for source in sorted(FOLDER.glob("*.md")):
        text = stage.to_site(source.read_text(encoding="utf-8"), source, out.parent)
        text = text.replace("<!-- inputs -->", f"```python\n{examples.INPUTS}```")
        (out / source.name).write_text(page(text), encoding="utf-8")
    return [f"reference/{name}" for name in order()]


def entries():
    """{full name} of everything that the pages document: what tests compare with the package."""
    found = set()
    for source in FOLDER.glob("*.md"):
        for spec in MARK.findall(source.read_text(encoding="utf-8")):
            prefix, pairs = named(" ".join(spec.split()))
            found |= {f"{prefix}.{name}" for name, _ in pairs}
    return found

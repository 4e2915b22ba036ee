"""Check that the modules of the Python package import each other in one direction, and that none asks whether a device
is the CPU. Usage: python_layers.py PACKAGE

An import counts wherever it stands, at the top of a module or in a function. What stands under `if TYPE_CHECKING` does
not count, nor does what importlib loads by a table of names. A folder holds no more modules than a room of C holds
sources.
"""

import ast
import collections
import pathlib
import re
import sys

from layers import MOST, circles


def modules(root):
    """{name: path} of the package at root; the name of a package stands for its __init__.py."""
    found = {}
    for path in sorted(root.glob("**/*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(nodes):
    """The imports in nodes, at any depth."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from statements(node.orelse)
        else:
            yield from statements(ast.iter_child_nodes(node))


def meant(node, package):
    """What an import may mean: for each of its names a list of modules, the likeliest first."""
    if isinstance(node, ast.Import):
        return [[alias.name] for alias in node.names]
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1] if node.level else []
    base = ".".join([*above, *([node.module] if node.module else [])])
    return [[f"{base}.{alias.name}", base] for alias in node.names]


def graph(found, top):
    """({module: {module: the line where the first imports the second}}, imports of modules that are not there)"""
    edges, lost = collections.defaultdict(dict), []
    known = {*found, f"{top}._core"}  # the extension, which no file of Python's stands for
    for name, path in found.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node in statements([ast.parse(path.read_text())]):
            for choices in meant(node, package):
                other = next((choice for choice in choices if choice in known), None)
                if other is None and choices[0].startswith(top + "."):
                    lost.append(f"{path}:{node.lineno}: there is no module {choices[-1]}")
                elif other not in (None, name):
                    edges[name].setdefault(other, node.lineno)
    return edges, lost


ASKS_KIND = re.compile(r"""\.kind (==|!=) ["']cpu["']""")


def questions(found):
    """Lines that ask whether a device is the CPU instead of what it can do."""
    for path in found.values():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if ASKS_KIND.search(line):
                yield f"{path}:{number}: ask what the device can do (host, simt), not which kind it is"


def way_round(edges, circle):
    """A shortest way through modules of a circle from its first one back to it."""
    first = min(circle)
    ways, seen = collections.deque([[first]]), set()
    while True:
        way = ways.popleft()
        if first in edges[way[-1]]:
            return [*way, first]
        ahead = [other for other in edges[way[-1]] if other in circle and other not in seen]
        seen.update(ahead)
        ways.extend([*way, other] for other in ahead)


def told(found, edges, circle):
    """Lines that tell of a circle: its modules, then who imports whom on one way round."""
    yield f"{len(circle)} modules import each other: {' '.join(sorted(circle))}"
    way = way_round(edges, circle)
    for here, there in zip(way, way[1:]):
        yield f"    {found[here]}:{edges[here][there]}: {here} imports {there}"


def main(package):
    root = pathlib.Path(package)
    found = modules(root)
    edges, wrong = graph(found, root.name)
    for circle in circles(edges, list(found)):
        wrong += told(found, edges, circle)
    wrong += questions(found)
    folders = collections.Counter(path.parent for path in found.values())
    wrong += [f"{folder}/: {count} modules; at most {MOST}" for folder, count in folders.items() if count > MOST]
    print(*wrong or [f"python: {len(found)} modules in {len(folders)} folders; no import cycle"], sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Writes the package's stubs, python/treadle/**/*.pyi, from the live package, parameters.py, by_hand.py and whole.pyi.

    PYTHONPATH=build/tree python tools/stubs/write.py [--check]

--check changes nothing and exits with 1 where a stub is out of date; another Python than WRITER has other names and
signatures in its library, so there it compares nothing and says so. Every public module has a stub; a class or
function that several modules have is defined in one of them and imported by the others. A class that stands in a
private module is defined where it is first public, with the members of its private bases.
"""

import builtins
import enum
import importlib
import inspect
import keyword
import pathlib
import re
import sys
import types
import warnings
from collections.abc import Mapping

import by_hand
import facts
import numpy
import parameters
import whole

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "python"
# Names that the stubs of several modules import: where whole.pyi has them.
SHARED = {
    **dict.fromkeys("_ArrayLike _Axis _DTypeLike _DeviceLike _Shape _Order _Int _Real".split(), "treadle"),
    **dict.fromkeys("_Operand _TensorDevice".split(), "treadle.torch"),
}
BUILTINS = set("bool bytes int float str complex tuple list type".split())
# Names of the standard library, which a stub has with an underscore before them.
LIBRARY = {
    **dict.fromkeys("Iterator Callable Sequence".split(), "collections.abc"),
    "AbstractContextManager": "contextlib",
    **dict.fromkeys("Literal Self".split(), "typing"),
}
TYPED = {"numpy", *sys.stdlib_module_names}  # libraries that have types wherever treadle is
WRITER = (3, 11)
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)
ARGUMENTS = {tuple: "[Any, ...]", list: "[Any]", dict: "[Any, Any]", set: "[Any]", frozenset: "[Any]"}
EMPTY = inspect.Parameter.empty

# Members of every class, or of Python's machinery.
UNTYPED = set(
    "__dict__ __weakref__ __module__ __doc__ __annotations__ __slots__ __getattribute__ __dir__ __sizeof__ "
    "__reduce__ __reduce_ex__ __getstate__ __setstate__ __init_subclass__ __subclasshook__ __firstlineno__ "
    "__static_attributes__ __dataclass_params__ __dataclass_fields__ __abstractmethods__ _abc_impl "
    "__class__ __getnewargs__ __weakrefoffset__ __annotate_func__ __annotations_cache__ "
    "__orig_bases__ __parameters__ __eq__ __ne__ __hash__ __set_name__ __text_signature__ "
    "__members__ __format__ "
    "__wrapped__ __prepare__ __mro_entries__ __new__ __init__ "
    "__instancecheck__ __subclasscheck__".split()
)
DUNDERS = {
    **dict.fromkeys("__len__ __int__ __index__".split(), "int"),
    **dict.fromkeys("__bool__ __contains__".split(), "bool"),
    "__float__": "float",
    "__complex__": "complex",
    **dict.fromkeys("__iter__ __reversed__".split(), "Iterator[Any]"),
    **dict.fromkeys("__setitem__ __delitem__ __setattr__ __delattr__ __exit__ __set__ __delete__".split(), "None"),
}

OF_CLASSES = {"Tensor.__reversed__": "Tensor"}  # classes where a name means something else


OPERATORS = {
    f"__{side}{name}__"
    for name in "add sub mul matmul truediv floordiv mod pow and or xor lshift rshift lt le gt ge neg pos abs "
    "invert".split()
    for side in ("", "r", "i")
}


SHOWN = {"__str__", "__repr__"}


def plain(f):
    """Whether a method has no parameters, so that object's declaration says all of it."""
    try:
        return len(inspect.signature(f).parameters) < 2
    except (ValueError, TypeError):
        return True


class Stub:
    """The text of one module's stub."""

    def __init__(self, module):
        self.module, self.imports, self.lines = module, {}, []
        self.values = facts.public(module)
        self.shadows = set(self.values)  # names that mean something else here than everywhere
        self.taken = whole.MODULES.get(module, whole.NONE)

    def need(self, module, name, as_=None):
        self.imports.setdefault(module, set()).add((name, as_ or name))

    # ---- names of types ----

    def type_name(self, cls):
        """How this stub calls a class, which it imports where it has to; None: it has no public name."""
        if cls is type(None):
            return "None"
        if getattr(builtins, cls.__name__, None) is cls:
            return f"builtins.{cls.__name__}" if cls.__name__ in self.values and self.use("builtins") else cls.__name__
        home = facts.homes().get(id(cls))
        if home:
            module, name = home
            if module != self.module:
                self.need(module, name, "_" + name if self.values.get(name) is not cls else name)
                return name if self.values.get(name) is cls else "_" + name
            return name
        root = cls.__module__.partition(".")[0]
        if root == facts.PACKAGE or "<" in cls.__qualname__ or "." in cls.__qualname__:
            return None
        module = self.reachable(cls)
        if module is None or module.partition(".")[0] not in TYPED:
            return None
        self.need(module, cls.__name__, f"_{cls.__name__}")
        return f"_{cls.__name__}"

    def use(self, module):
        self.imports.setdefault(module, set())
        return True

    @staticmethod
    def reachable(value):
        """A public module that has the object of another library, or None."""
        name = value.__name__
        if value.__module__ in ("collections.abc",):
            return "collections.abc"
        parts = value.__module__.split(".")
        ways = [".".join(parts[: k + 1]) for k in range(len(parts))]
        for way in [w for w in ways if not facts.private(w)] + ways:
            try:
                if getattr(importlib.import_module(way), name, None) is value:
                    return way
            except ImportError:
                continue
        return None

    # ---- functions ----

    def parameter_types(self, f, name):
        """{parameter: type} of a function: what is written of it alone, then its docstring, then what its name says."""
        told = parameters.documented(f, self.module) if callable(f) else {}
        return parameters.table(self.module) | told | parameters.OTHERWISE.get(f"{self.module}.{name}", {})

    def annotation(self, p, table):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            return "Any"
        text = table.get(p.name) or parameters.by_default(p.default, self.module)
        if text is None or not parameters.takes(text, p.default):
            return "Any"
        if p.default is None and not parameters.takes_none(text):
            text += " | None"
        return self.known(text)

    def known(self, text):
        """Imports what the text of a type names."""
        for word in set(re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", text))):
            if word in SHARED:
                if self.module != SHARED[word]:
                    self.need(SHARED[word], word)
            elif word == "ndarray" and self.module != "treadle":
                self.need("treadle", "ndarray", "_ndarray")
                text = re.sub(r"\bndarray\b", "_ndarray", text)
            elif word in ("Tensor", "dtype", "memory_format", "Generator") and word != text[1:]:
                if self.module != "treadle.torch":
                    self.need("treadle.torch", word, f"_{word}")
                text = re.sub(rf"\b{word}\b", f"_{word}", text)
            elif word in BUILTINS and word in self.shadows:
                self.use("builtins")
                text = re.sub(rf"(?<!\.)\b{word}\b", f"builtins.{word}", text)
            elif word.lstrip("_") in LIBRARY:
                self.need(LIBRARY[word.lstrip("_")], word.lstrip("_"), f"_{word.lstrip('_')}")
                text = re.sub(rf"\b{word}\b", f"_{word.lstrip('_')}", text)
        return text

    @staticmethod
    def default(value):
        if value is None or isinstance(value, (bool, int, str)) and not isinstance(value, enum.Enum):
            text = repr(value)
            return text if len(text) < 40 and type(value) in (type(None), bool, int, str) else "..."
        return repr(value) if type(value) is float and value == value and abs(value) < 1e300 else "..."

    def parameters(self, signature, table, bound=False):
        """The text between the parentheses."""
        out, kinds = [], inspect.Parameter
        every = list(signature.parameters.values())
        star = False
        seen = set()
        for k, p in enumerate(every):
            name = p.name
            if keyword.iskeyword(name) or name in seen:
                return "*args: Any, **kwargs: Any"
            seen.add(name)
            if k == 0 and bound:
                out.append(name)
            else:
                marks = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(p.kind, "")
                if p.kind == kinds.KEYWORD_ONLY and not star:
                    out.append("*")
                    star = True
                star = star or p.kind == kinds.VAR_POSITIONAL
                text = f"{marks}{name}: {self.annotation(p, table)}"
                out.append(text + (f" = {self.default(p.default)}" if p.default is not EMPTY else ""))
            last = k + 1 == len(every) or every[k + 1].kind != kinds.POSITIONAL_ONLY
            if p.kind == kinds.POSITIONAL_ONLY and last:
                out.append("/")
        return ", ".join(out)

    def result(self, f, name, default="Any"):
        for text, modules in by_hand.RESULTS.items():
            if name in modules.get(self.module, "").split():
                return self.known(text)
        told = facts.result(f) if callable(f) else None
        return self.known(told or default)

    def function(self, name, f, indent="", bound=False, default="Any", decorate=(), owner=""):
        try:
            signature = inspect.signature(f)
        except (ValueError, TypeError):
            signature = None
        table = self.parameter_types(f, owner + name)
        head = "self, " if bound else ""
        text = f"{head}*args: Any, **kwargs: Any" if signature is None else self.parameters(signature, table, bound)
        given = signature.return_annotation if signature else EMPTY
        if name in DUNDERS:
            how = self.known(OF_CLASSES.get(owner + name) or DUNDERS[name])
        else:
            how = "None" if given is None else self.result(f, owner + name, default)
        for line in decorate:
            self.add(f"{indent}{line}")
        self.add(f"{indent}def {name}({text}) -> {how}: ...")

    def add(self, line):
        self.lines.append(line)

    # ---- classes ----

    def bases(self, cls):
        """(names of the public bases, the classes whose members are written: cls and its private bases)."""
        names, written = [], [cls]
        for base in cls.__bases__:
            if base is object:
                continue
            name = self.type_name(base)
            if name and base is not tuple:
                names.append(name + self.arguments(base))
            else:
                more, theirs = self.bases(base)
                names += [n for n in more if n not in names]
                written += [c for c in theirs if c not in written]
        return names, written

    @staticmethod
    def arguments(base):
        """What a generic class of Python's is subscripted with."""
        if base.__module__.startswith(facts.PACKAGE) or not hasattr(base, "__class_getitem__"):
            return ""
        return "[Any, Any]" if issubclass(base, Mapping) else "[Any]"

    def klass(self, name, cls):
        if issubclass(cls, enum.Enum):
            return self.enumeration(name, cls)
        names, written = self.bases(cls)
        names += self.metaclass(cls, names)
        if not cls.__flags__ & 1 << 10:  # Py_TPFLAGS_BASETYPE
            self.need("typing", "final", "_final")
            self.add("@_final")
        if f"{self.module}.{name}" in by_hand.LAID_OUT:
            self.need("typing_extensions", "disjoint_base", "_disjoint_base")
            self.add("@_disjoint_base")
        if name in self.taken.headers:
            self.lines += self.taken.headers[name] if "(" in self.taken.headers[name][-1] else [f"class {name}:"]
        else:
            self.add(f"class {name}({', '.join(names)}):" if names else f"class {name}:")
        before = len(self.lines)
        self.shadows = {*self.values, *dir(cls)}
        self.members(name, cls, written)
        self.shadows = set(self.values)
        if len(self.lines) == before:
            self.lines[-1] += " ..."

    def metaclass(self, cls, names):
        """What the bases say of a metaclass that none of the public classes above has."""
        above = [c for c in cls.__mro__[1:] if id(c) in facts.homes() or not c.__module__.startswith(facts.PACKAGE)]
        if type(cls) is type or any(type(c) is type(cls) for c in above):
            return []
        meta = self.type_name(type(cls))
        if meta is None:
            meta = "_Type"
            if "class _Type(type): ..." not in self.lines:
                self.add("class _Type(type): ...")
        return [f"metaclass={meta}"]

    def enumeration(self, name, cls):
        base = next(b for b in cls.__mro__ if b.__module__ == "enum")
        self.need("enum", base.__name__, f"_{base.__name__}")
        self.add(f"class {name}(_{base.__name__}):")
        for member, value in cls.__members__.items():
            self.add(f"    {member} = {repr(value.value) if isinstance(value.value, (int, str)) else '...'}")

    def members(self, name, cls, written):
        hand = dict(self.taken.members.get(name, {}))
        self.made(cls, written, hand)
        seen = set()
        for owner in written:
            for member, value in vars(owner).items():
                if member in seen or member in UNTYPED or keyword.iskeyword(member) or not member.isidentifier():
                    continue
                if member.startswith("_") and not member.endswith("__"):
                    continue
                if member in SHOWN and all(plain(getattr(c, member)) for c in (cls, *cls.__bases__)):
                    continue
                seen.add(member)
                self.member(name, cls, member, value, hand)
        for member in (m for owner in written for m in facts.attributes(owner)):
            if member not in seen and not hasattr(cls, member) and member not in hand:
                seen.add(member)
                self.add(f"    {member}: Any")
        for member, lines in hand.items():
            if member not in seen:
                self.lines += ["    " + line for line in lines]

    def made(self, cls, written, hand):
        """__init__ or __new__."""
        if {"__init__", "__new__"} & set(hand):
            self.lines += ["    " + line for key in ("__new__", "__init__") for line in hand.pop(key, ())]
            return
        init = next((vars(c)["__init__"] for c in written if "__init__" in vars(c)), None)
        new = next((vars(c)["__new__"] for c in written if "__new__" in vars(c)), None)
        if new is not None:
            self.new(cls, getattr(new, "__func__", new))
        if isinstance(init, types.FunctionType):
            self.function("__init__", init, "    ", True, "None")
        elif init is not None:
            self.add("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...")

    def new(self, cls, new):
        python = isinstance(new, types.FunctionType)
        try:
            signature = inspect.signature(new if python else cls)
        except (ValueError, TypeError):
            return self.add(f"    def __new__(cls, *args: Any, **kwargs: Any) -> {self.known('Self')}: ...")
        text = self.parameters(signature, self.parameter_types(cls, cls.__name__), bound=python)
        text = text if python else ", ".join(filter(None, ["cls", text]))
        self.add(f"    def __new__({text}) -> {self.known('Self')}: ...")

    def member(self, name, cls, member, value, hand):
        if member in hand:
            self.lines += ["    " + line for line in hand[member]]
            return
        counts = not member.startswith("__") or member in OPERATORS
        gives = by_hand.METHODS.get(f"{self.module}.{name}", "Any") if counts else "Any"
        if isinstance(value, staticmethod):
            self.function(member, value.__func__, "    ", False, decorate=["@staticmethod"], owner=name + ".")
        elif isinstance(value, classmethod):
            self.function(member, value.__func__, "    ", True, decorate=["@classmethod"], owner=name + ".")
        elif isinstance(value, property):
            told = self.known((facts.result(value.fget) if value.fget else None) or "Any")
            self.property(member, told, value.fset is not None)
        elif isinstance(value, types.GetSetDescriptorType | types.MemberDescriptorType):
            table = by_hand.ATTRIBUTES.get(f"{self.module}.{name}", {})
            text = next((t for t, names in table.items() if member in names.split()), "Any")
            self.property(member, self.known(text), True)
        elif isinstance(value, (*FUNCTIONS, types.WrapperDescriptorType)):
            if getattr(value, "_refused", False):
                self.need("typing", "NoReturn", "_NoReturn")
                return self.add(f"    def {member}(self, *args: Any, **kwargs: Any) -> _NoReturn: ...")
            self.function(member, value, "    ", True, gives, owner=name + ".")
        elif isinstance(value, type):
            self.add(f"    {member}: {self.known('type')}[Any]")
        elif value is None and member.startswith("__"):
            self.add(f"    {member}: None")
        else:
            self.add(f"    {member}: Any")

    def property(self, member, text, writable):
        prop = "@builtins.property" if "property" in self.shadows and self.use("builtins") else "@property"
        self.add(f"    {prop}")
        self.add(f"    def {member}(self) -> {text}: ...")
        if writable:
            self.add(f"    @{member}.setter")
            self.add(f"    def {member}(self, value: Any) -> None: ...")

    # ---- the module ----

    def name(self, name, value):
        if name in self.taken.names:
            self.lines += self.taken.names[name]
            return
        if keyword.iskeyword(name):
            return
        if isinstance(value, types.ModuleType):
            return self.submodule(name, value)
        home = facts.homes().get(id(value))
        if home and home[0] != self.module:
            return self.need(home[0], home[1], name)
        if home and home[1] != name and isinstance(value, type):
            return self.add(f"{name} = {home[1]}")
        if isinstance(value, type):
            return self.klass(name, value) if home else self.foreign(name, value)
        if isinstance(value, numpy.ufunc):  # of what treadle's arrays do not hold
            return self.need("numpy", value.__name__, name)
        if type(value).__name__ == "ufunc":
            return self.ufunc(name, value)
        if isinstance(value, FUNCTIONS):
            default = by_hand.DEFAULT_RESULT.get(self.module, "Any")
            return self.function(name, value, default=default)
        self.value(name, value)

    def ufunc(self, name, value):
        if self.module == "treadle":
            self.add(f"{name}: {whole.ufunc(value)}")
        elif facts.public("treadle").get(name) is value:
            self.need("treadle", name)
        else:
            self.need("treadle", "ufunc", "_ufunc")
            self.add(f"{name}: _ufunc")

    def submodule(self, name, value):
        if value.__name__ == f"{self.module}.{name}" and value.__name__ in facts.modules():
            self.need(self.module, name)
        elif "." not in value.__name__ or not value.__name__.startswith(facts.PACKAGE):
            self.imports.setdefault(f"{value.__name__} as {name}", set())
        elif value.__name__ in facts.modules():
            above, _, last = value.__name__.rpartition(".")
            self.need(above, last, name)
        else:
            self.add(f"{name}: Any")

    def foreign(self, name, value):
        module = self.reachable(value) if "." not in value.__qualname__ else None
        if module and module.partition(".")[0] in TYPED:
            self.need(module, value.__name__, name)
        else:
            self.add(f"{name}: Any")

    def value(self, name, value):
        kind = type(value)
        if kind in (bool, int, float, complex, str, tuple, list, dict, set, frozenset):
            self.add(f"{name}: {self.known(kind.__name__ + ARGUMENTS.get(kind, ''))}")
        elif value is None:
            self.add(f"{name}: None")
        elif id(kind) in facts.homes():
            self.add(f"{name}: {self.type_name(kind)}")
        else:
            self.add(f"{name}: Any")

    def text(self):
        for name, value in sorted(self.values.items()):
            self.name(name, value)
        for name, lines in self.taken.names.items():
            if name not in self.values:
                self.lines += lines
        head = ["# Written by tools/stubs/write.py from the package itself."]
        body = "\n".join([*self.taken.head, *self.lines])
        listed = getattr(sys.modules[self.module], "__all__", None)
        if listed is not None:
            names = sorted(n for n in listed if n in self.values or n.startswith("__"))
            body += f"\n\n__all__ = {names!r}"
        if "Any" in body:
            self.need("typing", "Any")
        return "\n".join([*head, *self.import_lines(), "", body, ""])

    def import_lines(self):
        for module, names in sorted(self.imports.items()):
            if not names:
                yield f"import {module}"
            for name, as_ in sorted(names):
                again = as_ != name or name in self.values  # `as` tells checkers that the name is the stub's own, too
                yield f"from {'.' if module == self.module else module} import {name}" + (f" as {as_}" if again else "")


def path_of(module):
    file = pathlib.Path(sys.modules[module].__file__)
    at = TREE.joinpath(*module.split("."))
    return at / "__init__.pyi" if file.name == "__init__.py" else at.with_suffix(".pyi")


def main(arguments):
    warnings.simplefilter("ignore")
    if sys.version_info[:2] != WRITER:
        print(f"stubs: not compared or written by Python {sys.version_info[0]}.{sys.version_info[1]}, but by {WRITER}")
        return arguments != ["--check"]
    want = {path_of(m): Stub(m).text() for m in facts.modules()}
    have = set(TREE.rglob("*.pyi"))
    old = [p for p, t in want.items() if not p.exists() or p.read_text("utf-8") != t]
    old += have - want.keys()
    if arguments == ["--check"]:
        print(*(f"{p.relative_to(ROOT)} is not what tools/stubs/write.py writes" for p in sorted(old)[:10]), sep="\n")
        return bool(old)
    for path in have - want.keys():
        path.unlink()
    for path, text in want.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

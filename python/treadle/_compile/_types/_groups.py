"""Types of what holds values of other types: tuples, lists, sets, dicts, and values that may be None."""

from ._base import Type, _set, parse

# ---- what is made of others ----


class BaseTuple(Type):
    __slots__ = ()
    types = property(lambda self: self.items)
    count = property(lambda self: len(self.items))

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, key):
        return self.items[key] if isinstance(key, int) else super().__getitem__(key)


class _Together(type):
    """Makes Tuple(types) of equal types a UniTuple, because both spell the same type and must be equal."""

    def __call__(cls, types, *rest):
        types = tuple(parse(t) for t in types)
        if cls is Tuple and types and len(set(types)) == 1:
            return UniTuple(types[0], len(types))
        return super().__call__(types, *rest)


class Tuple(BaseTuple, metaclass=_Together):
    """Tuple(types): several values, of these types."""

    __slots__ = ()

    def __init__(self, types):
        super().__init__("tuple", f"Tuple({', '.join(map(str, types))})", None, types)

    def __repr__(self):
        return f"Tuple({tuple(self.items)!r})"

    def __reduce__(self):
        return Tuple, (self.items,)


class UniTuple(BaseTuple):
    """UniTuple(dtype, count): count values of one type."""

    __slots__ = ()

    def __init__(self, dtype, count):
        one = parse(dtype)
        super().__init__("tuple", f"UniTuple({one} x {count})", None, (one,) * count, key=(one,))

    element = property(lambda self: self._key[-1])
    dtype = property(lambda self: self.element.dtype)

    def __repr__(self):
        return f"UniTuple({self.element!r}, {self.count})"

    def __reduce__(self):
        return UniTuple, (self.element, self.count)


class NamedTuple(BaseTuple):
    """NamedTuple(types, cls): a tuple whose members have names. instance_class: the Python class; fields."""

    __slots__ = ("instance_class", "fields")

    def __init__(self, types, cls):
        _set(self, instance_class=cls, fields=tuple(cls._fields))
        types = tuple(parse(t) for t in types)
        super().__init__("tuple", f"{cls.__name__}({', '.join(map(str, types))})", None, types, key=(cls,))

    def __reduce__(self):
        return NamedTuple, (self.items, self.instance_class)


class NamedUniTuple(NamedTuple):
    """NamedUniTuple(dtype, count, cls): a NamedTuple of count values of one type."""

    __slots__ = ()

    def __init__(self, dtype, count, cls):
        super().__init__((dtype,) * count, cls)

    def __reduce__(self):
        return NamedUniTuple, (self.items[0], len(self.items), self.instance_class)


class ListType(Type):
    """ListType(item_type): treadle.typed.List's of such values."""

    __slots__ = ()

    def __init__(self, item_type):
        item = parse(item_type)
        super().__init__("typedlist", f"ListType[{item}]", None, (item,))

    item_type = property(lambda self: self.items[0])
    dtype = property(lambda self: self.items[0])

    def __reduce__(self):
        return ListType, self.items


class DictType(Type):
    """DictType(key_type, value_type): treadle.typed.Dict's of such keys and values."""

    __slots__ = ()

    def __init__(self, key_type, value_type):
        items = parse(key_type), parse(value_type)
        super().__init__("typeddict", f"DictType[{items[0]},{items[1]}]", None, items)

    key_type = property(lambda self: self.items[0])
    value_type = property(lambda self: self.items[1])

    def __reduce__(self):
        return DictType, self.items


def _container(name, kind, text, doc):
    """A class of types with one other type as parameter."""

    def __init__(self, dtype, *rest, **options):
        one = parse(dtype)
        Type.__init__(self, kind, text.format(one), None, (one,))

    def __reduce__(self):
        return type(self), self.items

    element = property(lambda self: self.items[0])
    body = {"__init__": __init__, "__reduce__": __reduce__, "element": element, "__slots__": (), "__doc__": doc}
    if kind in ("optional", "pointer"):
        body["dtype"] = property(lambda self: self.items[0].dtype)
    if kind == "optional":
        body["type"] = element
    return type(name, (Type,), body)


Optional = _container("Optional", "optional", "OptionalType({})", "Optional(type): a value of type, or None.")
CPointer = _container("CPointer", "pointer", "{}*", "CPointer(type): the address of a value of type.")
List = _container("List", "list", "list({})", "List(type, reflected=False): Python's list of values of one type.")
Set = _container("Set", "set", "set({})", "Set(type, reflected=False): Python's set of values of one type.")

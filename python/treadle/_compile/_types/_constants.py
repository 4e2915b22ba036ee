"""Types of values that are known when a kernel is compiled: constants, defaults and members of enums."""

import builtins
import enum

from ._base import Type, _set, parse


class Omitted(Type):
    """Omitted(value): an argument that was left out and has its default."""

    __slots__ = ("value",)

    def __init__(self, value):
        _set(self, value=value)
        super().__init__("omitted", f"omitted(default={value!r})", key=(_constant(value),))

    def __reduce__(self):
        return Omitted, (self.value,)


def _constant(value):
    """A key under which 1, 1.0 and True differ."""
    return type(value).__name__, repr(value)


def _literal_type(value):
    if isinstance(value, str):
        return parse(str)
    return parse(type(value) if isinstance(value, builtins.bool) or -(1 << 63) <= value < 1 << 63 else "uint64")


class Literal(Type):
    """literal(value): a constant of the program. literal_value, literal_type."""

    __slots__ = ("literal_value",)

    def __init__(self, value):
        _set(self, literal_value=value)
        one = _literal_type(value)
        super().__init__("literal", f"Literal[{type(value).__name__}]({value})", None, (one,), key=(_constant(value),))

    literal_type = property(lambda self: self.items[0])
    dtype = property(lambda self: self.items[0].dtype)

    def unliteral(self):
        return self.items[0]

    def __reduce__(self):
        return type(self), (self.literal_value,)


class IntegerLiteral(Literal):
    """IntegerLiteral(value): an integer constant."""

    __slots__ = ()


class BooleanLiteral(Literal):
    __slots__ = ()


class StringLiteral(Literal):
    __slots__ = ()


class EnumMember(Type):
    """EnumMember(cls, dtype): a member of an enum whose values have that type. instance_class: the enum."""

    __slots__ = ("instance_class",)

    def __init__(self, cls, dtype):
        one = parse(dtype)
        _set(self, instance_class=cls)
        kind = "IntEnum" if issubclass(cls, enum.IntEnum) else "Enum"
        super().__init__("enum", f"{kind}<{one}>({cls.__name__})", None, (one,), key=(cls,))

    dtype = property(lambda self: self.items[0].dtype)

    def __reduce__(self):
        return type(self), (self.instance_class, self.items[0])


class IntEnumMember(EnumMember):
    __slots__ = ()


def literal(value):
    """The type of a constant: an int, a bool or a string."""
    kinds = {int: IntegerLiteral, builtins.bool: BooleanLiteral, str: StringLiteral}
    if type(value) not in kinds:
        raise TypeError(f"literal: constants are int, bool and str, not {type(value).__name__}")
    return kinds[type(value)](value)

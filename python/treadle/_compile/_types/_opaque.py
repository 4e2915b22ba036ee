"""Types of values whose content kernels do not see, and of those that a program describes elsewhere."""

from ._base import Signature, Type, _set, parse


class Opaque(Type):
    """Something without a description."""

    __slots__ = ()

    def __init__(self, name, kind="opaque"):
        super().__init__(kind, name)

    def __reduce__(self):
        return type(self), (self.name, self.kind)


class FunctionType(Type):
    """A function that is passed as a value, of a Signature. treadle compiles functions that it knows alone."""

    __slots__ = ()

    def __init__(self, signature):
        super().__init__("function", f"FunctionType[{signature!r}]", items=(signature.return_type, *signature.args))

    @property
    def signature(self):
        return Signature(self.items[0], self.items[1:])


class Dummy(Opaque):
    __slots__ = ()


class UnicodeType(Opaque):
    """The type of strings."""

    __slots__ = ()


class NoneType(Opaque):
    """The type of None, and of what a function without a result returns."""

    __slots__ = ()

    def __init__(self, name="none", kind="none"):
        super().__init__("none", "none")


class ClassInstanceType(Type):
    """Instances of a class of jitclass. instance_class: the class."""

    __slots__ = ("instance_class",)

    def __init__(self, cls):
        _set(self, instance_class=cls)
        super().__init__("instance", f"instance.jitclass.{cls.__name__}", key=(cls,))

    @property
    def struct(self):
        """The fields' types by name."""
        return self.instance_class.class_type.struct

    def __reduce__(self):
        return type(self), (self.instance_class,)


class DeferredType(Type):
    """A type that is told later: ``node = deferred_type(); …; node.define(Node.class_type.instance_type)``."""

    __slots__ = ("_defined",)

    def __init__(self):
        _set(self, _defined=None)
        super().__init__("deferred", "deferred", key=(id(self),))

    def define(self, t):
        """Says which type it is. ValueError: that has been said."""
        if self._defined is not None:
            raise ValueError(f"this deferred_type is {self._defined} already")
        _set(self, _defined=parse(t))

    def get(self):
        """The type. ValueError: it has not been told."""
        if self._defined is None:
            raise ValueError("this deferred_type was never defined: call define(type)")
        return self._defined

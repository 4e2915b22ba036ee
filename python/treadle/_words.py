"""Words for names that are nearly right."""

import difflib
import sys


def near(name, names):
    """ "; did you mean 'x'?" of the name among names that is most like `name`, or nothing."""
    found = difflib.get_close_matches(name, names, 1, 0.7)
    return f"; did you mean {found[0]!r}?" if found else ""


def near_in(module, name):
    """near() among the names of an imported module; "" for dunder names, which Python tries."""
    there = sys.modules.get(module)
    return near(name, dir(there)) if there is not None and not name.startswith("__") else ""


def refusing(module):
    """The __getattr__ of a module that makes no names: AttributeError with the name that was meant."""

    def __getattr__(name):
        raise AttributeError(f"module {module!r} has no attribute {name!r}{near_in(module, name)}", name=name)

    return __getattr__

"""Suggestions for misspelled names."""

import difflib
import sys


def near(name, names):
    """The text "; did you mean 'x'?" with the name of names closest to `name`, or "" if none is close."""
    found = difflib.get_close_matches(name, names, 1, 0.7)
    return f"; did you mean {found[0]!r}?" if found else ""


def near_in(module, name):
    """near() for the names of an imported module. "" for dunder names, for which Python itself asks."""
    there = sys.modules.get(module)
    return near(name, dir(there)) if there is not None and not name.startswith("__") else ""


def refusing(module):
    """The __getattr__ of a module without lazy names. It raises AttributeError with a suggestion."""

    def __getattr__(name):
        raise AttributeError(f"module {module!r} has no attribute {name!r}{near_in(module, name)}", name=name)

    return __getattr__

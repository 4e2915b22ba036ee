"""Loading the texts of `programs/` for a library: `from treadle import …` names that library.

The code keeps its file and line numbers, which is where a compiler that reads sources looks.
"""

import pathlib
import re
import sys
import types

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


def text(name):
    """What stands in `programs/NAME`."""
    return (PROGRAMS / name).read_text(encoding="utf-8")


def load(name, library, **constants):
    """The module of `programs/NAME.py` whose kernels are compiled by `library`.

    `constants` replace the module's own of these names.
    """
    path = PROGRAMS / f"{name}.py"
    text = path.read_text(encoding="utf-8").replace("from treadle import", f"from {library} import")
    for key, value in constants.items():
        text, count = re.subn(rf"^{key} = .*$", f"{key} = {value!r}", text, flags=re.MULTILINE)
        assert count == 1, f"{path} has {count} lines that begin with {key} ="
    module = types.ModuleType(f"programs_{name}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where a disk cache looks for it
    exec(compile(text, str(path), "exec"), vars(module))
    return module

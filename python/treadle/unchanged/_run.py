"""``python -m treadle script.py``: runs a program as Python would, but numpy means treadle in its own files."""

import builtins
import multiprocessing.spawn
import os
import runpy
import sys
import types

import treadle
import treadle.unchanged._spin  # before all that imports NumPy

from . import _imports, _loops, install

_HERE = os.path.dirname(os.path.abspath(__file__))
_RUNNERS = (_HERE, os.path.join(os.path.dirname(_HERE), "__main__.py"), runpy.__file__)


def _own_frames(trace):
    """A traceback without the frames of the runner and of treadle's functions."""
    kept = []
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_RUNNERS) and file != "<frozen runpy>":
            kept.append(trace)
        trace = trace.tb_next
    for one, after in zip(kept, [*kept[1:], None], strict=False):
        one.tb_next = after
    return kept[0] if kept else None


def _trim(error, seen):
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _own_frames(error.__traceback__)
        _trim(error.__cause__, seen)
        error = error.__context__


def _main_module(file):
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, __annotations__={}, __spec__=None, __loader__=None)
    if file is not None:
        module.__dict__["__file__"] = file
        module.__dict__["__cached__"] = None
    sys.modules["__main__"] = module
    return module


class _SpawnedMain(types.ModuleType):
    """The program's main module under the name that it has in processes that multiprocessing spawned. Objects that
    these send back are of its classes."""

    def __getattr__(self, name):
        return getattr(sys.modules["__main__"], name)


def _processes(path):
    """Make the processes that multiprocessing spawns run the script in the same way."""
    prepared = multiprocessing.spawn.get_preparation_data

    def get_preparation_data(name):
        data = prepared(name)
        if os.path.realpath(data.get("init_main_from_path", "")) == os.path.realpath(os.environ["TREADLE_MAIN"]):
            del data["init_main_from_path"]
            data["init_main_from_name"] = "treadle.unchanged._worker"
        return data

    os.environ["TREADLE_MAIN"] = os.path.abspath(path)
    multiprocessing.spawn.get_preparation_data = get_preparation_data


def _script(path):
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.path[0] = path
        runpy.run_path(path, run_name="__main__")
        return
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    try:
        with open(path, "rb") as f:
            text = f.read()
    except OSError as e:
        why = f"[Errno {e.errno}] {e.strerror}"
        print(f"{sys.executable}: can't open file {os.path.abspath(path)!r}: {why}", file=sys.stderr)
        raise SystemExit(2) from None
    code = _loops.compiled(text, path)
    _processes(path)
    exec(code, _main_module(path).__dict__)


def _code(text):
    from treadle._compile._texts import keep
    from treadle._observe import _source

    sys.path[0] = ""
    keep(text, "<string>")
    _source.texts["<string>"] = text
    exec(_loops.compiled(text, "<string>"), _main_module(None).__dict__)


def _module(name):
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def run(kind, what, arguments, device=None, profile=None, explain=None, doctor=None, lazy_clocks=None):
    """Run a script, a module ("-m") or a text ("-c") and return the exit status.

    profile, explain and doctor are the values of these options, None where they were not given. With lazy_clocks,
    clocks do not wait for recorded work."""
    sys.argv = [what if kind == "script" else kind, *arguments]
    if device:
        treadle.use(device)
    if profile is not None:
        from treadle._observe import _profile

        _profile.whole_program(profile)
    install()
    sys.modules["__mp_main__"] = _SpawnedMain("__mp_main__")
    if doctor is None and "loops" not in _imports.KEPT:  # the doctor reports on loops, so it needs them as written
        _loops.watch()
    if lazy_clocks is None:
        _imports.wait_at_clocks()
    if explain is not None:
        from . import _explain

        _explain.start(explain)
    if doctor is not None:
        from treadle._observe._doctor import whole_program

        whole_program(doctor)
    try:
        {"script": _script, "-m": _module, "-c": _code}[kind](what)
    except SystemExit:
        raise
    except BaseException as error:
        _trim(error, set())
        sys.stdout.flush()
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0

"""A program of `examples/kernels/` or `examples/raw/` run by itself: `python examples/kernels/life.py --width 1000`."""

import argparse

from . import child, machine, programs
from .png import write_png


def arguments(program, sizes):
    """The sizes from the command line, or by default those for the chosen device."""
    parser = argparse.ArgumentParser(description=programs.title(program))
    for key, value in sizes.items():
        parser.add_argument(f"--{key}", type=int, default=value, metavar="N", help=f"default: {value:,}")
    return vars(parser.parse_args())


class _Program:
    """A script's global names as attributes."""

    def __init__(self, names):
        self.__dict__.update(names)


def run(names):
    """Run the script whose globals these are: time it, compare it with NumPy, write its pictures.

    SystemExit with a sentence where the results differ by more than it allows."""
    import treadle

    program = _Program({**names, "__doc__": names["__doc__"]})
    device = machine.chosen_device(treadle)
    asked = arguments(program, program.SIZES["cuda" if device.startswith("cuda") else "cpu"])
    args = program.setup(**asked)
    first, found = child.once(treadle, program.main, args)
    again, found = child.once(treadle, program.main, args)
    ours = child.on_host(treadle, found)
    seconds, wanted = child.once(treadle, program.reference, [child.host_of(treadle, a) for a in args])
    error = getattr(program, "error", programs.largest_error)(ours, child.on_host(treadle, wanted))
    print(f"{device}: first call {first:.3g} s, second {again:.3g} s; NumPy {seconds:.3g} s")
    if not error <= program.TOLERANCE:
        raise SystemExit(f"the results differ from NumPy's: {error:.3g}, allowed {program.TOLERANCE:.3g}")
    print(f"error {error:.2g}, allowed {program.TOLERANCE:.2g}: {program.WHY}")
    for caption, picture in getattr(program, "pictures", lambda result: {})(ours).items():
        path = f"{caption}.png"
        write_png(path, picture)
        print(f"written: {path}")

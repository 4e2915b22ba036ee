"""`python -m treadle.demo`: run the programs, print the table, write the report."""

import argparse
import pathlib
import sys
import time

from . import programs, report, run


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="python -m treadle.demo",
        description="Run the example programs under NumPy and under treadle, compare and time them.",
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all of them")
    parser.add_argument("--device", help='"cpu", "cuda:0" …; default: the GPU where there is one')
    parser.add_argument("--size", choices=("cpu", "cuda", "small"), help="default: the device's")
    parser.add_argument("--output", default="demo", help="folder of the report (default: demo)")
    parser.add_argument("--module", default="treadle", help="the module to compare with NumPy")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.programs) - set(programs.ALL))
    if unknown:
        parser.error(f"no program {', '.join(unknown)}; there are {', '.join(programs.ALL)}")
    return options


def main(argv=None):
    """The exit code: 1 if a program crashed or its results differ from NumPy's, else 0."""
    options = arguments(argv)
    names = options.programs or list(programs.ALL)
    begin = time.perf_counter()
    rows, facts = run.run(names, options.module, options.device, options.size, options.output)
    page = pathlib.Path(options.output) / "report.html"
    page.write_text(report.page(rows, facts, time.time()), encoding="utf-8")
    print(f"\n{run.table(rows)}\n\n{time.perf_counter() - begin:.0f} s; report: {page}")
    return 1 if run.failed(rows) else 0


if __name__ == "__main__":
    sys.exit(main())

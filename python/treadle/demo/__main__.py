"""`python -m treadle.demo`: run the programs, print the table, write the report."""

import argparse
import importlib
import os
import pathlib
import sys
import time

import treadle
from treadle._words import near

from . import machine, programs, report, run


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
        guess = near(unknown[0], programs.ALL)
        parser.error(f"no program {', '.join(unknown)}{guess}; there are {', '.join(programs.ALL)}")
    if options.device:
        try:
            treadle.device(options.device)
        except (ValueError, RuntimeError) as e:
            parser.error(f"--device: {e}")
    return options


def write(page, text):
    """Write text to page at once, so that no reader sees half of it."""
    part = page.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(page)


def main(argv=None):
    """Run the demonstration. Returns the exit code: 1 if a program crashed or gave wrong results, 130 after Ctrl-C,
    else 0."""
    options = arguments(argv)
    if options.device:
        os.environ["TREADLE_DEVICE"] = options.device
    on_gpu = machine.chosen_device(importlib.import_module(options.module)).startswith("cuda")
    names = options.programs or programs.in_order(programs.ALL, on_gpu)
    if not on_gpu:
        print("No GPU: programs that suit a CPU come first; those written for a GPU say so.", flush=True)
    page = pathlib.Path(options.output) / "report.html"
    begin = time.perf_counter()

    def after(rows, facts, total):
        write(page, report.page(rows, facts, time.time(), total))

    rows, _ = run.run(names, options.module, options.device, options.size, options.output, after)
    if rows:
        print(f"\n{run.table(rows)}\n\n{time.perf_counter() - begin:.0f} s; report: {page}", flush=True)
    return 130 if len(rows) < len(names) else 1 if run.failed(rows) else 0


if __name__ == "__main__":
    sys.exit(main())

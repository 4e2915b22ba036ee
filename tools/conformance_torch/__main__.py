"""PyTorch's own samples of its operators and modules on treadle.torch, compared with PyTorch on the CPU.

    conformance_torch [--slice K/N] [--dtypes NAME,…] [--samples N] [--known FILE] [--report FILE [--quiet]] [--each]
                      [NAME…]
    conformance_torch [--known FILE] --summary FILE

Each operator (`op_db`) gets its samples in every dtype that both have: the result is compared in dtype, shape and
values; for float64 and complex128 also the first and second gradients of a weighted sum of the results. Each module
(`module_db`) is made in both libraries with the same state, in training and in evaluation; its buffers after a call
belong to its result. A sample that PyTorch itself refuses is passed over; of those that are there to be refused the
exception is compared. The kinds of deviation: `value` (another result, and no exception: the silent ones), `raise` (an
exception where PyTorch gives a result), `missing` (no such name), `accepted` (a result where PyTorch raises), `class`
(an exception that a handler for PyTorch's does not catch). --each prints every one as it is met.

What stands in the file of known deviations may deviate in the ways that it names; any other deviation makes the exit
status 1, and so does a known one that is met no more in a run of all dtypes and samples.  --report adds what was found
to a file, from which --summary makes the report of several slices.
"""

import argparse
import json
import pathlib
import sys

import modules
import operators
import torch
from compare import Counts

KINDS = ("forward", "grad", "grad2", "error")
DTYPES = (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
)


def read_known(path):
    """{operator: {"forward value", …}} of lines `operator kind sort, kind sort: reason`."""
    known = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            head, _, reason = line.partition(": ")
            name, *ways = head.replace(",", " ").split()
            if not reason or not ways or len(ways) % 2:
                sys.exit(f"{path}: expected `operator kind sort[, kind sort]: reason`, found {line!r}")
            known[name] = {f"{a} {b}" for a, b in zip(ways[::2], ways[1::2], strict=True)}
    return known


def chosen(args):
    """[(name, what it is, the module that checks it)]"""
    rows = [(name, what, judge) for judge in (operators, modules) for name, what in judge.named().items()]
    if args.names:
        return [row for row in rows if row[0] in args.names or getattr(row[1], "name", None) in args.names]
    k, n = map(int, args.slice.split("/"))
    return rows[k::n]


def report(results, known, complete):
    """Prints the counts; the number of operators and modules with deviations that are not known."""
    total, strange = Counts(), 0
    for name, c in results.items():
        total.tried.update(c.tried)
        total.bad.update(c.bad)
        ways = {f"{kind} {sort}" for kind, sort in c.bad}
        new = sorted(ways - known.get(name, set()))
        gone = sorted(known.get(name, set()) - ways) if complete else []
        strange += bool(new or gone)
        for way in new:
            kind, sort = way.split()
            print(f"{name} {kind} {sort} {c.bad[kind, sort]}/{c.tried[kind]}: {c.notes[kind, sort]}")
        for way in gone:
            print(f"{name} {way}: in the file of known deviations, but met no more")
    clean = sum(not c.bad for c in results.values())
    print(f"{len(results)} operators and modules, {clean} without a deviation")
    for kind in KINDS:
        sorts = ", ".join(f"{n} {sort}" for (k, sort), n in sorted(total.bad.items()) if k == kind)
        print(f"{kind}: {total.tried[kind]} samples; deviating: {sorts or 'none'}")
    return strange


def reported(path):
    """{operator: Counts} of a file that --report wrote."""
    results = {}
    for name, tried, bad, notes in map(json.loads, pathlib.Path(path).read_text().splitlines()):
        c = results[name] = Counts()
        c.tried.update(tried)
        c.bad.update({tuple(k.split()): n for k, n in bad.items()})
        c.notes = {tuple(k.split()): text for k, text in notes.items()}
    return results


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--slice", default="0/1")
    p.add_argument("--dtypes", default=",".join(DTYPES))
    p.add_argument("--samples", type=int, default=20)
    p.add_argument("--known")
    p.add_argument("--report")
    p.add_argument("--quiet", action="store_true", help="only write the report")
    p.add_argument("--summary")
    p.add_argument("--each", action="store_true")
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    known = read_known(args.known) if args.known else {}
    if args.summary:
        sys.exit(bool(report(reported(args.summary), known, True)))
    torch.set_num_threads(1)
    results = {}
    for name, what, judge in chosen(args):
        c = results[name] = Counts(name, args.each)
        judge.check(c, what, args.dtypes.split(","), args.samples)
        if args.report:
            with open(args.report, "a") as f:
                row = [name, dict(c.tried), {" ".join(k): v for k, v in c.bad.items()},
                       {" ".join(k): v for k, v in c.notes.items()}]  # fmt: skip
                f.write(json.dumps(row) + "\n")
    complete = args.dtypes == ",".join(DTYPES) and args.samples == p.get_default("samples")
    if not args.quiet:
        sys.exit(bool(report(results, known, complete)))


if __name__ == "__main__":
    main()

"""Write the benchmark's results between two comments of docs/speed-table.md, and a glance at them into README.md.

    python tools/speed_table.py [--check]

Reads benchmarks/results/cpu.json and cuda.json, which `make bench` writes; a device without
results has no table. --check changes nothing and exits with 1 if a page is out of date.
"""

import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- speed -->", "<!-- /speed -->"
DEVICES = {"cpu": "CPU", "cuda": "GPU"}
SIMULATED = "kernels beside Numba's simulator"
EVEN = 0.95  # a ratio from which on treadle counts as fast as the best peer: within what runs differ by

sys.path.insert(0, str(ROOT / "benchmarks"))

import tables  # noqa: E402


def results(folder):
    """{device: its results}, of the files that are there."""
    paths = {device: folder / f"{device}.json" for device in DEVICES}
    return {d: json.loads(path.read_text(encoding="utf-8")) for d, path in paths.items() if path.exists()}


def measured(result):
    return [row for row in result["rows"] if row["cells"].get("treadle", {}).get("seconds") is not None]


def family(row):
    """What a row counts with. Numba's simulator is no peer in speed: what it alone runs has a family of its own."""
    return SIMULATED if row["best"] == "numba.simulator" else row["group"]


def families(result):
    """{family: rows}, in the order of the benchmark, without the rows that are means of others."""
    found = {}
    for row in measured(result):
        if row.get("kind") != "mean":
            found.setdefault(family(row), []).append(row)
    return found


def machine(result):
    """Where and when."""
    named = ", ".join(f"{k} {v}" if k in ("Cores", "Python") else str(v) for k, v in result["machine"].items())
    return f"{result['date'][:10]}: {named}."


def line(row):
    ours, best = row["cells"].get("treadle"), row["cells"].get(row["best"])
    peer = f"{row['best']} {tables.cell(best)}" if row["best"] else "–"
    share = tables.number(row["share"], "{:.0%}")
    return f"| {row['name']} | {tables.cell(ours)} | {peer} | {tables.number(row['ratio'], '{:.2f}')} | {share} |"


def table(result):
    """One device's results: where and when, then the rows that were measured."""
    versions = {k.split(".")[0]: v for k, v in result["versions"].items() if v and k != "treadle"}
    peers = ", ".join(f"{k} {v}" for k, v in versions.items())
    return [
        f"## {DEVICES[result['device']]}: table",
        "",
        f"{machine(result)} Peers: {peers}.",
        f"Copying reaches {result['copy']['bytes_per_second'] / 1e9:,.0f} GB/s there.",
        "",
        "| row | treadle | best peer | best peer / treadle | share of copying's speed |",
        "| --- | ---: | ---: | ---: | ---: |",
        *map(line, measured(result)),
    ]


NOTHING = "No measurements are kept here yet; `make bench` writes them to `benchmarks/results/`."


def section(folder):
    """The families' means and all rows: the text between the comments of docs/speed-table.md."""
    parts = ["\n".join(table(result)) for result in results(folder).values()]
    return "\n\n".join([by_families(folder), *parts]) if parts else NOTHING


def mean(rows):
    """The geometric mean of the rows' ratios; None: no row has a peer."""
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    return statistics.geometric_mean(ratios) if ratios else None


def mean_and_even(rows):
    """The cells of a family on a device: the geometric mean of its ratios, in how many of its rows treadle holds."""
    found, ratios = mean(rows), [row["ratio"] for row in rows if row["ratio"]]
    if found is None:
        return ["", ""]
    return [f"{found:,.0f}" if found >= 100 else f"{found:.2f}", f"{sum(r >= EVEN for r in ratios)} of {len(ratios)}"]


def by_families(folder):
    """The families' means, a row for each family and two columns for each device."""
    found = results(folder)
    by_device = {d: families(result) for d, result in found.items()}
    head = ["family", *(cell for d in found for cell in (f"{DEVICES[d]}: best peer / treadle", "as fast or faster"))]
    lines = ["## Families: geometric means", "", "| " + " | ".join(head) + " |"]
    lines.append("| --- |" + " ---: |" * (len(head) - 1))
    for name in dict.fromkeys(n for rows in by_device.values() for n in rows):
        cells = [c for d in found for c in mean_and_even(by_device[d].get(name, []))]
        if any(cells):
            lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines)


def behind(by_family):
    """The families in which treadle is slower than the best peer on the average, each with its mean."""
    means = {name: mean(rows) for name, rows in by_family.items()}
    return ", ".join(f"{name} {found:.2f}" for name, found in means.items() if found and found < EVEN) or "–"


def glance(folder):
    """One row for each device: the text between README's comments."""
    found = results(folder)
    if not found:
        return NOTHING
    lines = [f"- {DEVICES[d]}, {machine(result)}" for d, result in found.items()]
    lines += ["", "| machine | geometric mean | as fast or faster | families behind |", "| --- | ---: | ---: | --- |"]
    for d, result in found.items():
        by_family = families(result)
        rows = [row for name, rows in by_family.items() if name != SIMULATED for row in rows]
        lines.append("| " + " | ".join([DEVICES[d], *mean_and_even(rows), behind(by_family)]) + " |")
    return "\n".join(lines)


def filled(page, text):
    """The page with the text between its comments."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


PAGES = {ROOT / "docs" / "speed-table.md": section, ROOT / "README.md": glance}


def main(arguments):
    old = False
    for path, text in PAGES.items():
        page = path.read_text(encoding="utf-8")
        new = filled(page, text(ROOT / "benchmarks" / "results"))
        old |= new != page
        if arguments != ["--check"]:
            path.write_text(new, encoding="utf-8")
    return int(arguments == ["--check"] and old)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

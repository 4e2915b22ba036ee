"""Write the benchmark's results into README.md, between its two comments.

    python tools/speed_table.py [--check]

Reads benchmarks/results/cpu.json and cuda.json, which `make bench` writes; a device without
results has no table. --check changes nothing and exits with 1 if README.md is out of date.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- speed -->", "<!-- /speed -->"

sys.path.insert(0, str(ROOT / "benchmarks"))

import tables  # noqa: E402


def line(row):
    ours, best = row["cells"].get("treadle"), row["cells"].get(row["best"])
    peer = f"{row['best']} {tables.cell(best)}" if row["best"] else "–"
    share = tables.number(row["share"], "{:.0%}")
    return f"| {row['name']} | {tables.cell(ours)} | {peer} | {tables.number(row['ratio'], '{:.2f}')} | {share} |"


def table(result):
    """One device's results: where and when, then the rows that were measured."""
    rows = [row for row in result["rows"] if row["cells"].get("treadle", {}).get("seconds") is not None]
    machine = ", ".join(f"{k} {v}" if k in ("Cores", "Python") else str(v) for k, v in result["machine"].items())
    versions = {k.split(".")[0]: v for k, v in result["versions"].items() if v and k != "treadle"}
    peers = ", ".join(f"{k} {v}" for k, v in versions.items())
    return [
        f"**{result['device']}**, {result['date'][:10]}: {machine}. Peers: {peers}.",
        f"Copying reaches {result['copy']['bytes_per_second'] / 1e9:,.0f} GB/s there.",
        "",
        "| row | treadle | best peer | best peer / treadle | share of copying's speed |",
        "| --- | ---: | ---: | ---: | ---: |",
        *map(line, rows),
    ]


def section(folder):
    """The text between the comments."""
    lines = []
    for device in ("cpu", "cuda"):
        path = folder / f"{device}.json"
        if path.exists():
            lines += ["", *table(json.loads(path.read_text(encoding="utf-8")))]
    if not lines:
        return "No measurements are kept here yet; `make bench` writes them to `benchmarks/results/`."
    return "\n".join(lines[1:])


def filled(page, text):
    """The page with the text between its comments."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def main(arguments):
    path = ROOT / "README.md"
    page = path.read_text(encoding="utf-8")
    new = filled(page, section(ROOT / "benchmarks" / "results"))
    if arguments == ["--check"]:
        return int(new != page)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

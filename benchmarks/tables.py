"""The Markdown table of a benchmark's results, for people."""


def seconds(value):
    """A time with three digits and its unit."""
    if value is None:
        return ""
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
        if value * factor >= 1 or unit == "ns":
            break
    return f"{value * factor:.3g} {unit}" if value * factor < 1000 else f"{value * factor:.0f} {unit}"


def cell(entry):
    return seconds(entry["seconds"]) if entry and entry.get("seconds") is not None else "–"


def target_text(row):
    if row["limit"] is None:
        return ""
    mark = {True: " ✓", False: " ✗", None: ""}[row["met"]]
    return seconds(row["limit"]) + mark


def number(value, form):
    return "" if value is None else form.format(value)


def markdown(result):
    """The whole page: the machine, the table, why cells are empty, why figures are missed."""
    peers = result["peers"]
    head = ["row", "treadle", *peers, "best peer / treadle", "floor", "share of it", "target"]
    lines = [
        f"# Benchmark on {result['device']}",
        "",
        f"{result['date']}. " + ". ".join(f"{k}: {v}" for k, v in result["machine"].items()) + ".",
        f"Versions: {', '.join(f'{k} {v}' for k, v in result['versions'].items() if v)}.",
        f"Copying: {result['copy']['bytes_per_second'] / 1e9:.3g} GB/s ({result['copy']['by']}).",
        "",
        "Medians of warm calls. Floor: the bytes that must be read and written, at the speed of",
        "copying; inputs that fit a cache can beat it. Best peer / treadle: above 1, treadle is",
        "faster. Reasons for empty cells stand below.",
        "",
        "| " + " | ".join(head) + " |",
        "| --- |" + " ---: |" * (len(head) - 1),
    ]
    for row in result["rows"]:
        cells = [row["name"], cell(row["cells"].get("treadle"))]
        cells += [cell(row["cells"].get(peer)) for peer in peers]
        cells += [number(row["ratio"], "{:.2f}"), seconds(row["floor"]),
                  number(row["share"], "{:.0%}"), target_text(row)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += section("Figures not reached", shortfalls(result))
    lines += section("Results that differ", [f"- {row['name']}: {row['differs']}"
                                             for row in result["rows"] if row["differs"]])
    lines += section("Empty cells", empty_cells(result))
    return "\n".join(lines) + "\n"


def shortfalls(result):
    return [f"- {row['name']}: {row['reason'] or 'no reason given yet'}"
            for row in result["rows"] if row["met"] is False]


def empty_cells(result):
    """One line a library and reason, with the rows that it holds for."""
    reasons = {}
    for row in result["rows"]:
        for library in ["treadle", *result["peers"]]:
            entry = row["cells"].get(library) or {"missing": "not run"}
            if entry.get("seconds") is None:
                reasons.setdefault((library, entry["missing"]), []).append(row["name"])
    return [f"- {library}: {reason} ({', '.join(names)})"
            for (library, reason), names in reasons.items()]


def section(title, lines):
    return ["", f"## {title}", "", *lines] if lines else []

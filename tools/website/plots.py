"""Plots of the benchmark's results as SVG, with the page's own colours: no script draws them."""

import html
import math
import textwrap

import speed_table
import stage
import tables

MOST = 1000.0  # times: longer bars are cut, and the row's end says how long they are
LANE, BAR, LEFT, RIGHT, TOP = 6, 5, 260, 140, 34  # pixels: a bar with its gap, a bar, texts left and right, the axis
WIDTH, LETTERS = 860, 40  # of a name on one line
SPAN = WIDTH - LEFT - RIGHT
COLOURS = ("#5e7fb1", "#c98a3b", "#8a6fb0", "#5f9e6e", "#b0606b", "#7d7d7d", "#4aa3b5", "#a8a13a", "#c77dae", "#86655a",
           "#3f6f8f", "#d9a57b")  # fmt: skip


def position(ratio, low, high):
    """Where a ratio lies on the logarithmic axis."""
    ratio = min(max(ratio, low), high)
    return LEFT + SPAN * (math.log(ratio) - math.log(low)) / (math.log(high) - math.log(low))


def peers(row):
    """{peer: its time over treadle's}"""
    ours = row["cells"]["treadle"]["seconds"]
    others = {k: c.get("seconds") for k, c in row["cells"].items() if k != "treadle"}
    return {k: v / ours for k, v in others.items() if v is not None}


def times(ratio):
    return f"{ratio:,.0f} ×" if ratio >= 100 else f"{ratio:.3g} ×"


def told(cell):
    """A cell's text, its time where it has none."""
    return cell.get("text") or tables.cell(cell)


def axis(low, high, height):
    """Lines at 0.1, 1, 10, …, and between them where there is room; the one of treadle is strong."""
    parts, room = [], SPAN * math.log(2) / math.log(high / low) > 36
    for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for m in (1, 2, 5):
            ratio = m * 10.0**e
            if low <= ratio <= high and (m == 1 or room):
                x = position(ratio, low, high)
                kind = "td-one" if ratio == 1 else "td-grid"
                label = "treadle" if ratio == 1 else f"{ratio:g} ×"
                parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height}"/>')
                parts.append(f'<text class="td-small" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{label}</text>')
    return parts


def bars(row, y, low, high, colours):
    """One row: its name, a bar for each peer from treadle's line to the peer's time, treadle's time."""
    found = peers(row)
    name = textwrap.wrap(row["name"], LETTERS)
    one, height = position(1, low, high), max(LANE * max(len(found), 2), 14 * len(name) - 4)
    middle = y + height / 2 + 4
    parts = [f'<text x="{LEFT - 10}" y="{middle + 14 * (i - (len(name) - 1) / 2):.1f}" text-anchor="end">'
             f"{html.escape(line)}</text>" for i, line in enumerate(name)]  # fmt: skip
    for i, (peer, ratio) in enumerate(found.items()):
        x = position(ratio, low, high)
        tip = f"{peer}: {told(row['cells'][peer])}, {times(ratio)} treadle's time"
        at = f'x="{min(x, one):.1f}" y="{y + i * LANE + (height - LANE * len(found)) / 2:.1f}"'
        parts.append(f'<rect {at} width="{max(abs(x - one), 1.5):.1f}" height="{BAR}" fill="{colours[peer]}">'
                     f"<title>{html.escape(tip)}</title></rect>")  # fmt: skip
    text = told(row["cells"]["treadle"])
    if max(found.values()) > high and "text" not in row["cells"]["treadle"]:
        text += f", peer {times(max(found.values()))}"
    parts.append(f'<text class="td-small" x="{WIDTH - RIGHT + 12}" y="{middle:.1f}">{html.escape(text)}</text>')
    return parts, height + 9


def bounds(rows):
    """The axis' ends: all ratios of the rows, at least from a half to twice, at most MOST."""
    ratios = [r for row in rows for r in peers(row).values()] or [1.0]
    return min(0.5, min(ratios) / 1.1), min(max(2.0, max(ratios) * 1.1), MOST)


def legend(names, colours):
    keys = "".join(f'<span><i style="background:{colours[n]}"></i>{html.escape(n)}</span>' for n in names)
    return f'<p class="td-legend">{keys}</p>'


def chart(title, rows, colours):
    """A family's rows as one SVG with its legend."""
    rows = [row for row in rows if peers(row)]
    low, high = bounds(rows)
    parts, y = [], TOP + 4
    for row in rows:
        more, height = bars(row, y, low, high, colours)
        parts += more
        y += height
    svg = [f'<svg class="td-plot" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{html.escape(title)}">']
    used = [n for n in colours if any(n in peers(row) for row in rows)]
    return "".join([legend(used, colours), *svg, *axis(low, high, y), *parts, "</svg>"])


def device_plots(result):
    """Markdown: a heading and a chart for each family of a device's results."""
    names = dict.fromkeys(n for row in result["rows"] for n in row["cells"] if n != "treadle")
    colours = dict(zip(names, COLOURS, strict=False))
    colours.update(dict.fromkeys(list(names)[len(COLOURS):], COLOURS[-1]))
    device = speed_table.DEVICES[result["device"]]
    lines = [f"## {device}: plots", "", speed_table.machine(result), ""]
    for family, rows in speed_table.families(result).items():
        if any(map(peers, rows)):
            figure = f'<figure class="td-figure">{chart(family, rows, colours)}</figure>'
            lines += [f"### {family[0].upper() + family[1:]}, {device}", "", figure, ""]
    return lines


def glance(results):
    """Markdown: one chart of the families' geometric means, a bar for each device."""
    means = {d: {f: speed_table.mean(rows) for f, rows in speed_table.families(r).items()} for d, r in results.items()}
    rows = []
    for family in dict.fromkeys(f for found in means.values() for f in found):
        found = {speed_table.DEVICES[d]: by_family[family] for d, by_family in means.items() if by_family.get(family)}
        cells = {d: {"seconds": m, "text": "the best peer"} for d, m in found.items()}
        ends = ", ".join(times(m) for m in found.values())
        rows.append({"name": family, "cells": {"treadle": {"seconds": 1.0, "text": ends}, **cells}})
    colours = dict(zip(map(speed_table.DEVICES.get, results), COLOURS, strict=False))
    figure = f'<figure class="td-figure">{chart("families", rows, colours)}</figure>'
    sentence = "The geometric mean of each family's rows: the best peer's time over treadle's."
    return ["## At a glance", "", sentence, "", figure, ""]


def insert(page):
    """Puts the plots into the page's text, where it asks for them."""
    results = speed_table.results(stage.ROOT / "benchmarks" / "results")
    lines = glance(results) if results else []
    for result in results.values():
        lines += device_plots(result)
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("<!-- plots -->", "\n".join(lines)), encoding="utf-8")

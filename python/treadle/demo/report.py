"""The report of the demonstration: one HTML page that needs no other file.

Pictures are data URIs, styles stand in the page, colours follow the reader's light or dark
scheme. The page is well-formed XML too, so that a test can parse it strictly.
"""

import base64
import datetime
import html
import math
import pathlib

from .run import duration, measured, scientific, times_faster

STYLE = pathlib.Path(__file__).with_name("report.css")

STATES = {"ok": "same result", "wrong": "differs", "failed": "failed", "missing": "not run"}


def escape(text):
    return html.escape(str(text), quote=True)


def prose(text):
    """Escaped text in which `backticks` mark code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))


def data_uri(path):
    data = base64.b64encode(pathlib.Path(path).read_bytes()).decode("ascii")
    kind = "svg+xml" if str(path).endswith(".svg") else "png"
    return f"data:image/{kind};base64,{data}"


def headline(rows):
    """One sentence on the results of the programs that are NumPy's text."""
    ratios = [row.ratio for row in rows if row.state == "ok" and row.ratio and not row.kernels and row.peer == "NumPy"]
    if not ratios:
        return "No program ran to its end"
    middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return (
        f"{len(ratios)} NumPy programs, one line changed: {times_faster(middle)} as fast "
        f"on average, up to {times_faster(max(ratios))}"
    )


class Scale:
    """A logarithmic axis for ratios, in percent of the bar's width, from 1/2 or less to the largest ratio."""

    def __init__(self, ratios):
        self.low = math.log2(min([0.5, *ratios]))
        self.high = math.log2(max([4, *ratios]))

    def at(self, ratio):
        return 100 * (math.log2(ratio) - self.low) / (self.high - self.low)

    def ticks(self):
        """The powers of two on the axis, or of four where there would be many."""
        step = max(1, math.ceil((self.high - self.low) / 7))
        first = math.ceil(self.low)
        return [2.0**e for e in range(first, math.floor(self.high) + 1) if e % step == 0]


def bar(scale, ratio):
    """A bar from the line of equal speed to the ratio. To the right treadle is faster than NumPy."""
    if ratio is None:
        return '<div class="bar"></div>'
    one, end = scale.at(1), scale.at(ratio)
    left, width = min(one, end), max(abs(end - one), 0.6)
    kind = "gain" if ratio >= 1 else "loss"
    return (
        f'<div class="bar"><i class="one" style="left:{one:.2f}%"></i>'
        f'<b class="{kind}" style="left:{left:.2f}%;width:{width:.2f}%"></b></div>'
    )


def axis(scale):
    marks = []
    for tick in scale.ticks():
        label = f"{tick:g}×" if tick >= 1 else f"1/{1 / tick:g}×"
        marks.append(f'<span style="left:{scale.at(tick):.2f}%">{label}</span>')
    return f'<div class="axis">{"".join(marks)}</div>'


def table_row(row, scale):
    return f"""<tr class="{row.state}">
<th scope="row"><a href="#{row.name}">{escape(row.title)}</a></th>
<td>{measured(row)}</td><td>{duration(row.first)}</td><td>{duration(row.treadle)}</td>
<td class="ratio">{times_faster(row.ratio)}</td>
<td class="room">{bar(scale, row.ratio)}</td>
<td>{scientific(row.error)}</td>
<td class="state"><span>{STATES[row.state]}</span></td>
</tr>"""


def table(rows):
    scale = Scale([row.ratio for row in rows if row.ratio])
    body = "\n".join(table_row(row, scale) for row in rows)
    return f"""<div class="scroll"><table>
<thead><tr><th scope="col">Program</th><th scope="col">NumPy</th><th scope="col">first call</th>
<th scope="col">treadle</th><th scope="col">faster</th><th scope="col" class="room">{axis(scale)}</th>
<th scope="col">error</th><th scope="col">check</th></tr></thead>
<tbody>
{body}
</tbody></table></div>"""


def picture(item):
    caption = escape(item["caption"])
    return f'<figure><img src="{data_uri(item["path"])}" alt="{caption}" /><figcaption>{caption}</figcaption></figure>'


def section(row):
    """The section of one program: what it does, its size, how it was checked, its pictures."""
    story = "".join(f"<p>{prose(p)}</p>" for p in row.story)
    size = ", ".join(f"{escape(k)} = {v:,}" for k, v in row.size.items())
    check = ""
    if row.error is not None:
        check = (
            f"<dt>Check</dt><dd>error {scientific(row.error)}, at most "
            f"{scientific(row.tolerance)} allowed: {escape(row.why)}</dd>"
        )
    kind = "fine" if row.state == "ok" else "note"
    note = f'<p class="{kind}">{escape(row.note)}</p>' if row.note else ""
    trace = f"<pre>{escape(row.traceback)}</pre>" if row.state == "failed" and row.traceback else ""
    pictures = "".join(picture(item) for item in row.pictures)
    gallery = f'<div class="gallery">{pictures}</div>' if pictures else ""
    return f"""<section id="{row.name}">
<h2>{escape(row.title)}</h2>
<div class="text">{story}{note}
<dl><dt>File</dt><dd><code>examples/{row.name}.py</code></dd>
<dt>Size</dt><dd>{size or "–"}</dd>{check}</dl></div>
{trace}{gallery}
</section>"""


def page(rows, facts, when, total=None):
    """The whole page. `facts` are pairs about the machine, `when` is in seconds since 1970. `total` is the number of
    all programs, where some have not run yet."""
    unfinished = f'<p class="note">{len(rows)} of {total} programs have run.</p>' if total and total > len(rows) else ""
    date = datetime.datetime.fromtimestamp(when).astimezone().strftime("%d %B %Y, %H:%M %Z")
    machine = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    sections = "\n".join(section(row) for row in rows)
    return f"""<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head><meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>treadle: demonstration</title>
<style>
{STYLE.read_text(encoding="utf-8")}
</style></head>
<body><main>
<header><p class="name">treadle</p>
<h1>{escape(headline(rows))}</h1>
<p>Programs of this kind are plain NumPy files whose import says <code>import treadle as np</code>.
The same text ran under NumPy and under treadle on this machine, and the results were compared.
Those in <code>examples/kernels</code> and <code>examples/raw</code> write kernels of their own; beside
them stands NumPy code that computes the same. Those in <code>examples/torch</code> are PyTorch
programs, which run as they stand; PyTorch takes NumPy's place there, where it is installed.</p>
</header>
{unfinished}{table(rows)}
<p class="fine">NumPy and treadle: the median of repeated calls. First call: treadle's, with an
empty kernel cache, so that it contains compiling. Times end when every result exists in memory.
The average is the geometric mean. Error: the largest difference from NumPy's result, relative,
unless the program says otherwise. The axis is logarithmic; the line marks NumPy's speed.</p>
{sections}
<footer><dl>{machine}<dt>Date</dt><dd>{date}</dd></dl></footer>
</main></body></html>
"""

"""HTML pages of what was recorded: one self-contained file each, for a browser or a notebook.

`timeline` and `profile_table` return fragments, which a notebook can show by themselves.
"""

import html

from ._source import short

STYLE = """
.td-page{--ink:#1c2330;--dim:#5d6675;--line:#d9dee7;--back:#fff;--code:#f3f5f9;color:var(--ink);background:var(--back);
font:15px/1.5 system-ui,sans-serif}
@media(prefers-color-scheme:dark){.td-page{--ink:#e6eaf2;--dim:#9aa4b5;--line:#333c4c;--back:#12161d;--code:#1c222c}}
body.td-page{max-width:70rem;margin:2rem auto;padding:0 1rem}
.td-page h1{font-size:1.4rem}.td-page h2{font-size:1.05rem;margin:2rem 0 .4rem}
.td-page pre{background:var(--code);padding:.6rem .8rem;overflow-x:auto;border-radius:4px}
.td-page table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.td-page td,.td-page th{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
.td-page td.n,.td-page th.n{text-align:right}.td-page .scroll{overflow-x:auto}.td-page .dim{color:var(--dim)}
.td-page svg{display:block}.td-page svg text{fill:var(--dim);font:11px system-ui,sans-serif}
.td-page .save{font-weight:600}.td-page .lanes{display:flex}.td-page .lanes .scroll{flex:1}
.td-page .names{padding:22px 12px 0 0;font-size:12px;color:var(--dim)}
.td-page .names div{height:26px;white-space:nowrap}
"""

_COLOURS = {
    "kernel": "#3b7dd8", "graph": "#3b7dd8", "copy_in": "#d9822b", "copy_out": "#c23030", "copy": "#a67908",
    "fill": "#8a9ba8", "gemm": "#0f9960",
    "sort": "#0f9960", "solve": "#0f9960", "fourier": "#0f9960", "collective": "#634dbf",
    "compile": "#8f398f", "load": "#b58ab5", "wait": "#7a8594", "alloc": "#9fb3a8", "free": "#9fb3a8",
}  # fmt: skip
TOP, LANE = 22, 26  # pixels above the lanes, and for each lane
MOST = 3000  # spans of a timeline; beyond that the longest are shown


def escape(text):
    return html.escape(str(text), quote=True)


def page(title, sections):
    """A whole HTML page."""
    return (
        '<!DOCTYPE html>\n<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8" />'
        '<meta name="viewport" content="width=device-width, initial-scale=1" />'
        f'<meta name="color-scheme" content="light dark" /><title>{escape(title)}</title><style>{STYLE}</style></head>'
        f'<body class="td-page"><h1>{escape(title)}</h1>\n{"".join(sections)}\n</body></html>\n'
    )


def section(title, body):
    return f"<section><h2>{escape(title)}</h2>{body}</section>\n"


def table(head, rows):
    """An HTML table. Columns of numbers are right-aligned."""
    rows = [[str(c) for c in row] for row in rows]
    right = [
        bool(rows) and all(r[i].strip("…-").replace(".", "").isdigit() or not r[i] for r in rows)
        for i in range(len(head))
    ]

    def line(cells, tag):
        opened = [f'<{tag} class="n">' if n else f"<{tag}>" for n in right]
        return f"<tr>{''.join(f'{o}{escape(c)}</{tag}>' for o, c in zip(opened, cells, strict=True))}</tr>"

    return f'<div class="scroll"><table>{line(head, "th")}{"".join(line(r, "td") for r in rows)}</table></div>'


def finding(f, saving, cost):
    """The section for one of the adviser's findings."""
    code = f"<pre>{escape(f.code)}</pre>" if f.code else ""
    change = f"<pre>{escape(f.suggestion)}</pre>" if f.suggestion else ""
    body = (
        f'<p class="dim">{escape(f.id)}, {escape(cost)}</p>{code}<p>Change: {escape(f.change)}</p>{change}'
        f'<p>Saves <span class="save">{escape(saving)}</span></p>'
    )
    return section(f"{f.line}: {f.what}", body)


def profile_table(profile, limit=60):
    """A profile's groups as an HTML table."""
    rows = [[*r[:-1], short(r[-1])] for r in profile.cells(limit)]
    return table(profile.HEAD, rows)


def profile_page(profile):
    total = max((r.end for r in profile.records), default=0.0)
    sections = [section("Timeline", timeline(profile)), section("By line", profile_table(profile))]
    return page(f"treadle profile: {len(profile.records)} records in {total:.3f} s", sections)


# ---- the timeline ----


def timeline(profile):
    """A profile's records as an HTML fragment: a lane for each host thread and device stream, time to the right.

    A tooltip describes each span, and a slider widens the lanes."""
    lanes = _lanes(profile)
    total = max((end for spans in lanes.values() for _, end, _ in spans), default=0.0)
    if not total:
        return f'<div class="td-page"><style>{STYLE}</style><p class="dim">nothing ran</p></div>'
    # Positions in time are percentages of the drawing's width, so that the slider stretches the spans but no text.
    drawn = [f'<text x="{100 * t / total:.3f}%" y="14">{_duration(t)}</text>' for t in _ticks(total)]
    for i, spans in enumerate(lanes.values()):
        drawn += [_span(begin / total, (end - begin) / total, TOP + i * LANE, r) for begin, end, r in spans]
    names = "".join(f"<div>{escape(name)}</div>" for name in lanes)
    left_out = len([r for r in profile.records if _is_drawn(r)]) - sum(map(len, lanes.values()))
    note = f'<p class="dim">the {left_out} shortest are not drawn</p>' if left_out else ""
    key = "".join(f'<span style="color:{_COLOURS[k]}">■</span> {k} ' for k in _kinds(lanes))
    wider = "this.closest('div').querySelector('svg').style.width=this.value+'%'"
    return (
        f'<div class="td-page"><style>{STYLE}</style><p>{key}</p><label class="dim">width '
        f'<input type="range" min="100" max="5000" value="100" oninput="{wider}" /></label>'
        f'<div class="lanes"><div class="names">{names}</div><div class="scroll">'
        f'<svg xmlns="http://www.w3.org/2000/svg" style="width:100%;height:{TOP + LANE * len(lanes)}px">'
        f"{''.join(drawn)}</svg></div></div>{note}</div>"
    )


def _is_drawn(r):
    return r.kind in _COLOURS and r.kind not in ("alloc", "free")


def _lanes(profile):
    """{lane: [(begin, end, record)]}, hosts first."""
    drawn = [r for r in profile.named() if _is_drawn(r)]
    spans = [(f"host, thread {r.thread}", r.begin, r.end, r) for r in drawn if r.on is None]
    spans += [(f"{r.device}, stream {r.stream}", r.on, r.off, r) for r in drawn if r.on is not None]
    spans = sorted(spans, key=lambda s: s[1] - s[2])[:MOST]
    lanes = {}
    for name, begin, end, r in sorted(spans, key=lambda s: (not s[0].startswith("host"), s[0], s[1])):
        lanes.setdefault(name, []).append((begin, end, r))
    return lanes


def _kinds(lanes):
    found = {r.kind for spans in lanes.values() for *_, r in spans}
    return [k for k in _COLOURS if k in found]


def _span(at, width, y, r):
    seconds = (r.off - r.on) if r.on is not None else (r.end - r.begin)
    rate = f", {r.nbytes / seconds / 1e9:.1f} GB/s" if r.nbytes and seconds and r.on is not None else ""
    size = f", {r.nbytes / 1e6:.3f} MB{rate}" if r.nbytes else ""
    tip = f"{r.kind} {r.name if r.name != r.kind else ''}: {_duration(seconds)}{size}\n{short(r.line)}"
    colour = _COLOURS[r.kind]
    place = f'x="{100 * at:.4f}%" y="{y}" width="{max(100 * width, 0.02):.4f}%" height="{LANE - 8}"'
    return f'<rect {place} fill="{colour}"><title>{escape(tip)}</title></rect>'


def _duration(seconds):
    unit, scale = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * scale:.3g} {unit}"


def _ticks(total):
    step = 10.0 ** int(f"{total:e}".partition("e")[2])
    step = next(s for s in (step / 10, step / 5, step / 2, step, 2 * step) if total / s <= 10)
    return [i * step for i in range(int(total / step) + 1)]

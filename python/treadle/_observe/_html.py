"""What notebooks show of arrays, tensors, profiles and graphs: tables of HTML. Every text in them is escaped."""

from html import escape

_LANE, _WIDTH, _MOST = 18, 640, 2000  # pixels of a lane and of a timeline; bars that are drawn at most
_COLOURS = {"kernel": "#00897b", "graph": "#00897b", "gemm": "#5e35b1", "copy_in": "#fb8c00", "copy_out": "#f4511e",
            "compile": "#c62828", "load": "#ad1457", "wait": "#9e9e9e"}  # fmt: skip


def facts(pairs, text):
    """A table of (name, value) pairs, and text below it as it stands: an array's."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name, _ in pairs)
    body = "".join(f"<td>{escape(str(value))}</td>" for _, value in pairs)
    return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{body}</tr></tbody></table><pre>{escape(text)}</pre>"


def array(a):
    """An array: shape, dtype, device and the values as repr(a) shows them; nothing else is computed."""
    return facts([("shape", a.shape), ("dtype", a.dtype), ("device", a.device)], repr(a))


def tensor(t):
    """A tensor, like an array; and whether it has a gradient."""
    pairs = [("shape", tuple(t.shape)), ("dtype", t.dtype), ("device", t.device)]
    if t.requires_grad:
        pairs.append(("requires_grad", True))
    return facts(pairs, repr(t))


def table(head, rows, caption="", notes=()):
    """Rows of texts under head, with a caption above and a paragraph for each note below."""
    lines = [f"<table><caption>{escape(caption)}</caption>" if caption else "<table>"]
    lines.append("<thead><tr>" + "".join(f"<th>{escape(c)}</th>" for c in head) + "</tr></thead><tbody>")
    lines += ["<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows]
    lines.append("</tbody></table>")
    return "".join(lines + [f"<p>{escape(note)}</p>" for note in notes])


def graph(g):
    """A graph: the kernels, products and copies that its last call launched, in order."""
    name = f"graph of {getattr(g, '__name__', 'a function')}, {g.recordings} recorded"
    if not g.recordings:
        return table((), (), name, ["It has not been called yet."])
    rows = [(kind, what, f"{nbytes:,}" if nbytes else "", line) for kind, what, nbytes, line in g._work()]
    notes = [f"{g.kernels} launched by a call, {g.nbytes:,} bytes kept for temporaries"]
    return table(("kind", "name", "bytes", "line"), rows, name, notes)


def timeline(records):
    """SVG of a profile's records: a lane for each stream of a device and each thread of the host, time from left to
    right. Of more than 2000 records the longest are drawn."""
    spans = [(r.device, f"stream {r.stream}", r.on, r.off, r) for r in records if r.on is not None]
    spans += [("host", f"thread {r.thread}", r.begin, r.end, r) for r in records if r.begin is not None]
    spans = sorted(spans, key=lambda s: s[2] - s[3])[:_MOST]
    if not spans:
        return ""
    last = max(s[3] for s in spans) or 1.0
    lanes = {lane: i for i, lane in enumerate(sorted({s[:2] for s in spans}))}
    width, height = _WIDTH + 160, _LANE * len(lanes) + 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" viewBox="0 0 {width} {height}" '
             'style="max-width:100%" font-family="sans-serif" font-size="11" fill="currentColor">']  # fmt: skip
    for (device, lane), i in lanes.items():
        parts.append(f'<text x="0" y="{i * _LANE + 13}">{escape(f"{device}, {lane}")}</text>')
    for device, lane, begin, end, r in spans:
        x, y, width = 150 + begin / last * _WIDTH, lanes[device, lane] * _LANE + 3, (end - begin) / last * _WIDTH
        title = escape(f"{r.kind} {r.name}, {(end - begin) * 1e3:.3f} ms, {r.line}")
        parts.append(f'<rect x="{x:.2f}" y="{y}" width="{max(width, 0.5):.2f}" height="{_LANE - 5}" '
                     f'fill="{_COLOURS.get(r.kind, "#78909c")}"><title>{title}</title></rect>')  # fmt: skip
    y = _LANE * len(lanes) + 14
    parts.append(f'<text x="150" y="{y}">0</text><text x="{150 + _WIDTH}" y="{y}" text-anchor="end">'
                 f"{last * 1e3:.3f} ms</text></svg>")  # fmt: skip
    return "".join(parts)

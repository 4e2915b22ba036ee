"""What notebooks show of arrays, tensors, profiles and graphs: tables of HTML. Every text in them is escaped."""

from html import escape


def facts(pairs, text):
    """An HTML table of (name, value) pairs, with preformatted text below it."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name, _ in pairs)
    body = "".join(f"<td>{escape(str(value))}</td>" for _, value in pairs)
    return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{body}</tr></tbody></table><pre>{escape(text)}</pre>"


def array(a):
    """HTML of an array: shape, dtype, device, and its values as repr(a) shows them. Nothing else is computed."""
    return facts([("shape", a.shape), ("dtype", a.dtype), ("device", a.device)], repr(a))


def tensor(t):
    """HTML of a tensor, like an array's, with whether it has a gradient."""
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

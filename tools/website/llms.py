"""llms.txt, the site's pages with a line about each, and llms-full.txt, their texts: for programs that read."""

import re

TAG = re.compile(r"<svg.*?</svg>|<!--.*?-->", re.DOTALL)
HEAD = """# treadle

> treadle runs NumPy, CuPy, Numba, PyCUDA and PyTorch programs compiled for the machine they are on, an NVIDIA GPU or
> the CPU: by its own names (`import treadle as np`) or unchanged (`python -m treadle script.py`).
"""


def leaves(entries):
    """(section, page) for the pages of a nav, in order; the title of a page outside of sections stands for one."""
    for entry in entries:
        title, value = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        if isinstance(value, list):
            yield from ((title, page) for _, page in leaves(value))
        else:
            yield title, value


def title_and_line(text):
    """A page's title and the first sentence of its text."""
    title = re.search(r"^# (.*)", text, re.MULTILINE)[1]
    paragraphs = [p for p in text.split("\n\n") if re.match(r"[A-Za-z*\[]|`[^`]", p)]
    words = " ".join(paragraphs[0].split()) if paragraphs else ""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
    return title, re.split(r"(?<=\.) ", words)[0].rstrip(":")


def write(entries, folder, out):
    index, full, last = [HEAD], [HEAD], None
    for section, page in leaves(entries):
        text = TAG.sub("", (folder / page).read_text(encoding="utf-8"))
        title, line = title_and_line(text)
        if section != last:
            index.append(f"\n## {section}\n")
            last = section
        index.append(f"- [{title}]({page.removesuffix('.md')}.html): {line}")
        full.append(f"\n<!-- {page} -->\n\n{text}")
    (out / "llms.txt").write_text("\n".join(index) + "\n", encoding="utf-8")
    (out / "llms-full.txt").write_text("\n".join(full), encoding="utf-8")

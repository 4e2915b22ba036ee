"""The examples' pages: a gallery of all, and for each its story, its pictures and its text. The pictures are made here
by running the examples on the CPU."""

import html
import re

import stage

from treadle.demo import child, programs
from treadle.demo.png import write_png

# Sizes at which the pictures are drawn: large enough to see, a second or two to compute.
SIZES = {
    "heat": {"n": 384, "steps": 400},
    "mandelbrot": {"width": 320, "samples": 2, "frames": 14, "limit": 200},
    "kmeans": {"starts": 4, "rounds": 15},
    "image_filters": {"enlarge": 1},
    "kernels/life": {"height": 240, "width": 400, "generations": 100},
    "raw/life": {"height": 240, "width": 400, "generations": 60},
    "raw/photograph": {"enlarge": 1},
}
STEP = 2  # of the photographs' pixels

FAMILIES = {
    "": "NumPy programs",
    "kernels": "Kernels in Python",
    "raw": "Kernels in CUDA C++",
    "torch": "Tensors",
    "distributed": "Several processes",
    "c": "C programs",
}
HEAD = """# Examples

Programs of `examples/`, by face, each with what it shows and its whole text. The pictures were drawn when this site
was built, by the programs themselves on a CPU. `make demo` runs the programs beside NumPy, compares the results and
writes a report with times.
"""


def draw(name, folder):
    """[(caption, file name)] of an example's pictures; none where data that it shows are not installed."""
    import treadle as td

    program = programs.load(name)
    if not hasattr(program, "pictures"):
        return []
    with td.device("cpu"):
        try:
            result = child.on_host(td, program.main(*program.setup(**SIZES[name])))
        except ModuleNotFoundError as missing:
            if (missing.name or "").split(".")[0] not in programs.PACKAGES:
                raise
            print(f"gallery: no pictures of {name} without {missing.name}")
            return []
    found = []
    for i, (caption, picture) in enumerate(program.pictures(result).items(), 1):
        file = f"{name.replace('/', '-')}-{i}.png"
        photograph = not isinstance(picture, list) and "enlarge" in SIZES[name]
        write_png(folder / file, picture[::STEP, ::STEP].copy() if photograph else picture)
        found.append((caption, file))
    return found


def told(path):
    """(title, paragraphs) of an example's docstring, or of the comment that a C file begins with."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".c":
        comment = re.sub(r"^ \* ?", "", re.match(r"/\*(.*?)\*/", text, re.DOTALL)[1], flags=re.MULTILINE)
        title, *rest = comment.strip().split("\n\n")
        title = " ".join(title.split()).partition(" - ")[2]
        return title[0].upper() + title[1:].rstrip("."), rest
    title, *rest = re.search(r'"""(.*?)"""', text, re.DOTALL)[1].strip().split("\n\n")
    return " ".join(title.split()).rstrip("."), rest


def paragraph(text):
    """A paragraph of a docstring as Markdown: indented commands are a block of their own."""
    if text.startswith((" ", "Usage")):
        return "```text\n" + "\n".join(line.strip() for line in text.splitlines()) + "\n```"
    return " ".join(text.split())


def how(path):
    name = path.relative_to(stage.ROOT).as_posix()
    if path.suffix == ".c":
        return "make install\ncc " + name + " $(pkg-config --cflags --libs treadle)"
    return f"python {'-m treadle ' if '/torch/' in name else ''}{name}"


def page(path, pictures, folder):
    name = path.relative_to(stage.ROOT).as_posix()
    title, story = told(path)
    up = "../" * (len(path.relative_to(stage.ROOT).parts) - 1)
    lines = [f"# {title}", "", *(paragraph(p) + "\n" for p in story)]
    for caption, file in pictures:
        picture = f"![{caption}]({up}pictures/{file})<figcaption>{caption}</figcaption>"
        lines += [f'<figure markdown="span">{picture}</figure>', ""]
    language = "c" if path.suffix == ".c" else "python"
    text = path.read_text(encoding="utf-8").rstrip()
    lines += ["```sh", how(path), "```", "", f"`{name}`:", "", f"```{language}", text, "```"]
    out = folder / (name + ".md")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return title, story


def card(path, pictures, title, story):
    name = path.relative_to(stage.ROOT).as_posix()
    first = story[0] if story and not story[0].startswith((" ", "Usage")) else ""
    line = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(" ".join(first.split()), quote=False))
    picture = f'<img src="pictures/{pictures[-1][1]}" alt="{html.escape(title)}" loading="lazy">' if pictures else ""
    return (f'<a class="td-card" href="{name}.html">{picture}<strong>{html.escape(title)}</strong>'
            f"<code>{path.name}</code><span>{line}</span></a>")  # fmt: skip


def write(folder):
    """pictures/, a page for each example, gallery.md."""
    (folder / "pictures").mkdir()
    examples = stage.ROOT / "examples"
    paths = [examples / f"{n}.py" for n in (*programs.ALL, *programs.APART)] + sorted(examples.glob("c/*.c"))
    cards = {}
    for path in paths:
        name = path.relative_to(examples).with_suffix("").as_posix()
        pictures = draw(name, folder / "pictures") if name in programs.NAMES else []
        title, story = page(path, pictures, folder)
        family = name.rpartition("/")[0]
        cards.setdefault(family, []).append(card(path, pictures, title, story))
    lines = [HEAD]
    for family, shown in cards.items():
        lines += [f"## {FAMILIES[family]}", "", '<div class="td-cards">', *shown, "</div>", ""]
    (folder / "gallery.md").write_text("\n".join(lines), encoding="utf-8")

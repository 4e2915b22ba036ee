"""The notebooks of docs/notebooks: run, and written as pages with their outputs."""

import base64
import pathlib
import re

import stage

FOLDER = stage.ROOT / "docs" / "notebooks"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
CELL = re.compile(r"\S*/ipykernel_\d+/\d+\.py")  # the file that a cell is while it runs


def paths():
    return sorted(FOLDER.glob("*.ipynb"))


def run(path):
    """The notebook with its outputs. CellExecutionError where a cell raises."""
    import nbclient
    import nbformat
    from traitlets.config import Config

    book = nbformat.read(path, as_version=4)
    pipes = Config({"KernelManager": {"transport": "ipc"}})  # between the processes, without ports
    return nbclient.NotebookClient(book, timeout=120, kernel_name="python3", config=pipes).execute()


def fence(language, text):
    return f"```{language}\n{text.rstrip()}\n```\n"


def shown(output, save):
    """An output as Markdown; save(bytes) keeps a picture and gives its link."""
    if output.output_type == "stream":
        return fence("text", readable(output.text))
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="td-output">{readable(data["text/html"])}</div>\n'
    if "image/png" in data:
        return f"![]({save(base64.b64decode(data['image/png']))})\n"
    return fence("text", readable(data["text/plain"]))


def readable(text):
    """Outputs of a cell as they are the same in every run: without colours of a terminal and names of files."""
    return CELL.sub("cell", ANSI.sub("", text))


def markdown(book, name, folder):
    """The page of a notebook that has been run; its pictures go to folder."""
    parts, pictures = [], []

    def save(png):
        pictures.append(f"{name}-{len(pictures) + 1}.png")
        (folder / pictures[-1]).write_bytes(png)
        return pictures[-1]

    for cell in book.cells:
        if cell.cell_type == "markdown":
            parts.append(stage.to_site(cell.source, FOLDER / f"{name}.ipynb", folder.parent) + "\n")
        else:
            parts.append(fence("python", cell.source))
            parts += [shown(output, save) for output in cell.outputs]
    return "\n".join(parts)


def write(folder, ready=None):
    """notebooks/*.md under folder. ready: a folder that has the notebooks with their outputs already."""
    import nbformat

    out = folder / "notebooks"
    out.mkdir(exist_ok=True)
    for path in paths():
        book = nbformat.read(pathlib.Path(ready) / path.name, as_version=4) if ready else run(path)
        (out / path.with_suffix(".md").name).write_text(markdown(book, path.stem, out), encoding="utf-8")

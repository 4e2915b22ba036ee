"""The pages of docs/ and what they lead to, laid out for MkDocs: links into the repository become links of the site."""

import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent

# Files of the repository that are pages of the site by another name.
MOVED = {
    "README.md": "index.md",
    "examples/README.md": "gallery.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
FENCE = re.compile(r"^(```.*?^```\n?)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\[[^\]]*\])\(([^)\s]+)\)")
LIST = re.compile(r"^(?![-*] |\d+\. | |\||#|$)(.+)\n(?=[-*] )", re.MULTILINE)


def place(path):
    """The page or file of the site that stands for a file of the repository; path: relative to the repository."""
    name = path.as_posix()
    if name in MOVED:
        return pathlib.PurePosixPath(MOVED[name])
    if path.parts[0] == "docs":
        page = pathlib.PurePosixPath(*path.parts[1:])
        return page.with_suffix(".md") if page.suffix == ".ipynb" else page
    if path.parts[0] == "examples" and path.suffix in (".py", ".c"):
        return pathlib.PurePosixPath(name + ".md")
    return pathlib.PurePosixPath("files", *(part.lstrip(".") for part in path.parts))  # MkDocs leaves hidden files out


def to_site(text, source, folder):
    """The text of the page `source` with its links led to where their targets stand in the site. Targets that are no
    pages are copied under folder."""
    here = place(source.relative_to(ROOT))

    def link(match):
        target, _, anchor = match[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        file = (source.parent / target).resolve()
        if not file.is_relative_to(ROOT) or not file.exists():
            return match[0]  # MkDocs tells of it
        if file.is_dir():
            file = ROOT / "README.md" if file == ROOT / "docs" else file / "README.md"
            if not file.exists():
                return match[1][1:-1]  # a folder is no page
        there = place(file.relative_to(ROOT))
        if there.parts[0] == "files":
            (folder / there).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder / there)
        elif file.name == "README.md":
            anchor = ""  # another page stands for it
        up = "../" * (len(here.parts) - 1)
        return f"{match[1]}({up}{there}{'#' if anchor else ''}{anchor})"

    parts = FENCE.split(text)
    for i in range(0, len(parts), 2):  # the others are fenced blocks
        # MkDocs' Markdown wants an empty line before a list.
        parts[i] = LIST.sub(r"\1\n\n", LINK.sub(link, parts[i]))
    return "".join(parts)


def document(source, folder):
    out = folder / place(source.relative_to(ROOT))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(to_site(source.read_text(encoding="utf-8"), source, folder), encoding="utf-8")


def documents(folder):
    """docs/*.md, the files of MOVED that are there, and the theme's files."""
    folder.mkdir(parents=True)
    for source in sorted((ROOT / "docs").glob("*.md")):
        document(source, folder)
    for name in MOVED:
        if not name.endswith("README.md") and (ROOT / name).exists():
            document(ROOT / name, folder)
    shutil.copytree(HERE / "assets", folder / "assets")


def nav(entries, folder, reference):
    """mkdocs.yml's nav with the reference's pages, without pages that may be absent and are."""
    done = []
    for entry in entries:
        title, value = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        if isinstance(value, list):
            value = nav(value, folder, reference)
            if not value:
                continue
        elif value == "reference":
            done += reference
            continue
        elif value.startswith("?"):
            value = value[1:]
            if not (folder / value).exists():
                continue
        done.append({title: value} if title else value)
    return done

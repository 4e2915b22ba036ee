"""pages.py FOLDER TREE - writes the Python of README.md and docs/*.md there, a module for each page, for pyright, with
its settings; TREE has the package.

The blocks of a page share one namespace, as tests/python/doc_pages.py runs them. Of sessions the statements are taken.
Lines are where they are on the page, so that what a checker says of a line is true of the page.
"""

import doctest
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import doc_pages  # noqa: E402


def statements(text):
    """The statements of a session, on the lines where they are."""
    lines = [""] * (text.count("\n") + 1)
    for example in doctest.DocTestParser().get_examples(text):
        for k, line in enumerate(example.source.splitlines()):
            lines[example.lineno + k] = line
    return "\n".join(lines) + "\n"


def module(page):
    out, at = "", 1
    for line, text in doc_pages.of(page, "python"):
        text = statements(text) if ">>>" in text else text
        out += "\n" * (line - at) + text
        at = line + text.count("\n")
    return out


def settings(tree):
    """An expression whose value nobody uses is what a reader would type."""
    return {
        "pythonVersion": "3.11",
        "typeCheckingMode": "basic",
        "reportUnusedExpression": False,
        "extraPaths": [str(pathlib.Path(tree).resolve())],
        "venvPath": str(ROOT),
        "venv": ".venv",
    }


def main(folder, tree):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if text := module(page):
            (folder / f"page_{page.stem.lower().replace('-', '_')}.py").write_text(text, encoding="utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps(settings(tree)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

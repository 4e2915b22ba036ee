"""Every block of code in README.md and docs/ is run, or is of a kind that is named here."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMANDS = ("make ", "export ", "python -m treadle", "TREADLE_", "cc ", "pkg-config ")  # what shell blocks may hold


def blocks(page):
    """(language, text) of each fenced block."""
    return BLOCK.findall(page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_blocks_run(page):
    text = "\n".join(code for language, code in blocks(page) if language == "python")
    exec(compile(text, str(page), "exec"), {"__name__": "docs"})


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_shell_blocks_are_known(page):
    for language, code in blocks(page):
        assert language in ("python", "sh", "c", "text"), f"{page.name}: a block of kind {language!r}"
        if language != "sh":
            continue
        for line in code.splitlines():
            assert line.startswith(COMMANDS), f"{page.name}: {line}"
            if line.startswith("TREADLE_"):
                command = line.replace("python ", sys.executable + " ", 1)
                run = subprocess.run(command, shell=True, env=os.environ, capture_output=True, text=True)
                assert run.returncode == 0, run.stderr


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"

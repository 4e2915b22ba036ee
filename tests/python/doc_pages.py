"""The fenced blocks of a page of the documentation, and its Python run.

A program too: doc_pages.py PAGE runs the page's Python; with --no-compiler before it, on a machine that has no C++
compiler, where blocks that need one have to say so and are left there.
"""

import contextlib
import doctest
import functools
import io
import pathlib
import re
import sys

FENCE = re.compile(r"^```(\S*)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
DOCTEST = doctest.ELLIPSIS


@functools.cache
def blocks(page):
    """[(language, line number of its first line, text)]."""
    text = page.read_text(encoding="utf-8")
    return [(m[1], text.count("\n", 0, m.start()) + 2, m[2]) for m in FENCE.finditer(text)]


def of(page, *languages):
    return [(line, text) for language, line, text in blocks(page) if language in languages]


def run_session(text, scope, name, line):
    """Statements with `>>>` and the output that belongs to them."""
    out = io.StringIO()
    test = doctest.DocTestParser().get_doctest(text, scope, name, name, line - 1)
    test.globs = scope  # not a copy: later blocks see what this one defines
    runner = doctest.DocTestRunner(optionflags=DOCTEST, verbose=False)
    runner.run(test, out=out.write, clear_globs=False)
    assert runner.failures == 0, out.getvalue()


@contextlib.contextmanager
def without_compiler():
    """Ends a block where it needs a C++ compiler."""
    try:
        yield
    except ImportError as e:
        assert "needs a C++ compiler on PATH" in str(e), e


def run_page(page, about_block=contextlib.nullcontext):
    """Runs a page's Python; in a process of its own, where no other page's memory, devices or settings are."""
    scope = {"__name__": "__docs__"}
    for line, text in of(page, "python"):
        name = f"{page.name}:{line}"
        with about_block():
            if ">>>" in text:
                run_session(text, scope, name, line)
                continue
            code = compile("\n" * (line - 1) + text, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, scope)


if __name__ == "__main__":
    run_page(pathlib.Path(sys.argv[-1]), without_compiler if sys.argv[1] == "--no-compiler" else contextlib.nullcontext)

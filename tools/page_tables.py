"""What the scripts that write a page's tables share: a table stands between a line that names it and a closing one."""

import sys

BEGIN, END = "<!-- table: {} -->", "<!-- end -->"


def rewritten(text, table):
    """The page with table(name) where each of its tables was."""
    done, rest = "", text
    while "<!-- table: " in rest:
        head, _, rest = rest.partition("<!-- table: ")
        name, _, rest = rest.partition(" -->")
        _, _, rest = rest.partition(END)
        done += f"{head}{BEGIN.format(name)}\n{table(name)}{END}"
    return done + rest


def write(path, table):
    """Writes the page anew; with --check it only exits, with 1 where the page is old."""
    new = rewritten(path.read_text(), table)
    if "--check" in sys.argv:
        sys.exit(new != path.read_text())
    path.write_text(new)

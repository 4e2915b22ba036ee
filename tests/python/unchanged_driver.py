"""Runs the snippets of a file, each as a program of its own, and prints what it prints: driver.py FILE."""

import contextlib
import io
import sys
import warnings

warnings.simplefilter("ignore")
for number, text in enumerate(open(sys.argv[1]).read().split("\n##\n")):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile("import numpy as np\n" + text, "<string>", "exec"), {"__name__": "__main__", "__file__": __file__})
        except Exception as e:
            print(f"{type(e).__module__}.{type(e).__qualname__}: {e}")
    print(f"@@ {number}\n{out.getvalue()}", end="")

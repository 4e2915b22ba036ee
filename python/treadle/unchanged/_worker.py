"""The main program of a process that multiprocessing spawned for ``python -m treadle script.py``.

It runs the same script with the same modules replaced, under the name that multiprocessing gives it.
"""

import os

from treadle.unchanged import install

install()
__file__ = os.environ["TREADLE_MAIN"]
with open(__file__, "rb") as f:
    exec(compile(f.read(), __file__, "exec", dont_inherit=True))

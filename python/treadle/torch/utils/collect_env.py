"""``torch.utils.collect_env``: what a report of a fault says of the machine: the text of `python -m treadle info`."""

import contextlib
import io

from ... import __main__ as _command
from ..._public import dir_of as _dir_of


def get_pretty_env_info():
    """What is there and what is missing, as text."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        _command.info()
    return text.getvalue()


def main():
    """Prints it."""
    print(get_pretty_env_info())


__dir__ = _dir_of(__name__)

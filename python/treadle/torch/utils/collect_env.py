"""``torch.utils.collect_env``: facts about the machine for a bug report, as `python -m treadle info` prints them."""

import contextlib
import io

from ... import __main__ as _command
from ..._public import dir_of as _dir_of


def get_pretty_env_info():
    """What is installed and what is missing, as text."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        _command.info()
    return text.getvalue()


def main():
    """Print the text."""
    print(get_pretty_env_info())


__dir__ = _dir_of(__name__)

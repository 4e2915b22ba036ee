"""An elementwise formula that all rows of tensors go through in one call, in place."""

from ... import _core, torch


class Each:
    """formula(*tensors, *numbers) is a tuple of the new values of row[0], row[2], row[3] …: of all but the gradient."""

    _made = {}  # by name, dtypes and device: a formula is recorded once in a process

    def __init__(self, formula, row, count):
        places = (0, *range(2, len(row)))
        self._run = None
        if all(t.is_floating_point() for t in row):
            self._run = _core._grad_each(formula, row, count, places)

    @classmethod
    def of(cls, name, formula, row, count):
        """The one of this name for rows like this one; the name says all that the formula depends on."""
        key = (name, count, row[0].device, *[t.dtype for t in row])
        made = cls._made.get(key)
        if made is None:
            made = cls._made[key] = cls(formula, row, count)
        return made

    def run(self, numbers, rows):
        """Writes the rows; a list of those that have to be recorded."""
        return rows if self._run is None else _core._grad_each_run(self._run, numbers, rows)

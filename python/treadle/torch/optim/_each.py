"""An elementwise formula, applied in place to all rows of tensors in one call."""

from ... import _core, torch


def _places(numbers):
    """The indices of the numbers that are tensors without axes. Their values lie on the device."""
    return tuple(i for i, x in enumerate(numbers) if isinstance(x, torch.Tensor))


class Each:
    """formula(*tensors, *numbers) returns a tuple of the new values of row[0], row[2], row[3], …: all tensors but the
    gradient, row[1]."""

    _made = {}  # by name, dtypes and device, so that a process records each formula once

    def __init__(self, formula, row, numbers):
        places = (0, *range(2, len(row)))
        self._run, self._places = None, _places(numbers)
        shared = [numbers[i] for i in self._places]

        def apart(*args):
            numbers = list(args[len(row) + len(shared) :])
            for i, x in zip(self._places, args[len(row) :]):
                numbers.insert(i, x)
            return formula(*args[: len(row)], *numbers)

        if all(t.is_floating_point() for t in (*row, *shared)):
            count = len(numbers) - len(shared)
            self._run = _core._grad_each(apart, (*row, *shared), count, places, len(shared))

    @classmethod
    def of(cls, name, formula, row, numbers):
        """The Each of this name for rows and numbers of these kinds. The name must say all that the formula depends on.
        """
        key = (name, len(numbers), _places(numbers), row[0].device, *[t.dtype for t in row])
        made = cls._made.get(key)
        if made is None:
            made = cls._made[key] = cls(formula, row, numbers)
        return made

    def run(self, numbers, rows):
        """Write the rows. Returns a list of those that have to be recorded instead."""
        if self._run is None:
            return rows
        if not self._places:
            return _core._grad_each_run(self._run, numbers, rows)
        shared = [numbers[i] for i in self._places]
        rest = tuple(x for i, x in enumerate(numbers) if i not in self._places)
        left = _core._grad_each_run(self._run, rest, [(*row, *shared) for row in rows])
        return [row[: -len(shared)] for row in left]

"""Makes Dask's workers evaluate the arrays that a task returns before the task counts as done.

Arrays are lazy. A task that only records its work would be done at once; its time and its failures would fall on the
task that reads the value, and Dask would keep the inputs in place of the result.
"""

import functools

from ... import _core


def register(worker):
    """Wrap the function that runs a worker's tasks. Called once distributed.worker has been imported."""
    for name, index in (("_run_task_simple", 0), ("apply_function_simple", 0)):  # before 2025 functions and arguments
        run = getattr(worker, name, None)
        if run is not None:
            setattr(worker, name, _evaluating(run, index))


def _evaluating(run, index):
    @functools.wraps(run)
    def wrapper(*args, **kwargs):
        task = args[index]

        def finished(*values, **named):
            result = task(*values, **named)
            arrays = list(_arrays(result, 3))
            if arrays:
                _core.evaluate(*arrays)
            return result

        return run(*args[:index], finished, *args[index + 1 :], **kwargs)

    return wrapper


def _arrays(value, depth):
    """The arrays in a result, also those in containers of it."""
    if isinstance(value, _core.ndarray):
        yield value
    elif depth and isinstance(value, (list, tuple, set)):
        for v in value:
            yield from _arrays(v, depth - 1)
    elif depth and isinstance(value, dict):
        for v in value.values():
            yield from _arrays(v, depth - 1)

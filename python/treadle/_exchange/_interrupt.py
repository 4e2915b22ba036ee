"""Long calls of NumPy's libraries that Ctrl-C ends at once: sorts of large arrays look for no signals.
"""

import contextvars
import functools
import threading
from concurrent.futures import Future, TimeoutError

FROM = 32 << 20  # bytes of the operands from which on a call may take longer than a tenth of a second
LOOK = 0.05  # seconds between looks for signals


def interruptible(f, nbytes):
    """f, which works on nbytes of memory, in a form whose caller KeyboardInterrupt reaches at once.

    In the main thread, which alone gets signals, another thread runs f. After an interruption it goes on, with a result
    that nobody will look at. Not for BLAS, which waits for ever where a program ends in the middle of a call."""
    if nbytes < FROM or threading.current_thread() is not threading.main_thread():
        return f

    @functools.wraps(f)
    def call(*args, **kwargs):
        done = Future()
        state = contextvars.copy_context()  # numpy.errstate

        def run():
            try:
                done.set_result(state.run(f, *args, **kwargs))
            except BaseException as error:  # result() raises it
                done.set_exception(error)

        threading.Thread(target=run, name="treadle-library", daemon=True).start()
        while True:
            try:  # Python overlooks a signal that comes just before a wait begins
                return done.result(LOOK)
            except TimeoutError:
                if done.done():
                    return done.result()  # an error of f itself

    return call

"""The table of the adviser's questions, with the function that answers each from what was recorded.

A finder returns Findings (_finding.py). It claims only what the records and the program's text show.
"""

from . import _find_looks as looks
from . import _find_work as work
from ._profile import aside

# id, question, how it is answered, finder. A test compares the page of the docs with this table.
ROWS = [
    ("element-read", "Are elements read one by one?",
     "NumPy's subscripts and treadle's reads of one element, by line", looks.find_element_read),
    ("element-write", "Are elements written one by one?", "the same for assignments", looks.find_element_write),
    ("demand", "Is a value needed in the middle of a computation?",
     "kernels asked for by a line that takes a number or prints", looks.find_demand),
    ("wait", "Does the program wait for the device again and again?",
     "waits at lines that synchronize", looks.find_wait),
    ("round-trip", "Do arrays come down and go up again?",
     "a copy to the host, then one of as many bytes to the device", looks.find_round_trip),
    ("transfer", "Is the same array copied again and again?",
     "copies in a loop that changes none of their names", looks.find_transfer),
    ("compile", "Are kernels compiled again and again?",
     "compilations by line, and what differs between them", work.find_compile),
    ("launches", "Are there many small launches?",
     "200 kernels and more of one line, on 64 kB and less", work.find_launches),
    ("small-calls", "Does NumPy do small work in a loop?",
     "1000 calls and more of one line, on fewer than 1000 elements", work.find_small_calls),
    ("float64", "Is float32 widened by a float64 operand?",
     "dtypes of operands, as operations are recorded", work.find_float64),
    ("stride", "Is memory read out of order?", "strides of operands", work.find_stride),
    ("memory", "Does an intermediate array make the peak?",
     "an allocation of 32 MB and more, of eight times what its kernel reads", work.find_memory),
    ("fallback", "What does NumPy compute for treadle?", "treadle.fallbacks()", work.find_fallback),
]  # fmt: skip


NOISE = 1e-3  # share of the program's time; smaller savings are not reported


def find(seen):
    """All Findings, the largest savings first.

    Findings about memory, and waits for a GPU, are always reported: the time of a wait does not show what the host
    could have done meanwhile."""
    with aside():
        found = [f for *_, finder in ROWS for f in finder(seen)]
    always = {"memory"} if seen.device == "cpu" else {"memory", "wait"}
    found = [f for f in found if f.id in always or f.saved is None or f.saved >= NOISE * seen.seconds]
    return sorted(found, key=lambda f: -(f.saved or 0.0))

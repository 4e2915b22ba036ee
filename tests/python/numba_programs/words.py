"""Words counted in a dict that the caller has."""

from numba import njit, types
from numba.typed import Dict


@njit
def count(text, counts):
    for word in text.lower().split():
        word = word.strip(".,")
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1


counts = Dict.empty(key_type=types.unicode_type, value_type=types.int64)
for line in ("The cat saw the dog.", "the dog, the end", "a dog", "x", "y y", "z"):
    count(line, counts)
print(sorted(counts.items()), counts["the"], len(counts))

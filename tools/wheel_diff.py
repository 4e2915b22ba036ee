"""wheel_diff.py ONE OTHER - names the entries in which two wheels differ, and where the first difference lies."""

import sys
import zipfile


def differences(one, other):
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        for name in sorted({*a.namelist(), *b.namelist()}):
            if name not in a.namelist() or name not in b.namelist():
                yield f"{name} is in one of them alone"
                continue
            left, right = a.read(name), b.read(name)
            if left != right:
                at = next((i for i, (x, y) in enumerate(zip(left, right)) if x != y), min(len(left), len(right)))
                here = f"{left[at : at + 32]} {right[at : at + 32]}"
                yield f"{name}: {len(left)} and {len(right)} bytes, first at {at}: {here}"


if __name__ == "__main__":
    print(*differences(*sys.argv[1:]), sep="\n")

"""Fail where a wheel lacks its licence files, its metadata do not name them, or it holds what only tests load.

Usage: wheel_check.py WHEEL
"""

import email
import pathlib
import sys
import tomllib
import zipfile

import notices


def complaints(wheel, table):
    """What the wheel, an open archive, lacks, or holds and should not."""
    names = wheel.namelist()
    yield from (f"{name} is the tests'" for name in names if "libtreadle_null" in name)
    info = next(name for name in names if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(info))
    if metadata["License-Expression"] != notices.expression(table):
        yield f"License-Expression is {metadata['License-Expression']}"
    if metadata.get_all("License-File", []) != table["wheel"]["files"]:
        yield f"License-File is {metadata.get_all('License-File')}"
    for file in table["wheel"]["files"]:
        want = (notices.TOP / file).read_bytes()
        for place in (f"{info.rpartition('/')[0]}/licenses/{file}", f"treadle/licenses/{file}"):
            if place not in names or wheel.read(place) != want:
                yield f"{place} is missing or is not the repository's"


def main(path):
    table = tomllib.loads(notices.TABLE.read_text(encoding="utf-8"))
    with zipfile.ZipFile(path) as wheel:
        found = list(complaints(wheel, table))
    for line in found:
        print(f"{pathlib.Path(path).name}: {line}", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""wheel_pack.py WHEEL - writes the wheel anew: as small as deflate goes, entries by name, no times.

Two builds of the same files are then the same bytes.
"""

import os
import sys
import zipfile


def main(path):
    new = path + ".new"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for entry in sorted(old.infolist(), key=lambda e: (".dist-info/" in e.filename, e.filename)):
            info = zipfile.ZipInfo(entry.filename)
            info.external_attr, info.compress_type = entry.external_attr, zipfile.ZIP_DEFLATED
            out.writestr(info, old.read(entry), compresslevel=9)
    os.replace(new, path)


main(sys.argv[1])

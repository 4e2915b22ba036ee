"""wheel_pack.py WHEEL [FOLDER] - writes the wheel anew: as small as deflate goes, entries by name, no times.

Two builds of the same files are then the same bytes. zopfli takes a minute for what zlib's best level leaves 4% larger;
zipfile cannot be told of another compressor, so the archive's records are written here. Given a folder, big entries
are kept there as they were packed, and taken from there while their bytes are the same.
"""

import functools
import hashlib
import os
import pathlib
import struct
import sys
import zipfile
import zlib

import zopfli.zlib

VERSION, DEFLATED, UTF8, MIDNIGHT = 20, 8, 0x800, 1 << 5 | 1  # the first of January 1980, the least date of the format
UNIX = 3 << 8
BIG = 1 << 19  # bytes: zopfli takes seconds


def deflated(data):
    """Raw deflate: zlib's stream without its header of 2 bytes and its sum of 4."""
    return zopfli.zlib.compress(data, numiterations=1)[2:-4]


def recalled(folder, used, data):
    """What deflated gives, from a file of the folder if the data is big; adds the file to used."""
    if len(data) < BIG:
        return deflated(data)
    kept = folder / hashlib.sha256(data).hexdigest()
    used.add(kept)
    if not kept.exists():
        part = kept.with_suffix(".part")
        part.write_bytes(deflated(data))
        part.replace(kept)
    return kept.read_bytes()


def packed(entries, deflate):
    """The bytes of an archive of (name, attributes, data)."""
    body, directory = bytearray(), bytearray()
    for name, attributes, data in entries:
        raw, short = name.encode(), deflate(data)
        what = struct.pack("<HHHHIIIH", UTF8, DEFLATED, 0, MIDNIGHT, zlib.crc32(data), len(short), len(data), len(raw))
        directory += struct.pack("<IHH", 0x02014B50, UNIX | VERSION, VERSION) + what
        directory += struct.pack("<HHHHII", 0, 0, 0, 0, attributes, len(body)) + raw
        body += struct.pack("<IH", 0x04034B50, VERSION) + what + struct.pack("<H", 0) + raw + short
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    return bytes(body + directory + end)


def main(path, folder=None):
    deflate, used = deflated, set()
    if folder:
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        deflate = functools.partial(recalled, folder, used)
    with zipfile.ZipFile(path) as old:
        order = sorted(old.infolist(), key=lambda e: (".dist-info/" in e.filename, e.filename))
        entries = [(e.filename, e.external_attr, old.read(e)) for e in order]
    with open(path + ".new", "wb") as out:
        out.write(packed(entries, deflate))
    os.replace(path + ".new", path)
    for kept in set(folder.iterdir()) - used if folder else ():
        kept.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])

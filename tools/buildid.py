"""Write a header that names what was built: a hash.  Usage: buildid.py OUT TEXT FILE..."""
import hashlib
import pathlib
import sys


def main(out, text, *files):
    h = hashlib.sha256(text.encode())
    for path in map(pathlib.Path, files):
        h.update(path.name.encode() + b"\0" + path.read_bytes())
    pathlib.Path(out).write_text(f'#define TD_BUILD_ID "{h.hexdigest()[:32]}"\n')


if __name__ == "__main__":
    main(*sys.argv[1:])

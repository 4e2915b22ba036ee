"""Write a header that names what was built: a hash over the given files.  Usage: buildid.py OUT FILE..."""
import hashlib
import pathlib
import sys


def main(out, files):
    h = hashlib.sha256()
    for path in files:
        h.update(pathlib.Path(path).name.encode() + b"\0" + pathlib.Path(path).read_bytes())
    text = f'#define TD_BUILD_ID "{h.hexdigest()[:32]}"\n'
    pathlib.Path(out).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

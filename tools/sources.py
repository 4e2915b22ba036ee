"""Print the C files of folders, one a line; with --all everything below them that C reads.

A folder that is not there holds none.  Usage: sources.py [--all] FOLDER..."""
import pathlib
import sys


def main(args):
    deep = args[0] == "--all"
    for folder in args[deep:]:
        for path in sorted(pathlib.Path(folder).glob("**/*.[chd]*" if deep else "*.c")):
            print(path.as_posix())


if __name__ == "__main__":
    main(sys.argv[1:])

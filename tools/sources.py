"""Print the C files of folders and of the rooms in them, one a line; with --all everything that C reads.

A folder that is not there holds none.  Usage: sources.py [--all] FOLDER..."""
import pathlib
import sys


def main(args):
    everything = args[0] == "--all"
    for folder in args[everything:]:
        for path in sorted(pathlib.Path(folder).glob("**/*.[chd]*" if everything else "**/*.c")):
            print(path.as_posix())


if __name__ == "__main__":
    main(sys.argv[1:])

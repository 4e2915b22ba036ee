"""Write THIRD_PARTY_NOTICES.txt from tools/licences.toml and the texts that this machine's packages have.

Usage: notices.py             writes the file
       notices.py --check DIR compares instead; DIR has been built: what its libraries link must be in the table

A text that the machine does not have is taken from the file as it is, and a line says so.  A text that it has in other
words, as another revision of a package does, passes while most lines are the same.
"""

import difflib
import fnmatch
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import textwrap
import tomllib

import find_libdevice
import find_nvcc

TOP = pathlib.Path(__file__).resolve().parent.parent
FILE = TOP / "THIRD_PARTY_NOTICES.txt"
TABLE = TOP / "tools/licences.toml"
LINK = re.compile(r"^build (libtreadle\w*\.so|_core\.\S*so): \S+ (.*)\n(?: .*\n)*? LINK_ARGS = (.*)$", re.MULTILINE)
OWN = ("*.p/src_*.o", "libloops.a")  # of treadle's sources alone
SAME = 0.8  # of the lines of a text and of the machine's
RULE = "=" * 100
MARK = re.compile(r"^\s*(?:/\*[*!]*|\*+/?|//[/!]?|\|\*) ?")  # of C's comments
MARK_BEHIND = re.compile(r"\s*(?:\*/|\*\|)$")


# ---- where the texts are ----


def _llvm():
    for tool in ("llvm-config-19", "/usr/lib/llvm-19/bin/llvm-config"):
        try:
            yield pathlib.Path(subprocess.run([tool, "--prefix"], capture_output=True, text=True).stdout.strip())
        except OSError:
            continue


def _cuda():
    """Toolkits, and folders of Python packages, in which a toolkit's licence lies beside it."""
    yield from (nvcc.parent.parent for nvcc in find_nvcc.candidates())
    yield from (path.parents[2] for path in find_libdevice.candidates())
    yield pathlib.Path(sysconfig.get_path("platlib"))


def _paths(row):
    """The files that may have a text."""
    match row:
        case {"debian": package}:
            yield pathlib.Path("/usr/share/doc", package, "copyright")
        case {"common": name}:
            yield pathlib.Path("/usr/share/common-licenses", name)
        case {"llvm": path}:
            yield from (prefix / path for prefix in _llvm())
        case {"gcc": path}:
            yield from sorted(pathlib.Path("/usr/include/c++").glob(f"*/{path}"))
        case {"own": path}:
            yield TOP / path
        case {"cuda": patterns}:
            yield from (path for root in _cuda() for pattern in patterns for path in sorted(root.glob(pattern)))


def _cut(text, row):
    """The lines from row's first to its last, without the marks of comments; all, if it names none."""
    lines = [line.rstrip() for line in text.replace("\ufeff", "").splitlines()]
    if "first" in row:
        start = next(i for i, line in enumerate(lines) if row["first"] in line)
        ends = [i for i, line in enumerate(lines) if i > start and row["last"] in line]
        lines = lines[start : ends[row.get("lasts", 1) - 1] + 1]
        if sum(bool(MARK.match(line)) for line in lines) > len(lines) / 2:
            lines = [MARK_BEHIND.sub("", MARK.sub("", line)) for line in lines]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def _found(row):
    """The text as the machine has it; None: it has none."""
    for path in _paths(row):
        if path.is_file():
            try:
                return _cut(path.read_text(encoding="utf-8"), row)
            except (StopIteration, IndexError):
                continue  # another version's file
    return None


def _origin(row):
    """Where a text comes from, in words that hold on every machine."""
    match row:
        case {"debian": package}:
            return f"the copyright file of the Debian package {package}"
        case {"common": name}:
            return f"Debian's common-licenses/{name}"
        case {"llvm": path}:
            return f"LLVM's {path}"
        case {"gcc": path}:
            return f"libstdc++'s {path}"
        case {"own": path}:
            return f"{path} of treadle's repository"
        case {"cuda": [pattern]}:
            return f"the CUDA toolkit's {pattern}"
        case {"cuda": _}:
            return "the licence of the CUDA toolkit, or of the Python package nvidia-nvvm"


# ---- the file ----


def committed(content):
    """{name: text} of a written file."""
    parts = re.split(rf"^{RULE}\nText: (.*)\nFrom: .*\n{RULE}\n", content, flags=re.M)
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2])}


def expression(table):
    """The SPDX expression of the wheel."""
    terms = {term for c in table["component"] for term in c["spdx"].split(" AND ")}
    own = table["wheel"]["spdx"]
    return " AND ".join([own, *sorted(terms - {own})])


def _indented(text):
    return textwrap.fill(text, len(RULE), initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _component(c):
    yield f"{c['name']}"
    yield f"    Version: {c['version']}"
    yield f"    Licence: {c['spdx']}"
    yield f"    In the wheel: {', '.join(c['where'])}"
    yield f"    Texts: {', '.join(c['texts'])}"
    if "note" in c:
        yield _indented(f"Note: {c['note']}")
    yield ""


def rendered(table, texts):
    """What the file has to be."""
    lines = ["What treadle's wheel contains of others' work, and its terms.",
             "Written by tools/notices.py from tools/licences.toml and the components' own files.", "",
             RULE, "Components", RULE, ""]  # fmt: skip
    for c in table["component"]:
        lines += _component(c)
    lines += [RULE, "Numbers and methods from publications", RULE, ""]
    for row in table["published"]:
        lines += [row["where"], _indented(row["what"]), ""]
    for name, row in sorted(table["text"].items()):
        lines += [RULE, f"Text: {name}", f"From: {_origin(row)}", RULE, "", texts[name], ""]
    return "\n".join(lines)


# ---- the checks ----


def linked(ninja):
    """[(library, piece)]: what the link lines of the package's libraries in a build.ninja take in, but for our own.

    libtreadle_null.so is the tests', and no wheel has it.
    """
    for m in LINK.finditer(ninja):
        library, objects = m[1], m[2].split(" | ")[0].split()
        if library == "libtreadle_null.so":
            continue
        options = shlex.split(m[3].replace("$$", "$"))
        pieces = list(objects)
        pieces += [o for o in options if o.endswith((".a", ".o")) or o.startswith("-l") or o == "-static-libgcc"]
        pieces += [o for o in options if ".so" in o and o[0] != "-" and not o.startswith("libtreadle")]
        yield from ((library, piece) for piece in pieces if not any(fnmatch.fnmatch(piece, own) for own in OWN))


def unnamed(table, ninja):
    """Complaints about pieces that no component accounts for."""
    known = [p for c in table["component"] for p in c["links"]] + table["wheel"]["system"]
    for library, piece in linked(ninja):
        if not any(fnmatch.fnmatch(piece, pattern) for pattern in known):
            yield f"{library} links {piece}, which no component of {TABLE.name} accounts for"


def _alike(a, b):
    lines = [[" ".join(line.split()) for line in text.splitlines() if line.strip()] for text in (a, b)]
    return difflib.SequenceMatcher(None, *lines, autojunk=False).ratio() >= SAME


def collect(table, have, find=_found):
    """(texts, remarks, complaints): texts by name, from the machine or else from `have`, the written ones."""
    texts, remarks, complaints = {}, [], []
    for name, row in sorted(table["text"].items()):
        text = find(row)
        if text is None and name in have:
            remarks.append(f"{name}: not on this machine; the text is {FILE.name}'s")
            text = have[name]
        if not text:
            complaints.append(f"{name}: no text, neither in {_origin(row)} nor in {FILE.name}")
        texts[name] = text or ""
    return texts, remarks, complaints


def faults(table, content, find=_found):
    """(remarks, complaints) about the file `content` beside the table and the machine's texts."""
    have = committed(content)
    texts, remarks, complaints = collect(table, have, find)
    wanted = {name for c in table["component"] for name in c["texts"]}
    complaints += [f"{name}: a component's text that the table does not describe" for name in wanted - texts.keys()]
    complaints += [f"{name}: a text of no component" for name in texts.keys() - wanted]
    complaints += [f"{c['name']}: it names no text" for c in table["component"] if not c["texts"]]
    for name, text in texts.items():
        if name not in have:
            complaints.append(f"{name}: {FILE.name} does not have this text")
        elif not _alike(text, have[name]):
            complaints.append(f"{name}: {FILE.name} has a text that differs from {_origin(table['text'][name])}")
    if not complaints and rendered(table, have) != content:
        complaints.append(f"{FILE.name} is not what {TABLE.name} says")
    return remarks, complaints


def metadata_faults(table, project):
    """Complaints about pyproject.toml's [project]."""
    want = expression(table)
    if project.get("license") != want:
        yield f'pyproject.toml: license has to be "{want}"'
    if project.get("license-files") != table["wheel"]["files"]:
        yield f"pyproject.toml: license-files has to be {table['wheel']['files']}"


def check(table, folder):
    content = FILE.read_text(encoding="utf-8") if FILE.is_file() else ""
    remarks, complaints = faults(table, content)
    complaints += unnamed(table, (pathlib.Path(folder) / "build.ninja").read_text(encoding="utf-8"))
    complaints += metadata_faults(table, tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"])
    for line in remarks + complaints:
        print(f"licences: {line}")
    return "licences: run tools/notices.py, or mend tools/licences.toml" if complaints else 0


def write(table):
    have = committed(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    texts, remarks, complaints = collect(table, have)
    for line in remarks + complaints:
        print(line)
    if complaints:
        return "nothing was written"
    FILE.write_text(rendered(table, texts), encoding="utf-8")
    print(expression(table))
    return 0


def main(arguments):
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    match arguments:
        case []:
            return write(table)
        case ["--check", folder]:
            return check(table, folder)
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Install the wheel on other systems, run the programs of tests/matrix there, and write the table of docs/install.md.

Usage: matrix.py [SYSTEM...]    all systems, or those named; the table is written when all ran

Each system is a small Debian or Ubuntu in .matrix/NAME, made by debootstrap with the Python that it packages and no
compiler.  They are kept, with what was downloaded, until .matrix is removed.  Needs root, for chroot and mounts.
"""

import datetime
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request
from typing import NamedTuple

TOP = pathlib.Path(__file__).resolve().parent.parent
FOLDER = TOP / ".matrix"
PAGE = TOP / "docs/install.md"
BEGIN, END = "<!-- matrix -->", "<!-- /matrix -->"
DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"


class System(NamedTuple):
    name: str
    title: str
    pythons: list
    script: str = "sid"  # debootstrap's, which are the same for all releases since long
    mirror: str = DEBIAN


SYSTEMS = [
    System("bullseye", "Debian 11", ["3.11"]),
    System("bookworm", "Debian 12", ["3.11"]),
    System("noble", "Ubuntu 24.04", ["3.12"], "gutsy", UBUNTU),
    System("trixie", "Debian 13", ["3.13"]),
    System("forky", "Debian testing", ["3.14"]),
]
# The first releases with wheels for a Python, none older than pyproject.toml's; the newest is asked for by no number.
OLDEST_NUMPY = {"3.11": "1.24.0", "3.12": "1.26.0", "3.13": "2.1.0", "3.14": "2.3.2"}
# Debian 11's own Python is too old, so the next release's is compiled there.
COMPILED = {("bullseye", "3.11")}
SOURCE = "pool/main/p/python3.11/python3.11_3.11.2.orig.tar.gz"
KEYRING = "pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb"
SHA256 = {
    SOURCE: "2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849",
    KEYRING: "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8",
}
PROGRAMS = {path.stem: [f"/matrix/{path.name}"] for path in sorted((TOP / "tests/matrix").glob("*.py"))}
PROGRAMS["unchanged"] = ["-m", "treadle", *PROGRAMS["unchanged"]]
PROGRAMS["first page"] = ["/matrix/doc_pages.py", "--no-compiler", "/matrix/README.md"]
VERSIONS = """
import os, platform, numpy
print(os.confstr("CS_GNU_LIBC_VERSION").split()[1], platform.python_version(), numpy.__version__)
"""
SECONDS = 600  # that a program may take


# ---- systems ----


def run(*command, **more):
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def inside(root, *command, **more):
    """Runs a command in a system; what is mounted for it goes when it ends."""
    mounts = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys"'
    start = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", f'{mounts} && exec chroot "$0" "$@"', root]
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/root"}
    return run(*start, *command, env={**env, "DEBIAN_FRONTEND": "noninteractive"}, **more)


def fetch(mirror, path):
    """A file of the mirror in FOLDER, with the sum that this file names."""
    to = FOLDER / pathlib.Path(path).name
    if not to.exists():
        with urllib.request.urlopen(f"{mirror}/{path}") as answer:
            data = answer.read()
        if hashlib.sha256(data).hexdigest() != SHA256[path]:
            raise RuntimeError(f"{mirror}/{path} is not the file that it was")
        to.write_bytes(data)
    return to


def keyring_options(system):
    if system.mirror == DEBIAN:
        return []
    run("dpkg-deb", "-x", fetch(system.mirror, KEYRING), FOLDER / "keyring")
    return [f"--keyring={FOLDER}/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg", "--components=main,universe"]


def compile_python(system, version):
    """/opt/pythonVERSION, compiled in a copy of the system, where compilers may be."""
    root, build = FOLDER / system.name, FOLDER / f"{system.name}-build"
    shutil.rmtree(build, ignore_errors=True)
    run("cp", "-a", root, build)
    inside(build, "apt-get", "update", "-qq")
    packages = ["gcc", "libc6-dev", "make", "zlib1g-dev", "libffi-dev"]
    inside(build, "apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages)
    run("tar", "xf", fetch(DEBIAN, SOURCE), "-C", build / "opt")
    folder, to = next((build / "opt").glob("Python-*")).name, f"/opt/python{version}"
    steps = f"cd /opt/{folder} && ./configure -q --prefix={to} && make -s -j{os.cpu_count()} && make -s install"
    inside(build, "sh", "-c", steps)
    run("cp", "-a", f"{build}{to}", f"{root}{to}")
    shutil.rmtree(build)


def bootstrap(system):
    """The system with its Pythons in FOLDER/NAME; what is there is left as it is."""
    root, ready = FOLDER / system.name, FOLDER / f"{system.name}.ready"
    if ready.exists():
        return
    print(f"matrix: making {system.title}", flush=True)
    shutil.rmtree(root, ignore_errors=True)
    compiled = [version for version in system.pythons if (system.name, version) in COMPILED]
    packages = [f"python{v},python{v}-venv" for v in system.pythons if v not in compiled]
    include = [f"--include={','.join(packages)}"] if packages else []
    script = f"/usr/share/debootstrap/scripts/{system.script}"
    options = ["--variant=minbase", *include, *keyring_options(system)]
    run("debootstrap", *options, system.name, root, system.mirror, script)
    for version in compiled:
        compile_python(system, version)
    ready.touch()


# ---- programs ----


def numpy_wheels(version, release):
    """Fetches NumPy for a Python into FOLDER/wheels, the newest where release is None; returns pip's name for it."""
    name = f"numpy=={release}" if release else "numpy"
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    run(*pip, "--only-binary=:all:", f"--python-version={version}", "-d", FOLDER / "wheels", name)
    return name


def carry(root, wheel):
    """Copies what the programs need into the system, each time anew."""
    to = root / "matrix"
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(TOP / "tests/matrix", to, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(FOLDER / "wheels", to / "wheels")
    for path in (TOP / "tests/python/doc_pages.py", TOP / "README.md", wheel):
        shutil.copy(path, to)


class Row(NamedTuple):
    title: str
    glibc: str
    python: str
    numpy: str
    failed: dict  # program: what it said


def row_of(system, version, release, wheel):
    """Installs the wheel with a NumPy for a Python of the system, as a user would, and runs the programs."""
    root = FOLDER / system.name
    start = f"/opt/python{version}/bin/python{version}" if (system.name, version) in COMPILED else f"python{version}"
    numpy = numpy_wheels(version, release)
    carry(root, wheel)
    shutil.rmtree(root / "venv", ignore_errors=True)
    shutil.rmtree(root / "root/.cache", ignore_errors=True)
    inside(root, start, "-m", "venv", "/venv")
    pip = ["/venv/bin/python", "-m", "pip", "install", "-q", "--no-index", "--find-links=/matrix/wheels"]
    inside(root, *pip, numpy, f"/matrix/{wheel.name}")
    failed = {}
    for name, arguments in PROGRAMS.items():
        try:
            inside(root, "/venv/bin/python", *arguments, timeout=SECONDS)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            failed[name] = str(e)
    row = Row(system.title, *inside(root, "/venv/bin/python", "-c", VERSIONS).split(), failed)
    print(f"matrix: {' '.join(row[:4])}: {', '.join(failed) + ' failed' if failed else 'all ran'}", flush=True)
    return row


# ---- the table ----


def table(rows, wheel, day):
    names = ", ".join(PROGRAMS)
    yield f"{day}, `{wheel.name}`. The programs: {names}.\n\n"
    yield "| system | C library | Python | NumPy | programs that ran |\n| --- | --- | --- | --- | --- |\n"
    for row in rows:
        ran = f"all but {', '.join(row.failed)}" if row.failed else "all"
        yield f"| {row.title} | {row.glibc} | {row.python} | {row.numpy} | {ran} |\n"


def filled(page, text):
    """The page with another table between its marks."""
    return re.sub(f"(?<={BEGIN}\n).*(?={END})", lambda _: text, page, flags=re.DOTALL)


def main(names):
    if os.geteuid() != 0:
        sys.exit("matrix: debootstrap, chroot and mounts need root")
    unknown = set(names) - {system.name for system in SYSTEMS}
    if unknown:
        sys.exit(f"matrix: no system {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in SYSTEMS)}")
    (FOLDER / "wheels").mkdir(parents=True, exist_ok=True)
    wheel = next((TOP / "dist").glob("treadle-*.whl"))
    rows = []
    for system in SYSTEMS:
        if names and system.name not in names:
            continue
        bootstrap(system)
        for version in system.pythons:
            rows += [row_of(system, version, release, wheel) for release in (OLDEST_NUMPY[version], None)]
    for row in rows:
        for name, said in row.failed.items():
            print(f"\n---- {' '.join(row[:4])}: {name}\n{said}", file=sys.stderr)
    if not names:
        text = "".join(table(rows, wheel, datetime.date.today().isoformat()))
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return any(row.failed for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Install the wheel on other systems, run the programs of tests/matrix there, and write the table of docs/install.md.

Usage: matrix.py [SYSTEM...]    all systems, or those named; the table is written when all ran

Each system is a small Debian or Ubuntu in .matrix/NAME, made by debootstrap without a compiler.  It has every Python of
OLDEST_NUMPY: its own from its packages, the others compiled once on the oldest system, from the sources of the system
that packages them.  All of it is kept, with what was downloaded, until .matrix is removed, and so are the rows in which
all programs ran, for as long as the wheel is the same.  Needs root, for chroot and mounts.
"""

import datetime
import hashlib
import json
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
    python: str | None  # that it packages, of those in OLDEST_NUMPY
    script: str = "sid"  # debootstrap's, which are the same for all releases since long
    mirror: str = DEBIAN


# The first is the oldest: what is compiled there runs on the others.
SYSTEMS = [
    System("bullseye", "Debian 11", None),
    System("bookworm", "Debian 12", "3.11"),
    System("noble", "Ubuntu 24.04", "3.12", "gutsy", UBUNTU),
    System("trixie", "Debian 13", "3.13"),
    System("forky", "Debian testing", "3.14"),
]
OLDEST = SYSTEMS[0]
HOME = {system.python: system for system in SYSTEMS if system.python}
# (system, release): whose sources are taken in place of the home's.  A mirror drops testing's when newer ones arrive.
SOURCES = {"3.14": ("noble", "resolute")}
# The first releases with wheels for a Python, none older than pyproject.toml's; the newest is asked for by no number.
OLDEST_NUMPY = {"3.11": "1.24.0", "3.12": "1.26.0", "3.13": "2.1.0", "3.14": "2.3.2"}
KEYRING = "pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb"
SHA256 = {KEYRING: "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8"}
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


def install(root, *packages):
    inside(root, "apt-get", "update", "-qq")
    inside(root, "apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages)


def bootstrap(system):
    """The system with its own Python in FOLDER/NAME; what is there is left as it is."""
    root, ready = FOLDER / system.name, FOLDER / f"{system.name}.ready"
    if ready.exists():
        return
    print(f"matrix: making {system.title}", flush=True)
    shutil.rmtree(root, ignore_errors=True)
    script = f"/usr/share/debootstrap/scripts/{system.script}"
    run("debootstrap", "--variant=minbase", *keyring_options(system), system.name, root, system.mirror, script)
    # A mirror may lag behind the day on which its index expires; apt checks the signature all the same.
    (root / "etc/apt/apt.conf.d/90late").write_text('Acquire::Check-Valid-Until "false";\n', encoding="utf-8")
    if system.python:
        install(root, f"python{system.python}", f"python{system.python}-venv")
    ready.touch()


def python_source(version):
    """The archive of a Python's sources, by way of a system: apt has checked its signature."""
    name, release = SOURCES.get(version, (HOME[version].name, HOME[version].name))
    bootstrap(next(system for system in SYSTEMS if system.name == name))
    root = FOLDER / name
    lines = (root / "etc/apt/sources.list").read_text(encoding="utf-8")
    lines = re.sub("^deb ", "deb-src ", lines, flags=re.M).replace(f" {name} ", f" {release} ")
    (root / "etc/apt/sources.list.d/source.list").write_text(lines, encoding="utf-8")
    (root / "source").mkdir(exist_ok=True)
    inside(root, "apt-get", "update", "-qq")
    inside(root, "sh", "-c", f"cd /source && apt-get source -qq --download-only --tar-only python{version}")
    return next((root / "source").glob(f"python{version}_*.orig.tar.*[z2]"))


def compile_python(version):
    """FOLDER/pythons/pythonVERSION, compiled in a copy of the oldest system, where compilers may be."""
    to = FOLDER / "pythons" / f"python{version}"
    if to.exists():
        return to
    archive = python_source(version)
    bootstrap(OLDEST)
    print(f"matrix: compiling {archive.name}", flush=True)
    build = FOLDER / "build"
    shutil.rmtree(build, ignore_errors=True)
    run("cp", "-a", FOLDER / OLDEST.name, build)
    install(build, "gcc", "libc6-dev", "make", "pkg-config", "zlib1g-dev", "libffi-dev")
    run("tar", "xf", archive, "-C", build / "opt")
    folder = next((build / "opt").glob("Python-*")).name
    prefix = f"/opt/python{version}"
    # libffi's name changes with the systems: the copy in the prefix is what _ctypes finds everywhere.
    steps = [
        f"cd /opt/{folder} && ./configure -q --disable-test-modules --prefix={prefix} LDFLAGS=-Wl,-rpath,{prefix}/lib",
        f"make -s -j{os.cpu_count()}",
        "make -s install",
        f"cp -a /usr/lib/x86_64-linux-gnu/libffi.so.* {prefix}/lib",
    ]
    inside(build, "sh", "-c", " && ".join(steps))
    to.parent.mkdir(exist_ok=True)
    run("cp", "-a", f"{build}{prefix}", to)
    shutil.rmtree(build)
    return to


def python_of(system, version):
    """The command that starts a Python in the system, which has it from then on."""
    if system.python == version:
        return f"python{version}"
    at = FOLDER / system.name / "opt" / f"python{version}"
    if not at.exists():
        run("cp", "-a", compile_python(version), at)
    return f"/opt/python{version}/bin/python{version}"


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
    """The row that is known, else one that is known from now on, if all programs ran."""
    of = [wheel, TOP / "README.md", *sorted((TOP / "tests/matrix").glob("*.py"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in of)).hexdigest()[:16]
    kept = FOLDER / "rows" / f"{digest}-{system.name}-{version}-{release or 'newest'}.json"
    if kept.exists():
        return Row(*json.loads(kept.read_text(encoding="utf-8")))
    row = tried(system, version, release, wheel)
    if not row.failed:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(row), encoding="utf-8")
    return row


def tried(system, version, release, wheel):
    """Installs the wheel with a NumPy for a Python of the system, as a user would, and runs the programs."""
    root = FOLDER / system.name
    start = python_of(system, version)
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


def ran(row):
    return f"{row.numpy}: all but {', '.join(row.failed)}" if row.failed else f"{row.numpy}: all"


def table(rows, wheel, day):
    """rows: for each Python of a system one with the oldest NumPy, then one with the newest."""
    names = ", ".join(PROGRAMS)
    yield f"{day}, `{wheel.name}`. The programs: {names}.\n\n"
    yield "| system | C library | Python | oldest NumPy: programs that ran | newest NumPy: programs that ran |\n"
    yield "| --- | --- | --- | --- | --- |\n"
    for oldest, newest in zip(rows[::2], rows[1::2], strict=True):
        yield f"| {' | '.join([*oldest[:3], ran(oldest), ran(newest)])} |\n"


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
        for version, oldest in OLDEST_NUMPY.items():
            rows += [row_of(system, version, release, wheel) for release in (oldest, None)]
    for row in rows:
        for name, said in row.failed.items():
            print(f"\n---- {' '.join(row[:4])}: {name}\n{said}", file=sys.stderr)
    if not names:
        text = "".join(table(rows, wheel, datetime.date.today().isoformat()))
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return any(row.failed for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

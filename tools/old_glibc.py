"""Let this machine link libraries that run with an older GNU C library, that of RELEASE.

Usage: old_glibc.py FOLDER CC...        writes into FOLDER what to link with: -LFOLDER
       old_glibc.py --check LIBRARY...  says what libraries linked without it use that RELEASE would lack

The linker gives a symbol the newest version that this machine's C library has of it, so what is linked on a new system
asks for a new system, though most functions stand there in their old versions too.  FOLDER gets libraries without code
that name each symbol in its newest version up to RELEASE alone, and the functions of old_glibc.c, which RELEASE had not
and which the linker copies into what uses them.
"""

import pathlib
import subprocess
import sys
import tempfile

import elf

RELEASE = (2, 28)  # the wheel's, see tools/wheel_check.py
SHIM = pathlib.Path(__file__).resolve().parent / "old_glibc.c"
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
# libc.so.6 has all that these three held before 2.34: the linker finds nothing in them on newer systems.  What it links
# names them all the same.  A symbol is looked up by its version in every library that is loaded, so it is enough that
# they are.
MERGED = ["libpthread.so.0", "libdl.so.2", "librt.so.1"]
LIBRARIES = ["libc.so.6", "libm.so.6", *MERGED]


def asked(cc, question):
    """What the compiler answers to an option."""
    return subprocess.run([*cc, question], check=True, capture_output=True, text=True).stdout.strip()


def machine_file(cc, name):
    """Where the compiler's linker has a file of the C library."""
    path = asked(cc, f"-print-file-name={name}")
    if not pathlib.Path(path).is_absolute():
        sys.exit(f"old_glibc: {cc[0]} knows no {name}: the C library it links is not GNU's for x86-64 or aarch64")
    return path


def loader(cc):
    """The name of the loader on the machine that the compiler makes code for."""
    machine = asked(cc, "-dumpmachine").partition("-")[0]
    if machine not in LOADERS:
        sys.exit(f"old_glibc: {cc[0]} compiles for {machine}, whose loader is not known: add it to LOADERS")
    return LOADERS[machine]


def exports(library):
    """name: symbol of what the library defines in a version up to RELEASE, in the newest such version."""
    found = {}
    for symbol in elf.symbols(library):
        release = elf.release(symbol.version)
        if symbol.defined and symbol.kind != "TLS" and release and release <= RELEASE:
            if symbol.name not in found or elf.release(found[symbol.name].version) < release:
                found[symbol.name] = symbol
    return found


# ---- the folder ----


def assembly(found):
    """The symbols at addresses that nothing reads."""
    for name, symbol in found.items():
        data = symbol.kind == "OBJECT"
        yield f".{'data' if data else 'text'}\n.{'weak' if symbol.weak else 'globl'} {name}\n"
        yield f".type {name},@{'object' if data else 'function'}\n{name}: .space {max(symbol.size, 1) if data else 1}\n"
        yield f".size {name},{symbol.size if data else 1}\n"
    yield '.section .note.GNU-stack,"",@progbits\n'


def version_script(found):
    versions = sorted({symbol.version for symbol in found.values()}, key=elf.release)
    for version in versions:
        names = " ".join(f"{name};" for name, symbol in found.items() if symbol.version == version)
        yield f"{version} {{ global: {names} }};\n"


def stub(folder, cc, soname, found):
    """FOLDER/soname, a library without code that defines what was found."""
    source, script = folder / f"{soname}.s", folder / f"{soname}.map"
    source.write_text("".join(assembly(found)))
    script.write_text("".join(version_script(found)))
    versions = [f"-Wl,--version-script={script}"] if found else []
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{soname}", *versions]
    subprocess.run([*cc, *options, source, "-o", folder / soname], check=True)


def compile_shim(folder, cc):
    shim = folder / "old_glibc.o"
    options = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden"]
    subprocess.run([*cc, *options, "-c", SHIM, "-o", shim], check=True)
    return shim


def write(folder, cc):
    folder.mkdir(parents=True, exist_ok=True)
    ld = loader(cc)
    for soname in [*LIBRARIES, ld]:
        stub(folder, cc, soname, exports(machine_file(cc, soname)))
    for soname in [*MERGED, "libm.so.6"]:
        link = folder / (soname.partition(".")[0] + ".so")
        link.unlink(missing_ok=True)
        link.symlink_to(soname)
    shim, archive = compile_shim(folder, cc), folder / "libold_glibc.a"
    archive.unlink(missing_ok=True)
    subprocess.run([asked(cc, "-print-prog-name=ar"), "rc", archive, shim], check=True)
    # What -lc, which compilers end their command lines with, finds.
    nonshared = machine_file(cc, "libc_nonshared.a")
    group = f"{folder}/libc.so.6 {archive} {nonshared} AS_NEEDED ( {folder}/{ld} )"
    (folder / "libc.so").write_text(f"GROUP ( {group} )\n")


# ---- the check ----


def shimmed():
    """The names that old_glibc.c defines on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["nm", "--defined-only", "--extern-only", "-P", compile_shim(pathlib.Path(folder), ["cc"])]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in listed.splitlines()}


def lacking(library, known):
    """What the library uses of newer releases that is neither in an older version here nor in old_glibc.c."""
    return [f"{symbol.name} ({symbol.version})" for symbol in elf.symbols(library)
            if not symbol.defined and symbol.version.startswith("GLIBC_") and symbol.name not in known]  # fmt: skip


def check(libraries):
    known = shimmed()
    for soname in [*LIBRARIES, loader(["cc"])]:
        known |= exports(machine_file(["cc"], soname)).keys()
    faults = [(path, name) for path in libraries for name in lacking(path, known)]
    for path, name in faults:
        lacks = f"GNU's C library {RELEASE[0]}.{RELEASE[1]} lacks {name}"
        print(f"{path}: {lacks}: do without, or define it in tools/{SHIM.name}", file=sys.stderr)
    return bool(faults)


def main(args):
    if args[0] == "--check":
        return check(args[1:])
    return write(pathlib.Path(args[0]).resolve(), args[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

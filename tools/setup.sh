#!/bin/sh
# setup.sh GROUP... - installs what the groups need and lacks here: Debian packages, .venv and the
# pinned requirements.  Says nothing when there is nothing to do.
# Groups: build test demo docs lint fuzz bench conformance conformance-torch wheel release matrix aarch64.
set -eu
cd "$(dirname "$0")/.."

packages_of() {
    case $1 in
    build) echo gcc g++ make python3-dev python3-venv llvm-19-dev llvm-19 libzstd-dev zlib1g-dev \
        liblapacke-dev libfftw3-dev ;; # the last two: the tests' device
    matrix) echo debootstrap ;;
    aarch64) echo gcc-aarch64-linux-gnu g++-aarch64-linux-gnu ;; # the rest is unpacked by tools/aarch64/setup.sh
    fuzz) echo clang-19 libclang-rt-19-dev ;;
    lint) echo clang-format-19 clang-tidy-19 cppcheck ;;
    esac
}

missing_packages() {
    for group; do
        for p in $(packages_of "$group"); do
            dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"
        done
    done
}

install_packages() {
    command -v dpkg-query >/dev/null || return 0 # not Debian: meson names what it does not find
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "treadle needs these Debian packages: $missing" >&2
        echo "install them with: sudo apt-get install $missing" >&2
        exit 1
    fi
    echo "installing $missing"
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
}

usable_python() {
    "$1" - 2>/dev/null <<'PY'
import os, sys, sysconfig
import ensurepip
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(not (sys.version_info >= (3, 11) and os.path.exists(header)))
PY
}

# make_venv FOLDER
make_venv() {
    ! "$1/bin/python" -c '' 2>/dev/null || return 0
    for python in /usr/bin/python3 python3; do
        if usable_python "$python"; then
            echo "making $1 with $("$python" --version)"
            rm -rf "$1"
            "$python" -m venv "$1"
            return 0
        fi
    done
    echo "treadle needs Python 3.11 or later with its headers and venv (Debian: python3-dev python3-venv)" >&2
    exit 1
}

# install_requirements FOLDER FILE: once for each content of the file.
install_requirements() {
    stamp=$1/.installed-$(basename "$2")
    [ -f "$2" ] || return 0
    ! cmp -s "$2" "$stamp" || return 0
    echo "installing into $1: $(grep -v '^#' "$2" | tr '\n' ' ')"
    "$1/bin/python" -m pip install -q --disable-pip-version-check -r "$2" || return 1
    cp "$2" "$stamp"
}

# CPython's own tests of its library, which Debian packages apart: unpacked beside the requirements, since to install them
# would bring the system's Python to the package's revision.  Where they cannot be had their tests are skipped.
fetch_python_tests() {
    to=$(pwd)/.venv/python-tests
    package=libpython$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')-testsuite
    [ ! -e "$to" ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
    mkdir -p "$to/archive"
    echo "fetching $package"
    if (cd "$to/archive" && { apt-get download -qq "$package" || { apt-get update -qq && apt-get download -qq "$package"; }; }) \
        >/dev/null 2>&1; then
        dpkg-deb -x "$to"/archive/*.deb "$to/archive"
        mv "$to"/archive/usr/lib/python*/test "$to/test"
        cp -rn "$(.venv/bin/python -c 'import test; print(test.__path__[0])')/." "$to/test" # what stands with the system's
    else
        echo "no $package: CPython's tests of executors are skipped"
    fi
    rm -rf "$to/archive"
}

install_packages "$@"
make_venv .venv
for group; do
    case $group in
    bench)
        make_venv .bench-venv
        install_requirements .bench-venv benchmarks/requirements.txt
        ;;
    conformance)
        make_venv .conformance-venv
        install_requirements .conformance-venv tools/requirements/conformance.txt
        ;;
    conformance-torch)
        if [ -z "${CONFORMANCE_TORCH:-}" ]; then # a Python of the caller's that has PyTorch
            make_venv .torch-venv
            install_requirements .torch-venv tools/requirements/conformance-torch.txt
        fi
        ;;
    test)
        install_requirements .venv tools/requirements/test.txt
        fetch_python_tests
        ;;
    aarch64) ;; # its requirements are another machine's
    *) install_requirements .venv "tools/requirements/$group.txt" ;;
    esac
done
[ -n "$(.venv/bin/python tools/find_libdevice.py)" ] || install_requirements .venv tools/requirements/libdevice.txt
# A compiler for src/dev/lib/*.cu; without one GPUs' arrays are sorted on the host.
[ "${TREADLE_NVCC:-}" = none ] || [ -n "$(.venv/bin/python tools/find_nvcc.py 2>/dev/null)" ] ||
    install_requirements .venv tools/requirements/nvcc.txt || echo "no nvcc: the build goes on without libtreadle_cub.so"

#!/bin/sh
# setup.sh build|test... - unpacks packages for aarch64 into .aarch64, and installs none of them: what has an archive of its
# own needs no multiarch here.
#   build  sysroot: this Debian's packages that the wheel is linked with, LLVM among them; cross.ini: meson's cross file;
#          wheel.ini: the same for the wheel
#   test   run: a newer Debian with Python and NumPy, whose C library has vector functions; qemu-aarch64; `python`, and
#          `run-old` and `run-new`, which start a program with the libraries of sysroot and of run; tests.ini for meson
set -eu
cd "$(dirname "$0")/../.."
top=$PWD/.aarch64
mirror=http://deb.debian.org/debian
newer=trixie # its C library is 2.41: libmvec for aarch64 came with 2.38
python=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')

# Packages of `build` and what they are linked with in turn; the last line is the tests' device.
build="llvm-19-dev zlib1g-dev libzstd-dev libpython$python-dev libc6 libgcc-s1 libstdc++6
    liblapacke-dev liblapacke liblapack3 libtmglib3 libblas-dev libblas3 libgfortran5 libfftw3-dev libfftw3-double3 libfftw3-single3"
run="libc6 libstdc++6 libgcc-s1 python3.13-minimal libpython3.13-minimal libpython3.13-stdlib libexpat1 libffi8 liblzma5
    libbz2-1.0 libdb5.3t64 libncursesw6 libreadline8t64 libsqlite3-0 libssl3t64 libtinfo6 libuuid1 zlib1g libzstd1
    liblapacke liblapack3 libtmglib3 libblas3 libgfortran5 libfftw3-double3 libfftw3-single3"

# archive NAME MACHINE RELEASE...: an apt of its own for a machine's packages, in $top/apt-NAME.
archive() {
    name=$1 machine=$2
    shift 2
    apt=$top/apt-$name
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    cat >"$apt/conf" <<CONF
APT::Architecture "$machine";
APT::Architectures { "$machine"; };
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Languages "none";
CONF
    : >"$apt/sources.list"
    for release; do
        at=$mirror
        case $release in *-security) at=$mirror-security ;; esac
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $at $release main" >>"$apt/sources.list"
    done
    APT_CONFIG=$apt/conf apt-get update -qq
}

# unpack NAME FOLDER PACKAGE...: fetches packages of an archive, writes their versions down and unpacks them.
unpack() {
    apt=$top/apt-$1 folder=$2
    shift 2
    mkdir -p "$apt/debs" "$folder"
    (cd "$apt/debs" && APT_CONFIG=$apt/conf apt-get download -qq "$@")
    (cd "$apt/debs" && for deb in *.deb; do dpkg-deb -W "$deb"; done) >"$folder.versions"
    for deb in "$apt"/debs/*.deb; do
        dpkg-deb -x "$deb" "$folder"
    done
    rm -rf "$apt"
    # Alternatives and links that an installation would make.
    lib=$folder/usr/lib/aarch64-linux-gnu
    for name in blas lapack; do
        for file in "$lib/$name"/lib$name.so*; do
            [ ! -e "$file" ] || ln -sfn "$name/$(basename "$file")" "$lib/$(basename "$file")"
        done
    done
    include=$folder/usr/include/aarch64-linux-gnu
    [ ! -e "$include/cblas-netlib.h" ] || ln -sfn cblas-netlib.h "$include/cblas.h"
}

wheels() {
    to=$1
    shift
    rm -rf "$to" "$to.part"
    .venv/bin/python -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$to.part" \
        --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 "$@"
    for wheel in "$to.part"/*.whl; do
        .venv/bin/python -m zipfile -e "$wheel" "$to"
    done
    rm -rf "$to.part"
}

make_build() {
    echo "fetching packages for aarch64"
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    archive build arm64 "$release" "$release-updates" "$release-security"
    # shellcheck disable=SC2086
    unpack build "$top/sysroot" $build
    here=$(PATH=$PATH:/usr/lib/llvm-19/bin && { llvm-config-19 --version 2>/dev/null || llvm-config --version; })
    there=$(sed -n 's/^#define LLVM_VERSION_STRING "\(.*\)"$/\1/p' "$top/sysroot/usr/lib/llvm-19/include/llvm/Config/llvm-config.h")
    [ "$here" = "$there" ] || {
        echo "aarch64: LLVM for aarch64 is $there, and the one here $here: upgrade llvm-19-dev" >&2
        exit 1
    }
    grep nvidia-cuda-runtime tools/requirements/nvcc.txt >"$top/requirements.txt"
    wheels "$top/cuda" -r "$top/requirements.txt"
    cat >"$top/cross.ini" <<INI
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=$top/sysroot']
cpp = ['aarch64-linux-gnu-g++', '--sysroot=$top/sysroot']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'

[properties]
sys_root = '$top/sysroot'
cudart = '$(dirname "$(find "$top/cuda" -name libcudart_static.a)")'
INI
    { cat "$top/cross.ini" && printf '\n[project options]\nold_glibc = true\n'; } >"$top/wheel.ini"
}

# starter FILE ROOT WORDS...: a program that runs one for aarch64, under this file's name, which such a program may start in turn.
starter() {
    file=$1 root=$2
    shift 2
    cat >"$file" <<SH
#!/bin/sh
# QEMU_CPU names another processor.
export QEMU_CPU="\${QEMU_CPU:-max,sve-default-vector-length=32,pauth-impdef=on}"
exec $top/qemu/usr/bin/qemu-aarch64 -L $root $* "\$@"
SH
    chmod +x "$file"
}

make_test() {
    echo "fetching Python and NumPy for aarch64, and qemu"
    archive run arm64 $newer
    # shellcheck disable=SC2086
    unpack run "$top/run" $run
    ln -sfn usr/lib "$top/run/lib"
    archive qemu amd64 $newer
    unpack qemu "$top/qemu" qemu-user
    wheels "$top/packages" --python-version 3.13 -r tools/requirements/aarch64.txt
    starter "$top/run-new" "$top/run"
    starter "$top/run-old" "$top/sysroot"
    printf "[binaries]\nexe_wrapper = '%s'\n" "$top/run-old" >"$top/tests.ini"
    # shellcheck disable=SC2016
    starter "$top/python" "$top/run" -E "PYTHONHOME=$top/run/usr" -0 '"$0"' "$top/run/usr/bin/python3.13"
}

for group; do
    stamp=$top/$group.done
    ! cmp -s "$0" "$stamp" || continue
    mkdir -p "$top"
    case $group in
    build) rm -rf "$top/sysroot" && make_build ;;
    test) rm -rf "$top/run" "$top/qemu" && make_test ;;
    esac
    cp "$0" "$stamp"
done

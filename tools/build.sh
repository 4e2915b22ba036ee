#!/bin/sh
# build.sh DIR [meson options] - compiles into DIR and lays the package out in DIR/tree.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
PATH="$PWD/.venv/bin:$PATH"
meson=.venv/bin/meson

# meson lists the sources when it configures: a file that came or went makes it configure again.
list=$(find src tests include examples/c -name '*.[ch]' -o -name '*.def' -o -name '*.cu' | LC_ALL=C sort)
if [ ! -f "$dir/build.ninja" ]; then
    rm -rf "$dir"
    mkdir -p "$dir"
    "$meson" setup "$dir" --prefix "$PWD/$dir/tree" -Dpython.platlibdir="$PWD/$dir/tree" \
        -Dpython.purelibdir="$PWD/$dir/tree" "$@" >"$dir/setup.log" 2>&1 || {
        cat "$dir/setup.log" >&2
        rm -f "$dir/build.ninja"
        exit 1
    }
    grep -i 'libdevice\|nvcc' "$dir/setup.log" || :
elif [ "$list" != "$(cat "$dir/sources.txt" 2>/dev/null)" ]; then
    touch meson.build
fi
.venv/bin/ninja -C "$dir" build.ninja >"$dir/setup.log" 2>&1 || {
    cat "$dir/setup.log" >&2
    exit 1
}
echo "$list" >"$dir/sources.txt"

.venv/bin/ninja -C "$dir" --quiet
# Python files and stubs are laid anew, so that one that was removed is gone from the tree too.
[ ! -d "$dir/tree" ] || find "$dir/tree" '(' -name '*.py' -o -name '*.pyi' ')' -delete
"$meson" install -C "$dir" --no-rebuild --only-changed --quiet

#!/bin/sh
# install.sh DIR PREFIX - puts what was built in DIR where C programs find it: PREFIX/lib/libtreadle.so,
# libtreadle_jit.so and libtreadle_cub.so (which must lie side by side), PREFIX/include/treadle.h, PREFIX/lib/pkgconfig/treadle.pc,
# and its terms, PREFIX/share/doc/treadle.
# DESTDIR, if set, stands before PREFIX.
set -eu
case $2 in
/*) ;;
*) echo "install: PREFIX is $2; it has to be an absolute path" >&2 && exit 1 ;;
esac
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
prefix=${2%/}
to=${DESTDIR:-}$prefix
version=$(sed -n 's/^#define TREADLE_VERSION "\(.*\)"$/\1/p' include/treadle.h)

mkdir -p "$to/lib/pkgconfig" "$to/include" "$to/share/doc/treadle"
# From the package's tree, where they find each other wherever they lie.  Anew, not over the old ones: a running
# program may have them open.
for lib in libtreadle.so libtreadle_jit.so libtreadle_cub.so; do
    [ -f "$dir/tree/treadle/$lib" ] || continue # built without nvcc
    install -m 755 -s "$dir/tree/treadle/$lib" "$to/lib/$lib.new"
    mv -f "$to/lib/$lib.new" "$to/lib/$lib"
done
install -m 644 include/treadle.h "$dir/treadle_tables.h" "$to/include"
install -m 644 LICENSE NOTICE THIRD_PARTY_NOTICES.txt "$to/share/doc/treadle"
sed -e "s|@prefix@|$prefix|" -e "s|@version@|$version|" tools/treadle.pc.in >"$to/lib/pkgconfig/treadle.pc"
echo "installed treadle $version into $to"

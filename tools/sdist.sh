#!/bin/sh
# sdist.sh - dist/treadle-*.tar.gz of what is committed, after a wheel was built from it and nothing else.
set -eu
cd "$(dirname "$0")/.."
venv=$PWD/.venv
PATH="$venv/bin:$PATH"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$venv/bin/python" -m build --sdist --no-isolation --skip-dependency-check -o "$tmp" . >"$tmp/log" 2>&1 || {
    cat "$tmp/log" >&2
    exit 1
}
(cd "$tmp" && "$venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps treadle-*.tar.gz) || {
    echo "sdist: no wheel can be built from the archive" >&2
    exit 1
}
mkdir -p dist
rm -f dist/treadle-*.tar.gz
mv "$tmp"/treadle-*.tar.gz dist/
ls -l dist/treadle-*.tar.gz

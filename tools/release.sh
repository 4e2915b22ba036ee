#!/bin/sh
# release.sh - everything of a release but its upload, from a clean checkout of what is committed, into dist/release:
# wheel and sdist, the wheel built twice and compared, the checks, a bill of materials, checksums, signatures where a
# key is given (TREADLE_SIGN_KEY: a key of gpg's). Ends with the commands that publish it.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
python=$top/.venv/bin/python
out=$top/dist/release
version=$(sed -n 's/^#define TREADLE_VERSION "\(.*\)"$/\1/p' include/treadle.h)
fail() { echo "release: $*" >&2 && exit 1; }

[ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed: commit or stash them"
expr "$version" : '[0-9]*\.[0-9]*\.[0-9]*$' >/dev/null || fail "the version $version in include/treadle.h is not of the form 1.2.3"
grep -q "^## \[$version\] - 20" CHANGELOG.md || fail "CHANGELOG.md has no section [$version] with a date"
grep -q "^version: $version$" CITATION.cff || fail "CITATION.cff names another version than $version"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "v$version is there already: raise TREADLE_VERSION in include/treadle.h"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# checkout FOLDER: what is committed, with this checkout's tools.
checkout() {
    git clone -q "file://$top" "$1"
    ln -s "$top/.venv" "$1/.venv"
}
checkout "$tmp/one"
checkout "$tmp/elsewhere/deeper"
echo "building the wheel"
"$tmp/one/tools/wheel.sh" >/dev/null
echo "building it again in another folder, with nothing from a cache"
CCACHE_DISABLE=1 "$tmp/elsewhere/deeper/tools/wheel.sh" >/dev/null
wheel=$(basename "$tmp"/one/dist/treadle-*.whl)
if ! cmp "$tmp/one/dist/$wheel" "$tmp/elsewhere/deeper/dist/$wheel"; then
    $python tools/wheel_diff.py "$tmp/one/dist/$wheel" "$tmp/elsewhere/deeper/dist/$wheel" >&2
    fail "two builds differ"
fi
echo "building the sdist, and from it"
"$tmp/one/tools/sdist.sh" >/dev/null

rm -rf "$out"
mkdir -p "$out"
cp "$tmp"/one/dist/treadle-* "$out"
$python tools/wheel_check.py "$out/$wheel" >/dev/null
$python -m auditwheel show "$out/$wheel" >/dev/null
$python -m check_jsonschema -q --builtin-schema vendor.citation-file-format CITATION.cff
$python -m check_jsonschema -q --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
$python -m twine check --strict "$out"/treadle-* >/dev/null
$python tools/sbom.py "$out/$wheel" "$out/treadle-$version.cdx.json"
(cd "$out" && sha256sum treadle-* >SHA256SUMS)
if [ -n "${TREADLE_SIGN_KEY:-}" ]; then
    gpg --batch --local-user "$TREADLE_SIGN_KEY" --armor --detach-sign "$out/SHA256SUMS"
else
    echo "not signed: TREADLE_SIGN_KEY names no key of gpg's"
fi
git tag -a "v$version" -m "treadle $version"

ls -l "$out"
cat <<TEXT
treadle $version is in dist/release and tagged v$version here; nothing has left this machine. To publish it:
    git push origin v$version
    $python -m twine upload $out/treadle-$version.tar.gz $out/$wheel
    gh release create v$version --title "treadle $version" --notes-file CHANGELOG.md $out/*
To take it back: git tag -d v$version
TEXT

#!/bin/sh
# release.sh - everything of a release but its upload, from a clean checkout of what is committed, into dist/release:
# wheel and sdist, the wheel built twice and compared, the checks, a bill of materials, checksums, signatures where a
# key is given (TREADLE_SIGN_KEY: a key of gpg's). Ends with the commands that publish it. What needs no build is
# checked first; a step that fails is named, with what it said.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
python=$top/.venv/bin/python
out=$top/dist/release
version=$(sed -n 's/^#define TREADLE_VERSION "\(.*\)"$/\1/p' include/treadle.h)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "release: $*" >&2 && exit 1; }
# step WHAT COMMAND...: says what is done; what the command says is shown if it fails.
step() {
    what=$1
    shift
    echo "release: $what"
    "$@" >"$tmp/log" 2>&1 || {
        cat "$tmp/log" >&2
        fail "$what: failed ($*)"
    }
}

# ---- what needs no build ----

[ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed: commit or stash them"
expr "$version" : '[0-9]*\.[0-9]*\.[0-9]*$' >/dev/null || fail "the version $version in include/treadle.h is not of the form 1.2.3"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "v$version is there already: raise TREADLE_VERSION in include/treadle.h"
heading=$(grep -m1 '^## ' CHANGELOG.md || :)
today=$(date -u +%F)
case $heading in
"## [$version] - 20"??-??-??) ;;
"## [$version] - "*) fail "CHANGELOG.md: write \"## [$version] - $today\" in place of \"$heading\", and commit that" ;;
*) fail "CHANGELOG.md: its first section is \"$heading\": put one above it that begins with \"## [$version] - $today\"" ;;
esac
day=${heading##* }
[ "$(date -u -d "$day" +%F 2>/dev/null)" = "$day" ] || fail "CHANGELOG.md: $day in \"$heading\" is no day"
[ "$(echo "$day" | tr -d -)" -le "$(echo "$today" | tr -d -)" ] || fail "CHANGELOG.md: $day in \"$heading\" is later than today, $today"
grep -q "^version: $version$" CITATION.cff || fail "CITATION.cff names another version than $version: write \"version: $version\""
git var GIT_COMMITTER_IDENT >/dev/null 2>&1 || fail "git does not know who tags: set user.name and user.email by git config"
[ -z "${TREADLE_SIGN_KEY:-}" ] || step "the key that signs" gpg --batch --list-secret-keys "$TREADLE_SIGN_KEY"
step "CITATION.cff" "$python" -m check_jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
step "forms of issues" "$python" -m check_jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml

# ---- building ----

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# checkout FOLDER: what is committed, with this checkout's tools.
checkout() {
    git clone -q "file://$top" "$1" && ln -s "$top/.venv" "$1/.venv"
}
step "a checkout of what is committed" checkout "$tmp/one"
step "another, in a deeper folder" checkout "$tmp/elsewhere/deeper"
step "building the wheel" "$tmp/one/tools/wheel.sh"
step "building it again in the other folder, with nothing from a cache" env CCACHE_DISABLE=1 "$tmp/elsewhere/deeper/tools/wheel.sh"
wheel=$(basename "$tmp"/one/dist/treadle-*.whl)
same() { cmp "$1" "$2" || { "$python" tools/wheel_diff.py "$1" "$2" && return 1; }; }
step "comparing the two" same "$tmp/one/dist/$wheel" "$tmp/elsewhere/deeper/dist/$wheel"
step "building the sdist, and a wheel from it" "$tmp/one/tools/sdist.sh"

# ---- what was built ----

rm -rf "$out"
mkdir -p "$out"
cp "$tmp"/one/dist/treadle-* "$out"
# The wheel's contents and symbols were checked when it was built; sorts on GPUs are left out where no nvcc was found.
step "the wheel has the library of sorts" "$python" -c "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).getinfo('treadle/libtreadle_cub.so')" "$out/$wheel"
step "twine's check" "$python" -m twine check --strict "$out"/treadle-*
step "the bill of materials" "$python" tools/sbom.py "$out/$wheel" "$out/treadle-$version.cdx.json"
installed() {
    "$python" -m venv "$tmp/venv" && "$tmp/venv/bin/python" -m pip install -q --disable-pip-version-check "$out/$wheel" &&
        (cd "$tmp" && env -u PYTHONPATH "$tmp/venv/bin/python" tried.py)
}
echo "import treadle as td; assert td.__version__ == '$version' and float(td.arange(10).sum()) == 45" >"$tmp/tried.py"
step "installing the wheel into a new environment" installed
(cd "$out" && sha256sum treadle-* >SHA256SUMS)
if [ -n "${TREADLE_SIGN_KEY:-}" ]; then
    step "signing" gpg --batch --local-user "$TREADLE_SIGN_KEY" --armor --detach-sign "$out/SHA256SUMS"
else
    echo "release: not signed: TREADLE_SIGN_KEY names no key of gpg's"
fi
awk '/^## /{n++} n == 1 && !/^## /' CHANGELOG.md >dist/release-notes.md
step "the tag v$version" git tag -a "v$version" -m "treadle $version"

ls -l "$out"
cat <<TEXT
treadle $version is in dist/release and tagged v$version here; nothing has left this machine. To publish it:
    git push origin v$version
    $python -m twine upload $out/treadle-$version.tar.gz $out/$wheel
    gh release create v$version --title "treadle $version" --notes-file $top/dist/release-notes.md $out/*
To take it back: git tag -d v$version
TEXT

#!/bin/sh
# conformance.sh BUILD [ARGUMENT...] - runs the public test suite of the Python array API standard on the package in
# BUILD/tree; arguments go to pytest.  The suite is fetched once, at a pinned commit, into BUILD/array-api-tests.
#   TREADLE_DEVICE          the device of arrays (default cpu)
#   ARRAY_API_TESTS_VERSION the standard's version (default 2024.12)
#   CONFORMANCE_FROM        a folder of git repositories by the names below, instead of GitHub
# Tests named in tools/conformance.txt may fail, which docs/array-api.md explains; any other failure is ours.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
build=$(cd "$1" && pwd)
shift
suite=$build/array-api-tests
from=${CONFORMANCE_FROM:-https://github.com/data-apis}

# fetch NAME COMMIT FOLDER
fetch() {
    ! git -C "$3" cat-file -e "$2" 2>/dev/null || [ "$(git -C "$3" rev-parse HEAD)" != "$2" ] || return 0
    rm -rf "$3"
    echo "fetching $1 into $3"
    git clone -q --no-checkout "$from/$1" "$3"
    git -C "$3" -c advice.detachedHead=false checkout -q "$2"
}

fetch array-api-tests 55fcc60179efa2680ddd6cd926ddf17b83530e2b "$suite"
[ -d "$suite/array-api/.git" ] || rm -rf "$suite/array-api"
fetch array-api 5f847a3858875c682ae901aa22b0413bf24be9da "$suite/array-api"

cd "$suite"
export ARRAY_API_TESTS_MODULE=treadle ARRAY_API_TESTS_VERSION="${ARRAY_API_TESTS_VERSION:-2024.12}"
export TREADLE_DEVICE="${TREADLE_DEVICE:-cpu}" PYTHONPATH="$build/tree"
exec "$top/.conformance-venv/bin/python" -m pytest -q -p no:cacheprovider -rf --tb=short --max-examples 20 --disable-deadline \
    --rootdir . --xfails-file="$top/tools/conformance.txt" "${@:-array_api_tests}"

#!/usr/bin/env bash
# Makes the release of this commit twice, in two folders of different names, and compares every byte. dist/ gets the
# first of the two when they are the same.
# usage: reproduce.sh [MACHINE…]     default: x86_64
#
# The fetched archives are shared. Each of the two builds its libraries, wheels, packages and source distribution anew.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export STET_RELEASE_ENV=${STET_RELEASE_ENV:-$root/build/env/release} STET_ARCHIVES=${STET_ARCHIVES:-$root/build/third_party/archives}
[[ $STET_RELEASE_ENV != "$root"/* ]] || tools/python-env.sh release "$STET_RELEASE_ENV"
commit=$(git rev-parse HEAD) # the branch may move meanwhile
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1
unset CMAKE_C_COMPILER_LAUNCHER
scratch=$(mktemp -d "${TMPDIR:-/tmp}/reproduce.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
for folder in one another-name; do
    mkdir "$scratch/$folder"
    git archive "$commit" | tar -x -C "$scratch/$folder"
    "$scratch/$folder/tools/release.sh" "$@"
done
if ! diff "$scratch"/{one,another-name}/dist/SHA256SUMS; then
    echo "reproduce: the two differ" >&2
    exit 1
fi
rm -rf dist
cp -r "$scratch/one/dist" dist
echo "reproduce: the same bytes twice"
cat dist/SHA256SUMS

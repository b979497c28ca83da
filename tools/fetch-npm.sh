#!/usr/bin/env bash
# Unpacks one npm package of known content into a directory; runs nothing of it.
# usage: fetch-npm.sh PACKAGE VERSION SHA512 DIR
#
# SHA512 is the package's integrity string, sha512-...: npm view PACKAGE@VERSION dist.integrity
# Does nothing when DIR already holds that package. Two runs at once are safe: the second one waits.
set -euo pipefail

say() { echo "fetch-npm: $*"; }
die() { say "$*" >&2; exit 1; }

if [[ $# != 4 || $3 != sha512-* ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 2
fi
package=$1 version=$2 want=$3 dir=$4
mkdir -p "$(dirname "$dir")"
dir=$(cd "$(dirname "$dir")" && pwd)/$(basename "$dir")
stamp=$dir/.fetched

exec 9>"$dir.lock"
flock 9
if [[ -f $stamp && $(<"$stamp") == "$package $version $want" ]]; then
    exit 0
fi
if [[ -e $dir && ! -f $stamp ]]; then
    die "$dir is there and was not made by this script: name another directory"
fi
command -v npm >/dev/null || die "npm is not installed: run tools/setup-debian.sh"

say "fetching $package $version"
scratch=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" # away from any package.json or .npmrc of the caller
npm pack --loglevel=error --ignore-scripts --fetch-retries=5 "$package@$version" >npm.log 2>&1 ||
    { tail -n 20 npm.log >&2; die "npm could not fetch $package $version"; }

archives=(*.tgz)
got=$(python3 -c 'import base64, hashlib, sys
digest = hashlib.sha512(open(sys.argv[1], "rb").read()).digest()
print("sha512-" + base64.b64encode(digest).decode())' "${archives[0]}")
[[ $got == "$want" ]] || die "$package $version is $got, expected $want"

mkdir content
tar -xzf "${archives[0]}" -C content --strip-components=1 --no-same-owner
echo "$package $version $want" >content/.fetched
rm -rf "$dir"
mv content "$dir"

#!/usr/bin/env bash
# Unpacks one source of tools/third-party.txt or test-packages.txt into a directory; runs nothing of it.
# usage: fetch-source.sh NAME [DIR]     without DIR, only the archive is fetched
#
# The archive is taken from third_party/ (the source distribution carries all of them) or from
# build/third_party/archives, where a fetched one is kept. Its checksum is compared each time it is unpacked.
# Does nothing when DIR already holds it. Two runs at once are safe: the second one waits. Needs cmake (CMAKE names another).
set -euo pipefail

say() { echo "fetch-source: $*" >&2; }
die() { say "$*"; exit 1; }

if [[ $# != 1 && $# != 2 ]] || [[ $1 == -* ]]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
fi
name=$1 dir=${2-}
root=$(cd "$(dirname "$0")/.." && pwd)
kept=${STET_ARCHIVES:-$root/build/third_party/archives}
read -r _ version from package archive _ want < <(awk -v name="$name" '$1 == name' "$root"/tools/{third-party,test-packages}.txt 2>/dev/null) ||
    die "third-party.txt has no $name"

mkdir -p "$kept"
exec 9>"$kept/$archive.lock"
flock 9
if [[ -n $dir && -f $dir/.fetched && $(<"$dir/.fetched") == "$name $version $want" ]]; then
    exit 0
fi
if [[ -n $dir && -e $dir && ! -f $dir/.fetched ]]; then
    die "$dir was not made by this script: name another directory"
fi

scratch=$(mktemp -d "$kept/.fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

from_npm() { # leaves the archive in $scratch
    local npm=npm
    if ! command -v npm >/dev/null; then # no npm here: PyPI has it as a wheel
        "$root/tools/python-env.sh" npm "$root/build/env/npm" >&2
        npm=$root/build/env/npm/bin/npm
    fi
    (cd "$scratch" && # away from any package.json or .npmrc of the caller
        "$npm" pack --loglevel=error --ignore-scripts --fetch-retries=5 "$package@$version") >"$scratch/log" 2>&1
}

# apt with state and cache of its own, so that it needs no root and the system's lists stay as they are. The
# suite comes from the mirror that this system already uses. Leaves in $scratch the file that COMMAND names.
from_suite() { # from_suite TYPE SUITE COMMAND…: TYPE is deb or deb-src
    local state=$kept/.apt-$2 mirror uri hash apt
    command -v apt-get >/dev/null || { echo "apt-get is not here" >"$scratch/log"; return 1; }
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/\?$') ||
        { echo "no Debian mirror among this system's package sources" >"$scratch/log"; return 1; }
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    echo "$1 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $2 main" >"$state/sources.list"
    apt=(-q -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$state/lists"
        -o "Dir::Cache=$state/cache" -o APT::Sandbox::User= -o Acquire::Retries=5 -o Acquire::Languages=none)
    shift 2
    exec 8>"$state/lock"
    flock 8
    if [[ ! -e $state/updated ]]; then
        apt-get "${apt[@]}" update >"$scratch/log" 2>&1 || return 1
        touch "$state/updated"
    fi
    read -r uri hash < <(apt-get "${apt[@]}" "$@" --print-uris 2>"$scratch/log" |
        awk -v file="$archive" '$2 == file { gsub("\x27", "", $1); print $1, $4 }')
    [[ -n ${uri-} ]] || { rm "$state/updated"; echo "the suite has no $archive" >>"$scratch/log"; return 1; }
    /usr/lib/apt/apt-helper download-file "$uri" "$scratch/$archive" "$hash" >"$scratch/log" 2>&1
}
from_debian() { from_suite deb-src trixie source --only-source "$package"; }
from_backports() { from_suite deb bookworm-backports download "$package/bookworm-backports"; }

checksum_of() { sha256sum "$1" | cut -d ' ' -f 1; }

found=$root/third_party/$archive
[[ -f $found ]] || found=$kept/$archive
if [[ ! -f $found ]]; then
    say "fetching $name $version"
    "from_$from" || { tail -n 20 "$scratch/log" >&2; die "$name $version could not be fetched"; }
    got=$(checksum_of "$scratch/$archive")
    [[ $got == "$want" ]] || die "$archive has the checksum $got, expected $want"
    mv "$scratch/$archive" "$found"
fi
[[ -n $dir ]] || exit 0
got=$(checksum_of "$found")
[[ $got == "$want" ]] || die "$found has the checksum $got, expected $want"

# CMake unpacks every kind of tar by itself; tar would need xz beside it.
mkdir "$scratch/content"
if [[ $archive == *.deb ]]; then
    content=("$scratch/content")
    dpkg-deb --extract "$found" "${content[0]}" || die "$found could not be unpacked"
else
    (cd "$scratch/content" && "${CMAKE:-cmake}" -E tar -xf "$found") || die "$found could not be unpacked"
    content=("$scratch"/content/*)
    [[ ${#content[@]} == 1 && -d ${content[0]} ]] || die "$found holds more than one folder"
fi
echo "$name $version $want" >"${content[0]}/.fetched"
rm -rf "$dir"
mkdir -p "$(dirname "$dir")"
mv "${content[0]}" "$dir"

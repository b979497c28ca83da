#!/usr/bin/env bash
# Unpacks Debian 12 packages of another machine, with all that they depend on, into a folder: what qemu runs
# cross-compiled programs with. Installs nothing and needs no root.
# usage: debian-root.sh ARCHITECTURE DIR PACKAGE…     ARCHITECTURE as Debian names it: arm64
#
# Does nothing when DIR already holds them. The packages come from the mirror that this system already uses.
set -euo pipefail

say() { echo "debian-root: $*" >&2; }
die() { say "$*"; exit 1; }

if [[ $# -lt 3 ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 2
fi
architecture=$1 packages=("${@:3}")
mkdir -p "$2"
dir=$(cd "$2" && pwd)
state=$dir/.apt

exec 9>"$dir/.lock"
flock 9
want="$architecture ${packages[*]}"
if [[ -f $dir/.complete && $(<"$dir/.complete") == "$want" ]]; then
    exit 0
fi
command -v apt-get >/dev/null || die "apt-get is not here"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/\?$') ||
    die "no Debian mirror among this system's package sources"

mkdir -p "$state"/{lists/partial,archives/partial}
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$state/sources.list"
: >"$state/status" # nothing is installed there
apt() {
    apt-get -q -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$state" \
        -o "Dir::State::status=$state/status" -o "Dir::Cache=$state" -o "APT::Architecture=$architecture" \
        -o "APT::Architectures=$architecture" -o APT::Sandbox::User= -o Acquire::Retries=5 -o Acquire::Languages=none \
        -o Debug::NoLocking=1 "$@" >"$state/log" 2>&1 || { tail -n 20 "$state/log" >&2; die "apt-get $1 failed"; }
}
say "fetching ${packages[*]} for $architecture"
apt update
apt install --yes --download-only --no-install-recommends "${packages[@]}"
for package in "$state"/archives/*.deb; do
    dpkg-deb --extract "$package" "$dir"
done
rm -rf "$state"
echo "$want" >"$dir/.complete"
say "ready in $dir, $(du -sh "$dir" | cut -f1)"

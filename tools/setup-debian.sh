#!/usr/bin/env bash
# Installs the missing Debian packages of tools/packages.txt. Needs root or sudo only when one is missing.
# usage: setup-debian.sh PURPOSE…     purposes: the names in brackets there: build bench test release
#
# Nothing is removed or upgraded for its own sake. When all is installed, this takes a moment.
set -euo pipefail

say() { echo "setup-debian: $*"; }
die() { say "$*" >&2; exit 1; }

if [[ $# == 0 || $1 == -* ]]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit 2
fi
list=$(cd "$(dirname "$0")" && pwd)/packages.txt
for purpose in "$@"; do
    grep -q "^\[$purpose\]" "$list" || die "packages.txt has no [$purpose]"
done
mapfile -t wanted < <(sed 's/#.*//' "$list" | awk -v purposes=" $* " '
    /^\[/ { named = index(purposes, " " substr($1, 2, length($1) - 2) " "); next }
    NF && named { print $1 }' | sort -u)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    die "this is not a Debian: install what these packages hold, by your system's names: ${wanted[*]}"
fi

# Prints those of its arguments that no installed package is or provides.
missing_of() {
    dpkg-query -W -f '${db:Status-Abbrev}${Package}, ${Provides}\n' |
        sed -n 's/^.i. *//p' | tr -d ' ' | tr ',' '\n' | sed 's/(.*//' | sort -u |
        comm -13 - <(printf '%s\n' "$@" | sort -u)
}

exec 9<"$list"
flock 9 # two makes at once: the second one finds the work done
mapfile -t missing < <(missing_of "${wanted[@]}")
if [[ ${#missing[@]} == 0 ]]; then
    say "$*: all ${#wanted[@]} packages are installed"
    exit 0
fi

as_root=(env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1)
if [[ $EUID != 0 ]]; then
    if ! command -v sudo >/dev/null || ! { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
        die "needs root for: apt-get install ${missing[*]}"
    fi
    as_root=(sudo "${as_root[@]}")
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A minute without a word looks like a hang: the size of the download, and every tenth package.
progress() {
    tee "$log" | sed -nu -e 's/^\(Need to get .*\)/setup-debian: \1/p' \
        -e 's/^Get:\([0-9]*0\) [^ ]* \([^ ]*\) .*/setup-debian: fetching package \1 (\2)/p' \
        -e 's/^\(Fetched .*\)/setup-debian: \1/p' -e 's/^Setting up \(.*\) \.\.\./setup-debian: \1/p'
}
apt() {
    "${as_root[@]}" apt-get -q -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 "$@" 2>&1 9<&- | progress ||
        { tail -n 20 "$log" >&2; die "apt-get $1 failed"; }
}

# Some packages bring a service (prometheus, nginx). Tests start what they need themselves: nothing is started
# now, nor at the next boot.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" sh -c "cat > $policy && chmod 755 $policy"
    trap 'rm -f "$log"; "${as_root[@]}" rm -f "$policy"' EXIT
fi

say "reading the package lists"
apt update
say "installing ${#missing[@]} of ${#wanted[@]} packages: ${missing[*]}"
apt install --yes --no-install-recommends --no-remove "${missing[@]}"
if [[ " ${missing[*]} " == *" prometheus "* ]]; then
    "${as_root[@]}" rm -f /etc/systemd/system/multi-user.target.wants/prometheus.service
    "${as_root[@]}" update-rc.d prometheus disable >/dev/null 2>&1 || true
fi

mapfile -t missing < <(missing_of "${wanted[@]}")
[[ ${#missing[@]} == 0 ]] || die "apt-get was content, yet these are still missing: ${missing[*]}"
say "done"

#!/usr/bin/env bash
# Makes one of the Python environments that the tests and the demo run in.
# usage: python-env.sh NAME DIR     makes tools/requirements/NAME.txt into the virtual environment DIR
#
# Does nothing when DIR already holds what the file asks for; remakes it when the file or the Python
# changed, or when an earlier run was cut short. Two runs at once are safe: the second one waits.
# PYTHON names another interpreter than python3. pip's own settings (PIP_...) hold as usual.
set -euo pipefail

say() { echo "python-env: $name: $*"; }
die() { say "$*" >&2; exit 1; }

if [[ $# != 2 || $1 == -* ]]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
fi
name=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
list=$here/requirements/$name.txt
python=${PYTHON:-python3}
[[ -f $list ]] || die "no such environment: there is no $list"
command -v "$python" >/dev/null || die "$python is not installed: run tools/setup-debian.sh"
unset PYTHONHOME PYTHONPATH

mkdir -p "$(dirname "$dir")"
dir=$(cd "$(dirname "$dir")" && pwd -P)/$(basename "$dir")
mark=$dir/.made-by-python-env # here from the start: a directory without it is not ours to remove
stamp=$dir/.complete          # here at the end: what this environment was made from

exec 9>"$dir.lock"
if ! flock -n 9; then
    say "waiting for another run that is making $dir"
    flock 9
fi

# The place is part of what it was made from: a virtual environment that was moved does not work.
version=$("$python" -c 'import sys; print(sys.version.replace("\n", " "))')
made_from=("$list")
if grep -q '^torch==' "$list"; then
    made_from+=("$here/torch-cuda-stubs.sh")
fi
want=$({ cat "${made_from[@]}"; echo "$version $dir"; } | sha256sum)
if [[ -f $stamp && $(<"$stamp") == "$want" && -x $dir/bin/python ]]; then
    touch "$stamp" # for make, which goes by time
    exit 0
fi

if [[ -e $dir && ! -e $mark && -n $(ls -A "$dir") ]]; then
    die "$dir is not empty and was not made by this script: name another directory"
fi
rm -rf "$dir"
mkdir -p "$dir"
touch "$mark"

started=$SECONDS
say "making $dir with Python ${version%% *}"
"$python" -m venv "$dir" || die "could not make a virtual environment (Debian: python3-venv is missing)"

# Every list names all that is needed, so nothing is resolved. That also keeps out the gigabytes of
# nvidia wheels that torch asks for and never uses here.
log=$dir/pip.log
for try in 1 2 3; do
    if "$dir/bin/python" -m pip install --no-deps --only-binary :all: --no-input \
        --disable-pip-version-check --progress-bar off --retries 8 --requirement "$list" 2>&1 | tee "$log" |
        sed -nu "s/^ *\(Downloading .*[0-9] [MG]B)\).*/python-env: $name: \1/p"; then
        break
    fi
    [[ $try != 3 ]] || { tail -n 20 "$log" >&2; die "pip failed; all it said is in $log"; }
    say "pip failed ($(grep -m1 '^ERROR' "$log" || tail -n 1 "$log")), trying again"
    sleep $((try * 5))
done

site=$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
if [[ -f $site/torch/lib/libtorch_cuda.so && ! -d $site/nvidia ]]; then
    say "torch is a CUDA build, standing in for the CUDA libraries"
    "$here/torch-cuda-stubs.sh" "$site"
fi

check=$(sed -n 's/^# check: //p' "$list")
if ! (cd / && "$dir/bin/python" -c "$check") >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "installed, but this fails: $check"
fi

echo "$want" >"$stamp"
say "ready after $((SECONDS - started)) s, $(du -sh "$dir" | cut -f1)"

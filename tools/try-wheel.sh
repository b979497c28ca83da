#!/usr/bin/env bash
# Installs a wheel into a fresh environment and uses it: the README's example where JAX can be had for this Python.
# usage: try-wheel.sh WHEEL [JAX]     JAX is what pip installs for the example (default: jax>=0.5; older ones refuse newer plugins)
#
# Meant for a clean system, such as a container: needs Python 3 with venv, and nothing of Stet's tree but examples/.
# Runs `stet run --cpu`, explain, doctor and lint, and fails when one of them does not do its work.
set -euo pipefail

if [[ $# != 1 && $# != 2 ]] || [[ $1 == -* ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 2
fi
wheel=$(realpath "$1") jax=${2:-jax>=0.5}
examples=$(cd "$(dirname "$0")/../examples" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch
step() { echo "\$ $*"; }

. /etc/os-release
echo "== $PRETTY_NAME, $(ldd --version | head -n 1), $(python3 --version), $(uname -m)"
python3 -m venv env
. env/bin/activate
step pip install "$(basename "$wheel")"
pip install --quiet --disable-pip-version-check "$wheel" || { # an old pip does not know the tag manylinux_2_28
    pip install --quiet --disable-pip-version-check --upgrade pip
    pip install --quiet --disable-pip-version-check "$wheel"
}
step stet version
stet version
cp "$examples/train.py" .
if pip install --quiet --disable-pip-version-check --only-binary :all: "$jax"; then
    step stet run --cpu -- python train.py
    stet run --cpu -- python train.py 2>&1 | tee log
    grep -q 'static-argument: train_step compiled again' log
    step stet explain
    stet explain >log || [[ $? == 1 ]]
    head -n 12 log
    grep -q 'static-argument' log
else
    echo "no $jax for this Python: the command line only"
fi
step stet doctor
stet doctor >log || [[ $? == 1 ]]
tail -n 8 log
step stet lint train.py
stet lint train.py >log || [[ $? == 1 ]]
tail -n 3 log
grep -q 'train.py' log
step stet help shape-drift
stet help shape-drift | head -n 3
echo "== works"

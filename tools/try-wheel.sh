#!/usr/bin/env bash
# Installs a wheel into a fresh environment and uses it: the README's example, batches and the pytest plugin.
# usage: try-wheel.sh WHEEL [JAX]     JAX is what pip installs for the example (default: jax>=0.5)
#
# Meant for a clean system, such as a container: needs Python 3 with venv, and nothing of Stet's tree but examples/.
# Where no such JAX can be had for this Python, the newest is used with XLA's own CPU client, because JAX before 0.5
# refuses newer plugins. Fails when a command does not do its work.
set -euo pipefail

if [[ $# != 1 && $# != 2 ]] || [[ $1 == -* ]]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
fi
wheel=$(realpath "$1") jax=${2:-jax>=0.5}
examples=$(cd "$(dirname "$0")/../examples" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch PIP_DISABLE_PIP_VERSION_CHECK=1
shown() { # shown LINES COMMAND…: its output into log, the last LINES of it on the screen; 1 means "findings"
    local rc=0
    echo "\$ ${*:2}"
    "${@:2}" >log 2>&1 || rc=$?
    tail -n "$1" log
    [[ $rc == 0 || $rc == 1 ]] || { echo "try-wheel: exit code $rc" >&2; return 1; }
}
says() { # says TEXT: the last command has printed it
    grep -qF -- "$1" log || { echo "try-wheel: it does not say: $1" >&2; return 1; }
}

. /etc/os-release
echo "== $PRETTY_NAME, $(ldd --version 2>&1 | head -n 1), $(python3 --version), $(uname -m)"
python3 -m venv env
. env/bin/activate
echo "\$ pip install $(basename "$wheel")"
pip install --quiet "$wheel" || { # an old pip does not know the tag manylinux_2_28
    pip install --quiet --upgrade pip
    pip install --quiet "$wheel"
}
shown 5 stet version

cp "$examples/train.py" .
run=(stet run --cpu) test=--stet counted='2 compiles of functions, where at most 1 are allowed'
pip install --quiet --only-binary :all: "$jax" 2>log || {
    tail -n 1 log
    pip install --quiet --only-binary :all: jax jaxlib
    echo "\$ export JAX_PLATFORMS=cpu"
    export JAX_PLATFORMS=cpu
    run=(stet run) test=--stet-device counted='0 compiles' # the plugin does not see XLA's own client
}
shown 100 "${run[@]}" -- python train.py
says 'static-argument'
shown 100 stet explain
says 'static-argument: train_step compiled again'
shown 8 stet doctor
shown 3 stet lint train.py
says 'train.py'
shown 3 stet help shape-drift
says 'traps/shape-drift'

cat >batches.py <<'END'
import numpy, stet
loader = [{"tokens": numpy.arange(n, dtype="int64")} for n in (3, 5)]
for batch in stet.canonical(loader, spec={"tokens": stet.Leaf("int32", ((4, 8),))}, mask={"mask": "tokens"}):
    print(batch["tokens"].dtype, batch["tokens"], batch["mask"].astype(int))
END
shown 2 python batches.py
says 'int32 [0 1 2 3 4 0 0 0] [1 1 1 1 1 0 0 0]'

cat >test_step.py <<'END'
import jax, jax.numpy, pytest

@pytest.mark.compiles(max=1)
def test_sizes():
    step = jax.jit(lambda x: x + 1)
    assert [step(jax.numpy.ones(n)).sum() for n in (2, 3)] == [4, 6]
END
pip install --quiet pytest
shown 30 pytest -q "$test" test_step.py
says "$counted"
echo "== works"

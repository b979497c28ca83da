#!/usr/bin/env bash
# What `make demo` shows: a real JAX program through the real TPU compiler, seen by Stet.
set -euo pipefail
cd "$(dirname "$0")/.."
stet=build/release/bin/stet
python=build/env/jax/bin/python
export STET_STATE_DIR=$PWD/build/demo
rm -rf "$STET_STATE_DIR"

echo "\$ stet run -- python examples/aot_train.py"
"$stet" run -- "$python" examples/aot_train.py
echo
echo "\$ stet show"
"$stet" show

#!/usr/bin/env bash
# What `make demo` shows: a real JAX training script on the embedded CPU backend, its recompiles told as
# they happen, and explained.
set -euo pipefail
cd "$(dirname "$0")/.."
stet=build/release/bin/stet
python=build/env/jax/bin/python
export STET_STATE_DIR=$PWD/build/demo
rm -rf "$STET_STATE_DIR"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[[ -t 1 && -z ${NO_COLOR-} ]] || say() { printf '\n$ %s\n' "$*"; }

say "stet run --cpu -- python examples/train.py"
"$stet" run --cpu -- "$python" examples/train.py
say "stet show"
"$stet" show
say "stet explain"
"$stet" explain || [[ $? == 1 ]]

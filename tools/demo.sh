#!/usr/bin/env bash
# What `make demo` shows: a real JAX training script on the embedded CPU backend, its recompiles told as
# they happen, and explained; then the same script again, warm from the store.
set -euo pipefail
cd "$(dirname "$0")/.."
stet=build/product/bin/stet
python=build/env/demo/bin/python
export STET_STATE_DIR=$PWD/build/demo STET_STORE=$PWD/build/demo/store
rm -rf "$STET_STATE_DIR"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[[ -t 1 && -z ${NO_COLOR-} ]] || say() { printf '\n$ %s\n' "$*"; }

say "stet run --cpu -- python examples/train.py"
"$stet" run --cpu -- "$python" examples/train.py
say "stet show"
"$stet" show
say "stet explain"
"$stet" explain || [[ $? == 1 ]]
say "stet run --cpu --quiet -- python examples/train.py     # again: everything comes from the store"
"$stet" run --cpu --quiet -- "$python" examples/train.py
"$stet" show --format=json | "$python" -c '
import json, sys
compiles = [c for p in json.load(sys.stdin)["processes"] for c in p["compiles"]]
print(sum(c["served"] != "compiled" for c in compiles), "of", len(compiles), "programs reloaded")'

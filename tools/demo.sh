#!/usr/bin/env bash
# What `make demo` shows: a real JAX training script on the embedded CPU backend, seen by Stet, and
# why its training step was compiled again and again.
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
mapfile -t programs < <("$stet" show --format=json | python3 -c '
import json, sys
for c in json.load(sys.stdin)["processes"][0]["compiles"]:
    if c["name"] == "jit_train_step":
        print(c["program"][:12])')
for ((i = 1; i < ${#programs[@]}; i++)); do
    say "stet diff ${programs[i - 1]} ${programs[i]}     # why was train_step compiled again? ($i)"
    "$stet" diff "${programs[i - 1]}" "${programs[i]}" || [[ $? == 1 ]]
done

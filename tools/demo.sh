#!/usr/bin/env bash
# What `make demo` shows: a real JAX program through the real TPU compiler, seen by Stet.
set -euo pipefail
cd "$(dirname "$0")/.."
stet=build/release/bin/stet
python=build/env/jax/bin/python
export STET_STATE_DIR=$PWD/build/demo
rm -rf "$STET_STATE_DIR"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[[ -t 1 && -z ${NO_COLOR-} ]] || say() { printf '\n$ %s\n' "$*"; }

say "stet run -- python examples/aot_train.py"
"$stet" run -- "$python" examples/aot_train.py
say "stet show"
"$stet" show
read -r first second third < <("$stet" show --format=json |
    python3 -c 'import json,sys; print(*[c["program"][:12] for c in json.load(sys.stdin)["processes"][0]["compiles"]][:3])')
say "stet diff $first $second     # why was the second one compiled?"
"$stet" diff "$first" "$second" || [[ $? == 1 ]]
say "stet diff $second $third     # and the third?"
"$stet" diff "$second" "$third" || [[ $? == 1 ]]

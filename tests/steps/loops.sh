#!/bin/sh
# Every loop of examples/loops under real JAX and the real layer: inferred steps are the script's.
# usage: loops.sh BIN LIB ENV      exits 77 without the environment or the layer
set -eu
bin=$1 lib=$2 python=$3/jax/bin/python
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$python" ] || { echo "no JAX in $3"; exit 77; }
[ -e "$lib/libstet.so" ] || { echo "no layer built"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for loop in "$here"/../../examples/loops/*.py; do
    name=$(basename "$loop" .py)
    [ "$name" != common ] || continue
    if ! STET_DIR="$work/$name" STET_LOOP_MARKS="$work/$name.marks" LD_PRELOAD="$lib/libstet.so" \
        "$python" "$here/over_fake.py" "$lib/libfake_pjrt.so" "$loop" >"$work/$name.out" 2>&1; then
        tail -5 "$work/$name.out"
        failed=1
    fi
    printf '%-26s' "$name"
    "$bin/compare_steps" "$work/$name" "$work/$name.marks" || failed=1
done
exit $failed

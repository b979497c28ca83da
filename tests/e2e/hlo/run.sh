#!/usr/bin/env bash
# One lane of the differential test of HLO.
# usage: run.sh torch|jax|tpu HLO_TEXT SAME_PROGRAM ENVIRONMENTS FOLDER
set -euo pipefail
lane=$1 tool=$2 same=$3 env=$4 out=$5
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$out"
mkdir -p "$out"

pairs() { # pairs SUFFIX: NAME.pb and its text, where the printer left no constant out
    local pb text
    for pb in "$out"/programs/*.pb; do
        text=${pb%.pb}.$1
        grep -q 'constant({\.\.\.})' "$text" || printf '%s\t%s\n' "$pb" "$text"
    done
}

case $lane in
torch)
    for debug in 0 1; do # with and without places
        XLA_HLO_DEBUG=$debug "$env/torchxla/bin/python" "$here/torch_programs.py" "$out/programs" 2>"$out/log"
        "$env/jax/bin/python" "$here/compare.py" "$tool" torch "$out/programs" txt 100
        "$same" <(pairs txt)
    done
    ;;
tpu) # dumps show compile options in the text alone; what Stet prints of the proto is read, too
    "$env/jax/bin/python" "$here/tpu_programs.py" "$out" >"$out/log" 2>&1
    for pb in "$out"/*.hlo.pb; do
        "$tool" torch "$pb" >"$pb.printed"
        printf '%s\t%s\n%s\t%s\n' "$pb" "${pb%.hlo.pb}.txt" "$pb" "$pb.printed"
    done >"$out/pairs"
    [ "$(wc -l <"$out/pairs")" -ge 150 ] || { echo "libtpu dumped too few programs"; tail "$out/log"; exit 1; }
    "$same" --no-options "$out/pairs"
    exit
    ;;
jax)
    "$env/jax/bin/python" "$here/jax_programs.py" "$out/programs" 2>"$out/log"
    "$env/jax/bin/python" "$here/compare.py" "$tool" short "$out/programs" short.txt 250
    "$env/jax/bin/python" "$here/compare.py" "$tool" stack "$out/programs" long.txt 250
    "$same" <(pairs long.txt)
    "$same" <(pairs also.txt)
    ;;
esac
"$env/jax/bin/python" "$here/legal.py" "$tool" "$out/programs"

#!/usr/bin/env bash
# Fuzzes every target for FUZZ_SECONDS (600) or until FUZZ_RUNS executions, one job a core, starting
# from the committed corpora. New inputs stay under build/fuzz/corpus; crashes under build/fuzz/crashes.
# usage: fuzz.sh [TARGET…]
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz >/dev/null
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(cd build/fuzz/bin && ls -d fuzz_* | sed 's/^fuzz_//')

fuzz_one() {
    local work=build/fuzz/corpus/$1 crashes=build/fuzz/crashes/$1- words=() length=${FUZZ_LEN:-4096}
    [[ ! -f tests/fuzz/$1.dict ]] || words=(-dict="tests/fuzz/$1.dict")
    mkdir -p "$work" build/fuzz/crashes
    if [[ $1 == lint ]]; then # a parse costs a millisecond a kilobyte: many small inputs find more
        python3 tests/lint/seeds.py "$work"
        length=${FUZZ_LEN:-1024}
    fi
    build/fuzz/bin/fuzz_"$1" -max_total_time="${FUZZ_SECONDS:-600}" -runs="${FUZZ_RUNS:--1}" \
        "${words[@]}" -max_len="$length" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$crashes" "$work" "tests/fuzz/corpus/$1" >"build/fuzz/$1.log" 2>&1 || {
        tail -n 30 "build/fuzz/$1.log"
        echo "FAILED $1: see build/fuzz/$1.log"
        return 1
    }
    echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$1.log") executions, no finding"
}
export -f fuzz_one
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_one "$1"' _

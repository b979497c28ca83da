#!/usr/bin/env bash
# Compares the bench rows of another tree with those of this one: the programs of both trees take
# turns, so both meet the same load, and each row is printed with its median and range over the rounds.
# usage: bench-against.sh OTHER_TREE [ROUNDS [NAME…]]    bench-against.sh --instructions OTHER_TREE
# Both trees have build/release. 5 rounds of reader, diff, explain, gate, store, execute, compile and
# reload unless named. --instructions counts instructions with valgrind instead, which do not depend on the load.
set -euo pipefail
cd "$(dirname "$0")/.."
instructions=
if [[ ${1:-} == --instructions ]]; then instructions=1 && shift; fi
other=$(realpath "$1") rounds=${2:-5}
names=("${@:3}")
if [[ ${#names[@]} == 0 ]]; then
    names=(bench_reader bench_diff bench_explain bench_gate bench_store bench_execute bench_compile bench_reload)
fi
out=$PWD/build/bench
[[ -f $out/results.json ]] || tools/bench.sh bench_execute >/dev/null
export BENCH_PROGRAM=$out/program/step.mlirbc BENCH_STEP=$out/program BENCH_SMALL_STEP=$out/small
export BENCH_WIDER=$out/wider/step.mlirbc BENCH_CONSTANTS=$out/program/constants.mlirbc
if [[ -n $instructions ]]; then exec python3 bench/instructions.py "$other" "$PWD"; fi
rm -f "$out"/against.{other,this}.json
for ((round = 0; round < rounds; round++)); do
    for name in "${names[@]}"; do
        [[ -x $other/build/release/bin/$name ]] || continue
        (cd "$other" && "build/release/bin/$name") >>"$out/against.other.json"
        "build/release/bin/$name" >>"$out/against.this.json"
    done
done
python3 - "$out/against.other.json" "$out/against.this.json" <<'END'
import json, statistics, sys


def rows(path):
    """The values of each row over the rounds; a row that a round prints twice counts once."""
    found, units = {}, {}
    for line in open(path):
        row = json.loads(line)
        found.setdefault(row["bench"], []).append(row["value"])
        units[row["bench"]] = row["unit"]
    return found, units


def verdict(before, after, unit):
    """A row changed if no round of one tree reaches a round of the other."""
    if unit == "MB/s":
        before, after = after, before
    if min(after) > max(before):
        return "slower"
    return "faster" if max(after) < min(before) else "same"


def cell(values):
    return f"{statistics.median(values):9.3f} {f'{min(values):.3f}..{max(values):.3f}':>19}"


other, _ = rows(sys.argv[1])
this, units = rows(sys.argv[2])
width = max(map(len, this))
print(f"{'bench':{width}}  {'other tree':>9} {'range':>18}  {'this tree':>9} {'range':>18}  unit   ratio")
for bench in this:
    if bench in other:
        before, after, unit = other[bench], this[bench], units[bench]
        ratio = statistics.median(after) / (statistics.median(before) or 1)
        print(f"{bench:{width}} {cell(before)} {cell(after)}  {unit:5} {ratio:6.2f}  {verdict(before, after, unit)}")
print(f"only in this tree: {', '.join(sorted(set(this) - set(other))) or 'none'}")
END

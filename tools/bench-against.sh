#!/usr/bin/env bash
# Runs bench programs of another tree and of this one turn about and prints both figures of each row.
# usage: bench-against.sh OTHER_TREE [ROUNDS [NAME…]]    both trees have build/release; rows that only one tree has are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
other=$(realpath "$1") rounds=${2:-3}
names=("${@:3}")
if [[ ${#names[@]} == 0 ]]; then
    for program in build/release/bin/bench_*; do
        # The lint bench needs a folder of sources, the kernels of the backend are no guest of a program.
        case ${program##*/} in bench_lint | bench_gemm) ;; *) names+=("${program##*/}") ;; esac
    done
fi
out=$PWD/build/bench
[[ -f $out/results.json ]] || tools/bench.sh bench_execute >/dev/null
export BENCH_PROGRAM=$out/program/step.mlirbc BENCH_STEP=$out/program BENCH_SMALL_STEP=$out/small
export BENCH_WIDER=$out/wider/step.mlirbc BENCH_CONSTANTS=$out/program/constants.mlirbc
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
    found = {}
    for line in open(path):
        row = json.loads(line)
        found.setdefault(row["bench"], []).append(row)
    return found


other, this = rows(sys.argv[1]), rows(sys.argv[2])
width = max(map(len, this))
print(f"{'bench':{width}}  {'other tree':>12} {'this tree':>12}  unit   ratio")
for bench in this:
    if bench in other:
        before, after = (statistics.median(r["value"] for r in rows[bench]) for rows in (other, this))
        print(f"{bench:{width}}  {before:12.3f} {after:12.3f}  {this[bench][0]['unit']:5} {after / before if before else 0:6.2f}")
print(f"only in this tree: {', '.join(sorted(set(this) - set(other))) or 'none'}")
END

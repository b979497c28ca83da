#!/usr/bin/env bash
# Runs every bench program (bench/bench_*.c, *.py), prints a table and keeps build/bench/results.json.
# usage: bench.sh [NAME…]     names as bench_execute, bench_cpu.py; all unless said. Exits 1 over a limit.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=build/release/bin out=build/bench

names=("$@")
if [[ ${#names[@]} == 0 ]]; then
    for program in "$bin"/bench_* bench/bench_*.py; do names+=("${program##*/}"); done
    lint=1
fi
mkdir -p "$out"
# What JAX sends a plugin for a training step, of about 35 KB.
if [[ ! -f $out/program/step.mlirbc ]]; then
    build/env/jax/bin/python tests/conformance/make_program.py "$out/program" cuda 18
fi
if [[ ! -f $out/small/step.mlirbc ]]; then
    build/env/jax/bin/python tests/conformance/make_program.py "$out/small" cuda 1
fi
export BENCH_PROGRAM=$PWD/$out/program/step.mlirbc BENCH_STEP=$PWD/$out/program BENCH_SMALL_STEP=$PWD/$out/small
# The same with a larger batch.
if [[ ! -f $out/wider/step.mlirbc ]]; then
    build/env/jax/bin/python tests/conformance/make_program.py "$out/wider" cuda 18 6
fi
export BENCH_WIDER=$PWD/$out/wider/step.mlirbc
if [[ ! -f $out/program/constants.mlirbc ]]; then
    build/env/jax/bin/python bench/big_constants.py "$out/program/constants.mlirbc"
fi
export BENCH_CONSTANTS=$PWD/$out/program/constants.mlirbc
for name in "${names[@]}"; do
    # The floor of the lint bench is not a figure of its own.
    case $name in
    bench_lint) lint=1 ;;
    *.py) build/env/jax/bin/python "bench/$name" ;;
    *) "$bin/$name" ;;
    esac
done >"$out/lines.json"
if [[ -n ${lint:-} ]]; then tools/bench-lint.sh >>"$out/lines.json"; fi

python3 - "$out/lines.json" "$out/results.json" <<'END'
import datetime, json, os, platform, re, sys

results = [json.loads(line) for line in open(sys.argv[1])]
cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "")
json.dump({"schema": "stet.bench/1", "when": datetime.datetime.now(datetime.timezone.utc).isoformat(),
           "machine": platform.machine(), "cpu": cpu, "cpus": os.cpu_count(), "results": results},
          open(sys.argv[2], "w"), indent=1)
width = max(len(r["bench"]) for r in results)
print(f"{'bench':{width}}  {'median':>10} {'p10':>10} {'p90':>10}       {'baseline':>10}  {'limit':>6}")
over = 0
for r in results:
    limit = r.get("limit")
    bad = limit is not None and r["value"] > limit
    over += bad
    print(f"{r['bench']:{width}}  {r['value']:10.3f} {r['p10']:10.3f} {r['p90']:10.3f} {r['unit']:4} "
          f"{r['baseline']:10.3f}  {'' if limit is None else f'{limit:g}':>6}"
          f"  {'OVER THE LIMIT, ' if bad else ''}against {r['against']}")
# What was measured at several sizes, as a curve: bars as long as the figure, the largest of a curve is full.
curves = {}
for r in results:
    match = re.fullmatch(r"(.*?)\.?(?:against-)?(\d+)-(programs|recompiles|operations)(.*)", r["bench"])
    if match:
        curves.setdefault((match[1] + match[4], match[3], r["unit"]), []).append((int(match[2]), r["value"]))
for (name, what, unit), points in curves.items():
    if len(points) < 3:
        continue
    print(f"\n{name}, {unit} by {what}")
    for size, value in sorted(points):
        print(f"  {size:>9,} {value:10.3f}  {'█' * max(1, round(40 * value / max(v for _, v in points)))}")
print(f"\nkept in {sys.argv[2]}")
sys.exit(1 if over else 0)
END

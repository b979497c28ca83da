#!/usr/bin/env bash
# Times `stet lint` against `ruff check` over the whole transformers source tree, and prints one JSON
# line a figure as the bench programs do. usage: bench-lint.sh (after the release build)
#
# Both tools come after each other on the same cores, three times; figures are medians of CPU seconds
# (user + system, all threads), which other work on the machine disturbs less than the clock.
set -euo pipefail
cd "$(dirname "$0")/.."
stet=$PWD/build/release/bin/stet floor=$PWD/build/release/bin/bench_lint out=$PWD/build/bench/lint

mkdir -p "$out"
fetch() { # fetch PACKAGE VERSION SHA256: its wheel, unpacked as $out/PACKAGE
    [[ ! -d $out/$1 ]] || return 0
    echo "$1==$2 --hash=sha256:$3" >"$out/$1.txt"
    python3 -m pip download --quiet --no-deps --require-hashes -d "$out" -r "$out/$1.txt" >&2
    python3 -m zipfile -e "$out/$1-$2"-*.whl "$out/$1.new"
    mv "$out/$1.new" "$out/$1"
}
fetch transformers 5.22.2 829c2820aff91730b8ec45a4b8ff4be07f586a140b68a9073998b36fa35297dc
fetch ruff 0.17.4 2cd025509b2e15721b426fc70fd946d71f43b3db3b08e946dfec2d696d911690
ruff=$(find "$out/ruff" -name ruff -type f)
chmod +x "$ruff"
find "$out/transformers" -name '*.py' | sort >"$out/files"

python3 - "$stet" "$ruff" "$floor" "$out" <<'END'
import json, os, shutil, statistics, subprocess, sys, tempfile

stet, ruff, floor, out = sys.argv[1:]
cache = tempfile.mkdtemp()
env = dict(os.environ, XDG_CACHE_HOME=cache, RUFF_CACHE_DIR=os.path.join(cache, "ruff"))


def run(*command, stdin=None):
    child = subprocess.Popen(command, cwd=out, env=env, stdin=stdin, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1), command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


cold, warm, ruff_cold, ruff_warm, parse, memory = [], [], [], [], [], []
for _ in range(3):
    shutil.rmtree(cache)
    os.mkdir(cache)
    for tool, first, second in (([stet, "lint", "--no-config", "transformers"], cold, warm),
                                ([ruff, "check", "--isolated", "transformers"], ruff_cold, ruff_warm)):
        seconds, megabytes = run(*tool)
        first.append(seconds)
        if tool[0] == stet:
            memory.append(megabytes)
        second.append(run(*tool)[0])
    with open(os.path.join(out, "files")) as files:
        parse.append(run(floor, stdin=files)[0])
shutil.rmtree(cache)


def row(name, unit, values, against, baseline, limit):
    print(json.dumps({"bench": name, "unit": unit, "value": statistics.median(values), "p10": min(values),
                      "p90": max(values), "against": against, "baseline": baseline, "limit": limit}))


r, rw, p = statistics.median(ruff_cold), statistics.median(ruff_warm), statistics.median(parse)
row("lint.transformers.cold", "s", cold, "ruff check, cold (limit: 5 times)", r, 5 * r)
row("lint.transformers.warm", "s", warm, "ruff check, warm (limit: as fast)", rw, rw)
row("lint.transformers.parse-floor", "s", parse, "stet lint, cold", statistics.median(cold), None)
row("lint.transformers.memory", "MB", memory, "nothing", 0, 300)
END

"""Runs `stet lint` over examples/traps: every trap is found where its source shows it, and nothing else
is said.

usage: traps.py STET [--write]

Found means: a finding with the trap's own id (or one of the classes that the script's head allows), or one
on a line that the script marks as the origin or the trigger of its recompiles. The scripts that recompile
for nothing or benignly give no finding at all. Every finding there is, by line and rule, stands in
traps.txt, read over by a person; more or less than those is wrong. blind.txt lists the scripts whose cause
is in no line of theirs, each with its reason.
"""
import collections
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TRAPS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "traps")
TABLE = os.path.join(HERE, "traps.txt")


def head(lines, name):
    return next((re.sub(rf"^# {name}: *", "", line) for line in lines if line.startswith(f"# {name}:")), "")


def findings(stet):
    done = subprocess.run([stet, "lint", "--format=json", "--no-cache", "--no-config", "."], cwd=TRAPS,
                          capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return [dict(f, file=os.path.normpath(f["file"])) for f in json.loads(done.stdout)["findings"]]


def scripts():
    for folder, _, names in sorted(os.walk(TRAPS)):
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.relpath(os.path.join(folder, name), TRAPS)
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    yield path, f.read().splitlines()


def compare(table, got):
    """Prints what is missing and what is too much; how many that were."""
    here = collections.Counter((f["file"], f["line"], f["code"]) for f in got)
    wrong = 0
    for (path, line, code), count in sorted((here - table).items()):
        wrong += count
        print(f"{path}:{line}: {code}: not in traps.txt: a false alarm?")
    for (path, line, code), count in sorted((table - here).items()):
        wrong += count
        print(f"{path}:{line}: {code}: not found any more")
    return wrong


def main():
    got = findings(os.path.abspath(sys.argv[1]))
    if "--write" in sys.argv:
        with open(TABLE, "w", encoding="utf-8") as f:
            f.write("# What `stet lint` says of examples/traps: script, line, rule. traps.py compares.\n")
            f.writelines(f"{x['file']} {x['line']} {x['code']}\n" for x in got)
    with open(TABLE, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    bad = compare(collections.Counter((path, int(line), code) for path, line, code in rows), got)
    with open(os.path.join(HERE, "blind.txt"), encoding="utf-8") as f:
        blind = {line.split()[0] for line in f if line.strip() and not line.startswith("#")}
    found = quiet = unseen = 0
    for path, lines in scripts():
        trap, mine = head(lines, "trap"), [f for f in got if f["file"] == path]
        marked = {i for i, line in enumerate(lines, 1) if re.search(r"# (origin|trigger)", line)}
        classes = {trap, *head(lines, "also").split(), *head(lines, "also-classes").split()}
        right = any(f["rule"] in classes or marked & set(range(f["line"], f["end_line"] + 1)) for f in mine)
        if trap == "none" or head(lines, "benign") == "yes":
            quiet += 1
            bad += len(mine)
            for f in mine:
                print(f"{path}:{f['line']}: false alarm: {f['code']}: {f['message']}")
        elif path in blind:
            unseen += 1
            if right:
                bad += 1
                print(f"{path}: found; take it out of blind.txt")
        else:
            found += right
            if not right:
                bad += 1
                print(f"{path}: {trap} is not found; findings: {[(f['line'], f['code']) for f in mine]}")
    print(f"{found} traps found, {unseen} in no line, {quiet} quiet scripts, {len(got)} findings, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs `stet lint` over examples/traps: a trap that can be seen in its source is found where it lies, and
the benign scripts give no alarm.

usage: traps.py STET [--list]

Found means: a finding with the trap's own id, or one on a line that the script marks as the origin or
the trigger of its recompiles. blind.txt lists the scripts whose cause lies outside of what a reader of the
source could know (data, environment, another launch) or what the rules do not follow yet; a script that is
no longer blind must leave the list.
"""
import collections
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TRAPS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "traps")


def main():
    stet = os.path.abspath(sys.argv[1])
    done = subprocess.run([stet, "lint", "--format=json", "--no-cache", "--no-config", "."], cwd=TRAPS,
                          capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        print(done.stderr)
        return 1
    got = collections.defaultdict(list)
    for f in json.loads(done.stdout)["findings"]:
        got[os.path.normpath(f["file"])].append(f)
    with open(os.path.join(HERE, "blind.txt"), encoding="utf-8") as f:
        blind = {line.split()[0] for line in f if line.strip() and not line.startswith("#")}
    found, missed, bad = [], [], 0
    for folder, _, names in sorted(os.walk(TRAPS)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), TRAPS)
            if not name.endswith(".py"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                lines = f.read().splitlines()
            trap = next((re.sub(r"^# trap: *", "", line) for line in lines if line.startswith("# trap:")), "none")
            marked = {i for i, line in enumerate(lines, 1) if re.search(r"# (origin|trigger)", line)}
            if trap == "none":
                for f in got[path]:
                    bad += 1
                    print(f"{path}:{f['line']}: false alarm: {f['code']}: {f['message']}")
                continue
            right = any(f["rule"] in trap or marked & set(range(f["line"], f["end_line"] + 1)) for f in got[path])
            (found if right else missed).append(path)
            if right and path in blind:
                bad += 1
                print(f"{path}: found; take it out of blind.txt")
            if not right and path not in blind:
                bad += 1
                print(f"{path}: {trap} is not found; findings: {[(f['line'], f['code']) for f in got[path]]}")
    if "--list" in sys.argv:
        print("\n".join(missed))
    print(f"{len(found)} traps found, {len(missed)} not visible, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

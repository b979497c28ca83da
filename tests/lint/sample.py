"""Draws the sample of findings that docs/lint-judged.md judges, and the pages after it.

usage: sample.py STET SEED COUNT [--each] GROUP=FOLDER...

For each group: lints the folder's Python files without its tests, and prints COUNT findings drawn with SEED, one line
each (group, place, code, severity, message) and the lines around it. With --each, every folder in FOLDER is a package
and is linted on its own, as its users would.
"""
import json
import os
import random
import re
import subprocess
import sys

AROUND = 12
TEST = re.compile(r"(^|/)(tests?|testing|testdata|test_utils)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


def findings(stet, folder):
    files = [os.path.relpath(os.path.join(at, name), folder)
             for at, _, names in os.walk(folder) for name in names if name.endswith(".py")]
    files = sorted(name for name in files if not TEST.search(name))
    done = subprocess.run([stet, "lint", "--format=json", "--no-config", "--no-cache", *files], cwd=folder,
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)["findings"]


def findings_of_each(stet, folder):
    found = []
    for package in sorted(os.listdir(folder)):
        for one in findings(stet, os.path.join(folder, package)):
            found.append({**one, "file": os.path.join(package, one["file"])})
    return found


def show(number, group, folder, found):
    with open(os.path.join(folder, found["file"]), encoding="utf-8", errors="replace") as f:
        lines = f.read().split("\n")
    print(f"=== {group}{number} {found['file']}:{found['line']} {found['code']} ({found['severity']})")
    print(f"    {found['message']}\n    in {found['traced']}\n    fix {found['fix']}")
    for at in range(max(0, found["line"] - 1 - AROUND), min(len(lines), found["line"] + AROUND)):
        print(f"{'>' if at == found['line'] - 1 else ' '}{at + 1:6} {lines[at]}")
    print()


def main():
    stet, seed, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    groups = sys.argv[4:]
    look = findings_of_each if groups[:1] == ["--each"] else findings
    for argument in groups[look is findings_of_each:]:
        group, _, folder = argument.partition("=")
        all_of_it = look(stet, folder)
        drawn = random.Random(f"{seed} {group}").sample(all_of_it, min(count, len(all_of_it)))
        print(f"##### {group}: {len(drawn)} of {len(all_of_it)} findings, seed {seed}")
        drawn.sort(key=lambda f: (f["file"], f["line"], f["column"]))
        for number, found in enumerate(drawn, 1):
            show(number, group, folder, found)


if __name__ == "__main__":
    main()

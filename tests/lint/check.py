"""Runs `stet lint` over cases/ and compares with what the comments there say.

usage: check.py STET

A line that ends in "# expect: code, code" must give exactly those findings; one that ends in
"# clean: code" is a look-alike of that rule and must give none. A line without a comment must give
none either. "# expect: code (note)" also fixes the severity. Every rule needs five lines of each kind, and its trap a page.
"""
import collections
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "traps")
LEAST = 5


def labels(path):
    """{line: (expected codes, look-alike codes, severity or None)}"""
    found = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            expect = re.search(r"# expect: ([\w, -]+)", line)
            clean = re.search(r"# clean: ([\w, -]+)", line)
            severity = re.search(r"# expect: [\w, -]+\((\w+)\)", line)
            if expect or clean:
                split = lambda m: [c.strip() for c in m.group(1).split(",")] if m else []
                found[number] = (split(expect), split(clean), severity and severity.group(1))
    return found


def main():
    stet = os.path.abspath(sys.argv[1])
    done = subprocess.run([stet, "lint", "--format=json", "--no-cache", "--no-config", "cases"],
                          cwd=HERE, capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        print(done.stderr)
        return 1
    got = collections.defaultdict(list)
    for f in json.loads(done.stdout)["findings"]:
        got[f["file"], f["line"]].append((f["code"], f["message"], f["severity"]))
    true, clean, bad = collections.Counter(), collections.Counter(), 0
    for name in sorted(os.listdir(os.path.join(HERE, "cases"))):
        path = os.path.join("cases", name)
        marks = labels(os.path.join(HERE, path))
        lines = set(marks) | {line for file, line in got if file == path}
        for line in sorted(lines):
            expect, alike, severity = marks.get(line, ([], [], None))
            codes = sorted(code for code, _, _ in got.get((path, line), []))
            true.update(expect)
            clean.update(alike)
            severities = {s for _, _, s in got.get((path, line), [])}
            if codes != sorted(expect) or (severity and severities != {severity}):
                bad += 1
                print(f"{path}:{line}: expected {sorted(expect)}, got {got.get((path, line), [])}")
    rules = json.loads(subprocess.run([stet, "lint", "--rules", "--format=json"], capture_output=True,
                                      text=True, check=True).stdout)["rules"]
    codes = {rule["code"] for rule in rules}
    for rule in rules:
        if not os.path.exists(os.path.join(PAGES, rule["rule"] + ".md")):
            bad += 1
            print(f"{rule['code']}: no page docs/traps/{rule['rule']}.md")
    for code in sorted((set(true) | set(clean)) - codes):
        bad += 1
        print(f"no rule {code}")
    for code in sorted(codes):
        if true[code] < LEAST or clean[code] < LEAST:
            bad += 1
            print(f"{code}: {true[code]} found, {clean[code]} look-alikes; {LEAST} of each are needed")
    print(f"{len(codes)} rules, {sum(true.values())} expected findings, "
          f"{sum(clean.values())} look-alikes, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

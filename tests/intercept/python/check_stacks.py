"""Compares the stacks in a dumped journal with the lines marked in stacks.py.

usage: journal_dump RUN | check_stacks.py STACKS.PY
"""

import json
import re
import sys

WAITS = {"own": 1, "keeping": 1, "blocked": 2, "guess": 3, "thread": 1, "deep": 1, "handling": 1}
lines = {}
with open(sys.argv[1]) as f:
    for number, text in enumerate(f, 1):
        marked = re.search(r"# LINE (\w+)", text)
        if marked:
            lines[marked.group(1)] = number

records = [json.loads(line) for line in sys.stdin]
frames = {r["stack"]: r["frames"] for r in records if r["record"] == "stack"}
names = {r.get("index", 0): r["name"] for r in records if r["record"] == "compile_end"}
seen, missing = {}, {}
loads, told = {}, set()
for r in records:
    if r["record"] == "compile_begin":
        told.add((r.get("index", 0), 0))
    if r["record"] == "deserialize":
        told.add((r.get("index", 0), 1))
    if r["record"] != "compile_stack":
        continue
    assert (r.get("index", 0), r.get("load", 0)) in told, f"a stack before its record: {r}"
    if r.get("load"):
        if "missing" in r:  # it takes no time, so on a busy machine it may be over too soon
            assert "ended before" in r["missing"], r
            loads[r.get("index", 0)] = lines["load"]
        if r.get("waits"):
            loads[r.get("index", 0)] = frames[r["stack"]][0]["line"]
        continue
    name = names[r.get("index", 0)]
    if "missing" in r:
        missing[name] = r["missing"]
    elif r.get("waits"):
        assert name not in seen, f"two threads wait for {name}"
        seen[name] = r

for name, waits in WAITS.items():
    assert name in seen, f"no stack of {name}: {missing.get(name)}"
    r = seen[name]
    top = frames[r["stack"]][0]
    assert r["waits"] == waits, (name, r)
    assert top["line"] == lines[name], (name, top, lines[name])
    assert top["file"].endswith("stacks.py"), top
assert seen["thread"]["thread_name"] == "the worker", seen["thread"]
assert frames[seen["own"]["stack"]][-1]["function"] == "<module>"
assert len(frames[seen["deep"]["stack"]]) == 128
assert "ended before" in missing.get("stuck", ""), missing
assert loads == {0: lines["load"], 1: lines["load_held"]}, loads
print("stacks as they should be:", sorted(seen), missing)

"""Compares the generators in a dumped journal with the loops that loops.py was in.

usage: journal_dump RUN | check_loops.py SAID [none]     none: this Python shows variables alone
"""

import json
import sys

MOST = 6  # as many as are read
said = {}
for line in open(sys.argv[1]):
    words = line.split()
    if words[0].isdigit():
        said[int(words[0])] = words[1:]
records = [json.loads(line) for line in sys.stdin]
names = {r.get("index", 0): int(r["name"][5:]) for r in records if r["record"] == "compile_end"}
seen = {names[r.get("index", 0)]: r["values"] for r in records if r["record"] == "compile_values"}
read = 0
for number, loops in said.items():
    found = [v for v in seen[number] if v["scope"] == "suspended"]
    marks = [str(v["value"]) for v in found if v["path"] in ("mark", "self.mark") and v["kind"] == "int"]
    if "none" in sys.argv:
        assert not found, (number, found)
    elif loops != ["0"]:
        assert set(marks) <= set(loops), (number, loops, marks)  # never a loop that is over
        wanted = loops[-2:]  # each may take two: a generator in an iterator
        assert set(wanted) <= set(marks) or len([v for v in found if v["kind"] == "function"]) >= MOST - 1, (number, loops, marks)
        read += len(set(marks))
    for v in found:
        if v["path"] == "size":
            assert str(v["value"] // 2) in marks, v
print("loops as they should be:", read, "in", len(said), "compiles")
assert read or "none" in sys.argv

"""Compares the copies in a dumped journal with what copies.py did.

usage: journal_dump RUN | check_copies.py SCRIPT [hidden]     hidden: no value may be kept
"""

import json
import sys

lines = {}
for number, text in enumerate(open(sys.argv[1]), 1):
    if "# line: " in text:
        lines[text.split("# line: ")[1].strip()] = number
records = [json.loads(line) for line in sys.stdin]
names = {r.get("index", 0): r["name"] for r in records if r["record"] == "compile_end"}
stacks = {r["stack"]: r["frames"] for r in records if r["record"] == "stack"}
copies = [r for r in records if r["record"] == "compile_copy"]


def first_byte(seed):
    """As the harness fills its buffers."""
    return "%02x" % (seed * 31 % 256)


def of(compile, to_host):
    """Lines, innermost first, dimensions, count and value of each copy that a compile shows."""
    found = []
    for r in copies:
        if names[r.get("index", 0)] == compile and r.get("to_host", 0) == to_host:
            frames = [(f["line"], f["function"].split(".")[-1]) for f in stacks[r["stack"]]]
            assert r["dtype"] == "float32" and r["bytes"] == 4 * r["dims"][0], r
            assert 0 < r["copied_ns"] <= r["time_ns"], r
            found.append((frames, r["dims"], r["count"], r.get("value", "")[:2]))
    return found


def has(found, innermost, outer, dims, count, value):
    line = lines[innermost]
    match = [f for f in found if f[0][0][0] == line and f[1] == dims]
    assert len(match) == 1, (innermost, dims, found)
    frames, _, times, first = match[0]
    assert times == count, match
    assert outer is None or any(f[0] == lines[outer] for f in frames[1:]), match
    assert first == ("" if "hidden" in sys.argv else value), match


assert not of("first", 1), "the layout was not compared yet"
second = of("second", 1)
assert len(second) == 2, second
has(second, "helper", "branch", [1], 2, first_byte(9))
has(second, "loader", "comprehension", [3], 2, first_byte(5))
made = of("second", 0)
has(made, "helper", "branch", [1], 2, "")
has(made, "loader", "comprehension", [2], 1, "")
has(made, "loader", "comprehension", [3], 1, "")
third = of("third", 1)
assert [f[0][0] for f in third] == [(1, "<module>")], third  # of this thread alone
made = of("third", 0)
has(made, "elsewhere", None, [7], 1, "")
has(made, "ended", None, [6], 3, "")  # its threads are over: what they sent is kept, as one
print("copies as they should be:", len(copies))

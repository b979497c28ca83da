"""Compares the values in a dumped journal with what values.py had in its frames.

usage: journal_dump RUN | check_values.py [hidden]     hidden: numbers must be hashes
"""

import json
import sys

records = [json.loads(line) for line in sys.stdin]
names = {r.get("index", 0): r["name"] for r in records if r["record"] == "compile_end"}
found = {names[r.get("index", 0)]: r for r in records if r["record"] == "compile_values"}
assert set(found) == {"known", "closures", "passed", "hostile", "kept"}, set(found)


def table(values):
    """Values by scope and path. An object is read once: where it is held again it gets the same fields here."""
    own = {(v["scope"], v["path"]): v for v in values}
    full = {}
    for (scope, path), v in own.items():
        below = [k for k in own if k[1].startswith((path + ".", path + "[")) and k[0] == scope]
        if below and v.get("address"):
            full.setdefault(v["address"], {k[1][len(path):]: own[k] for k in below})
    for scope, path in list(own):
        for rest, v in full.get(own[scope, path].get("address"), {}).items():
            own.setdefault((scope, path + rest), v)
    return own


known, closures, passed = (table(found[n]["values"]) for n in ("known", "closures", "passed"))
read = {(v["scope"], v["path"]) for n in ("closures", "passed") for v in found[n]["values"]}


def is_(scope, path, kind, value=None, type_=None, among=known):
    v = among.get((scope, path))
    assert v, (scope, path, sorted(p for s, p in among if s == scope and p.startswith(path[:7]))[:200])
    assert v["kind"] == kind, v
    assert value is None or v["value"] == value, v
    assert type_ is None or v["type"] == type_, v


if "hidden" in sys.argv:
    is_("argument", "args[1]", "hidden")
    is_("local", "plateau.lr", "hidden")
    assert not any(v["kind"] in ("int", "float") for r in found.values() for v in r["values"])
    sys.exit(0)

is_("argument", "args[0]['x'][0]", "int", 4)
is_("argument", "args[1]", "int", 2, "int")
is_("argument", "args[2].count", "int", 7)
is_("argument", "args[2].mu", "float", -1.5)
is_("argument", "kwargs['train']", "bool", False)
is_("argument", "kwargs['mode']", "word", "eval")
is_("called", "fun", "function")
assert known["called", "fun"]["name"].endswith("step"), known["called", "fun"]
assert known["called", "fun"]["file"].endswith("values.py"), known["called", "fun"]
is_("called", "jit_info.static_argnums[0]", "int", 1)
is_("closure", "plateau.lr", "float", 0.004)
is_("global", "SCALE", "int", 3)
is_("local", "plateau", "object", None, "Plateau")
is_("local", "plateau.fired", "int", 1)
is_("local", "mode", "hidden")
is_("local", "keep", "bool", True)
is_("local", "total", "object", None, "int")
is_("local", "nested['k'][1]", "int", 2)
is_("local", "nested[3]", "none")
is_("local", "point.x", "int", 3)
is_("local", "point.y[0]", "int", 4)
is_("local", "bound.args[0]", "int", 2)
is_("local", "bound.keywords['mod']", "int", 7)
heads = {v["path"].partition(".")[2]: v for v in found["known"]["values"] if v["scope"] == "suspended" and v["kind"] == "function"}
assert set(heads) <= {"", "waiting"} and "waiting" in heads, heads
for head, size in (("waiting", 5), ("", 8)):
    mine = {v["path"]: v.get("value") for v in found["known"]["values"] if v["scope"] == "suspended" and v["frame"] == heads[head]["frame"]}
    assert mine["size"] == size and mine["width"] == 2 * size, (head, mine)
    assert heads[head]["file"].endswith("values.py") and heads[head]["name"] == "batches", heads[head]
# Functions in an argument: what they close over, and what a method is bound to.
is_("argument", "args[0].tx.update", "function", among=closures)
is_("argument", "args[0].tx.update.functions[1].step_size", "float", -0.125, among=closures)
is_("argument", "args[0].apply.__self__.strength", "float", 0.25, among=closures)
is_("argument", "args[1]", "int", 3, among=closures)
# A number four objects away, beside a thousand others, and what a library's wrapper was given. An object is read once:
# where it is held again, only its address is recorded.
for values in (closures, passed):
    is_("local", "trainer", "object", None, "Trainer", among=values)
    is_("local", "trainer.losses", "length", 1000, among=values)
    is_("local", "again.block.noise.strength", "float", 0.25, among=values)
    is_("local", "trainer.model.block.noise.strength", "float", 0.25, among=values)
is_("passed", "args[0].block.noise.strength", "float", 0.25, among=passed)
assert not any(path.startswith(("trainer.model.", "args[0].block.")) for _, path in read), sorted(read)
is_("passed", "args[1].tx.update.functions[1].step_size", "float", -0.5, among=passed)
is_("passed", "kwargs['batch']", "int", 7, among=passed)
assert "a long text" not in json.dumps(records), "a text of the user's was kept"
hostile = {v["path"]: v for v in found["hostile"]["values"]}
assert hostile["args[0]"] == dict(hostile["args[0]"], kind="object", type="Evil"), hostile["args[0]"]
assert hostile["args[11]"]["value"] == 100000, hostile["args[11]"]
assert hostile["args[8][0]"]["value"] == 1, hostile.get("args[8][0]")
print("values as they should be:", len(known), "known,", len(hostile), "hostile")

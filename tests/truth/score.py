"""Holds Stet's answer against the planted truth, and adds up many cases.

    python3 tests/truth/score.py cases.jsonl…      prints the tables again, of one run or of several
"""
import collections
import json
import os
import re
import sys

LIVE = re.compile(r"^stet: ([a-z]+(?:-[a-z0-9]+)+|unknown|varlen)(?: and [a-z0-9, -]+)?: .*", re.M)


def place(entry):
    return [os.path.basename(entry["file"]), entry["line"]] if entry and entry.get("file") else None


def findings(explained, with_benign):
    return [r for r in explained.get("recompiles", []) if with_benign or not r.get("benign")]


def to_edit(finding):
    """The line that explain calls the line to edit: `source`, and while it has none, the line that it prints in its place."""
    return place(finding.get("source")) or place(finding.get("origin")) or place(finding.get("trigger"))


def judge_drift(case, explained, happened):
    """One planted case. `happened` is the number of recompiles that the framework itself counted."""
    every = findings(explained, True)
    loud = [r for r in every if not r.get("benign")]
    told = loud or ([r for r in every if r["class"] in case["accepted"]] if case["benign_counts"] else [])
    right = [r for r in told if r["class"] in case["accepted"]]
    wrong = [r for r in told if r["class"] not in case["accepted"]]
    origins = [place(r.get("origin")) in case["origin"] for r in right]
    sources = [place(r.get("source")) in case["source"] for r in right]
    edits = [to_edit(r) in case["source"] for r in right]
    first = (told or [{}])[0]
    return {
        "class": bool(right) and not wrong, "some": bool(right), "exact": bool(right) and all(r["class"] == case["best"] for r in told),
        "also": bool(told) and all(set([r["class"], *r.get("also", [])]) & set(case["accepted"]) for r in told),
        "origin": bool(right) and all(origins), "source": bool(right) and all(sources),
        "line": bool(right) and all(edits),
        "count": len(told) == happened or case["fragments"], "told": len(told), "happened": happened,
        "sure": first.get("confidence") or first.get("sure") or "silent",
        "answers": [{"class": r["class"], "also": r.get("also"), "origin": place(r.get("origin")), "source": place(r.get("source")),
                     "edit": to_edit(r), "sure": r.get("confidence") or r.get("sure"), "function": r.get("function"), "evidence": r.get("evidence")} for r in told],
    }


def judge_clean(explained, live_text):
    loud = findings(explained, False)
    return {"after": [{"class": r["class"], "origin": place(r.get("origin")), "function": r.get("function"), "evidence": r.get("evidence")} for r in loud],
            "live": sorted(set(m.group(0) for m in LIVE.finditer(live_text)))}


def really_planted(case, drift, clean):
    """(recompiles that happened, why the case does not count) by the framework's own word."""
    for kind, seen in (("drift", drift), ("clean", clean)):
        if "error" in seen:
            return 0, f"{kind} script failed: {seen['error'].strip().splitlines()[-1]}"
    if case["lane"] == "torch":
        if clean["compiles"] or clean["breaks"]:
            return 0, f"clean twin recompiles {clean['compiles']} or breaks {clean['breaks']}"
        happened = len(drift["compiles"])
        if case["fragments"]:
            return happened, None if drift["breaks"] else "no graph break happened"
    else:
        steps = [name for name in clean["compiles"] if name in case["clean_compiled"] and name != "<lambda>"]  # libraries have lambdas too
        if len(steps) > 1:
            return 0, f"clean twin compiles {steps}"
        if case["fragments"]:
            extra = len(drift["compiles"]) - len(clean["compiles"])
            late = any(name in case["compiled"] for name in drift["compiles"])  # a function that is first called late
            return max(extra, 1), None if extra > 0 or late else "no program was added"
        happened = sum(name in case["compiled"] for name in drift["compiles"]) - sum(name in case["clean_compiled"] for name in clean["compiles"])
    if happened < 1:
        return happened, "no recompile happened"
    if case["planted"] is not None and happened != case["planted"]:
        return happened, f"{happened} recompiles instead of {case['planted']}"
    return happened, None


def percent(part, whole):
    return f"{part}/{whole} {100 * part // whole if whole else 0:3d}%"


def row(name, cases, width=22):
    cells = [percent(sum(c["verdict"][key] for c in cases), len(cases)) for key in ("class", "exact", "origin", "line")]
    both = percent(sum(map(right, cases)), len(cases))
    alarms = percent(sum(bool(c["clean"]["after"]) for c in cases), len(cases))
    return f"{name:{width}} " + " ".join(f"{cell:>13}" for cell in (*cells, both, alarms))


def group(cases, key):
    groups = collections.defaultdict(list)
    for case in cases:
        for name in key(case):
            groups[name].append(case)
    return sorted(groups.items())


def right(case):
    return case["verdict"]["class"] and case["verdict"]["line"]


def is_missed(case):
    return not right(case) or bool(case["clean"]["after"] or case["clean"]["live"])


def miss(case):
    """What was said instead of what was planted, for a person."""
    told = {(a["class"], a["sure"], f"edit {a['edit']}", f"origin {a['origin']}") for a in case["verdict"]["answers"]}
    said = "; ".join(" ".join(part) for part in sorted(told, key=str)) or "nothing"
    alarms = "".join(f"; twin: {alarm['class']} {alarm['evidence']}" for alarm in case["clean"]["after"]) + "".join("; live: " + text for text in case["clean"]["live"])
    return f"{case['index']} {case['program']} {case['drift']} {case['accepted']} origin {case['origin']} source {case['source']}: {said}{alarms}"


def judged(cases):
    return [case for case in cases if "verdict" in case]


def line(cases):
    """The figures of a run that is still going on."""
    cases = judged(cases)
    certain = [case for case in cases if case["verdict"]["sure"] == "certain"]
    alarms = sum(bool(case["clean"]["after"] or case["clean"]["live"]) for case in cases)
    return (f"{len(cases)} cases: class and line right {percent(sum(map(right, cases)), len(cases))}, "
            f"certain and right {percent(sum(map(right, certain)), len(certain))}, twins alarmed {alarms}")


def verdict(cases, at_least):
    """The exit code of a run with a threshold: each case must have been judged, and no twin alarmed."""
    missing = [case for case in cases if "verdict" not in case]
    cases = judged(cases)
    alarms = [case for case in cases if case["clean"]["after"] or case["clean"]["live"]]
    enough = cases and 100 * sum(map(right, cases)) >= at_least * len(cases)
    return 0 if enough and not missing and not alarms else 1


def tables(every):
    """The report: all cases, then by lane, drift, framework and idiom, then calibration."""
    cases = judged(every)
    thrown_out = [sum(bool(case[key]) for case in every) for key in ("unplanted", "failed")]
    head = f"{'':22} " + " ".join(f"{name:>13}" for name in ("class", "most specific", "origin", "line to edit", "class + line", "twin alarms"))
    out = [f"{len(cases)} cases counted, {thrown_out[0]} thrown out as unplanted, {thrown_out[1]} failed", "", head, row("all", cases)]
    for title, key in (("lane", lambda c: [c["lane"]]), ("drift", lambda c: [f"{c['lane'][0]} {c['drift']}"]), ("framework", lambda c: [c["framework"]]),
                       ("idiom", lambda c: c["idioms"])):
        out += ["", f"by {title}", *(row(name, some) for name, some in group(cases, key))]
    count = lambda key: percent(sum(c["verdict"][key] for c in cases), len(cases))
    out += ["", f"`source` is named and right {count('source')}; the right number of recompiles {count('count')}",
            f"class among the first and further causes {count('also')}; some recompile of the right class {count('some')}",
            f"false alarms on clean twins: live {percent(sum(bool(c['clean']['live']) for c in cases), len(cases))}, "
            f"after {percent(sum(bool(c['clean']['after']) for c in cases), len(cases))}", "", "calibration: class and line right, by confidence"]
    for word, some in group(cases, lambda c: [c["verdict"]["sure"]]):
        out.append(f"  {word:10} {percent(sum(map(right, some)), len(some))}")
    return "\n".join(out)


def cross_table(cases):
    """Drift by idiom: percent of the cases with class and line right; a dot where there is no case."""
    cases = judged(cases)
    idioms = sorted({idiom for case in cases for idiom in case["idioms"]})
    out = ["class + line right in percent, by drift and idiom; the columns are", "  ".join(f"{n} {idiom}" for n, idiom in enumerate(idioms, 1)), ""]
    out.append(f"{'':20}" + "".join(f"{n:4}" for n in range(1, len(idioms) + 1)))
    for drift, some in group(cases, lambda c: [f"{c['lane'][0]} {c['drift']}"]):
        cells = []
        for idiom in idioms:
            here = [right(c) for c in some if idiom in c["idioms"]]
            cells.append(f"{100 * sum(here) // len(here):4}" if here else "   .")
        out.append(f"{drift:20}" + "".join(cells))
    return "\n".join(out)


def read(paths):
    cases = []
    for path in paths:
        with open(path) as lines:
            cases += [json.loads(text) for text in lines if text.endswith("\n")]
    return cases


if __name__ == "__main__":
    known = read(sys.argv[1:])
    print(tables(known), cross_table(known), sep="\n\n")

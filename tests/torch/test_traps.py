"""Every trap of examples/traps/torch, and every example of PyTorch's page "Dealing with Recompilations" (those that are no
traps, or traps that are there already, in tests/torch/page), under real torch.compile: the reasons are torch's own, word for word
(TORCH_LOGS=recompiles), and class, line, call, line to edit, values and fix are what the head of each script says.

    test_traps.py BUILD_DIR --record PYTHON     runs the scripts in one process: importing torch takes longer than all of them
    test_traps.py BUILD_DIR --reasons           compares the reasons of that run with torch's own log
    test_traps.py BUILD_DIR --judge [NAME…]     judges scripts of that run; all without names

The recording is BUILD_DIR/torch-traps. CTest makes it once (e2e.torch_traps_record) and has a test per script.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TRAPS, PAGE = ROOT / "examples" / "traps" / "torch", HERE / "page"
SCRIPTS = {p.stem: p for p in sorted(TRAPS.glob("*.py"))} | {"page/" + p.stem: p for p in sorted(PAGE.glob("*.py"))}


def head_of(path):
    """The expectations: "# key: value" lines, and the lines that carry a mark."""
    keys, lines = {}, collections.defaultdict(set)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r"# ([a-z-]+): (.*)", line)
        if found and '"""' not in keys:
            keys[found[1]] = found[2]
        elif line.startswith('"""'):
            keys['"""'] = ""
        mark = re.search(r"  # ((?:origin|trigger|source)(?:, (?:trigger|source))*)$", line)
        for one in mark[1].split(", ") if mark else ():
            lines[one].add(number)
    return keys, lines


def span(text):
    low, _, high = text.partition("..")
    return range(int(low), int(high or low) + 1)


def reasons_of_log(text):
    """(function, file, line, compile, reason) of every guard failure that TORCH_LOGS printed."""
    found, where, open_reason = [], None, None
    for line in text.splitlines():
        m = re.search(r"\] \[(\d+/\d+)[^\]]*\] \[__recompiles\] (.*)", line)
        if not m:
            continue
        compile_id, rest = m[1], m[2]
        if rest.startswith("Recompiling function "):
            where = re.match(r"Recompiling function (.*) in (.*):(\d+)$", rest).groups()
        elif re.match(r"    - \d+/\d+: ", rest):
            open_reason = [*where, compile_id, rest[6:]]
            found.append(open_reason)
        elif rest.startswith("    - ") and open_reason:
            open_reason[4] += "\n" + rest[6:]
    return collections.Counter(tuple(r[:4]) + (r[4].strip(),) for r in found)


def reasons_of_stet(frames):
    found = collections.Counter()
    for frame in frames:
        code = frame["code"]
        for entry in frame["entries"]:
            for guard in entry["guards"]:
                reason = f"{frame['frame']}/{guard['against']}: {guard['reason']}"
                found[(code["function"], code["file"], str(code["line"]), f"{frame['frame']}/{entry['number']}",
                       reason.strip())] += 1
    return found


def judge(path, frames, breaks):
    """What is wrong with the diagnosis of one script; nothing when it is right."""
    keys, lines = head_of(path)
    own = [f for f in frames if f["code"]["file"] == str(path) or keys.get("origin") == "any"]
    entries = [e for f in own for e in f["entries"] if e["class"] != "first"]
    again = [e for e in entries if e["guards"]]
    wrong = []
    allowed = {keys["trap"], *keys.get("also-classes", "").split()}
    for e in entries:
        if e["class"] in keys.get("never", "").split():
            wrong.append(f"{e['class']}: {[g['guard'] for g in e['guards']][:2]}")
    if keys["trap"] == "none":  # a cure: whatever else is compiled again is not for what it cures
        return wrong + ([] if len(again) in span(keys["recompiles"]) else [f"{len(again)} recompiles"])
    if len(again) not in span(keys["recompiles"]):
        wrong.append(f"{len(again)} recompiles, not {keys['recompiles']}")
    main = [e for e in entries if e["class"] == keys["trap"]]
    main_breaks = [b for b in breaks if b["class"] == keys["trap"]]
    for e in entries:
        if e["class"] not in allowed:
            wrong.append(f"class {e['class']}, not {' '.join(sorted(allowed))} ({[g['guard'] for g in e['guards']][:2]})")
    if not main and not main_breaks:
        wrong.append(f"no {keys['trap']} among {[e['class'] for e in entries]} and {[b['class'] for b in breaks]}")
    for e in main:
        at = (e["origin"] or {}).get("line")
        if keys.get("origin") != "any" and at not in lines["origin"]:
            wrong.append(f"origin {at}, not {sorted(lines['origin'])}")
        call = (e["trigger"] or {}).get("line")
        if lines["trigger"] and call and call not in lines["trigger"]:
            wrong.append(f"trigger {call}, not {sorted(lines['trigger'])}")
        edit = (e["source"] or {}).get("line")
        if edit is None and lines["source"] and not e["eager_from_here"] or edit is not None and edit not in lines["source"]:
            wrong.append(f"source {edit}, not {sorted(lines['source'])}")
        if keys.get("what") and not any(keys["what"] in c["what"] for c in e["changes"]):
            wrong.append(f"changes {[c['what'] for c in e['changes']]}, not {keys['what']}")
    if lines["trigger"] and not any(e["trigger"] for e in main):
        wrong.append("no trigger")
    for b in main_breaks:
        if b["at"]["line"] not in lines["origin"]:
            wrong.append(f"break at {b['at']['line']}, not {sorted(lines['origin'])}")
    if "breaks" in keys and len({(b["at"]["file"], b["at"]["line"]) for b in breaks}) != int(keys["breaks"]):
        wrong.append(f"{len(breaks)} breaks, not {keys['breaks']}")
    for e in main or main_breaks:
        if keys.get("fix", "").lower() not in e["fix"].lower():
            wrong.append(f"fix without {keys['fix']!r}: {e['fix']}")
    if "limit" in keys and not any(f["limit"] and f["limit"]["value"] == int(keys["limit"]) for f in own):
        wrong.append("no limit hit")
    if "nested" in keys and [n["function"] for f in own for n in f["nested"]] != keys["nested"].split():
        wrong.append(f"nested calls {[f['nested'] for f in own]}, not {keys['nested']}")
    return wrong


def record(build, folder, python):
    """Runs every script under torch, and keeps torch's log and what stet says of its trace."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    trace = folder / "trace"
    env = {k: v for k, v in os.environ.items() if not k.startswith("TORCH")}
    env.update(TORCH_TRACE=str(trace), TORCH_LOGS="recompiles", TORCH_DEVICE_BACKEND_AUTOLOAD="0", PYTHONWARNINGS="ignore")
    started = time.monotonic()
    run = subprocess.run([python, HERE / "all.py", *SCRIPTS.values()], env=env, capture_output=True, text=True, timeout=500)
    if run.returncode or "!! failed" in run.stderr:
        print(run.stderr[-4000:])
        return 1
    print(f"torch ran {len(SCRIPTS)} scripts in {time.monotonic() - started:.1f} s")
    (folder / "log").write_text(run.stderr)
    for part in ("frames", "breaks", "fixes"):
        with (folder / f"{part}.json").open("wb") as out:
            subprocess.run([build / "bin" / "stet", "torch", part, "--format=json", trace], stdout=out, timeout=60, check=True)
    return 0


def recorded(folder, part):
    return json.loads((folder / f"{part}.json").read_text())


def compare_reasons(folder):
    frames = recorded(folder, "frames")
    if frames["input"]["damage"]:
        print("damage:", frames["input"]["located"])
        return 1
    said, told = reasons_of_log((folder / "log").read_text()), reasons_of_stet(frames["frames"])
    for reason in said - told:
        print("torch says, stet does not:", reason)
    for reason in told - said:
        print("stet says, torch does not:", reason)
    print(f"{sum(said.values())} guard failures, {sum((said & told).values())} word for word the same")
    return 0 if said and said == told else 1


def frames_by_script(frames):
    """An optimizer's frames are those of the script that calls it."""
    named = {str(p) for p in SCRIPTS.values()}
    running, found = None, collections.defaultdict(list)
    for frame in frames:  # in the order in which they were first seen
        file = frame["code"]["file"] if frame["code"] else ""
        running = file if file in named else running
        if file in named or "/torch/optim/" in file:
            found[running].append(frame)
    return found


def judge_scripts(folder, names):
    frames_of = frames_by_script(recorded(folder, "frames")["frames"])
    breaks, splits = recorded(folder, "breaks")["breaks"], recorded(folder, "fixes")["splits"]
    bad = 0
    for name in names:
        path = SCRIPTS[name]
        wrong = judge(path, frames_of[str(path)], [b for b in breaks if b["at"] and b["at"]["file"] == str(path)])
        keys, lines = head_of(path)
        if "split" in keys and not any(
                s["before"]["file"] == str(path) and s["before"]["line"] in lines["origin"] for s in splits):
            wrong.append(f"no split before {sorted(lines['origin'])}: {splits}")
        print(f"{'wrong' if wrong else 'right':6} {name}")
        for w in dict.fromkeys(wrong):
            print("      ", w)
        bad += bool(wrong)
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    do = parser.add_mutually_exclusive_group(required=True)
    do.add_argument("--record", metavar="PYTHON")
    do.add_argument("--reasons", action="store_true")
    do.add_argument("--judge", nargs="*", choices=SCRIPTS, metavar="NAME")
    args = parser.parse_args()
    folder = args.build / "torch-traps"
    if args.record:
        return record(args.build, folder, args.record)
    if args.reasons:
        return compare_reasons(folder)
    return judge_scripts(folder, args.judge or SCRIPTS)


if __name__ == "__main__":
    sys.exit(main())

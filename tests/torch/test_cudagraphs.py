"""CUDA graphs that are recorded again (cudagraphs.py): counted, explained and told while it runs.

usage: test_cudagraphs.py BUILD_DIR PYTHON

TORCH_TRACE has every recording, TORCH_LOGS=+cudagraphs the reasons: with both, with the trace alone, and with the
printed log alone.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "cudagraphs.py"
SOURCE = SCRIPT.read_text().splitlines()
WORDS = {"static": "the address of a static input changed", "size": "another size",
         "managed": "an output of another graph came from another address"}


def line(text):
    return next(n for n, l in enumerate(SOURCE, 1) if text in l)


# function: recordings, (reason, count, input, line, gave up)
EXPECTED = {
    "scale": (3, ("static", 2, "l_weight_", line("return x * weight"), False)),
    "double": (12, ("size", 11, "", None, False)),
    "step": (3, ("managed", 2, "l_managed_", line("return x + managed"), True)),
    "apply": (1, None),
}


def compare(frames, reasons):
    bad = []
    for name, (recordings, why) in EXPECTED.items():
        found = [e["cudagraph"] for f in frames for e in f["entries"]
                 if (f["code"] or {"function": name})["function"] == name and "cudagraph" in e]
        graph = found[0] if len(found) == 1 else None
        if not graph or graph["recordings"] != recordings:
            bad.append(f"{name}: recordings {found}")
            continue
        told = [(a["reason"], a.get("count"), a.get("input"), (a.get("at") or {}).get("line"), a.get("gave_up"))
                for a in graph["again"]]
        wanted = [(WORDS[why[0]], *why[1:])] if why and reasons else None
        if wanted is not None and told != wanted:
            bad.append(f"{name}: {told}, not {wanted}")
        if bool(told) != bool(why) or not all(a["fix"] for a in graph["again"]):
            bad.append(f"{name}: {graph['again']}")
    return bad


def named(events):
    told = [json.loads(l) for l in events.read_text().splitlines()]
    return {e["function"] for e in told if e["class"] == "cudagraph-rerecord"}


def main():
    build, python = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
    stet = str(build / "bin" / "stet")
    with tempfile.TemporaryDirectory() as state:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_"))}
        env.update(STET_STATE_DIR=state, TORCH_DEVICE_BACKEND_AUTOLOAD="0", PYTHONWARNINGS="ignore")
        printed, events = pathlib.Path(state, "printed.out"), pathlib.Path(state, "events.json")
        run = subprocess.run([stet, "run", f"--json-events={events}", "--", python, SCRIPT], text=True,
                             capture_output=True, timeout=300,
                             env=dict(env, TORCH_LOGS="+cudagraphs", TORCH_LOGS_OUT=str(printed)))
        bad = [f"exit {run.returncode}: {run.stderr[-2000:]}"] if run.returncode else []

        def frames(*what):
            out = subprocess.run([stet, "torch", "frames", "--format=json", *what], env=env, capture_output=True)
            return json.loads(out.stdout)["frames"]

        bad += [f"run: {b}" for b in compare(frames(), True)]
        trace = next(pathlib.Path(state).glob("runs/*/torch/dedicated*"))
        bad += [f"trace alone: {b}" for b in compare(frames(str(trace)), False)]
        text = frames(str(printed))
        if sorted(e["cudagraph"]["recordings"] for f in text for e in f["entries"]) != [1, 3, 3, 12]:
            bad.append(f"printed alone: {text}")
        if "records its CUDA graph again (8 times), cudagraph-rerecord: " not in run.stderr:
            bad.append(f"live: {run.stderr[-3000:]}")
        again = {n for n, (_, why) in EXPECTED.items() if why}
        if named(events) != again:
            bad.append(f"events: {events.read_text()}")
        explain = subprocess.run([stet, "explain", "--format=json"], env=env, capture_output=True, text=True)
        rows = {r["function"]: r for r in json.loads(explain.stdout)["recompiles"]}
        if set(rows) != again or \
                rows["scale"]["origin"]["line"] != EXPECTED["scale"][1][3]:
            bad.append(f"explain: {rows}")
        # The printed log comes first, and only the trace that follows names the functions.
        late, log = pathlib.Path(state, "late.json"), pathlib.Path(state, "late.out")
        run = subprocess.run([stet, "run", f"--json-events={late}", "--", "sh", "-c",
                              'cat "$1" >"$TORCH_LOGS_OUT"; sleep 1; cp "$2" "$TORCH_TRACE"', "sh", printed, trace],
                             text=True, capture_output=True, env=dict(env, TORCH_LOGS_OUT=str(log)))
        if named(late) != again or "unknown function" in run.stderr:
            bad.append(f"late: {run.stderr} {late.read_text()}")
    for b in bad:
        print("wrong:", b)
    print("right" if not bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())

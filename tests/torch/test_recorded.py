"""Traces of other torch versions (tests/torch/recorded): the reasons are what torch itself logged. torch 2.4
does not trace them: there they are inferred from the guards, and where the guards do not tell, nothing is said.

usage: test_recorded.py BUILD_DIR
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STET = os.path.join(os.path.abspath(sys.argv[1]), "bin", "stet")
RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
# Dynamo's names for types in its reasons, and those of its guards.
TYPES = {"Float": "torch.float32", "Double": "torch.float64"}


def reasons_of_log(text):
    found, where = collections.Counter(), None
    for line in text.splitlines():
        match = re.search(r"\] \[(\d+/\d+)[^\]]*\] \[__recompiles\] (.*)", line)
        if match and match[2].startswith("Recompiling function "):
            where = re.match(r"Recompiling function (.*) in (.*):(\d+)$", match[2]).groups()
        elif match and match[2].startswith("    - "):
            found[(*where, match[1], plain(match[2][6:]))] += 1
    return found


def plain(reason):
    reason = re.sub(r"^\d+/\d+: ", "", reason).split("  # ")[0].split("\n")[0].strip()
    return re.sub(r"\b(Float|Double)\b", lambda m: TYPES[m[1]], reason)


def reasons_of_stet(frames):
    found, inferred, explained = collections.Counter(), 0, set()
    for frame in frames:
        code = frame["code"]
        for entry in frame["entries"]:
            number = f"{frame['frame']}/{entry['number']}"
            where = (code["function"], code["file"], str(code["line"]), number)
            if entry["guards"]:
                explained.add(where)
            for guard in entry["guards"]:
                found[(*where, plain(guard["reason"]))] += 1
                inferred += guard.get("inferred", False)
    return found, inferred, explained


def graphs_of(log):
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([STET, "torch", "frames", "--format=json", log], text=True, check=True,
                             env=dict(os.environ, STET_STATE_DIR=folder), capture_output=True).stdout
    return {(f["frame"], e["number"]): (e["cudagraph"]["recordings"],
                                        [(a["reason"], a.get("count"), a.get("input")) for a in e["cudagraph"]["again"]])
            for f in json.loads(out)["frames"] for e in f["entries"] if "cudagraph" in e}


def main():
    failed = False
    graphs = graphs_of(RECORDED / "torch-2.11.0-cuda.cudagraphs")
    if graphs != {(0, 0): (1, []), (0, 1): (9, [("another size", 8, "")]), (3, 0): (1, []),
                  (1, 0): (2, [("the address of a static input changed", 1, "arg0_1")])}:
        print("CUDA graphs:", graphs)
        failed = True
    for trace in sorted(RECORDED.glob("*.log.zst")):
        version = trace.name.removesuffix(".log.zst")
        log = subprocess.run(["zstd", "-dcq", RECORDED / f"{version}.recompiles.zst"], capture_output=True,
                             text=True, check=True).stdout
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, STET_STATE_DIR=folder)
            subprocess.run([STET, "torch", "ingest", trace], env=env, check=True, capture_output=True)
            out = subprocess.run([STET, "torch", "frames", "--format=json"], env=env, check=True,
                                 capture_output=True, text=True).stdout
        told = reasons_of_log(log)
        named, inferred, explained = reasons_of_stet(json.loads(out)["frames"])
        wrong, missing = named - told, told - named
        partly = [k for k in missing if k[:4] in explained]
        print(f"{version}: torch logged {sum(told.values())} reasons, {sum((told & named).values())} named "
              f"({inferred} inferred), {sum(wrong.values())} wrong, {sum(missing.values())} not named")
        old = version.startswith("torch-2.4")
        if wrong or partly or (missing and not old) or (old and inferred < 100):
            failed = True
            for key in [*wrong, *partly][:10]:
                print("   ", "wrong" if key in wrong else "missing", key)
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""Why torch's caches missed (recorded/caches: real traces of caches.py, torch 2.13): the component of the key that moved,
against the nearest key of this run and of earlier ones.

usage: test_caches.py BUILD_DIR
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STET = os.path.join(os.path.abspath(sys.argv[1]), "bin", "stet")
RECORDED = pathlib.Path(__file__).resolve().parent / "recorded" / "caches"
# The launches, in order: what Inductor's cache answered, and what moved in the one that missed.
LAUNCHES = [
    ("cold", ["miss"], None),
    ("warm", ["hit"], None),
    ("size", ["hit", "miss"], ("example_inputs[0]", "shape=torch.Size([8])", "shape=torch.Size([16])")),
    ("setting", ["miss"], ("inductor_config[epilogue_fusion]", "True", "False")),
]


def main():
    bad = []
    with tempfile.TemporaryDirectory() as state:
        env = dict(os.environ, STET_STATE_DIR=state)

        def stet(*args):
            return subprocess.run([STET, *args], env=env, capture_output=True, text=True).stdout

        runs = []
        for name, answers, moved in LAUNCHES:
            runs.append(json.loads(stet("torch", "ingest", "--format=json", str(RECORDED / f"{name}.log.zst")))["run"])
            asked = [k for k in json.loads(stet("torch", "caches", "--format=json"))["caches"]
                     if k["cache"] == "inductor"]
            if [k["result"] for k in asked] != answers:
                bad.append(f"{name}: {[k['result'] for k in asked]}, not {answers}")
            for key in (k for k in asked if k["result"] == "miss"):
                found = [(m["component"], m["from"], m["to"]) for m in key["moved"]]
                if found != ([moved] if moved else []) or bool(key["nearest"]) != bool(moved):
                    bad.append(f"{name}: {found}, nearest {key['nearest']}, not {moved}")
                if moved and key["nearest"].get("run") not in runs[:-1]:
                    bad.append(f"{name}: nearest {key['nearest']} is no earlier run of {runs}")
        # Without a state there is only the run itself to compare with.
        own = json.loads(stet("torch", "caches", "--format=json", str(RECORDED / "size.log.zst")))["caches"]
        if [m["component"] for k in own for m in k.get("moved", [])] != ["example_inputs[0]"]:
            bad.append(f"alone: {own}")
        # The same launch again with an empty cache: the key is the old one.
        again = json.loads(stet("torch", "ingest", "--format=json", str(RECORDED / "cold.log.zst")))["run"]
        lost = [k["entry_gone"] for k in json.loads(stet("torch", "caches", "--format=json", again))["caches"]]
        if lost != [True, True]:
            bad.append(f"gone: {lost}")
        refused = [k for k in json.loads(stet("torch", "caches", "--format=json", str(RECORDED / "bypass.log.zst")))["caches"]
                   if k["result"] == "bypass"]
        if len(refused) != 1 or refused[0]["cache"] != "autograd" or "custom_op" not in refused[0]["fix"] or \
                not refused[0]["bypass_reason"].startswith("Unsupported call_function target <function opaque at "):
            bad.append(f"bypass: {refused}")
        text = stet("torch", "frames", runs[2])
        if "Inductor's cache missed: example_inputs[0] shape=torch.Size([8])" not in text:
            bad.append(f"frames: {text}")
        # A recompile that torch's cache served: that cache is named, and the wait counts.
        stet("torch", "ingest", str(RECORDED / "again.log.zst"))
        account = json.loads(stet("explain", "--format=json"))
        if [r["served"] for r in account["recompiles"]] != ["torch-cache"] or account["wait_s"] != 0.576394 or \
                account["lost_s"] or account["store"]["served"]:
            bad.append(f"served: {account}")
        text = stet("explain")
        if "1 recompile (waited 576 ms; it came from torch's own cache)" not in text or \
                "soften asked for again, waited 576 ms (from torch's own cache)" not in text or "the store" in text:
            bad.append(f"explain: {text}")
        stet("report", "-o", os.path.join(state, "page.html"))
        with open(os.path.join(state, "page.html"), encoding="utf-8") as f:
            page = f.read()
        words = json.loads(re.search(r'"served":(\["compiled"[^\]]*\])', page)[1])
        if [words[i] for i in json.loads(re.search(r'"served":(\[[\d,]+\])', page)[1])] != ["torch-cache"] * 2:
            bad.append("the report does not name torch's cache")
        diff = json.loads(stet("diff", "--format=json", runs[0], runs[3]))
        if not any(c["what"] == "torch's cache key, inductor_config[epilogue_fusion]" and c["to"] == "False"
                   for c in diff["changes"]) or "profile" not in diff["moved"]:
            bad.append(f"diff: {diff}")
    for b in bad:
        print("wrong:", b)
    print("right" if not bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())

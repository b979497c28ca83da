"""On a machine with an accelerator: two processes that share it under jax.distributed.

usage: pod.py BUILD_DIR OUT_DIR [--cpu]     BUILD_DIR has bin/stet and lib/libstet.so

Runs the job of pod_train.py without Stet, with it (and an empty store, then a filled one), with a program that differs on rank 1
(warned of, then refused), and with one that differs while the compiler autotunes for both ranks together. Prints a row each and
writes OUT_DIR/pod.json. The exit code is 1 unless all losses of clean jobs have the same bits, clean jobs raise nothing, and
each difference is named with rank, cause and line. --cpu uses the CPU backend: it tries the script itself."""

import json
import os
import subprocess
import sys
import time

BUILD, OUT = (os.path.abspath(p) for p in sys.argv[1:3])
CPU = ["--cpu"] if "--cpu" in sys.argv else []
HERE = os.path.dirname(os.path.abspath(__file__))
STET, TRAIN = os.path.join(BUILD, "bin", "stet"), os.path.join(HERE, "pod_train.py")
TOGETHER = "--xla_gpu_deterministic_ops=true"
ENV = dict(os.environ, XLA_PYTHON_CLIENT_MEM_FRACTION="0.2", TF_CPP_MIN_LOG_LEVEL="3",
           STET_STATE_DIR=os.path.join(OUT, "state"), STET_STORE=os.path.join(OUT, "store"))
with open(TRAIN) as f:
    LINE = next(n for n, text in enumerate(f, 1) if text.rstrip().endswith("# here: constant"))


def job(row, way, *options, limit=40, stet=True, **env):
    result, events = (os.path.join(OUT, f"{row.replace(' ', '-')}.{e}") for e in ("json", "events"))
    if not CPU:
        env = {"XLA_FLAGS": TOGETHER + " --xla_gpu_autotune_level=0"} | env
    command = [STET, "run", *CPU, "--json-events=" + events, *options, "--"] if stet or CPU else []
    if CPU and not stet:  # the same backend without the layer
        env["STET"] = "off"
    begin = time.monotonic()
    done = subprocess.run([*command, sys.executable, TRAIN, way, str(limit), result], env=dict(ENV, **env),
                          capture_output=True, text=True)
    with open(os.path.join(OUT, row.replace(" ", "-") + ".log"), "w") as f:
        f.write(done.stdout + done.stderr)
    with open(result) as f:
        ranks = json.load(f)
    found = []
    if stet:
        with open(events) as f:
            found = [d for line in f for d in json.loads(line).get("divergences", ())]
    print(f"{row}: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)  # if the time ends before the table
    return {"row": row, "seconds": round(time.monotonic() - begin, 1), "codes": [r["code"] for r in ranks],
            "losses": [json.loads(r["out"].splitlines()[-1]) for r in ranks if r["code"] == 0], "divergences": found,
            "errors": [r["err"][-1500:] for r in ranks if r["code"] != 0]}


def served():
    out = subprocess.run([STET, "show", "--format=json"], env=ENV, capture_output=True, text=True)
    compiles = [c for p in json.loads(out.stdout)["processes"] for c in p["compiles"] if c["kind"] == "compile"]
    return f"{sum(c['served'] != 'compiled' for c in compiles)} of {len(compiles)} programs loaded from the store"


def named(r):
    """The difference that must be named, in words; None if it was not."""
    for d in r["divergences"]:
        at = d.get("origin") or {}
        if (d["finding"], d["rank"], d["other"], d["class"], d["certain"]) == ("differs", 1, 0, "baked-constant", True) and \
                (os.path.basename(at.get("file", "")), at.get("line")) == ("pod_train.py", LINE):
            change = d["changes"][0]
            return (f"rank 1 differs from rank 0: {d['class']}, {change['what']} {change['from']} -> {change['to']}, "
                    f"pod_train.py:{LINE}; named {d['after_s']:.1f} s after the compile began")
    return None


def main():
    os.makedirs(OUT, exist_ok=True)
    clean = [job("plain", "clean", stet=False), job("clean", "clean"), job("clean again", "clean")]
    store = served()
    differ = [job("differs", "constant", "--no-store", PACE="0.15"),
              job("refused", "constant", "--no-store", "--on-divergence=fail")]
    if not CPU:  # sharded autotuning: the compile of each rank waits for the other's
        differ.append(job("autotuned", "constant", "--no-store", limit=20, PACE="0.15", XLA_FLAGS=TOGETHER))
    first = clean[0]["losses"]
    same = len(first) == 2 and all(r["losses"] == first for r in clean)
    quiet = not any(r["divergences"] for r in clean)
    refused = all(c not in (0, None) for c in differ[1]["codes"]) and all(
        "do not compile the same" in e for e in differ[1]["errors"])
    if first:
        print(f"{first[0]['device']}, {first[0]['devices']} devices of 2 processes, JAX {first[0]['jax']}; "
              f"{len(first[0]['losses'])} losses of each rank bit-identical in 3 launches: {'yes' if same else 'NO'}")
    for r in clean + differ:
        words = {"clean again": store, "refused": "refused on both ranks" if refused else "NOT REFUSED"}.get(r["row"], "")
        if r in differ:
            words = "; ".join(w for w in (words, named(r) or "NOT NAMED") if w)
        print(f"{r['row']:12} {r['seconds']:5.1f} s  exit codes {r['codes']}  {words}")
        for e in r["errors"] if r in clean else []:
            print(e)
    with open(os.path.join(OUT, "pod.json"), "w") as f:
        json.dump(clean + differ, f, indent=1)
    sys.exit(not (same and quiet and refused and all(named(r) for r in differ)))


if __name__ == "__main__":
    main()

"""On a machine with an accelerator: proves that Stet changes nothing and counts right.

usage: run.py BUILD_DIR OUT_DIR     BUILD_DIR has bin/stet and lib/libstet.so

Prints a table and writes OUT_DIR/device.json. Losses must be bit-identical with and without the
layer (deterministic flags), compiles equal to what JAX counted, executions of the training step
equal to the steps; dispatch.py tells what the layer adds to one dispatch (at most 1 %).
"""

import json
import os
import subprocess
import sys

BUILD, OUT = (os.path.abspath(p) for p in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
STET = os.path.join(BUILD, "bin", "stet")
STEPS = 200
DISPATCH = (sys.executable, os.path.join(HERE, "dispatch.py"))
ENV = dict(
    os.environ,
    XLA_FLAGS="--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0",
    XLA_PYTHON_CLIENT_PREALLOCATE="false",
    STET_STATE_DIR=os.path.join(OUT, "state"),
    TF_CPP_MIN_LOG_LEVEL="3",
)


def run(*command):
    out = subprocess.run(command, env=ENV, capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{command}: exit {out.returncode}\n{out.stdout}{out.stderr}")
    return out


def train(name, *prefix):
    path = os.path.join(OUT, name + ".json")
    out = run(*prefix, sys.executable, os.path.join(HERE, "train.py"), str(STEPS), path)
    print(name, "|", out.stdout.strip(), "|", out.stderr.strip().splitlines()[-1] if prefix else "")
    with open(path) as f:
        return json.load(f)


def main():
    os.makedirs(OUT, exist_ok=True)
    plain, seen = train("plain"), train("seen", STET, "run", "--")
    show = json.loads(run(STET, "show", "--format=json").stdout)
    process = next(p for p in show["processes"] if p["compiles"])
    steps = max(c["executions"] for c in process["compiles"] if "train_step" in c["name"])
    traced = sum(1 for c in process["compiles"] if c["trigger"])
    dispatch = [json.loads(run(STET, "run", "--quiet", "--", *DISPATCH).stdout) for _ in range(3)]
    result = {
        "device": plain["device"],
        "losses_identical": plain["losses"] == seen["losses"],
        "steps": STEPS,
        "train_step_executions_seen": steps,
        "compiles_jax": seen["compiles"],
        "compiles_seen": show["compiles"],
        "compiles_with_a_trigger_line": traced,
        "steps_inferred": process["steps"],
        "executions_seen": show["executions"],
        "dispatch": dispatch,
        "plugins": process["plugins"],
    }
    with open(os.path.join(OUT, "device.json"), "w") as f:
        json.dump(result, f, indent=1)
    print(json.dumps(result, indent=1))
    ok = (
        result["losses_identical"]
        and steps == STEPS == process["steps"]
        and result["compiles_jax"] == result["compiles_seen"]
        and min(d["paired_percent"] for d in dispatch) <= 1
    )
    print("OK" if ok else "FAILED")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

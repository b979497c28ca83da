"""On a machine with an accelerator: a restart from the store beside JAX's own persistent cache.

usage: store.py BUILD_DIR OUT_DIR     BUILD_DIR has bin/stet and lib/libstet.so

Prints a table and writes OUT_DIR/store.json. `compile` is what JAX waited for its backend (a hit of any
cache counts as a compile of some milliseconds), `first step` the time from the client being there to the
first loss. Losses must be bit-identical in all rows; the warm rows are repeated and interleaved, and their
medians told. "stet asked": with nothing loaded ahead, so that each program is loaded when it is asked for.
"""

import json
import os
import statistics
import subprocess
import sys

BUILD, OUT = (os.path.abspath(p) for p in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
STET = os.path.join(BUILD, "bin", "stet")
STEPS, ROUNDS = 20, 9
ENV = dict(
    os.environ,
    XLA_FLAGS="--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0",
    XLA_PYTHON_CLIENT_PREALLOCATE="false",
    STET_STATE_DIR=os.path.join(OUT, "state"),
    STET_STORE=os.path.join(OUT, "store"),
    TF_CPP_MIN_LOG_LEVEL="3",
)
JAX_CACHE = {
    "JAX_COMPILATION_CACHE_DIR": os.path.join(OUT, "jax-cache"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def run(*command, **env):
    out = subprocess.run(command, env=dict(ENV, **env), capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{command}: exit {out.returncode}\n{out.stdout}{out.stderr}")
    return out.stdout


def train(row, stet, **env):
    path = os.path.join(OUT, "train.json")
    run(*([STET, "run", "--quiet", "--"] if stet else []), sys.executable, os.path.join(HERE, "train.py"), str(STEPS), path, **env)
    with open(path) as f:
        result = json.load(f) | {"row": row}
    if stet:
        process = next(p for p in json.loads(run(STET, "show", "--format=json"))["processes"] if p["compiles"])
        compiles = [c for c in process["compiles"] if c["kind"] == "compile"]
        result["programs"] = len(compiles)
        result["reloaded"] = sum(c["served"] != "compiled" for c in compiles)
        result["store_words"] = sorted({c["store"] for c in compiles})
        result["plugin_ms"] = [round(c["cost_s"] * 1e3, 3) for c in compiles]
        result["layer_ms"] = [round(c["layer_s"] * 1e3, 3) for c in compiles]
    return result


def main():
    os.makedirs(OUT, exist_ok=True)
    rows = [train("plain", False), train("stet cold", True), train("jax cold", False, **JAX_CACHE)]
    for _ in range(ROUNDS):
        rows.append(train("stet warm", True))
        rows.append(train("stet asked", True, STET_STORE_AHEAD="off"))
        rows.append(train("jax warm", False, **JAX_CACHE))
    same = all(r["losses"] == rows[0]["losses"] for r in rows)
    print(f"{rows[0]['device']}; {STEPS} losses bit-identical in {len(rows)} launches: {'yes' if same else 'NO'}")
    for name in dict.fromkeys(r["row"] for r in rows):
        these = [r for r in rows if r["row"] == name]
        compile_ms, first_ms = (statistics.median(r[k] for r in these) * 1e3 for k in ("compile_s", "first_step_s"))
        words = ""
        if "programs" in these[0]:
            middle = [statistics.median(r["layer_ms"][i] for r in these) for i in range(these[0]["programs"])]
            words = (f"{min(r['reloaded'] for r in these)} of {these[0]['programs']} reloaded, layer "
                     f"{sum(middle):.2f} ms in all, {middle[0]:.2f} for the first")
        print(f"{name:10} compile {compile_ms:7.1f} ms  first step {first_ms:7.1f} ms  {words}")
    for r in rows:
        r.pop("losses")
    with open(os.path.join(OUT, "store.json"), "w") as f:
        json.dump(rows, f, indent=1)
    warm = [r for r in rows if r["row"] in ("stet warm", "stet asked")]
    sys.exit(not same or any(r["reloaded"] != r["programs"] for r in warm))


if __name__ == "__main__":
    main()

"""On a machine with an accelerator: what `stet warm` compiled without the device is loaded on it.

usage: warm.py BUILD_DIR OUT_DIR     BUILD_DIR has bin/stet, lib/libstet.so and lib/libstet_plugin.so

A first launch compiles on the device and tells what it compiled. `stet warm --topology` compiles that again
into an empty store, in processes that see no device (CUDA_VISIBLE_DEVICES=-1). A second launch must load all
of it and compute the same. Prints a table, and where a program was not loaded, which component of its key
differs; writes OUT_DIR/warm.json.
"""

import json
import os
import struct
import subprocess
import sys

BUILD, OUT = (os.path.abspath(p) for p in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
STET = os.path.join(BUILD, "bin", "stet")
STEPS = 20
ENV = dict(
    os.environ,
    # Triton's matrix products can't be compiled without the device: XLA chooses among them by timing
    XLA_FLAGS="--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false",
    XLA_PYTHON_CLIENT_PREALLOCATE="false",
    STET_STATE_DIR=os.path.join(OUT, "state"),
    TF_CPP_MIN_LOG_LEVEL="3",
)


def stet(*words, fine=(0,), **env):
    out = subprocess.run([STET, *words], env=dict(ENV, **env), capture_output=True, text=True)
    if out.returncode not in fine:
        sys.exit(f"stet {' '.join(words)}: exit {out.returncode}\n{out.stdout}{out.stderr}")
    return out.stdout


def launch(row, store):
    path, store = os.path.join(OUT, "train.json"), os.path.join(OUT, store)
    stet("run", "--quiet", "--", sys.executable, os.path.join(HERE, "train.py"), str(STEPS), path, STET_STORE=store)
    with open(path) as f:
        result = json.load(f) | {"row": row}
    shown = json.loads(stet("show", "--format=json"))
    compiles = [c for p in shown["processes"] for c in p["compiles"] if c["kind"] == "compile"]
    result["programs"] = len(compiles)
    result["reloaded"] = sum(c["served"] != "compiled" for c in compiles)
    result["words"] = sorted({c["store"] for c in compiles})
    result["missed"] = json.loads(stet("explain", "--format=json", fine=(0, 1), STET_STORE=store))["store"]["missed"]
    return result


def floats(losses):
    return [struct.unpack("<f", bytes.fromhex(x))[0] for x in losses]


def entries(store):
    listed = json.loads(stet("cache", "ls", "--format=json", "--store", os.path.join(OUT, store)))["entries"]
    return {e["program"]: e for e in listed}


def main():
    os.makedirs(OUT, exist_ok=True)
    cold = launch("compiled on the device", "cold")
    warm = json.loads(stet("warm", "--format=json", "--topology", "1x1x1", "--store", os.path.join(OUT, "warmed"),
                           fine=(0, 1), CUDA_VISIBLE_DEVICES="-1"))
    for p in warm["programs"]:
        if p["verdict"] not in ("compiled and kept", "was there"):
            print("not warmed:", p)
    # as it is now: the launch below may add to it
    made, wanted = entries("warmed"), entries("cold")
    moved = sorted({(name, wanted[p][name], made[p][name]) for p in wanted if p in made
                    for name in ("plugin", "platform", "topology", "toolkit", "environment", "options")
                    if wanted[p][name] != made[p][name]})
    served = launch("compiled without it", "warmed")
    same = cold["losses"] == served["losses"]
    apart = max(abs(a - b) / abs(a) for a, b in zip(floats(cold["losses"]), floats(served["losses"])))
    print(f"{cold['device']}: {warm['kept']} of {len(warm['programs'])} programs compiled without it in {warm['wall_s']:.1f} s, "
          f"{len(set(made) & set(wanted))} of {len(wanted)} programs are those of the launch")
    for r in (cold, served):
        print(f"{r['row']:24} {r['reloaded']:2} of {r['programs']:2} reloaded  {r['words']}  compile {r['compile_s'] * 1e3:8.1f} ms  "
              f"first step {r['first_step_s'] * 1e3:8.1f} ms")
    print(f"{STEPS} losses bit-identical: {'yes' if same else f'no, {apart:.1e} apart'}")
    for name, on_device, without in moved:
        print(f"differs: {name}\n  on the device  {on_device}\n  without it     {without}")
    for m in served["missed"]:
        print("missed:", json.dumps(m))
    with open(os.path.join(OUT, "warm.json"), "w") as f:
        json.dump({"warm": warm, "moved": moved, "launches": [cold, served]}, f, indent=1)
    sys.exit(served["reloaded"] != served["programs"] or apart > 1e-4)


if __name__ == "__main__":
    main()

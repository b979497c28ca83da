#!/usr/bin/env python3
"""Prints how the verdicts on functions outside jit, and on programs compiled late, move with their thresholds.

    python3 tests/truth/controls/thresholds.py OUT…

OUT is a folder that run.py filled. A function that runs in a loop outside jit is a storm if it has at least so many
programs, and most of them ran at least so often after the newest was compiled (src/explain/storms.c). WANTED lists the
functions of the programs about which a person wants to know; every other one should not be reported."""

import json
import pathlib
import sys

# The line that `stet explain` gives as the source of the storm.
WANTED = {("jax_advi", 94), ("jax_mnist_classifier", 41), ("jax_mnist_fromscratch", 50), ("optax_flax_example", 63),
          ("optax_lbfgs", 30), ("optax_lbfgs", 59), ("optax_lbfgs", 86), ("dfx_latent_ode", 106), ("flax_vae", 51),
          ("optax_freezing", 150), ("np_hmm", 66)}


def stories(folders):
    for folder in folders:
        for path in sorted(pathlib.Path(folder).glob("*/explain.json")):
            try:
                yield path.parent.name, json.loads(path.read_text())["recompiles"]
            except ValueError:
                continue


def main(folders):
    storms, late = {}, []
    for name, recompiles in stories(folders):
        for r in recompiles:
            storm = (r.get("advice") or {}).get("storm")
            if storm and storm["loop"] and r["source"]:
                storms[name, r["source"]["line"]] = storm
            if r["class"] == "hidden-branch":
                late.append((r["wait_s"], name, r["function"]))
    print(f"{len(storms)} functions outside jit in a loop, {len(WANTED & set(storms))} of them wanted")
    print("programs  turns  reported and wanted  not wanted  missed")
    for programs in (2, 4, 6, 8, 10, 16, 24):
        for turns in (1, 2, 4):
            said = {k for k, s in storms.items() if s["programs"] >= programs and s["turns"] >= turns and
                    s["others"] <= s["turns"] and s["jitted"] * 2 < s["programs"] and not s["generator"]}
            wanted = WANTED & set(storms)
            print(f"{programs:8}  {turns:5}  {len(said & wanted):19}  {len(said - wanted):10}  {len(wanted - said):6}  "
                  + " ".join(f"{n}:{line}" for n, line in sorted(said - wanted))[:70])
    print(f"{len(late)} programs first compiled late; their waits: " +
          ", ".join(f"{wait:.2f} s {name}" for wait, name, _ in sorted(late)[::-1][:8]))


main(sys.argv[1:])

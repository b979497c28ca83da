"""Compiles captured programs with a plugin through plain C (pjrt_harness, without Stet's layer), and prints the statistics
of each executable as JSON, by hash.

usage: by_hand.py BUILD_DIR PLUGIN TOPOLOGY PROGRAMS_FOLDER OPTIONS_HASH HASH…"""
import glob
import json
import os
import subprocess
import sys
import tempfile

build, plugin, topology, folder, options, *programs = sys.argv[1:]
NAMES = {"arguments": "argument", "outputs": "output", "aliased": "alias", "temporaries": "temp", "code": "code"}
with tempfile.TemporaryDirectory() as scratch:
    subprocess.run(["zstd", "-dqf", f"{folder}/{options}.options.zst", "-o", scratch + "/options"], check=True)
    kinds = set()
    for program in programs:
        (packed,) = [p for p in glob.glob(f"{folder}/{program}*.zst") if ".options." not in p]
        kinds.add("hlo" if ".hlo" in packed else "mlir")
        subprocess.run(["zstd", "-dqf", packed, "-o", f"{scratch}/{program}"], check=True)
    (kind,) = kinds
    env = dict(os.environ, TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost", TPU_ACCELERATOR_TYPE="v6e-1",
               ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    out = subprocess.run([f"{build}/bin/pjrt_harness", "--aot", topology, "--format", kind, "--options", scratch + "/options",
                          plugin, *(f"{scratch}/{p}" for p in programs)], env=env, capture_output=True, text=True,
                         check=True).stdout
    print(json.dumps({program: {ours: result[theirs + "_bytes"] for ours, theirs in NAMES.items()}
                      for program, result in zip(programs, json.loads(out)["results"], strict=True)}))

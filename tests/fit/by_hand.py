"""Compiles a captured program with a plugin through plain C (pjrt_harness, without Stet's layer), and prints the
statistics of the executable as JSON.

usage: by_hand.py BUILD_DIR PLUGIN TOPOLOGY PROGRAMS_FOLDER HASH"""
import glob
import json
import os
import subprocess
import sys
import tempfile

build, plugin, topology, folder, program = sys.argv[1:]
with tempfile.TemporaryDirectory() as scratch:
    (packed,) = glob.glob(f"{folder}/{program}*.zst")
    kind = "hlo" if ".hlo" in packed else "mlir"
    code = scratch + "/program"
    subprocess.run(["zstd", "-dqf", packed, "-o", code], check=True)
    options = []
    for i, path in enumerate(glob.glob(f"{folder}/*.options.zst")):
        options.append(f"{scratch}/options{i}")
        subprocess.run(["zstd", "-dqf", path, "-o", options[-1]], check=True)
    env = dict(os.environ, TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost", TPU_ACCELERATOR_TYPE="v6e-1",
               ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    out = subprocess.run([f"{build}/bin/pjrt_harness", "--aot", topology, "--format", kind, "--options", options[0], plugin,
                          code], env=env, capture_output=True, text=True, check=True).stdout
    result = json.loads(out)["results"][0]
    names = {"arguments": "argument", "outputs": "output", "aliased": "alias", "temporaries": "temp", "code": "code"}
    print(json.dumps({ours: result[theirs + "_bytes"] for ours, theirs in names.items()}))

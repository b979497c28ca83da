"""On a machine with an accelerator: `stet doctor` finds it alive, with physical memory figures.

usage: doctor.py BUILD_DIR OUT_DIR     BUILD_DIR has bin/stet

Runs under the Python whose JAX has the accelerator's plugin. Prints what the doctor says, writes
OUT_DIR/doctor.json, and fails unless some plugin that is not the CPU's is alive through all steps and
each of its devices tells how much memory it has.
"""

import json
import os
import subprocess
import sys

BUILD, OUT = (os.path.abspath(p) for p in sys.argv[1:3])
STET = os.path.join(BUILD, "bin", "stet")


def main():
    os.makedirs(OUT, exist_ok=True)
    env = dict(os.environ, STET_STATE_DIR=os.path.join(OUT, "state"), STET_STORE=os.path.join(OUT, "store"))
    command = [STET, "doctor", f"--python={sys.executable}", "--deadline=180"]
    subprocess.run(command, env=env)
    out = subprocess.run([*command, "--format=json"], env=env, capture_output=True, text=True)
    if out.returncode not in (0, 1):
        sys.exit(f"exit {out.returncode}\n{out.stderr}")
    told = json.loads(out.stdout)
    with open(os.path.join(OUT, "doctor.json"), "w") as f:
        json.dump(told, f, indent=1)
    alive = [p for p in told["plugins"] if p["alive"] and "stet_cpu" not in p["path"]]
    if not alive:
        sys.exit("no plugin of an accelerator is alive")
    for p in alive:
        assert all(s["result"] == "fine" for s in p["steps"]), p["steps"]
        assert p["devices"], p
        for d in p["devices"]:
            assert d["bytes_limit"] > 1 << 30, d
            print(f"{p['platform']}: {d['kind']}: {d['bytes_in_use']} bytes in use of {d['bytes_limit']}")
    bundle = subprocess.run([STET, "bundle", "record", f"--python={sys.executable}", "--client"], env=env,
                            capture_output=True, text=True, check=True)
    with open(os.path.join(OUT, "bundle.json"), "w") as f:
        f.write(bundle.stdout)
    print("rows that fit:", ", ".join(r["id"] for r in told["rows"]) or "none")


main()

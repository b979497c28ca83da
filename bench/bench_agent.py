"""What a fetch costs: from the store of this host, and through the agent from each kind of tier on this host.
usage: bench_agent.py [BUILD]   one JSON object a line, as the other benches"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT + "/build/release")
S3_PYTHON = ROOT + "/build/env/s3/bin/python"  # left out when `make test` has not made it
sys.path.insert(0, ROOT + "/tests/agent")
sys.argv = [sys.argv[0], BUILD]
from hosts import CLIENT, Agent
from servers import PROGRAM, Gcs, Moto, Nginx, Redis, wait_for

COUNT = 200


def measure(name, socket, store, program, base):
    out = subprocess.run([CLIENT, "times", socket, store, program, str(COUNT)], capture_output=True, text=True,
                         check=True).stdout
    times = sorted(map(float, out.split()))
    median, low, high = times[COUNT // 2], times[COUNT // 10], times[COUNT * 9 // 10]
    print(json.dumps({"bench": f"agent.get.{name}", "unit": "us", "value": median, "p10": low, "p90": high,
                      "against": "the store of this host", "baseline": base or median}), flush=True)
    return median


def main():
    folder = tempfile.mkdtemp(prefix="stet-bench-")
    program = folder + "/p.mlir"
    with open(program, "w") as f:
        f.write(PROGRAM.format(n=4))
    servers = [Redis(folder), Nginx(folder)]
    tiers = [("redis", servers[0].url, {}), ("http", servers[1].url, {})]
    if os.path.exists(S3_PYTHON):
        servers.append(Moto(folder, S3_PYTHON))
        wait_for(lambda: os.path.exists(folder + "/keys"), 30)
        with open(folder + "/keys") as f:
            tiers.append(("s3", f"s3://stet?endpoint=http://127.0.0.1:{servers[2].port}", json.load(f)))
    os.mkdir(folder + "/gs")
    servers.append(Gcs(folder + "/gs"))
    tiers.append(("gs", f"gs://stet?endpoint=http://127.0.0.1:{servers[-1].port}",
                  {"GCE_METADATA_HOST": f"127.0.0.1:{servers[-1].port}", "HOME": folder}))
    base = None
    for name, url, env in tiers:
        agent = Agent(folder, name, [url], **env)
        agent.make(program, 0, 10000)
        agent.shared()
        base = base or measure("store", "-", agent.store, program, None)
        measure(name, agent.socket, agent.store, program, base)
        agent.stop()
    for s in servers:
        s.stop()
    shutil.rmtree(folder, ignore_errors=True)


main()

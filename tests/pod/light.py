"""light.py POD_RANK PLUGIN STORE RANKS COUNT [ODD]: starts RANKS light ranks over the fake plugin (pod_rank.c), waits for them and
prints what they print, a line each. STORE: `serve` for a sound key-value store, or a word of pod_rank.c; the last line is then
what the store counted. ODD: the last rank's program of this number is another. LIGHT_ONLY=0,1: only these ranks of the job, whose
name is LIGHT_JOB. Exits with the number of ranks that failed."""
import os
import signal
import subprocess
import sys
import tempfile
import time

pod_rank, plugin, store, ranks, count, *odd = sys.argv[1:]
ranks = int(ranks)
only = [int(r) for r in os.environ["LIGHT_ONLY"].split(",")] if "LIGHT_ONLY" in os.environ else range(ranks)
server = None
with tempfile.TemporaryDirectory(prefix="stet-light-") as folder:
    if store == "serve":
        store = folder + "/store"
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        server = subprocess.Popen([pod_rank, "serve", store], stdout=subprocess.PIPE, text=True, env=env)
        while not os.path.exists(store):
            time.sleep(0.01)
    processes = []
    for rank in only:
        env = dict(os.environ, FAKE_PROCESSES=str(ranks), FAKE_PROCESS=str(rank), JAX_PROCESS_ID=str(rank),
                   JAX_NUM_PROCESSES=str(ranks), JAX_COORDINATOR_ADDRESS=os.environ.get("LIGHT_JOB", folder))
        own = odd if rank == ranks - 1 else []
        processes.append(subprocess.Popen([pod_rank, plugin, store, count, *own], stdout=subprocess.PIPE, env=env, text=True))
    failed = 0
    for p in processes:
        print(p.communicate()[0].strip() or "{}", flush=True)  # one that was killed has nothing to say
        failed += p.returncode != 0
    if server:
        server.send_signal(signal.SIGTERM)
        print(server.communicate()[0].strip(), flush=True)
sys.exit(failed)

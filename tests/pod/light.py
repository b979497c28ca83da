"""light.py POD_RANK PLUGIN STORE RANKS COUNT [ODD]: starts RANKS light ranks over the fake plugin (pod_rank.c), waits for them and
prints what they print, a line each. STORE: `serve` for a sound key-value store, or a word of pod_rank.c; the last line is then
what the store counted. ODD: the last rank's program of this number is another. LIGHT_ONLY=0,1: only these ranks of the job, whose
name is LIGHT_JOB. LIGHT_LATE=RANK: this rank begins its last program when the others have run theirs, and is the odd one. Exits
with the number of ranks that failed."""
import os
import signal
import subprocess
import sys
import tempfile
import time

pod_rank, plugin, store, ranks, count, *odd = sys.argv[1:]
ranks = int(ranks)
only = [int(r) for r in os.environ["LIGHT_ONLY"].split(",")] if "LIGHT_ONLY" in os.environ else range(ranks)
late = int(os.environ.get("LIGHT_LATE", "-1"))
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
        own = odd if rank == (late if late >= 0 else ranks - 1) else []
        if late >= 0:
            env.update({"POD_PAUSE": folder + "/pause"} if rank == late else
                       {"POD_DONE": folder + "/done", "POD_STAY_UNTIL": folder + "/over"})
        processes.append(subprocess.Popen([pod_rank, plugin, store, count, *own], stdout=subprocess.PIPE, env=env, text=True))
    if late >= 0:
        while not os.path.exists(folder + "/done") or len(open(folder + "/done").readlines()) < ranks - 1:
            time.sleep(0.01)
        os.unlink(folder + "/pause")
        processes[late].wait()
        open(folder + "/over", "w").close()
    failed = 0
    for p in processes:
        print(p.communicate()[0].strip() or "{}", flush=True)  # one that was killed has nothing to say
        failed += p.returncode != 0
    if server:
        server.send_signal(signal.SIGTERM)
        print(server.communicate()[0].strip(), flush=True)
sys.exit(failed)

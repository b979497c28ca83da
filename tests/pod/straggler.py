"""straggler.py POD_RANK PLUGIN: two launches of a job of two light ranks, whose key-value store has the same address. Rank 1 of the
first one pauses, and goes on in the time of the second one, with a program that its own rank 0 never had. Prints what the three
processes print that come to their end, a line each; it last."""
import os
import subprocess
import sys
import tempfile
import time

pod_rank, plugin = sys.argv[1:]


def wait_for(path, there=True):
    while os.path.exists(path) != there:
        time.sleep(0.01)


def serve(path):
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    server = subprocess.Popen([pod_rank, "serve", path], stdout=subprocess.DEVNULL, env=env)
    wait_for(path)
    return server


def end(server, path):
    server.terminate()
    server.wait()
    os.unlink(path)


def rank(number, store, *words, **variables):
    env = dict(os.environ, FAKE_PROCESSES="2", FAKE_PROCESS=str(number), JAX_PROCESS_ID=str(number), JAX_NUM_PROCESSES="2",
               JAX_COORDINATOR_ADDRESS=store, **variables)
    return subprocess.Popen([pod_rank, plugin, store, *words], stdout=subprocess.PIPE, env=env, text=True)


with tempfile.TemporaryDirectory(prefix="stet-straggler-") as folder:
    store, old, new = (f"{folder}/{name}" for name in ("store", "old", "new"))
    server = serve(store)
    first = rank(0, store, "1", POD_STAY_MS="500")
    straggler = rank(1, store, "2", "1", POD_PAUSE=old, POD_STAY_MS="3000")
    first.communicate()
    wait_for(old)
    end(server, store)

    server = serve(store)
    second = [rank(0, store, "2", POD_PAUSE=new + "0", POD_STAY_MS="4000"), rank(1, store, "2", POD_PAUSE=new + "1", POD_STAY_MS="4000")]
    for number in "01":
        wait_for(new + number)
        os.unlink(new + number)
    os.unlink(old)
    for process in (*second, straggler):
        print(process.communicate()[0].strip(), flush=True)
    end(server, store)

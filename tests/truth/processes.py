"""The processes of a measurement: witnesses, which count compiles without Stet, and what `stet run` starts."""
import json
import os
import pathlib
import queue
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
FORKS = HERE / "forks"
PYTHON = {"jax": "jax/bin/python", "torch": "torchtpu/bin/python"}
SCRIPT_LIMIT_S = 180
PATH_ROOM = 1024  # of a script's path, see forks/sitecustomize.py


def isolated(folder, libraries=None):
    """An environment in which nothing of Stet or of the frameworks is shared with another case."""
    path = {"PYTHONPATH": str(libraries)} if libraries else {}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("STET_", "JAX_", "XLA_", "TORCH", "XDG_", "PYTHON"))}
    state = str(folder / "state")
    return dict(kept, STET_STATE_DIR=state, STET_STORE=state + "/store", XDG_STATE_HOME=state, XDG_CACHE_HOME=state + "/cache", HOME=state,
                PYTHONDONTWRITEBYTECODE="1", TORCH_DEVICE_BACKEND_AUTOLOAD="0", TORCHINDUCTOR_CACHE_DIR=state + "/inductor", OMP_NUM_THREADS="1",
                OPENBLAS_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="", **path)


class Witness:
    """A process that has a framework imported and counts compiles without Stet."""

    def __init__(self, args, lane):
        self.ended = False
        env = dict(isolated(args.scratch, args.libraries), JAX_PLATFORMS="cpu")
        self.process = subprocess.Popen([str(args.python[lane]), str(HERE / "witness.py"), lane, str(SCRIPT_LIMIT_S)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env, cwd=args.scratch)

    def count(self, folder, devices):
        try:
            self.process.stdin.write(json.dumps({"folder": str(folder), "script": "main.py", "devices": devices}) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            self.ended = True
            return {"error": "the witness ended"}

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        self.process.wait()


class Witnesses:
    """As many witnesses of each lane as there are jobs, started when they are needed."""

    def __init__(self, args):
        self.args = args
        self.idle = {lane: queue.SimpleQueue() for lane in PYTHON}

    def count(self, lane, folders, devices):
        try:
            witness = self.idle[lane].get_nowait()
        except queue.Empty:
            witness = Witness(self.args, lane)
        counts = [witness.count(folder, devices) for folder in folders]
        if witness.ended:
            witness.close()
        else:
            self.idle[lane].put(witness)
        return counts

    def close(self):
        for idle in self.idle.values():
            while not idle.empty():
                idle.get().close()


def stet_run(args, lane, devices, command):
    cpu = [] if lane == "torch" else ["--cpu" if devices == 1 else f"--cpu={devices}"]
    return [str(args.build / "bin/stet"), "run", *cpu, "--", *command]


class Whole:
    """Each script is a process of its own from its start."""

    def __init__(self, args):
        self.args = args

    def command(self, lane):
        return [str(self.args.python[lane]), "main.py"]

    def close(self):
        pass


class Forked:
    """Each script is forked from a process of its lane that has the framework imported (forks/sitecustomize.py)."""

    def __init__(self, args):
        self.args = args
        self.folder = tempfile.TemporaryDirectory(prefix="truth-")  # a socket's path must be short
        self.parents = {}
        self.lock = threading.Lock()

    def environment(self, lane):
        """What `stet run` gives a script, and what the parent needs beside it."""
        with tempfile.TemporaryDirectory(dir=self.folder.name) as state:
            env = isolated(pathlib.Path(state), self.args.libraries)
            told = subprocess.run(stet_run(self.args, lane, 1, ["env", "-0"]), env=env, capture_output=True, timeout=SCRIPT_LIMIT_S, check=True)
        env = dict(item.split("=", 1) for item in os.fsdecode(told.stdout).split("\0") if item)
        path = [part for part in (env.get("PYTHONPATH"), str(FORKS)) if part]
        return dict(env, PYTHONPATH=os.pathsep.join(path), TRUTH_SOCKET=self.socket(lane), TRUTH_LANE=lane, TRUTH_LIMIT_S=str(SCRIPT_LIMIT_S))

    def socket(self, lane):
        return os.path.join(self.folder.name, lane)

    def start(self, lane):
        script = "/" * (PATH_ROOM - len("main.py")) + "main.py"
        with open(os.path.join(self.folder.name, lane + ".log"), "w+") as log:
            parent = subprocess.Popen([str(self.args.python[lane]), script], env=self.environment(lane), stdin=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, stderr=log)
            while not os.path.exists(self.socket(lane)):
                if parent.poll() is not None:
                    log.seek(0)
                    raise RuntimeError("no parent for " + lane + ": " + log.read()[-2000:])
                time.sleep(0.05)
        return parent

    def command(self, lane):
        with self.lock:
            if lane not in self.parents:
                self.parents[lane] = self.start(lane)
        return [str(self.args.python[lane]), "-I", "-S", str(FORKS / "ask.py"), self.socket(lane)]

    def close(self):
        for parent in self.parents.values():
            parent.stdin.close()
            parent.wait()
        self.folder.cleanup()

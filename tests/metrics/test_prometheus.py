"""A real Prometheus scrapes a running job of two ranks and a torch.compile process, and says of it what
is true.

usage: test_prometheus.py BUILD_DIR ENVIRONMENTS
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
BUILD, ENVS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute()
STET = str(BUILD / "bin" / "stet")
JAX, TORCH = (str(ENVS / name / "bin" / "python") for name in ("jax", "torchtpu"))
STEPS = (90, 120)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    def __init__(self, folder, target):
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w") as f:
            f.write("global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: stet\n"
                    f"    static_configs:\n      - targets: ['{target}']\n")
        subprocess.run(["promtool", "check", "config", config], check=True, capture_output=True)
        self.command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb"]
        self.log = open(os.path.join(folder, "prometheus.log"), "w+")
        self.starts, self.process = 0, None
        self.start()

    def start(self):
        """Again when somebody else took the port."""
        if self.process and self.process.poll() is None or self.starts > 4:
            return
        self.starts += 1
        self.at = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen([*self.command, f"--web.listen-address={self.at[7:]}"], stdout=self.log,
                                        stderr=subprocess.STDOUT)

    def get(self, path, **query):
        with urllib.request.urlopen(f"{self.at}{path}?{urllib.parse.urlencode(query)}", timeout=60) as answer:
            return json.load(answer)["data"]

    def query(self, text):
        """{labels that tell samples apart: value}"""
        found = {}
        for sample in self.get("/api/v1/query", query=text)["result"]:
            labels = {k: v for k, v in sample["metric"].items() if k not in ("__name__", "instance", "job", "run")}
            found[tuple(sorted(labels.items()))] = float(sample["value"][1])
        return found

    def wait(self, text, wanted, seconds=90):
        """Until a query has the wanted answer, or one that a function is content with."""
        deadline = time.time() + seconds
        found = None
        while time.time() < deadline:
            try:
                found = self.query(text)
            except OSError:
                self.start()  # it is only starting
            if found is not None and (wanted(found) if callable(wanted) else found == wanted):
                return
            time.sleep(0.3)
        raise AssertionError(f"{text}: {found}, and not {wanted}")

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def key(**labels):
    return tuple(sorted((k, str(v)) for k, v in labels.items()))


def main():
    folder = tempfile.mkdtemp(prefix="stet-prometheus-")
    go = os.path.join(folder, "go")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_", "XLA_", "JAX_"))}
    env.update(STET_STATE_DIR=os.path.join(folder, "state"), XDG_CACHE_HOME=os.path.join(folder, "cache"),
               TORCH_DEVICE_BACKEND_AUTOLOAD="0", PYTHONWARNINGS="ignore", OMP_NUM_THREADS="1")
    ranks = [f"RANK={r} {JAX} {HERE}/train.py {STEPS[r]} {go} & " for r in (0, 1)]
    job = "".join(ranks) + f"{TORCH} {HERE}/frames.py {go} & wait"
    run = subprocess.Popen([STET, "run", "--cpu", "--no-store", "--metrics-port=0", "--", "sh", "-c", job], env=env,
                           cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    server = None
    try:
        address = run.stderr.readline().split("http://")[1].split("/")[0]
        server = Prometheus(folder, address)
        server.wait("up", {(): 1.0})
        lines = [run.stdout.readline() for _ in range(3)]
        truth = {t["rank"]: t for t in (json.loads(line) for line in lines if line.startswith("{"))}
        assert sorted(truth) == [0, 1] and "done\n" in lines, lines

        # What the jobs themselves say.
        xla = lambda r, **more: key(rank=r, lane="xla", **more)
        server.wait("stet_steps_total", {xla(r): float(STEPS[r]) for r in (0, 1)})
        server.wait('stet_transfer_bytes_total{direction="to_device"}',
                    {xla(r, direction="to_device"): float(truth[r]["sent"]) for r in (0, 1)})
        server.wait("stet_executions_total", {xla(r): STEPS[r] + 1.0 for r in (0, 1)})
        server.wait("stet_compiles_total", {xla(0): 4.0, xla(1): 4.0, key(rank="none", lane="torch"): 3.0})
        server.wait("stet_programs", {(): 4.0})
        server.wait("stet_family_programs", {key(family="train_step"): 3.0, key(family="initial"): 1.0})
        server.wait("stet_recompiles_total", {xla(0, cause="shape-drift"): 2.0, xla(1, cause="shape-drift"): 2.0,
                                              key(rank="none", lane="torch", cause="rank-change"): 1.0,
                                              key(rank="none", lane="torch", cause="baked-constant"): 1.0})
        server.wait("stet_processes_running", {xla(0): 1.0, xla(1): 1.0})
        server.wait("stet_run_running", {(): 1.0})

        # What a reader of the journals says.
        show = json.loads(subprocess.run([STET, "show", "--format=json"], env=env, cwd=folder, check=True,
                                         capture_output=True).stdout)
        for process in show["processes"]:
            seconds = server.query(f'stet_compile_seconds_total{{rank="{process["rank"]}"}}')
            assert abs(sum(seconds.values()) - sum(c["cost_s"] for c in process["compiles"])) < 1e-6, seconds
        compiler = server.query("sum(stet_recompile_compiler_seconds_total)")[()]
        assert 0 < compiler < server.query("sum(stet_compile_seconds_total)")[()]
        assert server.query("sum(stet_recompile_seconds_total)")[()] > compiler  # they were traced and lowered
        server.wait("stet_device_memory_bytes", lambda found: len(found) == 2)
        server.wait("stet_device_memory_limit_bytes", lambda found: len(found) == 2 and min(found.values()) > 0)

        # Prometheus itself found nothing to complain of, and took the types.
        target = server.get("/api/v1/targets")["activeTargets"][0]
        assert (target["health"], target["lastError"]) == ("up", ""), target
        types = server.get("/api/v1/metadata")
        assert types["stet_compiles" if "stet_compiles" in types else "stet_compiles_total"][0]["type"] == "counter"
        board = json.loads((HERE.parents[1] / "docs" / "grafana-dashboard.json").read_text())
        for panel in board["panels"]:
            for t in panel["targets"]:  # PromQL that it understands
                server.query(t["expr"].replace("$run", ".*").replace("$rank", ".*").replace("$__rate_interval", "1m"))

        open(go, "w").close()
        assert run.wait(timeout=60) == 0
        server.wait("up", {(): 0.0})
    except BaseException:
        if server:
            server.log.seek(0)
            print(server.log.read()[-3000:])
        raise
    finally:
        open(go, "w").close()
        if server:
            server.end()
        run.communicate(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)
    print("right")


if __name__ == "__main__":
    main()

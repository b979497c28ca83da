"""Real JAX processes on several hosts (an agent, a store, a state folder each) with one Redis or one bucket between them.

usage: test_fleet.py BUILD_DIR "" JAX_PYTHON [unittest arguments]
"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from hosts import BUILD, STET, Case, patient
from servers import Gcs, wait_for

PYTHON = os.path.abspath(sys.argv[3])
HOSTS = 3

STEP = """\
import jax, jax.numpy as jnp

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w)

w = jnp.ones((4, 3), jnp.float32)
for i in range(3):
    w = step(w, jnp.full((2, 4), float(i), jnp.float32))
print("result", jnp.linalg.norm(w).item())
"""


class Fleet(Case):
    def host_env(self, name):
        env = dict(os.environ, XDG_RUNTIME_DIR=f"{self.dir}/{name}", STET_STORE=f"{self.dir}/{name}/store",
                   STET_STATE_DIR=f"{self.dir}/{name}/state", STET_TIERS=patient(self.url), STET_AGENT_IDLE="60",
                   STET_TRUST="any", STET_AGENT_WAIT="60s", **self.keys)
        for unwanted in ("STET_AGENT", "STET_STORE_MODE", "XLA_FLAGS", "JAX_PLATFORMS"):
            env.pop(unwanted, None)
        os.makedirs(env["XDG_RUNTIME_DIR"])
        self.addCleanup(lambda: subprocess.run([STET, "agent", "stop"], env=env, capture_output=True))
        return env

    def launch(self, env):
        return subprocess.Popen([STET, "run", "--cpu", "--quiet", "--", PYTHON, self.script], env=env, cwd=self.dir,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self, env, process):
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        shown = json.loads(subprocess.run([STET, "show", "--format=json"], env=env, cwd=self.dir, capture_output=True,
                                          text=True, check=True).stdout)
        return out, [c for p in shown["processes"] for c in p["compiles"] if c["kind"] == "compile"]

    def test_each_program_is_compiled_once_over_redis(self):
        redis = self.redis()
        self.url, self.keys = redis.url, {}
        self.once("redis", lambda: int(redis.ask("DBSIZE")[1:]))

    def test_each_program_is_compiled_once_over_gs(self):
        gcs = Gcs(self.dir)
        self.addCleanup(gcs.stop)
        self.url, self.keys = f"gs://stet/fleet?endpoint=http://127.0.0.1:{gcs.port}", gcs.keys["hmac"]
        self.once("gs", lambda: len(gcs.control()["objects"]))

    def once(self, tier, entries):
        self.script = self.dir + "/train.py"
        with open(self.script, "w") as f:
            f.write(STEP)
        envs = [self.host_env(f"host{i}") for i in range(HOSTS)]
        running = [self.launch(env) for env in envs]
        results = [self.result(env, process) for env, process in zip(envs, running)]
        self.assertEqual(len({out for out, _ in results}), 1)
        compiles = [c for _, of_host in results for c in of_host]
        keys = {c["key"] for c in compiles}
        self.assertGreaterEqual(len(keys), 3)
        once = sorted(c["key"] for c in compiles if c["served"] == "compiled")
        self.assertEqual(once, sorted(keys))  # every program, and each by one of them
        self.assertIn(("remote", tier), {(c["served"], c.get("tier")) for c in compiles})
        # a host that comes later compiles nothing, and is told where it came from
        self.assertTrue(wait_for(lambda: entries() == len(keys)))
        late = self.host_env("late")
        out, of_late = self.result(late, self.launch(late))
        self.assertEqual(out, results[0][0])
        self.assertEqual({(c["served"], c.get("tier")) for c in of_late if c["served"] != "memory"}, {("remote", tier)})
        explained = subprocess.run([STET, "explain"], env=late, cwd=self.dir, capture_output=True, text=True)
        self.assertRegex(explained.stdout, r"the store served (\d+) of \1 compiles: .*\d+ from " + tier)
        told = json.loads(subprocess.run([STET, "explain", "--format=json"], env=late, cwd=self.dir, capture_output=True,
                                         text=True).stdout)
        self.assertEqual(told["store"]["from"][tier], sum(c["served"] == "remote" for c in of_late))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], warnings="ignore")

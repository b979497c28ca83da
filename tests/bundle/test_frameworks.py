"""`stet doctor` on real frameworks: JAX with libtpu and no TPU, and JAX, PyTorch/XLA and TorchTPU over
the embedded CPU backend.

usage: test_frameworks.py BUILD_DIR ENVIRONMENTS [unittest arguments]
"""

import json
import os
import subprocess
import sys
import unittest

ENVS = os.path.abspath(sys.argv.pop(2))
from stage import CPU, STET, Staged  # takes BUILD_DIR


class Frameworks(Staged):
    def doctor(self, environment, *before, **variables):
        env = dict(self.env, **variables)
        env.pop("PYTHONPATH")
        python = os.path.join(ENVS, environment, "bin", "python")
        out = subprocess.run([*before, STET, "doctor", "--format=json", f"--python={python}", "--deadline=120"],
                             capture_output=True, text=True, timeout=280, cwd=self.dir, env=env)
        self.assertIn(out.returncode, (0, 1), out.stderr)
        told = json.loads(out.stdout)
        told["rows"] = [r["id"] for r in told["rows"]]
        told["checks"] = {c["what"]: c for c in told["checks"]}
        return told

    def alive(self, told):
        return {os.path.basename(p["path"]): p["alive"] for p in told["plugins"]}

    def test_jax_and_libtpu_without_a_tpu_are_installed_and_not_alive(self):
        if os.path.isdir("/dev/accel0"):
            self.skipTest("there is a TPU")
        told = self.doctor("jax")
        p = told["plugins"][0]
        self.assertFalse(told["ok"])
        self.assertEqual(self.alive(told), {"libtpu.so": False})
        self.assertEqual((p["broken"], p["api"]), ("client", "0.116"))
        self.assertIn("PhaseCompile", p["extensions"])
        self.assertEqual(told["rows"], ["no-tpu-on-the-bus"])
        self.assertEqual(told["checks"]["jax"]["result"], "fine")  # on its built-in CPU platform
        self.assertIn("(cpu)", told["checks"]["jax"]["text"])

    def test_jax_over_the_cpu_backend_is_alive(self):
        told = self.doctor("jax", JAX_PLATFORMS="stet", PJRT_NAMES_AND_LIBRARY_PATHS=f"stet:{CPU}")
        self.assertTrue(told["ok"], told)
        self.assertEqual(self.alive(told), {"libstet_cpu.so": True, "libtpu.so": False})
        self.assertEqual(told["checks"]["jax"]["text"], "runs on 1 x Stet CPU (stet)")

    def test_torch_xla_over_the_cpu_backend_is_alive(self):
        told = self.doctor("torchxla", PJRT_DEVICE="LIBRARY", PJRT_LIBRARY_PATH=CPU)
        self.assertEqual(self.alive(told), {"libstet_cpu.so": True})
        self.assertEqual(told["checks"]["torch_xla"]["result"], "fine", told["checks"])
        self.assertEqual(told["rows"], ["library-device-in-launch"])

    def test_torchtpu_over_the_cpu_backend_is_alive(self):
        told = self.doctor("torchtpu", STET, "run", "--quiet", "--cpu", "--")
        self.assertTrue(told["ok"], told)
        self.assertEqual(self.alive(told), {"libstet_cpu.so": True})
        self.assertEqual(told["checks"]["torch_tpu"]["text"], "runs on a tpu device")

    def rows_of_run(self, environment, text):
        """The rows that fit a run of this script."""
        script = os.path.join(self.dir, "script.py")
        with open(script, "w") as f:
            f.write(text)
        env = dict(self.env)
        env.pop("PYTHONPATH")
        python = os.path.join(ENVS, environment, "bin", "python")
        out = subprocess.run([STET, "run", "--quiet", "--cpu", "--", python, script], capture_output=True, text=True,
                             timeout=200, cwd=self.dir, env=env)
        self.assertEqual(out.returncode, 0, out.stderr)
        out = subprocess.run([STET, "doctor", "--format=json", "--no-frameworks", "--quick", "--run=latest",
                              f"--python={python}"], capture_output=True, text=True, timeout=200, cwd=self.dir, env=env)
        return [r["id"] for r in json.loads(out.stdout)["rows"]]

    def test_torch_compile_on_top_of_xla_is_seen_in_the_run(self):
        stacked = ("import torch, torch_xla\n"
                   "step = torch.compile(lambda x: x * 2 + 1, backend='eager')\n"
                   "x = torch.ones(3).to('xla')\n"
                   "for _ in range(3):\n"
                   "    x = step(x)\n"
                   "    torch_xla.sync()\n"
                   "print(x.cpu())\n")
        self.assertIn("torch-compile-on-xla", self.rows_of_run("torchxla", stacked))
        plain = stacked.replace("torch.compile(lambda x: x * 2 + 1, backend='eager')", "lambda x: x * 2 + 1")
        self.assertNotIn("torch-compile-on-xla", self.rows_of_run("torchxla", plain))

    def test_scanning_is_proposed_where_blocks_repeat(self):
        script = os.path.join(self.dir, "layers.py")
        with open(script, "w") as f:
            f.write("import jax, jax.numpy as jnp\n"
                    "@jax.jit\n"
                    "def net(x, w):\n"
                    "    for i in range(12):\n"
                    "        x = jnp.tanh(x @ w) * 0.5 + jnp.sin(x)\n"
                    "    return x\n"
                    "net(jnp.ones((4, 4)), jnp.ones((4, 4)))\n")
        python = os.path.join(ENVS, "jax", "bin", "python")
        env = dict(self.env)
        env.pop("PYTHONPATH")
        subprocess.run([STET, "run", "--quiet", "--cpu", "--", python, script], check=True, cwd=self.dir,
                       env=env, timeout=120, capture_output=True)
        out = subprocess.run([STET, "doctor", "--format=json", "--no-frameworks", "--quick", "--run=latest",
                              f"--python={python}"], capture_output=True, text=True, cwd=self.dir,
                             env=dict(env, JAX_PLATFORMS="cpu"), timeout=120)
        told = json.loads(out.stdout)
        scan = told["scan"]
        self.assertIn("net", scan["program"])
        self.assertGreaterEqual(scan["times"], 11)
        self.assertLess(scan["operations_scanned"], scan["operations"] / 3)
        self.assertGreater(scan["compile_s"], 0)
        self.assertIsNone(scan["barrier"])
        self.assertIn("layers-not-scanned", [r["id"] for r in told["rows"]])
        self.assertTrue(next(f for f in told["features"] if f["name"] == "jax.lax.scan")["api"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

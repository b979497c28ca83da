"""Programs that return zeros (`stet run --cpu --zeros`): what is run, what it takes, and what is said about it.

usage: test_zeros.py BUILD_DIR {jax|xla|tpu} PYTHON [unittest arguments]
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
KIND = sys.argv[2]
del sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
STET = os.path.join(BUILD, "bin", "stet")

TORCH = """\
import sys
import torch
if sys.argv[1] == "xla":
    import torch_xla
sync = torch_xla.sync if sys.argv[1] == "xla" else lambda: None
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).to(sys.argv[1])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(32, 64).to(sys.argv[1]), torch.zeros(32, dtype=torch.long).to(sys.argv[1])
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    sync()
    value = loss.item()
    print(value)
    if value > 1:
        print("large")
"""

UNKNOWN = """\
import jax, jax.numpy as jnp, numpy as np

@jax.jit
def f(x):
    return jax.ffi.ffi_call("nobody_knows", jax.ShapeDtypeStruct(x.shape, x.dtype))(x) + 1

y = f(jnp.ones((4, 8)))
print(y.shape, float(y.sum()))
print(float(jax.device_put(np.float32(7))))
"""

HELPER = """\
import jax, jax.numpy as jnp

def is_bad(x):
    return float(x) != 0

step = jax.jit(lambda x: x * 2)
x = step(jnp.ones(()))
if is_bad(x):
    print("bad")
print(1 / float(step(x)))
"""


class Zeros(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-zeros-")
        self.addCleanup(self.scratch.cleanup)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.scratch.name, "state"),
                        STET_STORE=os.path.join(self.scratch.name, "store"),
                        TORCHINDUCTOR_CACHE_DIR=os.path.join(self.scratch.name, "torch"))
        for name in ("JAX_PLATFORMS", "STET_CPU_DEVICES", "STET_CPU_ZEROS"):
            self.env.pop(name, None)

    def run_zeros(self, *command, devices="", status=0, **env):
        out = subprocess.run([STET, "run", "--cpu" + devices, "--zeros", "--", PYTHON, *command],
                             env=dict(self.env, **env), capture_output=True, text=True, timeout=800,
                             cwd=self.scratch.name)
        self.assertEqual(out.returncode, status, out.stdout + out.stderr)
        return out.stdout, out.stderr

    def write(self, name, text):
        path = os.path.join(self.scratch.name, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def line_of(self, text, line):
        return 1 + text.splitlines().index(line)


class Jax(Zeros):
    def test_seventy_billion_parameters_are_traced_in_little_memory(self):
        out, err = self.run_zeros(os.path.join(HERE, "zeros_train.py"), "80", "8192", "28672", devices="=256",
                                  JAX_PLATFORMS="tpu")
        result = json.loads(out)
        self.assertEqual((result["devices"], result["platform"], result["losses"]), (256, "tpu", [0, 0, 0]))
        self.assertGreater(result["parameters"], 68e9)
        self.assertEqual(result["shardings"]["down"], "P(None, 'model', 'data')")
        # parameters and two moments of float32 on 256 devices: counted, but not there
        self.assertGreater(result["in_use"], 3 * 4 * result["parameters"] / 256)
        self.assertLess(result["resident"], 1 << 30)
        with open(os.path.join(HERE, "zeros_train.py")) as f:
            text = f.read()
        self.assertIn("zeros_train.py:%d (3 times): zeros_train.py:%d uses it to decide what runs" %
                      (self.line_of(text, "    value = float(loss)"), self.line_of(text, "    if value < 0:")), err)

    def test_an_unknown_operation_is_listed(self):
        path = self.write("unknown.py", UNKNOWN)
        out, err = self.run_zeros(path)
        self.assertEqual(out.splitlines(), ["(4, 8) 0.0", "7.0"])  # what the host put there stays
        self.assertIn("unknown.py:8: its value decides nothing in that function", err)
        self.assertNotIn("unknown.py:9", err)
        shown = subprocess.run([STET, "show", "--format=json"], env=self.env, capture_output=True, text=True,
                               check=True, cwd=self.scratch.name)
        self.assertIn("jit_f", shown.stdout)
        self.assertFalse(os.path.exists(os.path.join(self.scratch.name, "store")))  # nothing worth keeping

    def test_a_condition_in_the_caller_is_found_and_a_failure_is_explained(self):
        path = self.write("helper.py", HELPER)
        _, err = self.run_zeros(path, status=1)
        self.assertIn("ZeroDivisionError", err)
        self.assertIn("helper.py:%d: helper.py:%d uses it to decide what runs" %
                      (self.line_of(HELPER, "    return float(x) != 0"), self.line_of(HELPER, "if is_bad(x):")), err)
        self.assertIn("the command failed; a value that cannot be zero may be why", err)

    def test_zeros_belong_to_the_backend(self):
        out = subprocess.run([STET, "run", "--zeros", "--", "true"], env=self.env, capture_output=True, text=True)
        self.assertEqual((out.returncode, out.stdout), (2, ""))
        self.assertIn("--zeros needs --cpu", out.stderr)


class Torch(Zeros):
    def test_a_training_loop_reads_zeros(self):
        out, err = self.run_zeros(self.write("loop.py", TORCH), KIND)
        self.assertEqual(out.splitlines()[-3:], ["0.0"] * 3)
        self.assertIn("loop.py:%d (3 times): loop.py:%d uses it to decide what runs" %
                      (self.line_of(TORCH, "    value = loss.item()"), self.line_of(TORCH, "    if value > 1:")), err)


if __name__ == "__main__":
    unittest.main(defaultTest="Jax" if KIND == "jax" else "Torch")

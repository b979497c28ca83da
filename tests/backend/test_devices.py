"""Programs of eight devices on the CPU backend under JAX (`stet run --cpu=8`), and a recompile that they alone have.

usage: test_devices.py BUILD_DIR PYTHON [STEPS]     PYTHON is that of the jax environment
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
STEPS = sys.argv[3] if len(sys.argv) > 3 else "5"
del sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
STET = os.path.join(BUILD, "bin", "stet")

MANY = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

n = len(jax.devices())
mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(np.arange(4 * n, dtype=np.float32), NamedSharding(mesh, P("x")))
w = jax.device_put(np.ones(4 * n, np.float32), NamedSharding(mesh, P()))
total, scaled = jax.jit(lambda x, w: (jnp.sum(x * w), x * 2))(x, w)
print(n, float(total), float(np.asarray(scaled)[-1]), len(scaled.sharding.device_set))
"""
DRIFT = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

mesh = jax.make_mesh((2,), ("rows",), axis_types=(AxisType.Auto,))


@jax.jit
def forward(weights, batch):
    return jnp.tanh(batch @ weights).sum()


def feed(count):
    weights = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, PartitionSpec()))
    for k in range(count):
        spec = PartitionSpec("rows") if k < 6 else PartitionSpec(None, "rows")
        batch = jax.device_put(np.full((8, 8), k, np.float32), NamedSharding(mesh, spec))
        forward(weights, batch).block_until_ready()


feed(10)
"""


class Devices(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-devices-")
        self.addCleanup(self.scratch.cleanup)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.scratch.name, "state"),
                        STET_STORE=os.path.join(self.scratch.name, "store"))
        self.env.pop("JAX_PLATFORMS", None)
        self.env.pop("STET_CPU_DEVICES", None)

    def stet(self, *args, status=0):
        out = subprocess.run([STET, *args], env=self.env, capture_output=True, text=True, timeout=800)
        self.assertEqual(out.returncode, status, out.stdout + out.stderr)
        return out.stdout

    def test_eight_devices_do_what_jax_asks(self):
        result = json.loads(self.stet("run", "--cpu=8", "--quiet", "--no-store", "--", PYTHON,
                                      os.path.join(HERE, "jax_devices.py"), STEPS))
        self.assertEqual([name for name, right in result["found"].items() if not right], [])
        self.assertEqual(len(result["found"]), 42)
        losses = result["losses"]
        # A sharding moves data and changes no operation: the same bits.
        for kind in ("data", "tensor", "fully"):
            self.assertEqual(losses[kind], losses["one device"], kind)
        # shard_map adds gradients of eight parts, in another order than one device does.
        for a, b in zip(losses["by hand"], losses["one device"], strict=True):
            a, b = (struct.unpack("<f", bytes.fromhex(h))[0] for h in (a, b))
            self.assertAlmostEqual(a, b, delta=1e-5 * abs(b))

    def test_another_sharding_is_named_with_its_line(self):
        program = os.path.join(self.scratch.name, "drift.py")
        with open(program, "w") as f:
            f.write(DRIFT)
        line = 1 + DRIFT.splitlines().index("        forward(weights, batch).block_until_ready()")
        for served in (0, 2):  # compiled, then from the store
            self.stet("run", "--cpu=2", "--quiet", "--", PYTHON, program)
            report = json.loads(self.stet("explain", "--format=json", status=1))
            (found,) = report["recompiles"]
            self.assertEqual((found["class"], found["function"]), ("sharding-change", "forward"))
            self.assertEqual([c["what"] for c in found["changes"]], ["argument batch sharding"])
            self.assertEqual((os.path.basename(found["trigger"]["file"]), found["trigger"]["line"]), ("drift.py", line))
            self.assertEqual(report["store"]["served"], served)

    def test_a_thousand_devices_compute_together(self):
        program = os.path.join(self.scratch.name, "many.py")
        with open(program, "w") as f:
            f.write(MANY)
        out = self.stet("run", "--cpu=1024", "--quiet", "--", PYTHON, program)
        self.assertEqual(out.split(), ["1024", str(float(sum(range(4096)))), "8190.0", "1024"])

    def test_a_wrong_number_of_devices_is_a_usage_error(self):
        for number in ("0", "-1", "32769", "eight", "8x"):
            out = subprocess.run([STET, "run", "--cpu=" + number, "--", "true"], env=self.env, capture_output=True,
                                 text=True, timeout=60)
            self.assertEqual(out.returncode, 2, number)
            self.assertIn("--cpu=N takes a number of devices from 1 to 32768", out.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

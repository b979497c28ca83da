"""Facts about `stet run` over the launchers people use: every rank is seen, and gets what it would get.

usage: test_launchers.py BUILD_DIR ENVIRONMENTS [unittest arguments]
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
ENVIRONMENTS = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")

TORCH_RANK = """
import os, torch, torch_xla
rank = int(os.environ["RANK"])
x = torch.ones(4, 4 + rank, device=torch_xla.device())
total = (x @ x.T).sum()
torch_xla.sync()
print("rank %d of %s: %g\\n" % (rank, os.environ["WORLD_SIZE"], float(total.cpu())), end="", flush=True)
"""

JAX_RANKS = """
import subprocess, sys
if len(sys.argv) == 2:
    ranks = [subprocess.Popen([sys.executable, *sys.argv, str(r)]) for r in range(2)]
    sys.exit(max(p.wait() for p in ranks))
import jax, jax.numpy as jnp
rank = int(sys.argv[2])
jax.distributed.initialize("localhost:" + sys.argv[1], 2, rank)
total = float(jax.jit(lambda x: jnp.sum(x * 2))(jnp.ones(4 + rank)))
print("rank %d of 2: %g\\n" % (rank, total), end="", flush=True)
jax.distributed.shutdown()
"""


class Launchers(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-launch-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.dir, "state"), STET_STORE="off")

    def run_ranks(self, environment, script, *command):
        path = os.path.join(self.dir, "rank.py")
        with open(path, "w") as f:
            f.write(script)
        python = os.path.join(ENVIRONMENTS, environment, "bin", "python")
        command = [python if c == "python" else path if c == "SCRIPT" else c for c in command]
        out = subprocess.run([STET, "run", "--cpu", "--", *command], capture_output=True, text=True,
                             timeout=280, cwd=self.dir, env=self.env)
        self.assertEqual(out.returncode, 0, out.stderr)
        show = subprocess.run([STET, "show", "--format=json"], capture_output=True, text=True, timeout=60,
                              env=self.env, check=True)
        processes = [p for p in json.loads(show.stdout)["processes"] if p["plugins"]]
        for process in processes:
            self.assertTrue(process["compiles"], out.stderr)
            self.assertGreater(process["executions"], 0)
            self.assertTrue(process["ended"], "its journal has no end")
        return sorted(out.stdout.splitlines()), processes

    def test_both_ranks_of_torchrun_are_recorded(self):
        said, processes = self.run_ranks("torchxla", TORCH_RANK, "python", "-m", "torch.distributed.run",
                                         "--nproc_per_node=2", "--master_port=0", "SCRIPT")
        self.assertEqual(said, ["rank 0 of 2: 64", "rank 1 of 2: 80"])
        self.assertEqual(sorted(p["rank"] for p in processes), [0, 1])

    def test_both_ranks_of_jax_distributed_are_recorded(self):
        with socket.socket() as s:
            s.bind(("localhost", 0))
            port = s.getsockname()[1]
        said, processes = self.run_ranks("jax", JAX_RANKS, "python", "SCRIPT", str(port))
        self.assertEqual(said, ["rank 0 of 2: 8", "rank 1 of 2: 10"])
        self.assertEqual(len(processes), 2)


if __name__ == "__main__":
    unittest.main(verbosity=1)

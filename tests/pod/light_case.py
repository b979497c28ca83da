"""What the tests with light ranks share: a job over the fake plugin under `stet run`, and its account."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "agent"))
from servers import wait_for  # noqa: E402, F401

BUILD = os.path.abspath(sys.argv[1])


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-pod-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("STET_", "JAX_", "POD_"))}
        self.env.update(STET_STATE_DIR=self.dir + "/state", HOME=self.dir)

    def run_job(self, store, ranks, count, *odd, **variables):
        """The finished process of `stet run`, the one of `stet explain`, what each rank printed, and the account of the run.
        Jobs with a STET_STATE_DIR of their own can run side by side."""
        env = dict(self.env, **variables)
        command = [BUILD + "/bin/stet", "run", "--no-store", "--", sys.executable, HERE / "light.py", BUILD + "/bin/pod_rank",
                   BUILD + "/lib/libfake_pjrt.so", store, str(ranks), str(count), *odd]
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=self.dir)
        state = dict(self.env, STET_STATE_DIR=env["STET_STATE_DIR"])
        explained = subprocess.run([BUILD + "/bin/stet", "explain", "--format=json"], env=state, capture_output=True, text=True)
        self.assertIn(explained.returncode, (0, 1), explained.stderr)
        return done, explained, [json.loads(line) for line in done.stdout.splitlines()], json.loads(explained.stdout)

    def job(self, *words, **variables):
        """What each rank printed, and the account of the run."""
        done, explained, said, account = self.run_job(*words, **variables)
        self.stderr, self.code, self.explained = done.stderr, done.returncode, explained.returncode
        return said, account

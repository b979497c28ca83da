"""Jobs of torchrun with torch.compile over gloo, and TorchTPU on the CPU backend: ranks whose graphs or programs differ are named
with rank, cause and line; clean jobs raise nothing and compute the same bits.

usage: test_torch_pod.py BUILD_DIR PYTHON [TEST…]     a Python with torch and torch_tpu"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from pod_case import marks

HERE = pathlib.Path(__file__).resolve().parent
BUILD, PYTHON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LINES = marks("torch_job.py")


class TorchCase(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-pod-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("STET_", "TORCH", "XLA_"))}
        self.env.update(STET_STATE_DIR=self.dir + "/state", HOME=self.dir, OMP_NUM_THREADS="1", TORCH_DEVICE_BACKEND_AUTOLOAD="0",
                        PYTHONWARNINGS="ignore")

    def begin(self, script, way, ranks, *options, stet=True):
        self.events, self.go = self.dir + "/events", self.dir + "/go"
        run = [BUILD + "/bin/stet", "run", *options, "--no-store", "--json-events=" + self.events, "--"] if stet else []
        command = run + [PYTHON, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", str(HERE / script),
                         way, self.go]
        p = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir)
        self.addCleanup(p.communicate)
        self.addCleanup(self.let_go)
        return p

    def let_go(self):
        open(self.go, "w").close()

    def divergences(self):
        try:
            lines = pathlib.Path(self.events).read_text().splitlines()
        except FileNotFoundError:
            return []
        events = [json.loads(line) for line in lines if line.endswith("}")]
        return [d for e in events if e.get("event") == "divergence" for d in e["divergences"]]

    def found(self, p):
        """The limit only ends a test that would hang."""
        end = time.monotonic() + 90
        while not self.divergences() and time.monotonic() < end and p.poll() is None:
            time.sleep(0.1)
        self.let_go()
        out, err = p.communicate()
        self.assertTrue(self.divergences(), out + err)
        return self.divergences()[0]

    def ended(self, p):
        self.let_go()
        out, err = p.communicate()
        self.assertEqual(p.returncode, 0, out + err)
        return sorted({line for line in out.splitlines() if line.startswith("total ")})


class Compile(TorchCase):
    def test_graphs_that_differ_are_named_while_the_job_runs(self):
        for way, cause in (("torch-constant", "baked-constant"), ("torch-branch", "graph-change"), ("torch-shape", "shape-drift")):
            with self.subTest(way):
                shutil.rmtree(self.dir + "/state", ignore_errors=True)
                for name in ("events", "go"):
                    pathlib.Path(self.dir, name).unlink(missing_ok=True)
                d = self.found(self.begin("torch_job.py", way, 2))
                self.assertEqual((d["lane"], d["rank"], d["other"], d["class"], d["function"]), ("torch", 1, 0, cause, "step"), d)
                self.assertTrue(d["certain"])  # the graph has a collective
                at = d["trigger" if way == "torch-shape" else "origin"]
                self.assertEqual((at["file"], at["line"]), LINES["here: " + way])

    def test_a_clean_job_raises_nothing_and_computes_the_same(self):
        with_stet = self.ended(self.begin("torch_job.py", "clean", 2))
        self.assertEqual(self.divergences(), [])
        pathlib.Path(self.go).unlink()
        self.assertEqual(self.ended(self.begin("torch_job.py", "clean", 2, stet=False)), with_stet)
        self.assertEqual(len(with_stet), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

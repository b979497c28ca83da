"""What the tests of `stet fit` over real compilers share."""
import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS, FLIP, SHARDED, LAYERS = (os.path.join(HERE, name) for name in ("models.py", "flip.py", "sharded.py", "layers.py"))
LARGE = os.path.join(HERE, "..", "backend", "zeros_train.py")
TARGET = os.path.join(HERE, "..", "conformance", "h200.txtpb")


class Case(unittest.TestCase):
    build = envs = None  # set by the programs

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-fit-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = dict(os.environ, STET_STATE_DIR=self.dir + "/state", STET_STORE=self.dir + "/store",
                        TORCHINDUCTOR_CACHE_DIR=self.dir + "/torch")
        for name in ("JAX_PLATFORMS", "STET_CPU_DEVICES", "TPU_LIBRARY_PATH", "VIRTUAL_ENV"):
            self.env.pop(name, None)
        self.python = f"{self.envs}/jax/bin/python"

    def call(self, *words, status=0, timeout=1800):
        out = subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=timeout, cwd=self.dir)
        self.assertEqual(out.returncode, status, out.stdout + out.stderr)
        self.err = out.stderr
        return out.stdout

    def fit(self, *words, status=0, **kw):
        return self.call(f"{self.build}/bin/stet", "fit", *words, status=status, **kw)

    def json(self, *words, **kw):
        return json.loads(self.fit("--format=json", *words, **kw))

    def plugin(self, env, pattern):
        (path,) = glob.glob(f"{self.envs}/{env}/lib/python3*/site-packages/{pattern}")
        return path

    def libtpu(self):
        return self.plugin("jax", "libtpu/libtpu.so")

    def step_of(self, verdict, name="jit_train_step"):
        """The first program of that name; a second one may have other shardings."""
        return min((p for p in verdict["programs"] if p["program"] == name), key=lambda p: p["order"])

    def check_model(self, network, how, *words):
        """The numbers of libtpu itself, for the same step compiled without Stet."""
        hand = json.loads(self.call(self.python, MODELS, network, how, *words, "--by-hand", "v6e:2x4").splitlines()[-1])
        verdict = self.json("--topology", "v6e:2x4", "--zeros", "--", self.python, MODELS, network, how, *words)
        self.assertEqual(verdict["verdict"], "fits")
        step = self.step_of(verdict)
        self.assertEqual({k: step["memory"][k] for k in hand["memory"]}, hand["memory"])
        self.assertEqual({c["kind"]: c["sites"] for c in step["collectives"]}, hand["collectives"])
        if "--scan" not in words:  # libtpu counts every addition too, and loops once
            self.assertLessEqual(step["flops"], hand["flops"])
            self.assertGreater(step["flops"], 0.85 * hand["flops"])
        self.assertEqual(step["loops_of_unknown_length"], 0)
        self.assertFalse(verdict["shardings_guessed"])
        return verdict, step

"""Facts about `stet run --cpu`: what a Python program finds, and that nothing else changes for it.

usage: test_cpu.py BUILD_DIR [unittest arguments]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
BACKEND = os.path.join(BUILD, "lib", "libstet_cpu.so")


class Cpu(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-cpu-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.dir, "state"))
        for name in ("PYTHONPATH", "JAX_PLATFORMS", "PJRT_DEVICE", "PJRT_NAMES_AND_LIBRARY_PATHS"):
            self.env.pop(name, None)

    def write(self, path, text):
        path = os.path.join(self.dir, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def python(self, code):
        return subprocess.run([STET, "run", "--cpu", "--quiet", "--", sys.executable, "-c", code],
                              capture_output=True, text=True, timeout=60, cwd=self.dir, env=self.env)

    def told(self, code):
        out = self.python("import json, os, sys\n" + code)
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        return json.loads(out.stdout)

    def test_every_framework_is_pointed_at_the_backend(self):
        env = self.told("print(json.dumps(dict(os.environ)))")
        self.assertEqual(env["JAX_PLATFORMS"], "stet,cpu")
        self.assertEqual(env["PJRT_NAMES_AND_LIBRARY_PATHS"], "stet:" + BACKEND)
        self.assertEqual(env["PJRT_DEVICE"], "STET")
        self.assertEqual(env["TPU_LIBRARY_PATH"], BACKEND)
        self.assertNotIn("STET_CPU_PLATFORM", env)

    def test_a_command_that_can_not_run_there_runs_nowhere(self):
        self.write("file", "")
        self.env["STET_STATE_DIR"] = os.path.join(self.dir, "file", "state")
        out = self.python("print('ran')")
        self.assertEqual((out.returncode, out.stdout), (3, ""), out.stderr)

    def test_a_platform_that_the_user_chose_is_kept(self):
        self.env.update(JAX_PLATFORMS="tpu", PJRT_DEVICE="CPU", PJRT_NAMES_AND_LIBRARY_PATHS="mine:/x.so")
        env = self.told("print(json.dumps(dict(os.environ)))")
        self.assertEqual((env["JAX_PLATFORMS"], env["PJRT_DEVICE"]), ("tpu", "CPU"))
        self.assertEqual(env["PJRT_NAMES_AND_LIBRARY_PATHS"], f"stet:{BACKEND},mine:/x.so")
        self.assertEqual(env["STET_CPU_PLATFORM"], "tpu")

    def test_a_run_inside_a_run_changes_nothing_more(self):
        show = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
        inner = [STET, "run", "--cpu", "--quiet", "--", *show]
        out = subprocess.run([STET, "run", "--cpu", "--quiet", "--", *inner], capture_output=True, text=True,
                             timeout=60, cwd=self.dir, env=self.env, check=True)
        once, twice = self.told("print(json.dumps(dict(os.environ)))"), json.loads(out.stdout)
        for name in ("PYTHONPATH", "PJRT_NAMES_AND_LIBRARY_PATHS", "TPU_LIBRARY_PATH", "LD_PRELOAD"):
            self.assertEqual(once[name], twice[name])

    def test_pythons_path_stays_the_programs_own(self):
        bare = subprocess.run([sys.executable, "-c", "import json, sys; print(json.dumps(sys.path))"],
                              capture_output=True, text=True, cwd=self.dir, env=self.env, check=True)
        self.assertEqual(self.told("print(json.dumps(sys.path))"), json.loads(bare.stdout))

    def test_an_existing_sitecustomize_runs(self):
        self.write("mine/sitecustomize.py", "answer = 42\n")
        self.env["PYTHONPATH"] = os.path.join(self.dir, "mine")
        answer, path = self.told("import sitecustomize as s; print(json.dumps([s.answer, s.__file__]))")
        self.assertEqual((answer, path), (42, os.path.join(self.dir, "mine", "sitecustomize.py")))

    def test_an_unknown_version_of_a_framework_is_reported_and_not_patched(self):
        self.write("torch_tpu/__init__.py", "")
        self.write("torch_tpu/_loader.py", "answer = 42\n")  # without the torch that ours looks for
        out = self.python("import torch_tpu._loader as m; print(m.answer)")
        self.assertEqual((out.returncode, out.stdout), (0, "42\n"))
        self.assertIn("stet: torch_tpu._loader is not as expected", out.stderr)

    def test_a_jax_of_another_release_has_the_platform(self):
        for path in ("jax/_src/__init__.py", "jax/_src/interpreters/__init__.py", "jax/_src/interpreters/mlir.py"):
            self.write(path, "")
        self.write("jax/__init__.py", "class config:\n    jax_platforms = 'stet,cpu'\n")
        self.write("jax/_src/xla_bridge.py", "def register_plugin(name, library_path):\n    print(name, library_path)\n")
        env = dict(self.env, STET_CPU_LIBRARY="/there", PYTHONPATH=self.dir + ":" + os.path.join(BUILD, "lib/stet/python"))
        out = subprocess.run([sys.executable, "-S", "-c", "import stet_cpu.jax; stet_cpu.jax.initialize()"],
                             capture_output=True, text=True, timeout=60, cwd=self.dir, env=env)
        self.assertEqual((out.returncode, out.stdout), (0, "stet /there\n"), out.stderr)
        for name in ("interpreters.mlir", "callback", "xla_bridge"):
            self.assertIn(f"jax._src.{name} is not as expected", out.stderr)

    def test_a_missing_module_stays_missing(self):
        out = self.python("import torch_xla.experimental.plugins")
        self.assertIn("No module named 'torch_xla'", out.stderr)


if __name__ == "__main__":
    unittest.main()

"""Facts about installing: a wheel and `cmake --install` both give a `stet` that finds its layer, and frameworks
beside the wheel find the CPU backend by name.

usage: test_install.py SOURCE_DIR BUILD_DIR ENVIRONMENTS     the folder of the Python environments
"""

import fnmatch
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, ENVS = (os.path.abspath(p) for p in sys.argv[1:4])
PYTHON = os.path.join(ENVS, "tools", "bin", "python")
del sys.argv[1:]
HARNESS = os.path.join(BUILD, "bin", "pjrt_harness")
FAKE = os.path.join(BUILD, "lib", "libfake_pjrt.so")


class Install(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-install-")
        self.addCleanup(self.scratch.cleanup)
        self.dir = self.scratch.name

    def run_ok(self, *command, **more):
        out = subprocess.run(command, capture_output=True, text=True, timeout=1700, **more)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        return out.stdout

    def check(self, stet):
        env = dict(os.environ, STET_STATE_DIR=os.path.join(self.dir, "state"))
        env.pop("LD_PRELOAD", None)
        program = os.path.join(self.dir, "program")
        with open(program, "w") as f:
            f.write("any bytes do\n")
        self.run_ok(stet, "run", "--quiet", "--", HARNESS, FAKE, program, env=env)
        runs = json.loads(self.run_ok(stet, "runs", "--format=json", env=env))["runs"]
        self.assertEqual([r["compiles"] for r in runs], [1])
        self.assertIn("slice-start\n===========\n", self.run_ok(stet, "help", "slice-start"))
        root = os.path.dirname(os.path.dirname(stet))
        for path in ("man/man1/stet.1", "man/man1/stet-run.1", "bash-completion/completions/stet", "zsh/site-functions/_stet",
                     "fish/vendor_completions.d/stet.fish", "doc/stet/licenses/zstd.txt"):
            with open(os.path.join(root, "share", path), encoding="utf-8") as f:
                self.assertIn("zstd" if "licenses" in path else "stet", f.read().lower(), path)

    def test_what_cmake_installs_works(self):
        prefix = os.path.join(self.dir, "prefix")
        self.run_ok("cmake", "--install", BUILD, "--prefix", prefix, "--component", "stet")
        self.check(os.path.join(prefix, "bin", "stet"))

    def test_the_wheel_works(self):
        wheels = os.path.join(self.dir, "wheels")
        # --no-build-isolation: the build tools are the pinned ones of this environment. What is in the wheel counts here, not
        # how fast it is: a build for debugging leaves out the -O3 that most modules have, which took most of the time.
        self.run_ok(PYTHON, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, SOURCE,
                    "-Ccmake.build-type=Debug", "-Ccmake.define.CMAKE_C_FLAGS_DEBUG=-O0 -g1",
                    env=dict(os.environ, PATH=os.path.dirname(PYTHON) + ":" + os.environ["PATH"]))
        (wheel,) = os.listdir(wheels)
        with open(os.path.join(SOURCE, "docs", "ci", "graph-contract.yml"), encoding="utf-8") as f:
            pattern = re.search(r"(\S+\.whl)", f.read())[1]  # what the recipe installs
        self.assertTrue(fnmatch.fnmatch(wheel, pattern), wheel)
        venv = os.path.join(self.dir, "venv")
        self.run_ok(sys.executable, "-m", "venv", venv)
        self.run_ok(os.path.join(venv, "bin", "pip"), "install", "--no-index", "--no-deps",
                    os.path.join(wheels, wheel))
        self.check(os.path.join(venv, "bin", "stet"))
        (licences,) = glob.glob(os.path.join(venv, "lib", "python3*", "site-packages", "stet_cli-*", "licenses"))
        self.assertIn("sqlite.txt", os.listdir(os.path.join(licences, "licenses")))
        with open(os.path.join(venv, "bin", "stet"), "rb") as f:
            self.assertNotIn(b".debug_info", f.read())
        self.check_jax(venv)
        self.check_torch_xla(venv)

    def python(self, venv, packages, code, **variables):
        """Runs `code` in the wheel's environment, which sees the packages of another."""
        (site,) = glob.glob(os.path.join(ENVS, packages, "lib", "python3*", "site-packages"))
        env = dict(os.environ, PYTHONPATH=site, **variables)
        for name in ("PJRT_NAMES_AND_LIBRARY_PATHS", "PJRT_LIBRARY_PATH", "STET_CPU_LIBRARY"):
            env.pop(name, None)
        return self.run_ok(os.path.join(venv, "bin", "python"), "-c", code, env=env).strip()

    def check_jax(self, venv):
        code = "import jax; x = jax.numpy.arange(4.) + 1; print(jax.devices()[0].platform, jax.jit(lambda x: x @ x)(x))"
        self.assertEqual(self.python(venv, "jax", code, JAX_PLATFORMS="stet"), "stet 30.0")
        # Installed, not asked for: out of the way.
        self.assertEqual(self.python(venv, "jax", code, JAX_PLATFORMS="cpu"), "cpu 30.0")

    def check_torch_xla(self, venv):
        code = ("import torch, torch_xla; x = torch.arange(4., device=torch_xla.device()) + 1;"
                "print(torch_xla.runtime.device_type(), (x @ x).item())")
        self.assertEqual(self.python(venv, "torchxla", code, PJRT_DEVICE="STET"), "STET 30.0")


if __name__ == "__main__":
    unittest.main()

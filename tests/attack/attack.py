"""What the attack tests share: an isolated home for Stet, and ways to run programs inside it.

Every script of this folder is called as `SCRIPT BUILD_DIR [PYTHON]` and ends with `attack.main()`.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET, HARNESS, DUMP = (f"{BUILD}/bin/{name}" for name in ("stet", "pjrt_harness", "journal_dump"))
LAYER = BUILD + "/lib/libstet.so"
FAKE = BUILD + "/lib/libfake_pjrt.so"
PROGRAM = """// fake program {name}
// in f32[2,3]
// out f32[2,3]
module @{name} {{
  func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {{
    %b = stablehlo.{op} %a, %a : tensor<2x3xf32>
    return %b : tensor<2x3xf32>
  }}
}}
"""


def program(op="add", name="p"):
    """An MLIR program that the fake plugin runs too: it reads its shapes from the comments."""
    return PROGRAM.format(op=op, name=name)


class Case(unittest.TestCase):
    """A test with a folder of its own, in which all of Stet's state and store is kept."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-attack-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.store = self.dir + "/store"
        self.runs = 0

    def environment(self, **more):
        """The environment of a user whose home is this test's folder."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("STET", "XDG_", "FAKE_", "XLA_", "LIBTPU_"))}
        env.update(HOME=self.dir, XDG_CONFIG_HOME=self.dir + "/config", STET_STATE_DIR=self.dir + "/state",
                   STET_STORE=self.store)
        env.update(more)
        return {k: v for k, v in env.items() if v is not None}

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    def stet(self, *words, timeout=120, **env):
        """Runs the command line; the result has returncode, stdout and stderr as text."""
        return subprocess.run([STET, *words], env=self.environment(**env), capture_output=True, text=True,
                              errors="surrogateescape", timeout=timeout, cwd=self.dir)

    def records(self, folder):
        dump = subprocess.run([DUMP, folder], capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in dump.splitlines()]

    def compile(self, *texts, plugin=FAKE, words=(), timeout=60, **env):
        """Compiles programs with the layer preloaded and returns (served, store outcome) of each."""
        self.runs += 1
        folder = f"{self.dir}/run{self.runs}"
        files = [self.file(f"program{i}.mlir", text) for i, text in enumerate(texts or [program()])]
        subprocess.run([HARNESS, *words, plugin, *files], check=True, stdout=subprocess.PIPE, timeout=timeout,
                       env=self.environment(LD_PRELOAD=LAYER, STET_DIR=folder, **env), cwd=self.dir)
        return [(r.get("served", 0), r.get("store")) for r in self.records(folder) if r["record"] == "compile_end"]

    def entries(self):
        return sorted(glob.glob(self.store + "/entries/*/*.stet"))


def main():
    unittest.main(verbosity=2)

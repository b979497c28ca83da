"""What the tests of `stet fit` over the fake plugin share. The first argument of the program is the build folder."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET, HARNESS = (f"{BUILD}/bin/{name}" for name in ("stet", "pjrt_harness"))
FAKE, CPU = (f"{BUILD}/lib/{name}" for name in ("libfake_pjrt.so", "libstet_cpu.so"))
PROGRAM = """// fake program p{number}
// in f32[4]
// out f32[4]
{extra}module @p{number} {{
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
    %c = stablehlo.constant dense<{number}.0> : tensor<4xf32>
    %b = stablehlo.add %a, %c : tensor<4xf32>
    return %b : tensor<4xf32>
  }}
}}
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-fit-failures-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = dict(os.environ, STET_STATE_DIR=self.dir + "/state", STET_STORE=self.dir + "/store",
                        FAKE_DEVICE_ATTRIBUTES="device_memory_bytes_limit=1000000;coords=[0,0,0]",
                        FAKE_PLATFORM="tpu", PATH=self.dir + "/bin:" + os.environ["PATH"])
        for name in ("STET", "STET_PLUGIN", "STET_RUN", "STET_DIR", "VIRTUAL_ENV", "TPU_LIBRARY_PATH"):
            self.env.pop(name, None)
        self.env["TMPDIR"] = self.dir + "/tmp"
        os.mkdir(self.dir + "/tmp")
        self.addCleanup(lambda: self.assertEqual(os.listdir(self.dir + "/tmp"), []))  # nothing is left behind

    def write(self, *extras):
        paths = []
        for number, extra in enumerate(extras):
            paths.append(f"{self.dir}/{number}.mlir")
            with open(paths[-1], "w") as f:
                f.write(PROGRAM.format(number=number, extra=f"// {extra}\n" if extra else ""))
        return paths

    def make_run(self, *extras):
        """A finished run of the CPU backend, with one program for each."""
        subprocess.run([STET, "run", "--quiet", "--no-store", "--", HARNESS, CPU, *self.write(*extras), "--input", "f32[4]"],
                       env=self.env, check=True, cwd=self.dir, timeout=60, stdout=subprocess.DEVNULL)

    def fit(self, *words, status=0, **env):
        out = subprocess.run([STET, "fit", "--jobs=2", *words], env=dict(self.env, **env), cwd=self.dir, timeout=120,
                             capture_output=True, text=True)
        self.assertEqual(out.returncode, status, out.stdout + out.stderr)
        self.err = out.stderr
        return out.stdout

    def json(self, *words, **kw):
        return json.loads(self.fit("--format=json", *words, **kw))

    def over_fake(self, *words, **kw):
        return self.json("--plugin", FAKE, "--topology", "1", *words, **kw)

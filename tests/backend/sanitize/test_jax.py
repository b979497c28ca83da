"""JAX trains on a sanitized libstet_cpu.so, and the sanitizer has nothing to say.

usage: test_jax.py BUILD_DIR PYTHON {address|thread} RUNTIME…     PYTHON is that of the jax environment, RUNTIME the compiler's
       sanitizer libraries, to be loaded first
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
KIND, RUNTIMES = sys.argv[3], sys.argv[4:]
del sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 3
# Python and JAX keep what they allocate, and are not instrumented: what they do is not looked at.
OPTIONS = {"address": dict(ASAN_OPTIONS="detect_leaks=0:halt_on_error=0:log_path={log}",
                           UBSAN_OPTIONS="print_stacktrace=1:log_path={log}"),
           "thread": dict(TSAN_OPTIONS="ignore_noninstrumented_modules=1:log_path={log}")}[KIND]
FOUND = {"address": "heap-buffer-overflow", "thread": "data race"}[KIND]


class Sanitized(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-sanitize-")
        self.addCleanup(self.scratch.cleanup)
        self.log, self.out = (os.path.join(self.scratch.name, name) for name in ("log", "losses.json"))

    def run_jax(self, *script, **env):
        env.update((name, value.format(log=self.log)) for name, value in OPTIONS.items())
        lib = os.path.join(BUILD, "lib")
        env.update(LD_PRELOAD=" ".join(RUNTIMES), JAX_PLATFORMS="stet,cpu", STET_CPU_THREADS="3",
                   PJRT_NAMES_AND_LIBRARY_PATHS=f"stet:{lib}/libstet_cpu_door.so", STET_DOOR_OF=f"{lib}/libstet_cpu.so")
        run = subprocess.run([PYTHON, *script], env=dict(os.environ, **env), capture_output=True, text=True, timeout=400)
        reports = ""
        for path in glob.glob(self.log + "*"):
            with open(path) as f:
                reports += f.read()
        return run, reports

    def test_training_on_many_threads_is_clean(self):
        # With the name of a platform that JAX donates on.
        run, reports = self.run_jax(os.path.join(HERE, "train.py"), str(STEPS), self.out, STET_CPU_PLATFORM="tpu")
        self.assertEqual((run.returncode, reports), (0, ""), run.stderr[-4000:])
        with open(self.out) as f:
            result = json.load(f)
        self.assertEqual(result["platform"], "tpu")
        self.assertEqual(len(result["losses"]), 12)
        for name, losses in result["losses"].items(): # every thread saw the same program compute the same bits
            self.assertEqual(losses, result["losses"][name.split(".")[0] + ".0"])
            self.assertEqual(len(losses), STEPS)
            self.assertLess(losses[-1], losses[0], name)
        self.assertEqual(sorted(result["sums"]), sorted(2 * [2.0**i * 199_999 - 2**i + 1 for i in range(1, 5)]))
        self.assertEqual(len(result["errors"]), 2)
        for text in result["errors"]: # the operation, the line that wrote it, the reason
            self.assertRegex(text, r"stablehlo.custom_call \(.*train.py:\d+\): .*\"mine\" is not known")
        self.assertEqual(sorted(a for a in result["called"] if isinstance(a, float)), [1.0, 2.0, 3.0])
        self.assertEqual([("ValueError: below zero" in a) for a in result["called"] if isinstance(a, str)], [True])

    def test_a_fault_would_be_seen(self):
        code = "import jax, threading\nts = [threading.Thread(target=jax.numpy.ones, args=(i,)) for i in (3, 4)]\n" \
               "[t.start() for t in ts]\n[t.join() for t in ts]"
        _, reports = self.run_jax("-c", code, STET_DOOR_FAULT="1")
        self.assertIn(FOUND, reports)


if __name__ == "__main__":
    unittest.main()

"""A run that ran out of memory is explained, with the messages of libtpu and of XLA for GPUs: JAX over the fake plugin.

usage: test_exhausted.py BUILD_DIR ENVS [unittest arguments]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, ENVS = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
STET, FAKE, PYTHON = f"{BUILD}/bin/stet", f"{BUILD}/lib/libfake_pjrt.so", f"{ENVS}/jax/bin/python"
SCRIPT = """\
import jax, jax.numpy as jnp, numpy as np

@jax.jit
def step(w, x):
    def loss(w):
        return jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w))
    return w - 0.1 * jax.grad(loss)(w)

w = jax.device_put(np.ones((256, 256), np.float32))
for batch in (64, 128, 512):
    x = jax.device_put(np.ones((batch, 256), np.float32))
    for _ in range(3):
        w = step(w, x)
"""
COMPILE, EXECUTE = "PJRT_Client_Compile", "PJRT_LoadedExecutable_Execute"


class Exhausted(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-exhausted-")
        self.addCleanup(self.scratch.cleanup)
        self.env = dict(os.environ, STET_STATE_DIR=self.scratch.name + "/state")
        self.env.pop("JAX_PLATFORMS", None)
        for name, text in (("train.py", SCRIPT), ("common.py", "")):
            with open(f"{self.scratch.name}/{name}", "w") as f:
                f.write(text)
        self.line = 1 + SCRIPT.splitlines().index("        w = step(w, x)")
        self.loss = 1 + SCRIPT.splitlines().index("        return jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w))")

    def fail(self, at, message, status=1):
        env = dict(self.env, FAKE_FAIL=at + "=8", FAKE_MESSAGE=f"{HERE}/../data/out_of_memory/{message}.txt")
        out = subprocess.run([STET, "run", "--no-store", "--", PYTHON, os.path.join(HERE, "../steps/over_fake.py"), FAKE,
                              "train.py"], env=env, cwd=self.scratch.name, capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, status, out.stderr)
        told = subprocess.run([STET, "explain", "--format=json"], env=self.env, cwd=self.scratch.name, capture_output=True,
                              text=True)
        self.assertEqual(told.returncode, 1, told.stderr)
        (found,) = json.loads(told.stdout)["out_of_memory"]
        return found, [line for line in out.stderr.splitlines() if line.startswith("stet:")]

    def test_a_gpu_runs_out_while_it_executes(self):
        found, said = self.fail(EXECUTE + ":8+", "cuda_execute")
        self.assertEqual((found["during"], found["program"], found["needed_bytes"]), ("execute", "jit_step", 111289565184))
        self.assertEqual((os.path.basename(found["file"]), found["line"]), ("train.py", self.line))
        self.assertEqual([(b["line"], b["shape"]) for b in found["largest"]],
                         [(52, "f32[96,8,2048,4096]"), (0, "f32[16384,32768]"), (0, "bf16[96,2048,2048]")])
        self.assertFalse(found["largest_before_compiling"])
        # the program of 128 did fit; that of 512 did not
        self.assertEqual(found["changes"], [{"argument": "x", "from": "f32[128,256]", "to": "f32[512,256]"}])
        advice = {a["what"]: a for a in found["advice"]}
        self.assertEqual(list(advice), ["smaller batch", "rematerialise", "donate"])
        self.assertEqual(advice["smaller batch"]["saves_bytes"], int(97.65 * (1 << 30)) // 2)
        self.assertEqual(advice["rematerialise"]["line"], self.loss)
        self.assertEqual(advice["donate"]["saves_bytes"], 4 * 256 * 256)
        self.assertIn(f"stet: out of memory in jit_step (train.py:{self.line}): 104 GB needed", said)
        self.assertIn("stet:     x f32[128,256] -> f32[512,256]", said)

    def test_libtpu_refuses_to_compile(self):
        found, said = self.fail(COMPILE + ":3", "tpu_compile")
        self.assertEqual((found["during"], found["program"]), ("compile", "jit_step"))
        self.assertGreater(found["missing_bytes"], 102 << 30)
        self.assertTrue(found["largest_before_compiling"])  # the message lists nothing
        self.assertEqual((os.path.basename(found["largest"][0]["file"]), found["largest"][0]["line"]), ("train.py", self.loss))
        self.assertEqual([c["to"] for c in found["changes"]], ["f32[512,256]"])
        self.assertTrue(any("103 GB missing, 134 GB needed, 31.2 GB in all" in line for line in said), said)

    def test_libtpus_report_is_told_by_line(self):
        found, _ = self.fail(COMPILE + ":1", "tpu_report")
        self.assertEqual([(b["file"], b["line"], b["bytes"]) for b in found["largest"][:2]],
                         [("/home/user/train.py", 88, 16 << 30), ("/home/user/model.py", 41, 4 << 30)])
        self.assertEqual((found["since"], found["changes"]), (None, []))  # nothing ran before

    def test_an_array_that_does_not_fit_belongs_to_no_program(self):
        found, said = self.fail("PJRT_Client_BufferFromHostBuffer:3", "tpu_allocate")
        self.assertEqual((found["during"], found["program"], found["hash"]), ("execute", "", None))
        self.assertEqual((found["needed_bytes"], found["available_bytes"]), (2 << 30, 512 << 20))
        self.assertTrue(any("out of memory while running" in line and "2.0 GB needed, 512 MB free" in line for line in said), said)

    def test_a_message_in_other_words_is_quoted(self):
        with open(self.scratch.name + "/words.txt", "w") as f:
            f.write("the allocator of tomorrow has no more pages")
        found, said = self.fail(EXECUTE + ":2+", os.path.relpath(self.scratch.name + "/words", f"{HERE}/../data/out_of_memory"))
        self.assertEqual((found["needed_bytes"], found["program"]), (None, "jit_step"))
        self.assertTrue(any("the allocator of tomorrow has no more pages" in line for line in said), said)


if __name__ == "__main__":
    unittest.main()

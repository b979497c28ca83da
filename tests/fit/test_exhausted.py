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
# what XLA for GPUs does: it accepts an execution and fails when it allocates the program's temporaries
LATER = """\
import sys
import jax, jax.numpy as jnp, numpy as np

@jax.jit
def step(w, b, x):
    def loss(w, b):
        return jnp.sum(jnp.tanh(jnp.tanh(x @ w + b) @ w))
    return jax.tree.map(lambda p, g: p - 0.1 * g, (w, b), jax.grad(loss, (0, 1))(w, b))

w, b = jax.device_put(np.ones((256, 256), np.float32)), jax.device_put(np.ones(256, np.float32))
x = jax.device_put(np.ones((int(sys.argv[1]), 256), np.float32))
w, b = step(w, b, x)
failed = None
for result in (w, b):
    try:
        jax.block_until_ready(result)
    except Exception as e:
        failed = e
if failed:
    raise failed
"""
COMPILE, EXECUTE = "PJRT_Client_Compile", "PJRT_LoadedExecutable_Execute"


class Exhausted(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-exhausted-")
        self.addCleanup(self.scratch.cleanup)
        self.env = dict(os.environ, STET_STATE_DIR=self.scratch.name + "/state")
        self.env.pop("JAX_PLATFORMS", None)
        for name, text in (("train.py", SCRIPT), ("later.py", LATER), ("common.py", "")):
            with open(f"{self.scratch.name}/{name}", "w") as f:
                f.write(text)
        self.line = 1 + SCRIPT.splitlines().index("        w = step(w, x)")
        self.loss = 1 + SCRIPT.splitlines().index("        return jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w))")

    def exhaust(self, at, message, status=1):
        env = dict(self.env, FAKE_FAIL=at + "=8", FAKE_MESSAGE=f"{HERE}/../data/out_of_memory/{message}.txt")
        out = subprocess.run([STET, "run", "--no-store", "--", PYTHON, os.path.join(HERE, "../steps/over_fake.py"), FAKE,
                              "train.py"], env=env, cwd=self.scratch.name, capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, status, out.stderr)
        (found,) = self.explained()["out_of_memory"]
        return found, [line for line in out.stderr.splitlines() if line.startswith("stet:")]

    def explained(self):
        told = subprocess.run([STET, "explain", "--format=json"], env=self.env, cwd=self.scratch.name, capture_output=True,
                              text=True)
        self.assertEqual(told.returncode, 1, told.stderr)
        return json.loads(told.stdout)

    def later(self, batch, *options, status=0, memory=32 << 40):
        env = dict(self.env, PJRT_NAMES_AND_LIBRARY_PATHS=f"fake:{FAKE}", JAX_PLATFORMS="fake", FAKE_EACH="1",
                   FAKE_NAME="jit_step", FAKE_PARAMS=f"f32[256,256] f32[256] f32[{batch},256]",
                   FAKE_OUTPUTS="f32[256,256] f32[256]", FAKE_MEMORY=str(memory), FAKE_TEMP_TIMES="55886475",
                   FAKE_MESSAGE=f"{HERE}/../data/out_of_memory/cuda_event.txt")
        if options:
            env.update(JAX_PLATFORMS="stet")
        out = subprocess.run([STET, "run", "--no-store", *options, "--", PYTHON, "later.py", str(batch)], env=env,
                             cwd=self.scratch.name, capture_output=True, text=True, timeout=120)
        self.assertEqual(out.returncode, status, out.stderr)
        return [line for line in out.stderr.splitlines() if line.startswith("stet:")]

    def test_a_gpu_runs_out_while_it_executes(self):
        found, said = self.exhaust(EXECUTE + ":8+", "cuda_execute")
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
        self.assertIn(f"stet: out of memory in jit_step (train.py:{self.line}): at least 103 GB missing, 104 GB needed, "
                      "1.0 GB in all", said)
        self.assertIn("stet:     x f32[128,256] -> f32[512,256]", said)

    def test_a_gpu_runs_out_after_it_accepted_the_execution(self):
        self.later(128)
        said = self.later(512, status=1)
        (found,) = self.explained()["out_of_memory"]
        # the event names no program, but the allocation is as large as the temporaries of one
        self.assertEqual((found["during"], found["program"]), ("execute", "jit_step"))
        call = 1 + LATER.splitlines().index("w, b = step(w, b, x)")
        self.assertEqual((os.path.basename(found["file"]), found["line"]), ("later.py", call))
        self.assertEqual((found["limit_bytes"], found["missing_bytes"]), (32 << 40, found["needed_bytes"] - (32 << 40)))
        self.assertEqual((os.path.basename(found["largest"][0]["file"]), found["largest"][0]["line"]), ("later.py", 7))
        self.assertEqual(found["times"], 2)  # once for each result
        # the program that did fit is of an earlier run with another argument
        self.assertIsNotNone(found["since_run"])
        self.assertEqual(found["changes"], [{"argument": "x", "from": "f32[128,256]", "to": "f32[512,256]"}])
        self.assertEqual(found["advice"][0]["what"], "smaller batch")
        self.assertGreater(found["advice"][0]["saves_bytes"], 19 << 40)
        self.assertIn(f"stet: out of memory in jit_step (later.py:{call}): at least 8.0 TB missing, 40.0 TB needed, "
                      "32.0 TB in all", said)
        self.assertTrue(any(f"did fit in run {found['since_run']} with 20.0 TB of temporaries" in line for line in said), said)

    def test_a_run_that_failed_is_not_one_that_did_fit(self):
        self.later(512, status=1)
        self.later(512, status=1)
        (found,) = self.explained()["out_of_memory"]
        self.assertEqual((found["program"], found["since"], found["since_run"]), ("jit_step", None, None))

    def test_the_same_program_had_more_memory_before(self):
        self.later(512, memory=64 << 40)
        said = self.later(512, status=1)
        told = self.explained()
        (found,) = told["out_of_memory"]
        self.assertEqual((found["since"], found["changes"]), (found["hash"], []))
        (again,) = told["recompiles"]  # XLA compiles for the memory that there is
        self.assertEqual(again["class"], "options-drift")
        self.assertIn("(device_memory_size): give every launch", again["fix"])
        self.assertIn("stet:     it is the same program; there was more free memory", said)

    def test_a_run_on_the_cpu_backend_is_neither_a_fit_nor_a_reason_to_compile_again(self):
        self.later(512, "--cpu")
        self.later(512, status=1)
        told = self.explained()
        self.assertEqual(told["recompiles"], [])  # the devices' memory is among the options
        self.assertIsNone(told["out_of_memory"][0]["since"])

    def test_libtpu_refuses_to_compile(self):
        found, said = self.exhaust(COMPILE + ":3", "tpu_compile")
        self.assertEqual((found["during"], found["program"]), ("compile", "jit_step"))
        self.assertGreater(found["missing_bytes"], 102 << 30)
        self.assertTrue(found["largest_before_compiling"])  # the message lists nothing
        self.assertEqual((os.path.basename(found["largest"][0]["file"]), found["largest"][0]["line"]), ("train.py", self.loss))
        self.assertEqual([c["to"] for c in found["changes"]], ["f32[512,256]"])
        self.assertTrue(any("103 GB missing, 134 GB needed, 31.2 GB in all" in line for line in said), said)

    def test_libtpus_report_is_printed_by_line(self):
        found, _ = self.exhaust(COMPILE + ":1", "tpu_report")
        self.assertEqual([(b["file"], b["line"], b["bytes"]) for b in found["largest"][:2]],
                         [("/home/user/train.py", 88, 16 << 30), ("/home/user/model.py", 41, 4 << 30)])
        self.assertEqual((found["since"], found["changes"]), (None, []))  # nothing ran before

    def test_an_array_that_does_not_fit_belongs_to_no_program(self):
        found, said = self.exhaust("PJRT_Client_BufferFromHostBuffer:3", "tpu_allocate")
        self.assertEqual((found["during"], found["program"], found["hash"]), ("execute", "", None))
        self.assertEqual((found["needed_bytes"], found["available_bytes"]), (2 << 30, 512 << 20))
        self.assertTrue(any("out of memory while running" in line and "2.0 GB needed, 512 MB free" in line for line in said), said)

    def test_a_message_in_other_words_is_quoted(self):
        with open(self.scratch.name + "/words.txt", "w") as f:
            f.write("the allocator of tomorrow has no more pages")
        found, said = self.exhaust(EXECUTE + ":2+", os.path.relpath(self.scratch.name + "/words", f"{HERE}/../data/out_of_memory"))
        self.assertEqual((found["needed_bytes"], found["program"]), (None, "jit_step"))
        self.assertTrue(any("the allocator of tomorrow has no more pages" in line for line in said), said)


if __name__ == "__main__":
    unittest.main()

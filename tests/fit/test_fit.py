"""`stet fit` against the real compilers, libtpu and XLA for GPUs, on a machine without their devices: the short form.

usage: test_fit.py BUILD_DIR ENVS [unittest arguments]
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support  # noqa: E402

support.Case.build, support.Case.envs = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
GB = 1 << 30
WAITS = """
import os, socket, struct, sys, time
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
a = jax.device_put(np.ones((64, 32), np.float32), NamedSharding(mesh, P("x", None)))
b = jax.device_put(np.ones((32, 64), np.float32), NamedSharding(mesh, P(None, "y")))
first = jax.jit(lambda a, b: a @ b)(a, b)
open(sys.argv[1] + "/ready", "w").close()
while not os.path.exists(sys.argv[1] + "/go"):
    time.sleep(0.1)
second = jax.jit(lambda a, b: (a @ b) * 2)(a, b)
print("SPECS", *("P" + str(tuple(x.sharding.spec)) for x in (first, second)))
with socket.socket(socket.AF_UNIX) as s:  # not a program
    s.connect(os.environ["STET_CPU_SHARDINGS"])
    s.sendall(struct.pack("=QQ", 7, 0) + b"garbage")
    s.recv(8)
"""
UNSUPPORTED = """
import jax, jax.numpy as jnp

@jax.jit
def fine(x):
    return x * 2 + 1

@jax.jit
def odd(x):
    return jax.ffi.ffi_call("nowhere", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

x = jnp.zeros((8, 128))
fine(x), odd(x)
"""
MANY = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(np.ones((len(jax.devices()), 128), np.float32), NamedSharding(mesh, P("x")))


@jax.jit
def step(x):
    return jnp.sum(x * x)


step(x)
"""


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return f.read().split()


def has_libtpu(pid):
    try:
        with open(f"/proc/{pid}/maps") as f:
            return "libtpu" in f.read()
    except OSError:  # it has ended
        return False


class Fit(support.Case):
    def test_memory_and_collectives_are_those_of_libtpu(self):
        verdict, step = self.check_model("llama", "fsdp")
        # two of its programs are equal
        self.assertLessEqual({p["compile"]["store"] for p in verdict["programs"]}, {"stored", "was stored"})
        self.assertEqual(step["executions"], 2)
        self.assertEqual(verdict["topology"]["memory_bytes"], 33546039296)  # as libtpu says
        self.assertEqual((verdict["topology"]["devices"], verdict["topology"]["kind"]), (8, "TPU v6 lite"))
        self.assertEqual(verdict["step"]["steps"], 2)
        # the report has a page about it
        self.call(f"{self.build}/bin/stet", "report", "-o", self.dir + "/report.html")
        with open(self.dir + "/report.html") as f:
            self.assertIn("stet.fit/1", f.read())

    def test_results_are_sharded_as_the_compiler_does(self):
        names = ("product", "reshape", "scan")  # the CPU backend by itself would guess two of them wrong
        shardings = lambda text: json.loads(text.split("SHARDINGS ", 1)[1].splitlines()[0])  # noqa: E731
        hand = shardings(self.call(self.python, support.SHARDED, "--by-hand", "v6e:2x4", *names))
        verdict = self.json("--topology=v6e:2x4", "--quick", "--lines", "--", self.python, support.SHARDED, *names)
        self.assertEqual(shardings(self.err), hand)
        # what generating code took, by line
        programs = [p for p in verdict["programs"] if p["program"] == "jit__lambda" and p["compile"]["fragments"]]
        self.assertGreaterEqual(len(programs), 2)  # a reshape needs no code
        for compile in (p["compile"] for p in programs):
            self.assertAlmostEqual(sum(line["cpu_s"] for line in compile["lines"]), compile["fragments_cpu_s"], delta=1e-4)
            known = [line for line in compile["lines"] if line["line"]]
            self.assertEqual({os.path.basename(line["file"]) for line in known}, {"sharded.py"})
            self.assertGreater(sum(line["cpu_s"] for line in known), 0.5 * compile["fragments_cpu_s"])
        # XLA for eight GPUs shards them alike; it is asked too
        verdict = self.json("--topology=1x8x1", "--target", support.TARGET, "--plugin",
                            self.plugin("cuda", "jax_plugins/xla_cuda*/xla_cuda_plugin.so"), "--", self.python, support.SHARDED,
                            *names)
        self.assertEqual((shardings(self.err), verdict["shardings_guessed"]), (hand, False))
        self.assertEqual((verdict["verdict"], verdict["topology"]["devices"]), ("fits", 8))

    def test_the_process_that_is_asked_for_shardings_may_die(self):
        script = self.dir + "/waits.py"
        with open(script, "w") as f:
            f.write(WAITS)
        fit = subprocess.Popen([f"{self.build}/bin/stet", "fit", "--format=json", "--topology=v6e:2x4", "--quick", "--", self.python,
                                script, self.dir], env=self.env, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
        self.addCleanup(fit.wait)
        self.addCleanup(fit.terminate)
        while not os.path.exists(self.dir + "/ready"):
            self.assertIsNone(fit.poll())
            time.sleep(0.1)
        (worker,) = [w for c in children_of(fit.pid) for w in children_of(c) if has_libtpu(w)]
        os.kill(int(worker), signal.SIGKILL)
        open(self.dir + "/go", "w").close()
        out, err = fit.communicate(timeout=900)
        self.assertEqual(fit.returncode, 0, out + err)
        # another one answered the second question; nothing answers one that is not a program
        self.assertIn("SPECS P('x', 'y') P('x', 'y')", err)
        self.assertTrue(json.loads(out)["shardings_guessed"])
        self.assertIn("sharded by a guess", self.fit("--topology=v6e:2x4", "--quick", "--", self.python, script, self.dir))

    def test_the_verdict_flips_where_libtpu_refuses(self):
        command = ("--", self.python, support.FLIP, "--batch", "8192")
        found = self.json("--topology=v6e:1x1", "--zeros", "--quick", "--search=batch=196608..262144/65536", *command)
        self.assertEqual((found["found"], [t["verdict"] for t in found["tried"]]), (196608, ["fits", "exceeds"]))
        refused = self.call(self.python, support.FLIP, "--by-hand", "--batch", "262144", status=1)
        needed = float(refused.split("HLO temporaries (")[1].split("G")[0])
        self.assertAlmostEqual(found["tried"][1]["peak_bytes"] / GB, needed, delta=0.01)
        # what grew since the last fit, and where
        command = ("--", self.python, support.FLIP, "--batch", "262144")
        verdict = self.json("--topology=v6e:1x1", "--zeros", *command, status=1)
        (step,) = [p for p in verdict["programs"] if p["program"] == "jit_step"]
        self.assertEqual((verdict["verdict"], step["verdict"]), ("exceeds", "exceeds"))
        self.assertIn("Ran out of memory on HBM", step["error"])
        largest = step["temporaries"][0]
        with open(support.FLIP) as f:
            line = 1 + [text.strip() for text in f].index("return jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w))")
        self.assertEqual((os.path.basename(largest["file"]), largest["line"]), ("flip.py", line))
        self.assertEqual((largest["shape"], largest["shape_before"]), ("f32[262144,8192]", "f32[196608,8192]"))
        self.assertGreater(largest["bytes"], largest["bytes_before"])
        self.assertTrue(verdict["since"]["command"].endswith("--batch 196608"))

    def test_seventy_billion_parameters_on_two_hundred_and_fifty_six_chips(self):
        verdict = self.json("--topology=v6e:16x16", "--zeros", "--quick", "--", self.python, support.LARGE, "80", "8192",
                            "28672")
        step = self.step_of(verdict, "jit_step")
        self.assertEqual((verdict["verdict"], verdict["topology"]["devices"]), ("fits", 256))
        self.assertGreater(verdict["peak_bytes"], 11 * GB)
        self.assertEqual(step["loops_of_unknown_length"], 0)
        # lines account for nearly all of the temporaries
        self.assertGreater(sum(t["bytes"] for t in step["temporaries"]), 0.95 * step["memory"]["temporaries"])
        # eight operations for each parameter and token: forward, again for the gradients, and those
        expected = 8 * 68159537152 * 128 * 4096 / 256
        self.assertAlmostEqual(step["flops"] / expected, 1, delta=0.05)
        self.assertEqual([r["decides_line"] is not None for r in verdict["read_as_zeros"]], [True])

    def test_a_gpu_that_is_not_there(self):
        plugin = self.plugin("cuda", "jax_plugins/xla_cuda*/xla_cuda_plugin.so")
        verdict = self.json("--topology=1x1x1", "--target", support.TARGET, "--plugin", plugin, "--zeros", "--", self.python,
                            support.FLIP, "--batch", "8192")
        (step,) = [p for p in verdict["programs"] if p["program"] == "jit_step"]
        self.assertEqual((verdict["verdict"], verdict["topology"]["kind"]), ("fits", "NVIDIA H200"))
        self.assertEqual(verdict["topology"]["memory_bytes"], 112500000000)  # three quarters of the target's
        self.assertEqual(step["memory"]["arguments"], 2 * 4 * 8192 * 8192)
        self.assertEqual(step["flops"], 5 * 2 * 8192**3)
        self.assertEqual(os.path.basename(step["temporaries"][0]["file"]), "flip.py")
        self.assertEqual(sum(t["bytes"] for t in step["temporaries"]), step["temporaries_peak"])
        self.assertLessEqual(step["temporaries_peak"], step["memory"]["temporaries"])
        self.assertLessEqual({p["compile"]["store"] for p in verdict["programs"]}, {"stored", "was stored"})

    def test_a_program_that_libtpu_does_not_support(self):
        verdict = self.json("--topology=v6e:1x1", "--zeros", "--", self.python, "-c", UNSUPPORTED, status=1)
        by_name = {p["program"]: p for p in verdict["programs"]}
        self.assertEqual((verdict["verdict"], by_name["jit_odd"]["verdict"]), ("failed", "failed"))
        self.assertIn("nowhere", by_name["jit_odd"]["error"])
        self.assertEqual((by_name["jit_fine"]["verdict"], by_name["jit_fine"]["compile"]["store"]), ("fits", "stored"))

    def test_topologies_that_libtpu_does_not_know(self):
        for name in ("v9:2x2", "v6e:2x3x4", "nonsense"):
            self.assertEqual(self.fit("--topology", name, "--", self.python, "-c", "pass", status=3), "")
            self.assertIn(f"the plugin has no topology {name} (", self.err)
            self.assertIn("v4, v5e, v5p, v6e, tpu7x", self.err)

    def test_thousands_of_devices(self):
        for name, devices in (("v5p:8x8x16", 1024), ("v7x:16x16x36", 18432)):
            verdict = self.json("--topology", name, "--zeros", "--quick", "--", self.python, "-c", MANY)
            step = self.step_of(verdict, "jit_step")
            self.assertEqual((verdict["verdict"], verdict["topology"]["devices"]), ("fits", devices))
            self.assertEqual([(c["kind"], c["sites"]) for c in step["collectives"]], [("all-reduce", 1)])
            self.assertEqual(step["memory"]["arguments"], 128 * 4)  # one row of x


if __name__ == "__main__":
    unittest.main()

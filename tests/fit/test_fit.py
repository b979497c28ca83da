"""`stet fit` against the real compilers, libtpu and XLA for GPUs, on a machine without their devices: the short form.

usage: test_fit.py BUILD_DIR ENVS [unittest arguments]
"""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support  # noqa: E402

support.Case.build, support.Case.envs = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
GB = 1 << 30
MANY = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(np.ones((1024, 128), np.float32), NamedSharding(mesh, P("x")))


@jax.jit
def step(x):
    return jnp.sum(x * x)


step(x)
"""


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
        self.assertLessEqual({p["compile"]["store"] for p in verdict["programs"]}, {"stored", "was stored"})

    def test_topologies_that_libtpu_does_not_know(self):
        for name in ("v9:2x2", "v6e:2x3x4", "nonsense"):
            self.assertEqual(self.fit("--topology", name, "--", self.python, "-c", "pass", status=3), "")
            self.assertIn(f"the plugin has no topology {name} (", self.err)
            self.assertIn("v4, v5e, v5p, v6e, tpu7x", self.err)

    def test_a_thousand_devices(self):
        verdict = self.json("--topology=v5p:8x8x16", "--zeros", "--quick", "--", self.python, "-c", MANY)
        step = self.step_of(verdict, "jit_step")
        self.assertEqual((verdict["verdict"], verdict["topology"]["devices"]), ("fits", 1024))
        self.assertEqual([(c["kind"], c["sites"]) for c in step["collectives"]], [("all-reduce", 1)])
        self.assertEqual(step["memory"]["arguments"], 128 * 4)  # one row of x


if __name__ == "__main__":
    unittest.main()
